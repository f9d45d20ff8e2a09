# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2046,SC2086 # lists of packages
# shellcheck source=/dev/null
. /check/common.sh
names='gpukit gpukit-fake gpukit-limit libgpukit0 libgpukit-dev python3-gpukit'

# Their dependencies come first: those stay.
apt-get update -qq
apt-get install -y -qq --no-install-recommends $(for each in /packages/new/*.deb
do
	dpkg-deb -f "$each" Depends | tr ',' '\n'
done | sed 's/[|(].*//; s/ //g' | grep -v gpukit | sort -u) >/dev/null
remember
for version in old new; do
	apt-get install -y -qq --no-install-recommends \
		/packages/$version/*.deb >/dev/null
	wanted=$OLD
	[ $version = old ] || wanted=$NEW
	for each in $names; do
		[ "$(dpkg-query -W -f '${Version}' $each)" = "$wanted" ] ||
			fail "$each is not $wanted"
	done
	say "deb: $wanted is installed"
	use deb
	as_someone "gpukit fake -- python3 -c 'import gpukit
assert len(gpukit.Device.all()) == 8'" || fail "deb: import gpukit"
	ldconfig -p | grep -q libgpukit.so.0 || fail "deb: no ldconfig"
done
dpkg --verify $names || fail "deb: files differ from the packages"
apt-get purge -y -qq $names >/dev/null
nothing_left deb
