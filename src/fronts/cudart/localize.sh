#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an archive of one object. Its only global symbols are the runtime's,
# which have hidden visibility:
#   localize.sh LD OBJCOPY AR ARCHIVE HIDING-OBJECT OBJECT...
set -eu
ld=$1 objcopy=$2 ar=$3 archive=$4 hide=$5
shift 5
"$ld" -r -o "$archive.o" "$@"
"$objcopy" --localize-hidden "$archive.o"
rm -f "$archive"
# The member's name is what linker maps show.
member=$(dirname "$archive")/cudart.o
"$ld" -r -o "$member" "$archive.o" "$hide"
"$ar" rcD "$archive" "$member"
rm -f "$archive.o" "$member"
