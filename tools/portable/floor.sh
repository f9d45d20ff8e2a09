#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# floor.sh VERSION TREE: fails if a program or library in the tree needs a
# newer glibc than VERSION, or a library that is no part of glibc.
# shellcheck disable=SC2044,SC2086 # names and lists without spaces
set -eu
floor=$1
tree=$2
bad=0

# newer: prints the versions of glibc on stdin that are newer than the floor,
# and everything else that is no version of it
newer() {
	while read -r version; do
		[ "$(printf '%s\n' "$version" "$floor" | sort -V | tail -n 1)" = \
			"$floor" ] || echo "GLIBC_$version"
	done
}

# foreign: prints the libraries on stdin that are not glibc's or ours
foreign() {
	grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld-linux-.*|libgpukit-.*)$' ||
		true
}

checked=0
for file in $(find "$tree" -type f ! -name '*.a'); do
	[ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
	checked=$((checked + 1))
	versions=$(readelf --wide --version-info "$file" |
		sed -nE 's/.*Name: GLIBC_([^ ]+) .*Flags.*/\1/p' | sort -u | newer)
	libraries=$(readelf --wide --dynamic "$file" |
		sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | foreign)
	[ -z "$versions$libraries" ] || {
		echo "portable: ${file#"$tree"} needs" $versions $libraries >&2
		for version in $versions; do
			readelf --wide --dyn-syms "$file" |
				sed -n "s/.* UND \(.*@$version\).*/  \1/p" >&2
		done
		bad=1
	}
done
[ "$checked" -gt 0 ] || {
	echo "portable: no program in $tree" >&2
	exit 1
}
[ "$bad" = 0 ] || exit 1
echo "portable: $checked programs and libraries need glibc $floor at most" >&2
