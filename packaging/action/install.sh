#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step of action.yml: unpacks a portable archive of gpukit and puts the command
# on the PATH of the steps that follow. ARCHIVE is its path or URL, or empty: the
# release TAG below RELEASES.
set -euo pipefail
to=$RUNNER_TEMP/gpukit
archive=${ARCHIVE:-}
sum=${SHA256:-}

fetch() {
	curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
}

mkdir -p "$to"
if [ -z "$archive" ]; then
	[[ ${TAG:-} =~ ^v([0-9]+\.[0-9]+\.[0-9]+)$ ]] || {
		echo "gpukit: the action is used by '${TAG:-}', which is no" \
			"release (v0.2.0); give the input archive" >&2
		exit 1
	}
	name=gpukit-${BASH_REMATCH[1]}-$(uname -m).tar.xz
	fetch "$RELEASES/download/$TAG/SHA256SUMS" "$to/SHA256SUMS"
	archive=$RELEASES/download/$TAG/$name
	sum=$(awk -v name="$name" '$2 == name { print $1 }' "$to/SHA256SUMS")
	[ -n "$sum" ] || {
		echo "gpukit: $name is not in the release's SHA256SUMS" >&2
		exit 1
	}
fi
case $archive in
https://*)
	fetch "$archive" "$to/archive.tar.xz"
	archive=$to/archive.tar.xz
	;;
esac
[ -z "$sum" ] || echo "$sum  $archive" | sha256sum --check --quiet -
tar -C "$to" --strip-components=1 -xJf "$archive"
echo "$to/bin" >>"$GITHUB_PATH"
"$to/bin/gpukit" --version
