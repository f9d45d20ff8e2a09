# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: Python packages.

# A Python that can build wheels with C code: with headers, setuptools and
# wheel.
python_with_wheel() {
	for python in ${PYTHON:-build/venv/bin/python /usr/bin/python3 python3}
	do
		! "$python" - 2>/dev/null <<-END || {
			import os, setuptools, sysconfig, wheel
			include = sysconfig.get_paths()["include"]
			assert os.path.exists(include + "/Python.h")
		END
			command -v "$python"
			return
		}
	done
	return 1
}

# Builds the wheel of the package alone, without the command, in
# build/python/dist, for CPython 3.9 and later.
build_wheel() {
	python_with_wheel >/dev/null || need wheel
	python=$(realpath -s "$(python_with_wheel)")
	out=$PWD/build/python
	mkdir -p "$out"
	rm -rf "$out/dist" "$out/wheel"
	(
		cd python
		"$python" setup.py -q egg_info -e "$out" \
			build -b "$out/wheel" bdist_wheel -d "$out/dist"
	) >"$out/wheel.log" 2>&1 || {
		cat "$out/wheel.log" >&2
		fail "the wheel could not be built"
	}
	say "$(echo build/python/dist/*.whl)"
}

# Builds wheels for this machine, with the command and the drop-in libraries, in
# build/wheels.
build_wheels() {
	build
	rm -rf build/wheels
	cmake --install build --strip --prefix "$PWD/build/wheels/tree" >/dev/null
	strip -o build/wheels/tree/_core.abi3.so build/python/gpukit/_core.abi3.so
	python3 tools/wheel.py gpukit --tree build/wheels/tree \
		--module build/wheels/tree/_core.abi3.so --out build/wheels
	python3 tools/wheel.py nvitop --out build/wheels
	rm -rf build/wheels/tree
}

# wheels OUT: makes in OUT the wheels of the portable builds, for any Linux with
# glibc 2.17 or newer, and that of gpukit-nvitop, and both source distributions.
wheels() {
	for machine in $(portable_machines); do
		tree=build/stage/wheel
		stage $machine $tree
		work=build/portable/work/$machine
		"$work/tools/strip" -o "$work/_core.abi3.so" \
			"$work/build/python/gpukit/_core.abi3.so"
		python3 tools/wheel.py gpukit --tree $tree --glibc 2.17 \
			--module "$work/_core.abi3.so" \
			--notices $tree/THIRD-PARTY.txt --out "$1"
	done
	python3 tools/wheel.py nvitop --out "$1"
	source_distributions "$1"
}

# source_distributions OUT: makes that of gpukit, of which a C compiler makes the
# Python package without the command, and that of gpukit-nvitop.
source_distributions() {
	python_with_wheel >/dev/null || need wheel
	python=$(realpath -s "$(python_with_wheel)")
	work=$PWD/build/python/sdist
	for package in python python/nvitop; do
		rm -rf "$work"
		mkdir -p "$work"
		(
			cd $package
			"$python" setup.py -q egg_info -e "$work" \
				sdist --formats=tar -d "$work"
		) >"$work.log" 2>&1 || {
			cat "$work.log" >&2
			fail "the source distribution could not be made"
		}
		repack "$work"/*.tar "$1"
	done
}

# repack TAR OUT: writes the same files to OUT/NAME.tar.gz, without what depends
# on time, user and order.
repack() {
	name=$(basename "$1" .tar)
	mkdir "${1%.tar}.files"
	tar -C "${1%.tar}.files" -xf "$1"
	tar -C "${1%.tar}.files" --sort=name --format=gnu --owner=0 --group=0 \
		--mtime="@${SOURCE_DATE_EPOCH:-315532800}" --numeric-owner \
		--mode=u=rwX,go=rX -cf - "$name" | gzip -9n >"$2/$name.tar.gz.new"
	mv "$2/$name.tar.gz.new" "$2/$name.tar.gz"
	echo "$2/$name.tar.gz"
}
