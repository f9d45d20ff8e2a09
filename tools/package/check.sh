#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh OLD NEW KIND...: installs packages of each KIND (deb, tar, rpm, wheels,
# images) in a bare Debian 12 tree, uses them as another user, upgrades from OLD to
# NEW, and removes them; see check/KIND.sh. build/packages-old and build/packages
# have the packages. Mounts and processes are in namespaces of their own.
# shellcheck disable=SC2015,SC2034 # trees.sh uses NAME
set -eu
cd "$(dirname "$0")/../.."
NAME=packages
# shellcheck source=/dev/null
. tools/trees.sh
[ -n "${FRESH_INSIDE:-}" ] || enter_namespaces sh "$0" "$@"
old=$1
new=$2
shift 2

# try KIND: runs its script in a tree of its own
try() {
	tree=$FRESH/packages
	bare bookworm "$tree"
	as_here bookworm "$tree"
	mounts "$tree" bookworm
	user "$tree"
	mkdir -p "$tree/packages" "$tree/check"
	cp -r build/packages-old "$tree/packages/old"
	cp -r build/packages "$tree/packages/new"
	cp tools/package/check/*.sh "$tree/check"
	{
		passed_on
		echo "export OLD='$old' NEW='$new' PATH=/usr/sbin:/usr/bin:/sbin:/bin"
		echo ". /check/$1.sh"
	} >"$tree/check/start"
	# The log is on this side: it must not become a file of the tree.
	chroot "$tree" env -i sh /check/start >"$FRESH/packages-$1.log" 2>&1 &&
		status=0 || status=$?
	grep '^packages: ' "$FRESH/packages-$1.log" || true
	[ "$status" = 0 ] || tail -n 20 "$FRESH/packages-$1.log" >&2
	umount -R "$tree/proc" "$tree/sys" "$tree/dev" \
		"$tree/var/cache/apt/archives" "$tree/var/cache/pip"
	rm -rf --one-file-system "$tree"
	return "$status"
}

# try_image NAME: unpacks an archive and runs what it says, as another user
try_image() {
	tree=$FRESH/packages
	rm -rf --one-file-system "$tree"
	mkdir -p "$tree"
	archive=build/packages/$1-$new-image-$(uname -m).tar
	shift
	start=$(python3 tools/package/unpack_image.py "$archive" "$tree")
	mounts "$tree" bookworm
	# shellcheck disable=SC2086 # a list of words
	out=$(chroot "$tree" env -i PATH=/usr/local/bin:/usr/bin:/bin \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		$start "$@" 2>&1) && status=0 || status=$?
	umount -R "$tree/proc" "$tree/sys" "$tree/dev" \
		"$tree/var/cache/apt/archives" "$tree/var/cache/pip"
	rm -rf --one-file-system "$tree"
	printf '%s\n' "$out"
	return "$status"
}

# The image of the command has no GPU here: it says so.
images() {
	out=$(try_image gpukit-fake gpukit stat) || fail "gpukit-fake: $out"
	[ "$(echo "$out" | grep -c A100)" = 8 ] || fail "gpukit-fake: $out"
	out=$(try_image gpukit --version) || fail "image gpukit: $out"
	say "images: $out; gpukit-fake gpukit stat shows eight GPUs"
}

failed=
for kind in "$@"; do
	case $kind in
	images) images & ;;
	*) try "$kind" & ;; # in the background, so that set -e works in it
	esac
	wait "$!" || failed="$failed $kind"
done
[ -z "$failed" ] || fail "failed:$failed"
say "passed: $*"
