#!/bin/sh
# Every header compiles alone, so that nobody has to include another one before
# it, and those that may meet in one program compile together, so that tags and
# macros mean one thing. The fronts never meet: each is a unit with all below.
# shellcheck disable=SC2086 # lists of words
set -eu
flags="-x c -std=gnu17 -fsyntax-only -Wall -Wundef -Werror -Wno-attributes
	-D_GNU_SOURCE -DCUDART_MAJOR=13 -Isrc -Iinclude"
below='include src/abi src/base src/machine src/device src/ptx src/fronts/common'
said=$(mktemp)
trap 'rm -f "$said"' EXIT

headers() {
	git ls-files "$@" | grep '\.h$'
}

each_alone() {
	headers src include |
		xargs -P "$(nproc)" -n 1 ${CC:-gcc} $flags >>"$said" 2>&1
}

# together PATH...: one unit that includes all headers there.
together() {
	headers "$@" | sed -E 's,^(src|include)/(.*),#include "\2",' |
		${CC:-gcc} $flags - >>"$said" 2>&1
}

bad=0
each_alone || bad=1
together include src ':!src/fronts' || bad=1
for front in nvml cuda cudart; do
	together $below "src/fronts/$front" || bad=1
done
[ $bad = 0 ] || {
	grep -E 'error|previous|originally' "$said" | sort -u | head -40 |
		sed 's/^/headers: /' >&2
	exit 1
}
