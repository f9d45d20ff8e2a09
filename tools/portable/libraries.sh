#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the archives that the portable build links, with Zig's compiler, from
# Debian's sources:
#   libraries.sh MACHINE SOURCES OUT [NAME]
# OUT has the compiler's wrappers in tools/ and gets the archives in deps/. A
# library that was built before is not built again.
# shellcheck disable=SC2046,SC2086 # lists are lists of words
set -eu
machine=$1 sources=$2 out=$3
toolchain=$PWD/cmake/zig.cmake
deps=$out/deps

# Terminals that work where no terminfo describes them.
TERMINALS='alacritty ansi contour cygwin dumb foot ghostty gnome-256color kitty
konsole-256color linux mintty putty putty-256color rxvt rxvt-unicode
rxvt-unicode-256color screen screen-256color screen.xterm-256color st-256color
tmux tmux-256color vt100 vt220 vte-256color wezterm xterm xterm-256color
xterm-color xterm-direct'

# Where distributions keep terminfo.
TERMINFO_DIRS=/etc/terminfo:/lib/terminfo:/usr/share/terminfo
TERMINFO_DIRS=$TERMINFO_DIRS:/usr/lib/terminfo:/usr/local/share/terminfo

# with_cmake NAME DIRECTORY OPTION...
with_cmake() {
	name=$1 directory=$2
	shift 2
	cmake -S "$sources/$directory" -B "$out/libraries/$name" -G Ninja \
		-DCMAKE_TOOLCHAIN_FILE="$toolchain" \
		-DGPUKIT_MACHINE="$machine" -DGPUKIT_PORTABLE="$out" \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$deps" \
		-DCMAKE_INSTALL_LIBDIR=lib \
		-DCMAKE_POSITION_INDEPENDENT_CODE=ON \
		-DBUILD_SHARED_LIBS=OFF -Wno-dev "$@"
	ninja -C "$out/libraries/$name" install
}

# with_configure NAME OPTION...
with_configure() {
	name=$1
	shift
	(
		cd "$out/libraries/$name"
		CC=$out/tools/cc AR=$out/tools/ar RANLIB=$out/tools/ranlib \
			CFLAGS='-O2 -fPIC' "$sources/$name/configure" \
			--build="$(uname -m)-build-linux-gnu" \
			--host="$machine-linux-gnu" --prefix="$deps" \
			--libdir="$deps/lib" "$@"
	)
}

# edit FILE SCRIPT...: changes a source, and fails if that changes nothing.
edit() {
	file=$1
	shift
	sh tools/portable/edit.sh "$sources/$file" "$@"
}

# describe MODULE LIBRARY: writes what pkg-config reads, for a library whose
# build does not.
describe() {
	cat >"$deps/lib/pkgconfig/$1.pc" <<-END
		Name: $1
		Description: $1
		Version: 0
		Cflags: -I$deps/include
		Libs: -L$deps/lib -l$2
	END
}

build_libyaml() {
	with_cmake libyaml libyaml -DBUILD_TESTING=OFF
	describe yaml-0.1 yaml
}

build_jansson() {
	with_cmake jansson jansson -DJANSSON_BUILD_DOCS=OFF \
		-DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
}

build_pcre2() {
	with_cmake pcre2 pcre2 -DPCRE2_BUILD_PCRE2GREP=OFF \
		-DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_LIBBZ2=OFF \
		-DPCRE2_SUPPORT_LIBZ=OFF -DPCRE2_SUPPORT_LIBREADLINE=OFF \
		-DPCRE2_SUPPORT_LIBEDIT=OFF -DPCRE2_STATIC_PIC=ON
}

build_libzstd() {
	with_cmake libzstd libzstd/build/cmake -DZSTD_BUILD_PROGRAMS=OFF \
		-DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_TESTS=OFF \
		-DZSTD_MULTITHREAD_SUPPORT=OFF -DZSTD_LEGACY_SUPPORT=OFF
}

