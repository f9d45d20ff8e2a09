# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: PyTorch and other programs of several gigabytes.

# The part of tests/torch that `test` runs: a tenth of the table of operators,
# and one training of each kind. `torch` runs all of it.
TORCH_TESTS="tests/torch/test_torch_table.py tests/torch/test_torch_operators.py
	tests/torch/test_torch_training.py::test_losses_are_those_of_the_cpu
	tests/torch/test_torch_training.py::test_memory_is_handled_as_on_a_gpu
	tests/torch/test_torch_nccl.py::test_two_ranks_learn_what_one_learns
	tests/torch/test_torch_graph.py::test_a_replay_draws_the_numbers_that_the_step_would
	tests/torch/test_torch_graph.py::test_graphs_may_share_a_pool
	tests/torch/test_torch_doctor.py tests/torch/test_torch_watched.py
	tests/torch/test_torch_report.py tests/torch/test_torch_types.py"

# venv_of LIST VENV: makes a Python with the packages of a list; again when the
# list changes. PyCUDA is compiled on the spot, and finds its build settings in
# the home directory.
venv_of() {
	cmp -s "$1" "$2/.requirements" && return
	say "installing $1"
	rm -rf "$2"
	python3 -m venv "$2"
	cat >"$2/.aksetup-defaults.py" <<END
CUDA_ROOT = "$PWD/build/cuda/nvidia/cu13"
CUDADRV_LIB_DIR = ["$PWD/build/lib/gpukit/fake"]
CUDA_ENABLE_CURAND = False
END
	HOME=$PWD/$2 "$2/bin/pip" install -q --disable-pip-version-check \
		--no-cache-dir --no-compile -r "$1" || {
		rm -rf "$2"
		return 1
	}
	cp "$1" "$2/.requirements"
}

# Installs PyTorch for CUDA: 3 GB to download, once.
torch_packages() {
	venv_of tests/torch/requirements.txt build/venv-torch
}

# Installs packages with models for PyTorch.
torch_models() {
	stamp=build/venv-torch/.models
	cmp -s tests/torch/models.txt "$stamp" || {
		build/venv-torch/bin/pip install -q \
			--disable-pip-version-check --no-cache-dir \
			--no-compile -r tests/torch/models.txt
		cp tests/torch/models.txt "$stamp"
	}
}

# CI fetches PyTorch while it builds; elsewhere `torch` installs it, or its
# tests are skipped.
begin_torch_packages() {
	fetching=
	[ -z "${CI:-}" ] || {
		torch_packages &
		fetching=$!
	}
}

await_torch_packages() {
	[ -z "$fetching" ] || wait "$fetching" ||
		fail "cannot download PyTorch"
}

# torch: runs the tests of PyTorch, and prints its table of operators.
torch() {
	need test
	build
	python_packages
	torch_packages
	torch_models
	GPUKIT_TORCH_ALL=1 GPUKIT_BUILD=build build/venv-torch/bin/python \
		-m pytest -q -n "$WORKERS" -p no:cacheprovider \
		${TESTS:+-k "$TESTS"} tests/torch || fail "tests failed"
}

# debian_tree LIST DIR: unpacks the packages of a list (name=version) of Debian
# into a directory; again when the list changes. Nothing is installed.
debian_tree() {
	cmp -s "$1" "$2/.requirements" && return
	say "unpacking $1"
	rm -rf "$2"
	mkdir -p "$2"
	list=$PWD/$1
	(
		cd "$2"
		apt-get download -qq $(grep -v '^#' "$list") >/dev/null 2>&1
		for package in *.deb; do
			dpkg-deb -x "$package" .
		done
		rm ./*.deb
	) || {
		rm -rf "$2"
		fail "cannot get the packages of $1: they are Debian 12's"
	}
	cp "$1" "$2/.requirements"
}

# real [NAME...]: runs programs from PyPI, and from Debian, that are too large
# or too many for `test`.
real() {
	[ $# -gt 0 ] || set -- $(basename -a -s .py tests/real/test_*.py |
		sed 's/^test_//')
	need test
	build
	python_packages
	cuda_toolkit
	files=
	for name in "$@"; do
		if [ -f "tests/real/$name.txt" ]; then
			venv_of "tests/real/$name.txt" "build/real/$name"
		elif [ -f "tests/real/$name.debs" ]; then
			debian_tree "tests/real/$name.debs" "build/real/$name"
		else
			fail "no program '$name'; there are:" tests/real/*.txt \
				tests/real/*.debs
		fi
		files="$files tests/real/test_$name.py"
	done
	GPUKIT_BUILD=build build/venv/bin/python -m pytest -q \
		-p no:cacheprovider ${TESTS:+-k "$TESTS"} $files ||
		fail "tests failed"
}
