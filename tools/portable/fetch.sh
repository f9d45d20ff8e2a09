#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIRECTORY: fetches and unpacks the source packages of sources.txt,
# each in DIRECTORY/NAME, with apt's own mirror, proxy and keys, but with lists
# of sources and a cache of its own.
# shellcheck disable=SC2016,SC2046,SC2086 # options are lists of words
set -eu
table=$PWD/$(dirname "$0")/sources.txt
mkdir -p "$1"
cd "$1"

fail() {
	echo "portable: $*" >&2
	exit 1
}

# Prints "SITE RELEASE" of this machine's sources of Debian packages, without
# the suite's name.
sites() {
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 2>/dev/null |
		sed -nE 's/^([^ ]+debian[^ ]*) [a-z]+(-security)? main$/\1 \2/p' |
		sort -u
}

# own APT-COMMAND...: runs it with the sources and the cache of this directory
own() {
	"$@" -qq -o Dir::Etc::sourcelist="$PWD/apt/sources.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/apt/lists" \
		-o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root
}

lists() {
	mkdir -p apt/lists/partial apt/cache/archives/partial
	sites | while read -r site kind; do
		for suite in trixie bookworm; do
			echo "deb-src $site $suite$kind main"
		done
	done >apt/sources.list
	[ -s apt/sources.list ] || fail "apt has no Debian mirror here"
	own apt-get update || fail "apt-get update failed"
}

# fetch NAME VERSION FILE SUM: a file that is not there fails by its sum
fetch() {
	echo "portable: fetching $1 $2" >&2
	only=--download-only
	case $3 in *.orig.tar.*) only=--tar-only ;; esac
	own apt-get source $only "$1=$2" >/dev/null 2>apt/errors || true
	echo "$4  $3" | sha256sum --check --quiet 2>/dev/null || {
		cat apt/errors >&2
		fail "$3 of Debian's $1 $2 cannot be fetched, or is not what" \
			"tools/portable/sources.txt says"
	}
	rm -rf "$1"
	case $3 in
	*.dsc) dpkg-source --no-check -x "$3" "$1" ;;
	*) mkdir "$1" && tar -C "$1" --strip-components=1 -xf "$3" ;;
	esac >apt/errors 2>&1 || {
		cat apt/errors >&2
		fail "$3 could not be unpacked"
	}
	echo "$4" >"$1.unpacked"
}

for command in apt-get dpkg-source; do
	command -v "$command" >/dev/null ||
		fail "no $command: sources are fetched on Debian only (dpkg-dev)"
done
grep -v '^#' "$table" | {
	ready=
	while read -r name version file sum; do
		[ "$(cat "$name.unpacked" 2>/dev/null)" != "$sum" ] || continue
		[ -n "$ready" ] || lists
		ready=yes
		fetch "$name" "$version" "$file" "$sum" </dev/null
	done
}
