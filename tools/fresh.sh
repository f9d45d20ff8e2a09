#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs README's two commands on a bare machine. Makes a Debian tree with only
# git and certificates, clones this checkout into it and runs ./run demo and
# ./run test there: in bookworm as root, in a clone under /root, with nohup and
# in the background; in trixie as a user with sudo, in a clone under /home.
# Prints what failed.
#
# Usage: tools/fresh.sh [bookworm|trixie]...   (default: both)
#
# Uses this machine's mirror, proxies, pip settings and certificates: apt's
# sources and configuration, pip's files, the environment, /etc/ssl/certs. Works
# in build/fresh: SUITE.tar is the bare tree, SUITE.debs and SUITE.pip are
# caches of packages, SUITE.log is the output, and SUITE is the tree of the last
# run. Mounts and processes are in namespaces of their own, which end with the
# command. TESTS is passed on.
# shellcheck disable=SC1091,SC2015,SC2016,SC2086 # the mirror may be empty
set -eu
cd "$(dirname "$0")/.."
FRESH=$PWD/build/fresh
PASSED_ON='[a-z]+_proxy|[A-Z]+_PROXY|PIP_.*|SSL_CERT_.*|.*_CA_BUNDLE|TESTS'

say() {
	printf '%s\n' "fresh: $*" >&2
}

fail() {
	say "$*"
	exit 1
}

# Runs this script again as root of its own namespaces, or says what is missing.
enter_namespaces() {
	if [ "$(id -u)" = 0 ]; then
		unshare --mount --pid --fork true 2>/dev/null ||
			fail "root may not make namespaces of mounts and" \
				"processes here: it needs CAP_SYS_ADMIN"
		set -- --mount --pid "$@"
	else
		unshare --user --map-root-user --map-auto true 2>/dev/null ||
			fail "neither root nor in a user namespace with many" \
				"users, which takes newuidmap (package" \
				"uidmap), rows of $(id -un) in /etc/subuid" \
				"and /etc/subgid, and a kernel that allows" \
				"such namespaces (user.max_user_namespaces)"
		set -- --user --map-root-user --map-auto --mount --pid "$@"
	fi
	# The first process of a namespace ignores signals that it has no
	# handler for. So whatever ends this script kills that process, and with
	# it all others.
	FRESH_INSIDE=1 unshare --fork --kill-child "$@" &
	inside=$!
	trap 'kill -KILL "$inside"; exit 130' INT TERM HUP
	wait "$inside" && exit 0 || exit 1
}

# Prints apt's sources of Debian packages as "SITE RELEASE", for the running
# release; the first one is its mirror.
sources_here() {
	. /etc/os-release
	[ "${ID:-}" = debian ] && command -v apt-get >/dev/null || return 0
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | sed -nE \
		"s/^([^ ]+) $VERSION_CODENAME(-updates|-security)? main$/\1 @\2/p" |
		sort -u
}