# Only blocks of LZ4 are read, which need no checksums.
build_lz4() {
	for part in lz4 lz4hc; do
		"$out/tools/cc" -O3 -fPIC -c "$sources/lz4/lib/$part.c" \
			-o "$out/libraries/lz4/$part.o"
		cp "$sources/lz4/lib/$part.h" "$deps/include"
	done
	"$out/tools/ar" rcD "$deps/lib/liblz4.a" "$out"/libraries/lz4/*.o
	describe liblz4 lz4
}

# Two terminals call themselves otherwise than ncurses does.
build_ncurses() {
	edit ncurses/misc/terminfo.src 's/^kitty|Kov/kitty|xterm-kitty|Kov/' \
		's/^ghostty|Gho/ghostty|xterm-ghostty|Gho/'
	with_configure ncurses --without-shared --with-normal --enable-widec \
		--with-termlib --without-cxx --without-cxx-binding \
		--without-ada --without-manpages --without-progs \
		--without-tests --without-debug --disable-db-install \
		--disable-stripping --enable-check-size --enable-pc-files --with-build-cc=cc \
		--with-pkg-config-libdir="$deps/lib/pkgconfig" \
		--with-fallbacks="$(echo $TERMINALS | tr ' ' ,)" \
		--with-default-terminfo-dir=/usr/share/terminfo \
		--with-terminfo-dirs=$TERMINFO_DIRS
	make -C "$out/libraries/ncurses/include"
	make -C "$out/libraries/ncurses/ncurses" -j2 libs
	make -C "$out/libraries/ncurses" install.includes install.libs
	describe tinfo tinfow
}
# Those of old distributions, too.
GNUTLS='3 6 13'

# The headers of libraries that are opened by name, and for libmicrohttpd's
# configure a library with the functions that it looks for.
build_headers() {
	set -- $GNUTLS
	stub=$out/libraries/headers
	mkdir -p "$stub/lib"
	cp -R "$sources/gnutls28/lib/includes/gnutls" "$sources/curl/include/curl" \
		"$deps/include"
	sed -e "s/@VERSION@/$1.$2.$3/; s/@MAJOR_VERSION@/$1/" \
		-e "s/@MINOR_VERSION@/$2/; s/@PATCH_VERSION@/$3/" \
		-e "s/@NUMBER_VERSION@/$(printf '0x%02x%02x%02x' "$@")/" \
		-e 's/@DEFINE_IOVEC_T@/#include <sys\/uio.h>/' \
		-e 's/giovec_t/struct iovec/g' \
		"$sources/gnutls28/lib/includes/gnutls/gnutls.h.in" \
		>"$deps/include/gnutls/gnutls.h"
	ln -s "$deps/include" "$stub/include"
	grep -rohE 'gnutls_[a-z0-9_]+ *\(' "$sources/libmicrohttpd/configure" \
		"$sources/libmicrohttpd/src/microhttpd" | tr -d ' (' | sort -u |
		sed 's/.*/void &(void);void &(void) {}/' >"$stub/stub.c"
	"$out/tools/cc" -shared -fPIC -Wl,-soname,libgnutls.so.30 \
		"$stub/stub.c" -o "$stub/lib/libgnutls.so"
}

microhttpd() {
	with_configure libmicrohttpd --disable-shared --disable-doc \
		--disable-examples --disable-curl --disable-tools \
		--disable-dauth --disable-postprocessor "$@"
	make -C "$out/libraries/libmicrohttpd/src/microhttpd" \
		libmicrohttpd.la
}

build_libmicrohttpd() {
	microhttpd --enable-https --with-gnutls="$out/libraries/headers"
	built=$out/libraries/libmicrohttpd
	cp "$built/src/microhttpd/.libs/libmicrohttpd.a" \
		"$deps/lib/libmicrohttpd-tls.a"
	rm -rf "$built"
	mkdir "$built"
	microhttpd --disable-https
	cp "$built/src/microhttpd/.libs/libmicrohttpd.a" "$deps/lib"
	cp "$sources/libmicrohttpd/src/include/microhttpd.h" "$deps/include"
	describe libmicrohttpd microhttpd
}

