# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091,SC2015,SC2016,SC2086 # the mirror may be empty
# Bare Debian trees, for scripts of tools/ that source this file and set NAME, the
# word before their messages. SUITE.tar in build/fresh is a bare tree, SUITE.debs
# and SUITE.pip are caches of packages. Trees use this machine's mirror, proxies,
# pip settings and certificates: apt's sources and configuration, pip's files, the
# environment, /etc/ssl/certs.
FRESH=$PWD/build/fresh
PASSED_ON='[a-z]+_proxy|[A-Z]+_PROXY|PIP_.*|SSL_CERT_.*|.*_CA_BUNDLE|TESTS'

say() {
	printf '%s\n' "$NAME: $*" >&2
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

# user TREE: adds a user "someone", with sudo if it is installed
user() {
	chroot "$1" useradd -m -s /bin/sh someone
	[ ! -d "$1/etc/sudoers.d" ] || echo 'someone ALL=(ALL) NOPASSWD: ALL' \
		>"$1/etc/sudoers.d/someone"
}

# passed_on: prints the environment's variables for fetching packages, for a shell
passed_on() {
	env | sed -nE "s/'/'\\\\''/g; s/^($PASSED_ON)=(.*)/export \1='\2'/p"
}