# bare SUITE TREE: unpacks a tree with git and certificates; its tar is made
# once
bare() {
	tar=$FRESH/$1.tar
	rm -rf --one-file-system "$2"
	mkdir -p "$2" "$FRESH/$1.debs" "$FRESH/$1.pip"
	[ -f "$tar" ] || {
		mirror=$(sources_here | sed -n 's/ @$//p' | head -n 1)
		say "making a bare tree of $1"
		with=git,ca-certificates
		[ "$1" = bookworm ] || with=$with,sudo
		# In a container of this kind debootstrap mounts devices if need
		# be.
		env container=lxc debootstrap --variant=minbase \
			--cache-dir="$FRESH/$1.debs" --include="$with" \
			"$1" "$2" $mirror \
			>"$FRESH/$1.debootstrap.log" 2>&1 || fail \
			"debootstrap failed; see $FRESH/$1.debootstrap.log"
		rm -rf "$2"/var/cache/apt/archives/*.deb
		tar -C "$2" --exclude './dev/*' --exclude './proc/*' \
			--exclude './sys/*' -cf "$tar.new" .
		mv "$tar.new" "$tar"
		rm -rf --one-file-system "$2"
		mkdir "$2"
	}
	tar -C "$2" -xf "$tar"
}

# proxies_of_apt: prints apt options for the environment's proxies, which sudo
# does not pass on
proxies_of_apt() {
	for one in "http:${http_proxy:-}" "https:${https_proxy:-}"; do
		[ -z "${one#*:}" ] ||
			echo "Acquire::${one%%:*}::Proxy \"${one#*:}\";"
	done
}

# as_here SUITE TREE: copies this machine's sources, proxies, pip settings and
# certificates
as_here() {
	sources=$(sources_here | sed "s/@/$1/; s/.*/deb & main/")
	[ -z "$sources" ] || echo "$sources" >"$2/etc/apt/sources.list"
	! command -v apt-config >/dev/null ||
		apt-config dump Acquire >"$2/etc/apt/apt.conf.d/80here"
	proxies_of_apt >"$2/etc/apt/apt.conf.d/81proxies"
	for file in /etc/pip.conf /etc/resolv.conf /etc/hosts; do
		[ ! -f "$file" ] || cp -L "$file" "$2$file"
	done
	for file in ~/.pip/pip.conf ~/.config/pip/pip.conf; do
		[ ! -f "$file" ] || cp -L "$file" "$2/etc/pip.conf"
	done
	cp -a /etc/ssl/certs/. "$2/etc/ssl/certs/"
}

# mounts TREE SUITE: mounts what a running machine has, and the package caches
mounts() {
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount -t tmpfs -o mode=755 dev "$1/dev"
	for device in null zero full random urandom tty; do
		: >"$1/dev/$device"
		mount --bind "/dev/$device" "$1/dev/$device"
	done
	mkdir "$1/dev/pts" "$1/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$1/dev/pts"
	mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
	ln -s pts/ptmx "$1/dev/ptmx"
	for link in fd:/proc/self/fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
		ln -s "${link#*:}" "$1/dev/${link%%:*}"
	done
	mount --bind "$FRESH/$2.debs" "$1/var/cache/apt/archives"
	mkdir -p "$1/var/cache/pip"
	mount --bind "$FRESH/$2.pip" "$1/var/cache/pip"
}

# start_of HOME: prints the script to run in the tree: the environment's
# variables for fetching packages, and the two commands, as the suite runs them
start_of() {
	env | sed -nE "s/'/'\\\\''/g; s/^($PASSED_ON)=(.*)/export \1='\2'/p"
	echo "export PIP_CACHE_DIR=/var/cache/pip HOME=$1"
	echo "cd $1/gpukit"
	if [ "$1" = /root ]; then
		echo "export PATH=/usr/sbin:/usr/bin:/sbin:/bin"
		# A shell's background job also ignores SIGINT.
		echo 'nohup sh tools/two-commands.sh </dev/null 2>&1 & wait $!'
	else
		echo "export PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8"
		echo 'sh tools/two-commands.sh </dev/null 2>&1'
	fi
}

# user TREE: adds a user "someone" with sudo
user() {
	chroot "$1" useradd -m -s /bin/sh someone
	echo 'someone ALL=(ALL) NOPASSWD: ALL' >"$1/etc/sudoers.d/someone"
}

# suite SUITE: tests in one tree; its log says how it ended
suite() {
	tree=$FRESH/$1
	home=/root
	who=root
	[ "$1" = bookworm ] || who=someone home=/home/someone
	bare "$1" "$tree"
	as_here "$1" "$tree"
	mounts "$tree" "$1"
	[ "$who" = root ] || user "$tree"
	git -c safe.directory='*' clone -q --no-hardlinks . "$tree$home/gpukit"
	start_of "$home" >"$tree/start"
	chroot "$tree" chown -R "$who:" "$home" /var/cache/pip
	say "$1: ./run demo and ./run test, as $who; see build/fresh/$1.log"
	chroot "$tree" env -i setpriv --reuid="$who" --regid="$who" \
		--init-groups env TERM=xterm sh /start >"$FRESH/$1.log" &&
		status=0 || status=$?
	grep -E '^(two-commands|failed): ' "$FRESH/$1.log" || true
	tail -n 1 "$FRESH/$1.log" | sed "s/^/$1: /"
	return "$status"
}

for one in "$@"; do
	case $one in
	bookworm | trixie) ;;
	*) fail "no suite '$one'; there are bookworm and trixie" ;;
	esac
done
command -v debootstrap >/dev/null || fail "install debootstrap"
[ -n "${FRESH_INSIDE:-}" ] || enter_namespaces sh "$0" "$@"
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$FRESH"
[ -z "$(git -c safe.directory='*' status --porcelain -uno)" ] ||
	say "what is not committed is not in the clones"
failed=
for one in "$@"; do
	suite "$one" & # in the background, so that set -e works in it
	wait "$!" || failed="$failed $one"
done
[ -z "$failed" ] || fail "failed:$failed"
say "both commands work"
