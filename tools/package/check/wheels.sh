# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034 # common.sh uses VOLATILE
# shellcheck source=/dev/null
. /check/common.sh
# pip runs nothing when it removes a wheel, so the links to its libraries stay in
# memory until the next boot.
VOLATILE='/dev/shm/gpukit-links-*'

# pip_installs FILE...: without a network, as everybody does with a file
pip_installs() {
	as_someone "pip install -q --disable-pip-version-check --no-index \
		--no-deps --no-compile $*"
}

# use_python: what the package does beside the command
use_python() {
	as_someone "gpukit fake -- python -c 'import gpukit
assert len(gpukit.Device.all()) == 8'" || fail "wheels: import gpukit"
	as_someone 'gpukit fake -- python -m gpukit --json' >/dev/null ||
		fail "wheels: python -m gpukit"
	out=$(as_someone "gpukit fake -- python -c 'import nvitop
from nvitop.api import Device
print(nvitop.Device is Device, len(Device.all()))'")
	[ "$out" = 'True 8' ] || fail "wheels: nvitop.api: $out"
	out=$(as_someone 'gpukit fake -- nvisel' | tr , '\n' | sort | tr -d '\n')
	[ "$out" = 01234567 ] || fail "wheels: nvisel: $out"
}

# build_source: the source distributions make wheels where a compiler is
build_source() {
	apt-get install -y -qq --no-install-recommends gcc libc6-dev \
		python3-dev python3-setuptools python3-wheel >/dev/null
	as_someone 'python3 -m venv --system-site-packages built'
	for name in gpukit gpukit-nvitop gpukit_nvitop; do
		archive=/packages/new/$name-$NEW.tar.gz
		[ ! -f "$archive" ] || as_someone "built/bin/pip install -q \
			--disable-pip-version-check --no-index \
			--no-build-isolation $archive"
	done
	out=$(as_someone "built/bin/python -c 'import gpukit, nvitop
print(gpukit.__version__, nvitop.Device is gpukit.Device)'")
	[ "$out" = "$NEW True" ] || fail "wheels: source distributions: $out"
	say "wheels: gpukit and gpukit-nvitop are built from source"
}

apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
as_someone 'python3 -m venv env'
export PATH_OF_USER=/home/someone/env/bin:/usr/bin:/bin
remember
for version in "old $OLD" "new $NEW"; do
	from=/packages/${version% *}
	pip_installs "$from/gpukit-*$(uname -m).whl" \
		"$from/gpukit_nvitop-*.whl"
	out=$(as_someone 'pip list --disable-pip-version-check |
		sed -n "s/^gpukit[a-z-]* *//p" | sort -u')
	[ "$out" = "${version#* }" ] || fail "wheels: installed are $out"
	use wheels
	use_python
done
as_someone 'pip uninstall -q -y gpukit gpukit-nvitop'
# pip leaves a directory in which there were only directories.
as_someone 'find env/share -type d -empty -delete'
nothing_left wheels
build_source