# The processors that BLIS has fast products for. Those of AMD are recognised by
# what they can do, as Intel's are, and Zig writes two names otherwise. Small
# products are not worth a thread, and one that waits for others lets them run.
# BLIS would end the process for a null matrix that is multiplied by 0.
build_blis() {
	edit blis/config_registry 's/^x86_64: .*/x86_64: skx haswell generic/' \
		's/^arm64: .*/arm64: cortexa57/'
	edit blis/frame/base/bli_cpuid.c \
		's/( vendor == VENDOR_INTEL )/( vendor <= VENDOR_AMD )/'
	for part in configure config/skx/make_defs.mk; do
		edit blis/$part 's/skylake-avx512/skylake_avx512/'
	done
	edit blis/config/cortexa57/make_defs.mk 's/cortex-a57/cortex_a57/'
	small='(double)m * n * k < (1 << 21)'
	edit blis/frame/base/bli_rntm.c \
		"/^void bli_rntm_fac/,/^}/s/nt = bli_rntm/nt = $small ? 1 : bli_rntm/"
	edit blis/frame/thread/bli_thrcomm.c \
		's/; \/\/ Empty loop body\./sched_yield();/'
	edit blis/frame/base/bli_error.c \
		'/^static/s/BLIS_FULL_ERROR_CHECKING/BLIS_NO_ERROR_CHECKING/'
	family=x86_64
	[ "$machine" = x86_64 ] || family=arm64
	(
		cd "$out/libraries/blis"
		CC=$out/tools/cc AR=$out/tools/ar RANLIB=$out/tools/ranlib \
			CFLAGS='-ffunction-sections -fdata-sections' \
			"$sources/blis/configure" -t pthreads --enable-static \
			--disable-shared --enable-cblas --prefix="$deps" "$family"
		make -j2
		cp lib/$family/libblis.a "$deps/lib"
		cp include/$family/blis.h "$deps/include"
	)
}

# A compiler for Fortran: the distribution's, since Zig has none.
fortran() {
	for version in '' -15 -14 -13 -12 -11 -10; do
		command -v "$machine-linux-gnu-gfortran$version" && return
	done
	echo "portable: no Fortran compiler for $machine" >&2
	return 1
}

# libgpukit-blas.so has the functions that our libraries call, and no others.
build_blas() {
	work=$out/libraries/blas
	"$out/tools/cc" -E -P -I src tools/portable/blas_names.c |
		tr -s ' ' '\n' | grep . | sort -u >"$work/names"
	sh tools/portable/lapack.sh "$(fortran)" "$machine-linux-gnu-nm" \
		"$sources/lapack" "$work/lapack" \
		$(grep -v cblas_ "$work/names")
	{
		echo '{ global:'
		sed 's/$/;/' "$work/names"
		echo 'local: *; };'
	} >"$work/map"
	"$out/tools/cc" -O2 -fPIC -D_GNU_SOURCE -I src -I"$deps/include" \
		-c tools/portable/blas.c -o "$work/blas.o"
	"$out/tools/cc" -shared -s -Wl,--gc-sections \
		-Wl,--version-script="$work/map" \
		$(sed 's/^/-Wl,-u,/' "$work/names") "$work/blas.o" \
		"$work"/lapack/*.o "$deps/lib/libblis.a" -lm -lpthread \
		-o "$deps/lib/libgpukit-blas.so"
}

if [ $# -gt 3 ]; then
	"build_$4"
	exit
fi
mkdir -p "$deps/lib/pkgconfig" "$deps/include"
for name in libyaml jansson pcre2 libzstd lz4 ncurses headers libmicrohttpd blis blas; do
	work=$out/libraries/$name
	[ ! -e "$work.built" ] || continue
	rm -rf "$work"
	mkdir -p "$work"
	echo "portable: $machine: building $name" >&2
	sh "$0" "$machine" "$sources" "$out" "$name" >"$work.log" 2>&1 || {
		tail -n 30 "$work.log" >&2
		echo "portable: $name could not be built; see $work.log" >&2
		exit 1
	}
	: >"$work.built"
done
