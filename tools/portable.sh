#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# portable.sh: builds build/portable/MACHINE/libvgpu.so for glibc 2.17 and newer
# with Zig's compiler (the command ZIG), which has the symbols of that C
# library. One libvgpu.so serves all containers of a host, so it must not need a
# newer C library than the oldest container has.
# shellcheck disable=SC2086,SC2046 # ZIG is a list of words; so are files
set -eu
cd "$(dirname "$0")/.."
out=build/portable

compile() {
	for source in src/limit/*.c src/limit/preload/*.c \
		src/limit/preload/*/*.[cS] src/base/*.c; do
		$ZIG cc -target "$target" -c $machine_flags -std=gnu17 -O2 \
			-fPIC -fvisibility=hidden -ftls-model=initial-exec \
			-ffunction-sections -fdata-sections \
			-Wall -Wextra -Werror -D_GNU_SOURCE \
			-DGPUKIT_VERSION='"portable"' \
			-DCUDA_EXPORT= -DNVML_EXPORT= -Iinclude -Isrc \
			"$source" -o "$objects/$(echo "$source" | tr / -).o"
	done
}

stub() {
	find "$objects/cache/o" -name "$1"
}

# Zig would link all libraries of that C library, and the library would need the
# first of them that has a symbol. Linked only with libc.so.6 and the dynamic
# linker, it needs no others.
link() {
	: >"$objects/empty.c"
	$ZIG cc -target "$target" -shared -o "$objects/empty.so" \
		"$objects/empty.c"
	$ZIG ld.lld -shared -s --gc-sections -Bsymbolic -z lazy -z norelro \
		-z defs --no-rosegment --hash-style=gnu \
		--version-script src/limit/preload/vgpu.map \
		"$objects"/*.o $(stub libc.so.6) $(stub 'libld.so.*') \
		$(stub libc_nonshared.a) -o "$to/libvgpu.so.new"
	mv "$to/libvgpu.so.new" "$to/libvgpu.so"
}

for machine in x86_64 aarch64; do
	target=$machine-linux-gnu.2.17
	machine_flags=-mno-outline-atomics
	[ $machine != x86_64 ] || machine_flags=-mcx16
	to=$out/$machine
	objects=$PWD/$to/objects
	rm -rf "$objects"
	mkdir -p "$objects"
	# Zig's own cache does not notice changes of a table that the assembler
	# includes.
	export ZIG_GLOBAL_CACHE_DIR="$objects/cache"
	export ZIG_LOCAL_CACHE_DIR="$objects/cache"
	compile
	link
	rm -rf "$objects"
done
