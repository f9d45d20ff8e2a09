# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015
# Sourced by the other scripts of this folder, which check.sh runs as root in a
# bare tree: /packages/old and /packages/new have packages with an older number
# and those of this version, $OLD and $NEW. "someone" is a user.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
set -eu

say() {
	printf 'packages: %s\n' "$*"
}

fail() {
	say "FAILED: $*"
	exit 1
}

# files: lists every file of the tree but those of package managers themselves,
# and but the empty directories that a user gets in /dev/shm until the next boot,
# and what is VOLATILE there
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /packages \
		-o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
		-o -path /var/lib/dpkg -o -path /var/lib/rpm -o -path /root \
		-o -path /etc/ld.so.cache -o -path /check \
		-o -path '*/site-packages/pip' -o -path /tmp/before -o -path /tmp/after \
		\) -prune -o -print | LC_ALL=C sort
	find /dev/shm -path "${VOLATILE:-}" -prune -o ! -type d -print |
		LC_ALL=C sort
}

# as_someone COMMAND...: in a shell as another user logs in
as_someone() {
	setpriv --reuid=someone --regid=someone --init-groups \
		env -i HOME=/home/someone USER=someone TERM=xterm \
		PATH="${PATH_OF_USER:-/usr/local/bin:/usr/bin:/bin}" \
		LANG=C.UTF-8 sh -c "cd; $*"
}

remember() {
	files >/tmp/before
}

# nothing_left KIND: compares with what was there before
nothing_left() {
	files >/tmp/after
	diff /tmp/before /tmp/after || fail "$1: files are left"
	say "$1: removed without a trace"
}

# use KIND VERSION: what everybody may do with the command
use() {
	out=$(as_someone 'gpukit --version')
	say "$1: $out, as someone"
	out=$(as_someone 'gpukit fake --gpus h100:8 -- gpukit stat' 2>&1) ||
		fail "$1: gpukit fake -- gpukit stat: $out"
	[ "$(echo "$out" | grep -c H100)" = 8 ] ||
		fail "$1: not eight GPUs: $out"
	out=$(as_someone 'gpukit fake -- nvidia-smi' 2>&1) ||
		fail "$1: gpukit fake -- nvidia-smi: $out"
	echo "$out" | grep -q 'A100' || fail "$1: nvidia-smi: $out"
	out=$(as_someone 'gpukit fake -- gpukit limit --memory 4GiB -- \
		gpukit smi --query-gpu=memory.total --format=csv' 2>&1) ||
		fail "$1: gpukit limit: $out"
	echo "$out" | grep -q '4096 MiB' || fail "$1: gpukit limit: $out"
	out=$(as_someone 'gpukit fake -- gpukit record --devices --count 2 \
		-i 0.1 -o -' 2>&1) ||
		fail "$1: gpukit record: $out"
	say "$1: fake, nvidia-smi, limit, record"
}
