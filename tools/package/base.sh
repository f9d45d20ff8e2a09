#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# base.sh: makes build/fresh/base.tar, the lowest layer of container images: a
# Debian tree (tools/trees.sh) without logs, caches, translations, documentation
# but licences, and what tells machines apart.
# The same packages of Debian make the same bytes.
# shellcheck disable=SC2034 # trees.sh uses NAME
set -eu
cd "$(dirname "$0")/../.."
NAME=base
# shellcheck source=/dev/null
. tools/trees.sh
[ -n "${FRESH_INSIDE:-}" ] || enter_namespaces sh "$0"
tree=$FRESH/base
mkdir -p "$FRESH"
bare bookworm "$tree"
cd "$tree"
rm -rf var/log/* var/cache/* var/lib/apt/lists/* tmp/* etc/machine-id \
	etc/hostname etc/resolv.conf var/lib/dpkg/*-old etc/*- \
	usr/share/locale/* usr/share/man/* usr/share/info/* var/lib/systemd
find usr/share/doc -type f ! -name copyright -delete
# Nobody has a password, so its day counts for nothing.
sed -i "s/^\([^:]*:[^:]*\):[0-9]*:/\1:$((SOURCE_DATE_EPOCH / 86400)):/" etc/shadow
mkdir -p var/cache/apt/archives/partial var/lib/apt/lists/partial var/log/apt
echo 'deb http://deb.debian.org/debian bookworm main' >etc/apt/sources.list
tar --sort=name --format=gnu --numeric-owner \
	--mtime="@$SOURCE_DATE_EPOCH" \
	--exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
	-cf "$FRESH/base.tar.new" .
mv "$FRESH/base.tar.new" "$FRESH/base.tar"
cd /
rm -rf --one-file-system "$tree"
