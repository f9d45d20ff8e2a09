#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs README's two commands on a bare machine. Makes a Debian tree with only
# git and certificates, clones this checkout into it and runs ./run demo and
# ./run test there: in bookworm as root, in a clone under /root, with nohup and
# in the background; in trixie as a user with sudo, in a clone under /home.
# Prints what failed.
#
# Usage: tools/fresh.sh [bookworm|trixie]...   (default: both)
#
# Works in build/fresh with tools/trees.sh: SUITE.log is the output, and SUITE is
# the tree of the last run. Mounts and processes are in namespaces of their own, which end with the
# command. TESTS is passed on.
# shellcheck disable=SC2015,SC2034
set -eu
cd "$(dirname "$0")/.."
NAME=fresh # for say
# shellcheck source=/dev/null
. tools/trees.sh

# start_of HOME: prints the script to run in the tree: the environment's
# variables for fetching packages, and the two commands, as the suite runs them
start_of() {
	env | sed -nE "s/'/'\\\\''/g; s/^($PASSED_ON)=(.*)/export \1='\2'/p"
	echo "export PIP_CACHE_DIR=/var/cache/pip HOME=$1"
	echo "cd $1/gpukit"
	if [ "$1" = /root ]; then
		echo "export PATH=/usr/sbin:/usr/bin:/sbin:/bin"
		# A shell's background job also ignores SIGINT.
		echo 'nohup sh tools/two-commands.sh </dev/null 2>&1 & wait $!'
	else
		echo "export PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8"
		echo 'sh tools/two-commands.sh </dev/null 2>&1'
	fi
}

# suite SUITE: tests in one tree; its log says how it ended
suite() {
	tree=$FRESH/$1
	home=/root
	who=root
	[ "$1" = bookworm ] || who=someone home=/home/someone
	bare "$1" "$tree"
	as_here "$1" "$tree"
	mounts "$tree" "$1"
	[ "$who" = root ] || user "$tree"
	git -c safe.directory='*' clone -q --no-hardlinks . "$tree$home/gpukit"
	start_of "$home" >"$tree/start"
	chroot "$tree" chown -R "$who:" "$home" /var/cache/pip
	say "$1: ./run demo and ./run test, as $who; see build/fresh/$1.log"
	chroot "$tree" env -i setpriv --reuid="$who" --regid="$who" \
		--init-groups env TERM=xterm sh /start >"$FRESH/$1.log" &&
		status=0 || status=$?
	grep -E '^(two-commands|failed): ' "$FRESH/$1.log" || true
	tail -n 1 "$FRESH/$1.log" | sed "s/^/$1: /"
	return "$status"
}

for one in "$@"; do
	case $one in
	bookworm | trixie) ;;
	*) fail "no suite '$one'; there are bookworm and trixie" ;;
	esac
done
command -v debootstrap >/dev/null || fail "install debootstrap"
[ -n "${FRESH_INSIDE:-}" ] || enter_namespaces sh "$0" "$@"
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$FRESH"
[ -z "$(git -c safe.directory='*' status --porcelain -uno)" ] ||
	say "what is not committed is not in the clones"
failed=
for one in "$@"; do
	suite "$one" & # in the background, so that set -e works in it
	wait "$!" || failed="$failed $one"
done
[ -z "$failed" ] || fail "failed:$failed"
say "both commands work"
