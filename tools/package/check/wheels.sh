# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck source=/dev/null
. /check/common.sh
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
as_someone 'python3 -m venv env'
export PATH_OF_USER=/home/someone/env/bin:/usr/bin:/bin
remember
for version in old new; do
	as_someone "pip install -q --no-index --no-deps --no-compile \
		/packages/$version/gpukit-*$(uname -m).whl"
	use wheels
	as_someone "gpukit fake -- python -c 'import gpukit
assert len(gpukit.Device.all()) == 8'" || fail "wheels: import gpukit"
	as_someone 'gpukit fake -- python -m gpukit --json' >/dev/null ||
		fail "wheels: python -m gpukit"
done
as_someone 'pip uninstall -q -y gpukit'
nothing_left wheels
