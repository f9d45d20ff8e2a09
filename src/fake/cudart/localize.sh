#!/bin/sh
# Makes an archive of one object whose only global names are those of the
# runtime: localize.sh LD OBJCOPY AR ARCHIVE OBJECT...
set -eu
ld=$1 objcopy=$2 ar=$3 archive=$4
shift 4
"$ld" -r -o "$archive.o" "$@"
"$objcopy" --localize-hidden "$archive.o"
rm -f "$archive"
# The member's name is what linker maps show.
mv "$archive.o" "$(dirname "$archive")/cudart.o"
"$ar" rcD "$archive" "$(dirname "$archive")/cudart.o"
rm -f "$(dirname "$archive")/cudart.o"
