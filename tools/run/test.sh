# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: the everyday tests.

c_status=0
python_status=0

# A background job of a shell ignores SIGINT and SIGQUIT, and so would the
# programs that tests interrupt. Restores the default (tests/conftest.py does
# the same for Python tests).
minding_signals() {
	if env --default-signal=INT true 2>/dev/null; then
		env --default-signal=INT,QUIT "$@"
	else
		"$@"
	fi
}

# c_tests DIR: runs the C tests there; the log is DIR/ctest.log. They run first,
# so this removes the reports of the previous run.
c_tests() {
	rm -f "$1/ctest.log" "$1"/pytest*.xml "$1"/pytest*.ids
	ctest --test-dir "$1" --show-only=json-v1 ${TESTS:+-R "$TESTS"} \
		>"$1/ctest.json"
	minding_signals ctest --test-dir "$1" -j "$WORKERS" -V ${TESTS:+-R "$TESTS"} \
		>"$1/ctest.log" 2>&1 || {
		c_status=$?
		grep -E '\[  FAILED|\[   LINE|\*\*\*|Error|ERROR:|SUMMARY' \
			"$1/ctest.log" | head -60 >&2
		say "C tests failed; see $1/ctest.log"
	}
}

# python_tests DIR PYTHON PATH...: runs these tests on the build in DIR; the
# report is DIR/$report.xml.
report=pytest
python_tests() {
	dir=$1
	python=$2
	shift 2
	workers=
	! "$python" -c 'import xdist' 2>/dev/null ||
		workers="-n $WORKERS --dist loadgroup"
	rm -f "$dir/$report.xml"
	: >"$dir/$report.ids"
	GPUKIT_BUILD=$dir GPUKIT_COLLECTED=$PWD/$dir/$report.ids \
		"$python" -m pytest -q $workers -p no:cacheprovider "$@" \
		${TESTS:+-k "$TESTS"} \
		--junitxml "$dir/$report.xml" -o junit_family=xunit1 || {
		status=$?
		# 5: no test matches TESTS.
		[ "$status" = 5 ] && [ -n "${TESTS:-}" ] ||
			python_status=$status
	}
}

# tests_ran DIR [OPTION]...: reports what ran and what did not; prints the
# closing line.
tests_ran() {
	python3 tools/tests-ran.py "$@" --status "ctest=$c_status" \
		--status "pytest=$python_status" || fail "tests failed"
}

run_tests() {
	need build fake wheel test
	begin_torch_packages
	build
	python_packages
	cuda_toolkit
	prometheus_programs
	await_torch_packages
	c_tests build
	python_tests build build/venv/bin/python tests --ignore tests/real \
		--ignore tests/torch
	whole="--whole --ignore real --ignore torch"
	[ -z "${TESTS:-}" ] || whole=
	if [ -x build/venv-torch/bin/python ]; then
		report=pytest-torch
		python_tests build build/venv/bin/python $TORCH_TESTS
		tests_ran build $whole
	else
		tests_ran build $whole --left-out \
			"tests/torch=PyTorch is 3 GB: ./run torch fetches it"
	fi
}

# Prints a Python with pytest: PyPI's in build/venv, or Debian's.
python_with_pytest() {
	for python in ${PYTHON:-build/venv/bin/python /usr/bin/python3 python3}
	do
		! "$python" -c 'import pytest' 2>/dev/null || {
			echo "$python"
			return
		}
	done
	fail "no Python with pytest; install python3-pytest"
}

# Runs the tests that need no network; they wait more than they work.
check() {
	can_build && pkg-config --exists cmocka ||
		fail "packages are missing; install:$(missing \
			build fake test check)"
	build
	python=$(python_with_pytest)
	WORKERS=$((3 * JOBS))
	c_tests build
	python_tests build "$python" tests/cli tests/truth tests/tools \
		tests/python
	tests_ran build --any-may-skip
}
