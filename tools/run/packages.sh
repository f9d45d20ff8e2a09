# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2015,SC2034,SC2046,SC2086
# Part of ./run: finds which packages of tools/run/packages.txt are installed,
# and installs the rest.

# compiles COMPILER OPTION...: whether the program on stdin compiles and links.
compiles() {
	compiler=$1
	shift
	command -v "$compiler" >/dev/null &&
		"$compiler" "$@" -x c - -o /dev/null 2>/dev/null
}

# python_has WHAT: whether a Python has a module, or its headers: the system's,
# which the packages are for, or the first one on PATH.
python_has() {
	for python in python3 /usr/bin/python3; do
		! "$python" - "$1" 2>/dev/null <<-END || return 0
			import importlib, os, sys, sysconfig
			if sys.argv[1] != "header":
			    importlib.import_module(sys.argv[1])
			elif not os.path.exists(
			        sysconfig.get_paths()["include"] + "/Python.h"):
			    sys.exit(1)
		END
	done
	return 1
}

# has KIND NAME: runs the probe of a row of packages.txt.
has() {
	case $1 in
	command) PATH=$PATH:/usr/sbin:/sbin command -v "$2" ;;
	header) echo "#include <$2>" | compiles gcc -c ;;
	module) pkg-config --exists "$2" ;;
	library) [ -e "$(gcc -print-file-name="$2")" ] ;;
	python) python_has "$2" ;;
	clang) echo 'int main(void) { return 0; }' |
		compiles clang -fsanitize=address,undefined ;;
	*) fail "no kind '$1' in tools/run/packages.txt" ;;
	esac >/dev/null 2>&1
}

# missing GROUP...: prints the packages of these groups that are not installed.
missing() {
	while read -r group package kind name; do
		case " $* " in
		*" $group "*) has "$kind" "$name" </dev/null ||
			printf ' %s' "$package" ;;
		esac
	done <tools/run/packages.txt
}

can_build() {
	[ -z "$(missing build)" ]
}

# install_packages PACKAGE...
install_packages() {
	command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
		fail "not Debian or Ubuntu; install the equivalents of: $*"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			fail "not root and no sudo; install: $*"
		sudo=sudo
	fi
	say "installing: $*"
	$sudo apt-get update -qq || say "apt-get update failed; continuing"
	$sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# need GROUP...: installs their missing packages, or fails with a list of them.
need() {
	want=$(missing "$@")
	[ -n "$want" ] || return 0
	install_packages $want || fail "could not install:$want"
	want=$(missing "$@")
	[ -z "$want" ] || fail "installed, but still not found:$want"
}

# can_use GROUP...: the same for optional packages.
can_use() {
	(need "$@") || say "continuing without them"
}

deps() {
	need build fake wheel test check lint
}
