#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vgpu.sh TOOLS CACHE MAP TARGET OBJECT...: links libvgpu.so with the C library
# and the dynamic linker alone. Zig's own driver would let it need the first
# library of that glibc that has a symbol, such as libpthread, and no program
# should load that because it is limited.
# shellcheck disable=SC2046 # names without spaces
set -eu
tools=$1 cache=$2 map=$3 target=$4
shift 4

stub() {
	find "$cache/o" -name "$1"
}

# So that the cache has the C library's symbols.
echo >"$target.c"
"$tools/cc" -shared "$target.c" -o "$target.empty"
rm -f "$target.c" "$target.empty"
"$tools/ld.lld" -shared --gc-sections -Bsymbolic -z lazy -z norelro -z defs \
	--no-rosegment --hash-style=gnu --version-script "$map" "$@" \
	$(stub libc.so.6) $(stub 'libld.so.*') $(stub libc_nonshared.a) \
	$(stub libcompiler_rt.a) --exclude-libs ALL \
	-o "$target"
