# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: programs for the tests that are not in Debian's packages.

# Installs pinned Python packages into build/venv, NVIDIA's header into
# build/nvml-dev, and its bindings for old and new drivers into
# build/venv-ml/VERSION.
python_packages() {
	stamp=build/venv/.requirements
	if ! cmp -s tests/requirements.txt "$stamp"; then
		python3 -m venv build/venv
		build/venv/bin/pip install -q --disable-pip-version-check \
			-r tests/requirements.txt
		cp tests/requirements.txt "$stamp"
	fi
	[ -d build/nvml-dev ] ||
		build/venv/bin/pip install -q --disable-pip-version-check \
			--no-deps --target build/nvml-dev nvidia-nvml-dev==13.3.29
	grep -v '^#' tests/nvidia-ml-py.txt | while read -r _ version; do
		[ -d "build/venv-ml/$version" ] ||
			build/venv/bin/pip install -q --no-deps --no-compile \
				--disable-pip-version-check --target \
				"build/venv-ml/$version" "nvidia-ml-py==$version" \
				</dev/null
	done
}

# cuda_packages LIST DIR: installs NVIDIA's packages of a list into a directory
# of their own; again when the list changes.
cuda_packages() {
	cmp -s "$1" "$2/.requirements" || {
		rm -rf "$2"
		build/venv/bin/pip install -q --disable-pip-version-check \
			--no-deps --no-compile --target "$2" -r "$1"
		cp "$1" "$2/.requirements"
	}
}

# python_program LIST DIR: installs the packages of a list in an environment of
# their own; again when the list changes.
python_program() {
	cmp -s "$1" "$2/.requirements" || {
		python3 -m venv "$2"
		"$2/bin/pip" install -q --disable-pip-version-check -r "$1"
		cp "$1" "$2/.requirements"
	}
}

# Installs the compiler and the runtimes that the tests build CUDA programs
# with: build/cuda (13: nvcc, headers, libraries), build/cuda12 and
# build/cuda-newer (headers and libraries to compare with).
cuda_toolkit() {
	cuda_packages tests/cuda-13.txt build/cuda
	cuda_packages tests/cuda-12.txt build/cuda12
	cuda_packages tests/cuda-newer.txt build/cuda-newer
	# nvcc looks here for -lcudart, and numba for libNVVM.
	home=build/cuda/nvidia/cu13
	ln -sfn lib $home/lib64
	ln -sfn libcudart.so.13 $home/lib/libcudart.so
	mkdir -p $home/nvvm/lib64
	ln -sfn ../../lib/libnvvm.so.4 $home/nvvm/lib64/libnvvm.so.4
	ln -sfn libnvvm.so.4 $home/nvvm/lib64/libnvvm.so
}

# Unpacks Prometheus, which scrapes `gpukit export` in a test, into
# build/prometheus: installing the package would start a service.
prometheus_programs() {
	[ ! -x build/prometheus/usr/bin/prometheus ] || return 0
	command -v apt-get >/dev/null || return 0
	mkdir -p build/prometheus
	(
		cd build/prometheus
		apt-get download -qq prometheus >/dev/null 2>&1 &&
			dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb
	) || say "no package of Prometheus: its test is skipped"
}
