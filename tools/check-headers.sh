#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles on its own, so that users need not include another one
# first. Headers that may meet in one program also compile together, so that
# tags and macros have one meaning. The fronts never meet: each is compiled with
# all rooms below it. Left out: cufft/inside, whose sources only ./run portable
# fetches. If headers are named, only these are checked, on their own; also new
# ones, and it does no harm if one of them is gone.
# shellcheck disable=SC2086 # lists of words
set -eu
flags="-x c -std=gnu17 -fsyntax-only -Wall -Wundef -Werror -Wno-attributes
	-D_GNU_SOURCE -DCUDART_MAJOR=13 -Isrc -Iinclude"
below='include src/abi src/base src/machine src/device src/ptx src/fronts/common'
said=$(mktemp)
trap 'rm -f "$said"' EXIT

headers() {
	git ls-files --cached --others --exclude-standard "$@" \
		':!src/fronts/cufft/inside' | while read -r name; do
		case $name in *.h) [ ! -e "$name" ] || echo "$name" ;; esac
	done
}

each_alone() {
	headers "$@" |
		xargs -r -P "$(nproc)" -n 1 ${CC:-gcc} $flags >>"$said" 2>&1
}

# together PATH...: prints one unit that includes all headers there
together() {
	headers "$@" | sed -E 's,^(src|include)/(.*),#include "\2",' |
		${CC:-gcc} $flags - >>"$said" 2>&1
}

bad=0
if [ $# -gt 0 ]; then
	each_alone "$@" || bad=1
else
	each_alone src include || bad=1
	together include src ':!src/fronts' || bad=1
	for front in nvml cuda cudart; do
		together $below "src/fronts/$front" || bad=1
	done
fi
[ $bad = 0 ] || {
	grep -E 'error|previous|originally' "$said" | sort -u | head -40 |
		sed 's/^/headers: /' >&2
	exit 1
}
