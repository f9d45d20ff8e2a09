# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck source=/dev/null
. /check/common.sh
apt-get update -qq
apt-get install -y -qq --no-install-recommends rpm >/dev/null
# In Debian's tree rpm's database knows no C library, so that dependencies are
# not checked; they may be on nothing but it, and on each other.
needs=$(rpm -qpR /packages/new/*."$(uname -m)".rpm | sort -u)
foreign=$(echo "$needs" | grep -Ev \
	'^(rpmlib|lib(c|m|dl|pthread|rt)\.so|ld-linux|(lib)?gpukit|rtld|/s?bin/|/usr/bin/(env|pkg-config))' ||
	true)
[ -z "$foreign" ] || fail "rpm: needs $foreign"
rpm -q rpm >/dev/null 2>&1 || true # makes the database
remember
for version in old new; do
	rpm -U --nodeps /packages/$version/*."$(uname -m)".rpm
	use rpm
done
[ "$(rpm -q --qf '%{VERSION}' gpukit)" = "$NEW" ] || fail "rpm: not $NEW"
rpm -V --nodeps gpukit gpukit-fake gpukit-limit || fail "rpm: files differ"
rpm -qa --qf '%{NAME}\n' | grep gpukit | xargs rpm -e
nothing_left rpm
