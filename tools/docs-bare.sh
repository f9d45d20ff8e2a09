#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of README.md and docs/ in a bare tree of Debian, as a user who
# has downloaded the packages of `./run package`: tests/docs/pages.py --installed.
# pip sees nothing but build/packages, apt nothing at all.
#
# Usage: tools/docs-bare.sh [bookworm|trixie]   (default: bookworm)
#
# The tree has what desktops and servers have, or a page says to install: Python,
# gnuplot, curl, jq, openssl, ps, xz.
# Works in build/fresh with tools/trees.sh: docs.log is the output.
# shellcheck disable=SC2034 # trees.sh uses NAME
set -eu
cd "$(dirname "$0")/.."
NAME=docs
# shellcheck source=tools/trees.sh disable=SC1091
. tools/trees.sh
WITH="python3-venv gnuplot-nox curl jq openssl procps xz-utils"

# equip SUITE TREE: installs the programs of WITH, then forgets all sources
equip() {
	chroot "$2" sh -ec "
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			-o Dpkg::Options::=--force-unsafe-io \
			--no-install-recommends $WITH
		: >/etc/apt/sources.list
		rm -rf /etc/apt/sources.list.d /var/lib/apt/lists/*" \
		>"$FRESH/docs.apt.log" 2>&1 ||
		fail "could not equip the tree; see $FRESH/docs.apt.log"
	printf '[global]\nno-index = true\nfind-links = /home/someone\n' \
		>"$2/etc/pip.conf"
}

# fill TREE: the packages, and the pages with the tool that runs them
fill() {
	cp build/packages/* "$1/home/someone"
	mkdir -p "$1/home/someone/pages"
	git -c safe.directory='*' archive HEAD README.md docs tests/docs \
		tests/docs-not-run.txt | tar -C "$1/home/someone/pages" -xf -
	chroot "$1" chown -R someone: /home/someone
}

suite=${1:-bookworm}
case $suite in
bookworm | trixie) ;;
*) fail "no suite '$suite'; there are bookworm and trixie" ;;
esac
command -v debootstrap >/dev/null || fail "install debootstrap"
ls build/packages/gpukit-*.tar.xz build/packages/gpukit-*.whl >/dev/null ||
	fail "first make the packages: ./run package tar wheels"
mkdir -p "$FRESH"
[ -n "${FRESH_INSIDE:-}" ] || enter_namespaces sh "$0" "$@"
tree=$FRESH/docs
bare "$suite" "$tree"
as_here "$suite" "$tree"
mounts "$tree" "$suite"
equip "$suite" "$tree"
user "$tree"
fill "$tree"
say "$suite: the pages; see build/fresh/docs.log"
chroot "$tree" env -i setpriv --reuid=someone --regid=someone --init-groups \
	env HOME=/home/someone PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
	sh -c 'cd && python3 pages/tests/docs/pages.py --installed' \
	>"$FRESH/docs.log" 2>&1 && status=0 || status=$?
grep -vE ': ok$' "$FRESH/docs.log" || true
[ "$status" = 0 ] || fail "some pages fail"
say "all pages work: $(grep -c ': ok$' "$FRESH/docs.log")"
