# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: builds for every Linux, and the trees that they are tested in.

# portable [--target MACHINE]...
portable() {
	need build portable
	[ -d build/zig ] || {
		python3 -m venv build/venv-zig
		build/venv-zig/bin/pip install -q --disable-pip-version-check \
			--no-deps --no-compile --target build/zig.new \
			-r tests/portable.txt
		mv build/zig.new build/zig
	}
	ZIG=$PWD/build/zig/ziglang/zig sh tools/portable/portable.sh "$@"
}

# trees [SUITE]...: tests the build for this machine in bare trees of Debian
trees() {
	need fresh test
	portable --target "$(uname -m)"
	python_packages
	build/venv/bin/python -m pytest -q -p no:cacheprovider \
		tests/portable/test_blas.py
	sh tools/portable/trees.sh "$@"
}
