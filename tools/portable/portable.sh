#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# portable.sh: builds everything for any glibc since FLOOR, in
# build/portable/MACHINE, with Zig's compiler, which has the symbols of that C
# library, and with libraries that it builds from Debian's sources:
#   portable.sh [--target MACHINE]...     (x86_64, aarch64; default: both)
# ZIG is the compiler. The directory gets bin, lib, include and share, which may
# be moved anywhere together; build/portable/work has everything else.
set -eu
cd "$(dirname "$0")/../.."
HERE=$PWD
WORK=$PWD/build/portable/work
FLOOR=2.17
# Written only into the units for systemd.
PREFIX=/opt/gpukit

say() {
	printf '%s\n' "portable: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

# wrapper FILE COMMAND...: a program for CMake, which takes no command with
# arguments; it stays as it is if it would be the same
wrapper() {
	file=$1
	shift
	{
		echo '#!/bin/sh'
		echo "export ZIG_GLOBAL_CACHE_DIR='$out/glibc'"
		echo "export ZIG_LOCAL_CACHE_DIR='$out/cache'"
		echo "exec $* \"\$@\""
	} >"$file.new"
	chmod +x "$file.new"
	cmp -s "$file.new" "$file" || cp "$file.new" "$file"
	rm -f "$file.new"
}

# binutils MACHINE NAME: those for this machine have no prefix everywhere
binutils() {
	command -v "$1-linux-gnu-$2" && return
	[ "$1" = "$(uname -m)" ] && command -v "$2" && return
	fail "no $1-linux-gnu-$2: install binutils-$(echo "$1" | tr _ -)-linux-gnu"
}

wrappers() {
	mkdir -p "$out/tools"
	flags=-mno-outline-atomics
	[ "$1" != x86_64 ] || flags=
	wrapper "$out/tools/cc" \
		"'$ZIG' cc -target $1-linux-gnu.$FLOOR $flags"
	wrapper "$out/tools/ar" "'$ZIG' ar"
	wrapper "$out/tools/ranlib" "'$ZIG' ranlib"
	wrapper "$out/tools/ld.lld" "'$ZIG' ld.lld"
	for tool in ld objcopy strip; do
		wrapper "$out/tools/$tool" "$(binutils "$1" $tool)"
	done
}

# build MACHINE
build() {
	out=$WORK/$1
	tree=$HERE/build/portable/$1
	wrappers "$1"
	sh tools/portable/libraries.sh "$1" "$WORK/sources" "$out"
	say "$1: building gpukit"
	cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DCMAKE_TOOLCHAIN_FILE="$HERE/cmake/zig.cmake" \
		-DGPUKIT_MACHINE="$1" -DGPUKIT_PORTABLE="$out" \
		-DCMAKE_INSTALL_PREFIX=$PREFIX -DCMAKE_INSTALL_LIBDIR=lib \
		-DGPUKIT_TESTS=OFF -DGPUKIT_OPEN_BY_NAME=ON \
		-DGPUKIT_KISSFFT="$WORK/sources/kissfft" \
		-DGPUKIT_BLAS="$out/deps/lib/libgpukit-blas.so" \
		-DGPUKIT_VGPU_LINK="$HERE/tools/portable/vgpu.sh $out/tools $out/glibc" \
		-DGPUKIT_WERROR="${GPUKIT_WERROR:-OFF}" \
		>"$out/configure.log" 2>&1 || {
		tail -n 30 "$out/configure.log" >&2
		fail "cmake could not configure $out/build"
	}
	# It does not notice when a file that the assembler includes changes.
	rm -rf "$out/cache"
	ninja -C "$out/build" --quiet
	rm -rf "$tree" "$out/install"
	DESTDIR=$out/install cmake --install "$out/build" --strip \
		>"$out/install.log"
	mv "$out/install$PREFIX" "$tree"
	sh tools/portable/floor.sh "$FLOOR" "$tree"
}

targets=
while [ $# -gt 0 ]; do
	case $1 in
	--target) [ $# -gt 1 ] || fail "--target needs a machine"
		targets="$targets $2" && shift 2 ;;
	--target=*) targets="$targets ${1#*=}" && shift ;;
	*) fail "no option '$1'; there is --target x86_64 or aarch64" ;;
	esac
done
for target in ${targets:=x86_64 aarch64}; do
	case $target in
	x86_64 | aarch64) ;;
	*) fail "no target '$target'; there are x86_64 and aarch64" ;;
	esac
done
sh tools/portable/fetch.sh "$WORK/sources"
for target in $targets; do
	build "$target"
done
