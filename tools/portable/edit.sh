#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# edit.sh FILE SCRIPT...: applies sed's scripts to a source, one after another,
# and fails where one of them changes nothing: a newer version of the source may
# need another one. It begins with the source as it was, so that the source can
# be edited for several machines.
set -eu
file=$1
shift
[ -e "$file.original" ] || cp -p "$file" "$file.original"
cp "$file.original" "$file.edited"
for script; do
	sed -e "$script" "$file.edited" >"$file.next"
	if cmp -s "$file.edited" "$file.next"; then
		echo "portable: nothing to edit in $file: $script" >&2
		exit 1
	fi
	mv "$file.next" "$file.edited"
done
# Its mode stays.
cat "$file.edited" >"$file"
rm "$file.edited"
