#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lapack.sh FORTRAN NM LAPACK OUT NAME...: compiles those files of LAPACK's
# source that functions NAME need, and the files that they need, into OUT/*.o.
# The BLAS comes from elsewhere, with lsame and xerbla.
set -eu
fortran=$1 nm=$2 lapack=$3 out=$4
shift 4

source_of() {
	for file in "SRC/$1.f" "SRC/$1.f90" "SRC/$1.F90" "INSTALL/$1.f"; do
		[ ! -f "$lapack/$file" ] || {
			echo "$lapack/$file"
			return
		}
	done
}

compile() {
	$fortran -O2 -fPIC -frecursive -std=legacy -w -ffunction-sections \
		-J "$out" -c "$1" -o "$out/$(basename "${1%.*}").o"
}

mkdir -p "$out"
# Modules that others use.
for module in SRC/la_constants.f90 SRC/la_xisnan.F90; do
	compile "$lapack/$module"
done
: >"$out/lsame.elsewhere"
: >"$out/xerbla.elsewhere"
printf '%s\n' "$@" | sed 's/_$//' >"$out/wanted"
while [ -s "$out/wanted" ]; do
	while read -r name; do
		file=$(source_of "$name")
		if [ -n "$file" ]; then
			compile "$file"
		else
			: >"$out/$name.elsewhere"
		fi
	done <"$out/wanted"
	"$nm" --undefined-only "$out"/*.o | sed -nE 's/.* U (.*[^_])_$/\1/p' |
		sort -u | while read -r name; do
		[ -e "$out/$name.o" ] || [ -e "$out/$name.elsewhere" ] ||
			echo "$name"
	done >"$out/wanted.new"
	mv "$out/wanted.new" "$out/wanted"
done
