#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trees.sh [SUITE]...: tests the portable build in bare trees of Debian, which
# have nothing but what Debian calls a minimal base: bullseye (glibc 2.31),
# bookworm (2.36) and trixie (2.41). Works in build/portable/trees, where
# SUITE.tar is kept. Needs root, or subordinate ids, as tools/fresh.sh.
# shellcheck disable=SC2016,SC2046,SC2086 # the mirror may be empty
set -eu
cd "$(dirname "$0")/../.."
TREES=$PWD/build/portable/trees
BUILT=$PWD/build/portable/$(uname -m)
PYTHON=${PYTHON:-$PWD/build/venv/bin/python}

say() {
	printf '%s\n' "portable: $*" >&2
}

# mirror: prints the address of this machine's mirror, if it runs Debian
mirror() {
	apt-get indextargets --format '$(SITE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
		sed -nE 's/^([^ ]+\/debian\/?) main$/\1/p' | head -n 1
}

# unpack SUITE: makes an empty tree of it
unpack() {
	tree=$TREES/$1
	tar=$TREES/$1.tar
	rm -rf --one-file-system "$tree"
	mkdir -p "$tree"
	if [ ! -f "$tar" ]; then
		say "making a bare tree of $1"
		env container=lxc debootstrap --variant=minbase "$1" "$tree" \
			$(mirror) >"$TREES/$1.log" 2>&1 || {
			say "debootstrap failed; see $TREES/$1.log"
			return 1
		}
		rm -rf "$tree"/var/cache/apt/archives/*.deb
		tar -C "$tree" --exclude './dev/*' --exclude './proc/*' \
			--exclude './sys/*' -cf "$tar.new" .
		mv "$tar.new" "$tar"
	else
		tar -C "$tree" -xf "$tar"
	fi
}

# enter SUITE: what a running machine has, and gpukit
enter() {
	tree=$TREES/$1
	mount -t proc proc "$tree/proc"
	mount --rbind /sys "$tree/sys"
	mount -t tmpfs -o mode=755 dev "$tree/dev"
	for device in null zero full random urandom tty; do
		: >"$tree/dev/$device"
		mount --bind "/dev/$device" "$tree/dev/$device"
	done
	mkdir "$tree/dev/pts" "$tree/dev/shm"
	# The tests open terminals here and pass them to programs inside.
	mount --rbind /dev/pts "$tree/dev/pts"
	mount -t tmpfs -o mode=1777 shm "$tree/dev/shm"
	ln -s pts/ptmx "$tree/dev/ptmx"
	for link in fd:/proc/self/fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
		ln -s "${link#*:}" "$tree/dev/${link%%:*}"
	done
	mkdir -p "$tree/opt/gpukit"
	mount --bind "$BUILT" "$tree/opt/gpukit"
	mount -o remount,bind,ro "$tree/opt/gpukit"
	cp "$TREES/program" "$tree/opt/program"
}

# program: links the CUDA program as a toolkit would, for the same C library
program() {
	fake=$BUILT/lib/gpukit/fake
	"$PWD/build/portable/work/$(uname -m)/tools/cc" -O2 \
		tests/portable/program.c -o "$TREES/program" -L"$fake" \
		-l:libcudart.so.12 -l:libcuda.so.1 -l:libcublas.so.12 \
		-l:libcufft.so.11 -l:libcusolver.so.11 -lm \
		-Wl,--allow-shlib-undefined
}

suite() {
	unpack "$1" && enter "$1" || return 1
	say "$1: $(chroot "$TREES/$1" ldd --version | head -n 1)"
	GPUKIT_TREE=$TREES/$1 "$PYTHON" -m pytest -q -p no:cacheprovider \
		tests/portable/test_trees.py
}

if [ -z "${GPUKIT_INSIDE:-}" ]; then
	mkdir -p "$TREES"
	program
	set -- --mount --pid --fork --kill-child sh "$0" "$@"
	[ "$(id -u)" = 0 ] || set -- --user --map-root-user --map-auto "$@"
	GPUKIT_INSIDE=1 exec unshare "$@"
fi
mount --make-rprivate /
mount -t proc proc /proc
[ $# -gt 0 ] || set -- bullseye bookworm trixie
failed=
for one in "$@"; do
	suite "$one" || failed="$failed $one"
done
[ -z "$failed" ] || {
	say "failed in:$failed"
	exit 1
}
say "all trees passed"
