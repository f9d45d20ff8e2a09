# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: a release is made of what is committed, in a clone of its own, so
# that nothing else gets into it.

# release [--twice]: all artefacts in build/release-VERSION. Their publication is
# the owner's: nothing is uploaded or tagged.
release() {
	case ${1:-} in
	'' | --twice) ;;
	*) fail "release has no option '$1'" ;;
	esac
	[ -z "$(git status --porcelain -uno)" ] ||
		fail "commit first: a release is made of what is committed"
	VERSION=$(version)
	grep -q "^## $VERSION" CHANGELOG.md ||
		fail "CHANGELOG.md has no section $VERSION"
	python3 tools/project.py check
	python_program tests/spdx.txt build/venv-spdx
	SPDX=$PWD/build/venv-spdx/bin/pyspdxtools
	out=$PWD/build/release-$VERSION
	release_in "$PWD/build/release/one" "$out"
	[ "${1:-}" != --twice ] || compare_release "$out"
	! grep -q 'example\.org\|OWNER' packaging/project.conf ||
		say "packaging/project.conf still has placeholders:" \
			"fill them in before anything is published"
}

# release_in PLACE OUT: clones this checkout to PLACE, makes everything there.
release_in() {
	rm -rf "$1" "$2"
	mkdir -p "${1%/*}" "$2"
	git clone -q --no-hardlinks . "$1"
	share_tools "$1/build"
	say "release: in $1"
	(
		cd "$1" || exit
		./run package ${KINDS:-tar deb rpm wheels images source}
		cp build/packages/* "$2"
	)
	(
		cd "$2" || exit
		SOURCE_DATE_EPOCH=$(commit_time_of "$1")
		export SOURCE_DATE_EPOCH
		python3 "$1/tools/sbom.py" spdx --version "$VERSION" \
			--commit "$(git -C "$1" rev-parse HEAD)" \
			"$PWD" >"$1/build/sbom"
		mv "$1/build/sbom" "gpukit-$VERSION.spdx.json"
		"$SPDX" -i "gpukit-$VERSION.spdx.json"
		sha256sum -- * | LC_ALL=C sort -k 2 >"$1/build/sums"
		mv "$1/build/sums" SHA256SUMS
	)
	say "release: $(find "$2" -type f | wc -l) files in ${2#"$PWD/"}"
}

# share_tools BUILD: what ./run has fetched is not fetched again: compilers and
# sources, which are the same for everybody.
share_tools() {
	mkdir -p "$1"
	for part in zig venv fresh; do
		[ ! -e "build/$part" ] || ln -s "$PWD/build/$part" "$1/$part"
	done
}

commit_time_of() {
	git -C "$1" log -1 --format=%ct
}

# compare_release OUT: makes the release again, in a directory with another name
# and length, and fails if any byte differs.
compare_release() {
	again=$PWD/build/release/another-directory
	release_in "$again" "$PWD/build/release/again"
	cmp "$1/SHA256SUMS" build/release/again/SHA256SUMS || {
		diff "$1/SHA256SUMS" build/release/again/SHA256SUMS >&2 || true
		fail "the two builds differ"
	}
	say "release: both builds are the same bytes"
}
