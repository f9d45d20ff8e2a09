# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck source=/dev/null
. /check/common.sh
apt-get update -qq
apt-get install -y -qq --no-install-recommends xz-utils >/dev/null
remember
for version in "old $OLD" "new $NEW"; do
	number=${version#* }
	name=gpukit-$number-$(uname -m)
	as_someone "tar -xJf /packages/${version% *}/$name.tar.xz"
	as_someone "$name/gpukit --version" >/dev/null || fail "tar: ./gpukit"
	export PATH_OF_USER="/home/someone/$name/bin:/usr/bin:/bin"
	use tar
	# An archive is upgraded by the next one in its place.
	as_someone "rm -r $name"
done
nothing_left tar
