#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a build tree so that it can be removed without a trace: the manifest,
# PREFIX/share/gpukit/manifest.txt, has a line for each file (f), for each
# directory that was not there before (d), and the number of directories that
# were made for PREFIX itself (p).
#
# Usage: tools/install.sh install BUILD PREFIX [--aliases]
#        tools/install.sh uninstall PREFIX
#        tools/install.sh check PREFIX      (whether it may be written)
#
# --aliases: also links with the names of the tools that gpukit replaces. DESTDIR
# is put before PREFIX, for packagers.
set -eu
here=$(dirname "$0")
MANIFEST=share/gpukit/manifest.txt
# Where drivers put nvidia-smi, even if the PATH of sudo has been cut.
DRIVERS=/usr/bin:/usr/local/bin:/opt/bin:/usr/lib/wsl/lib

say() {
	printf 'install: %s\n' "$*" >&2
}

fail() {
	say "$*"
	exit 1
}

# absolute PATH: prints it without a slash at the end; the root is empty.
absolute() {
	case $1 in
	/*) path=$1 ;;
	"~"/*) path=$HOME/${1#??} ;;
	*) path=$PWD/$1 ;;
	esac
	while [ "${path%/}" != "$path" ]; do
		path=${path%/}
	done
	printf '%s' "$path"
}

# check_writable: fails unless PREFIX can be written or made.
check_writable() {
	above=$root
	while [ -n "$above" ] && [ ! -e "$above" ]; do
		above=$(dirname "$above")
		[ "$above" != / ] || above=
	done
	[ -d "$above/" ] || fail "$above is no directory"
	[ -w "$above/" ] || fail "cannot write into $above: become root," \
		"or install for yourself with --prefix ~/.local"
}

# old KIND: prints the paths of the present manifest, if there is one. A path
# that leads out of PREFIX is not ours.
old() {
	[ ! -f "$root/$MANIFEST" ] || sed -n "s/^$1 //p" "$root/$MANIFEST" |
		grep -v -e '^/' -e '^\.\.$' -e '^\.\./' -e '/\.\./' -e '/\.\.$' ||
		true
}

# ---- install ----

# foreign NAME: prints another program of that name on PATH.
foreign() (
	IFS=:
	for directory in $PATH:$DRIVERS; do
		program=$(readlink -f "$directory/$1") || continue
		[ -x "$program" ] || continue
		[ "$(basename "$program")" != gpukit ] || continue
		echo "$directory/$1"
		break
	done
)

# Adds the links of --aliases to what will be installed.
stage_aliases() {
	sed -n 's/^ALIAS("\(.*\)", \(.*\))$/\1 \2/p' \
		"$here/../src/cli/aliases.def" >"$work/aliases"
	while read -r name verb; do
		other=$(foreign "$name")
		if [ -n "$other" ] && [ "$name" = nvidia-smi ]; then
			say "no link nvidia-smi: $other is the driver's"
			continue
		fi
		if [ -e "$root/bin/$name" ] && ! ours "$name"; then
			say "no link $name: $root/bin/$name is not gpukit's"
			continue
		fi
		[ -z "$other" ] || say "another $name is $other"
		stage_alias "$name" "$verb"
	done <"$work/aliases"
}

ours() {
	[ "$(readlink "$root/bin/$1")" = gpukit ]
}

# stage_alias NAME VERB: the link, its manual page and its completion.
stage_alias() {
	share=$staged/share
	ln -s gpukit "$staged/bin/$1"
	ln -s "gpukit-$2.1" "$share/man/man1/$1.1"
	ln -s gpukit "$share/bash-completion/completions/$1"
	sed "s/^#compdef gpukit$/#compdef $1/" \
		"$share/zsh/site-functions/_gpukit" \
		>"$share/zsh/site-functions/_$1"
	sed "s/^complete -c gpukit /complete -c $1 /" \
		"$share/fish/vendor_completions.d/gpukit.fish" \
		>"$share/fish/vendor_completions.d/$1.fish"
}

# Lists what will be installed: work/dirs, work/files.
list_staged() {
	(cd "$staged" && find . -mindepth 1 -type d) |
		sed 's,^\./,,' | LC_ALL=C sort >"$work/dirs"
	(cd "$staged" && find . ! -type d) |
		sed 's,^\./,,' | LC_ALL=C sort >"$work/files"
}

# make_prefix: makes PREFIX, and prints how many directories that took.
make_prefix() {
	mkdir -p "${DESTDIR:-}/"
	missing=0
	above=$root
	while [ ! -d "$above/" ]; do
		above=$(dirname "$above")
		missing=$((missing + 1))
	done
	mkdir -p "$root/"
	echo "$missing"
}

# make_directories: makes those that are missing, and prints them. Everybody may
# enter those of gpukit alone, even if they were there.
make_directories() {
	while read -r path; do
		if [ ! -d "$root/$path" ]; then
			mkdir "$root/$path"
			printf '%s\n' "$path"
		fi
		case /$path/ in
		*/gpukit/*) chmod 755 "$root/$path" ;;
		esac
	done <"$work/dirs"
}

# Writes the manifest; the files in it are those of the arguments.
write_manifest() {
	{
		echo "# ./run uninstall removes what is listed here."
		echo "p $levels"
		LC_ALL=C sort -u "$work/made" | sed 's/^/d /'
		LC_ALL=C sort -u "$@" | sed 's/^/f /'
	} >"$root/$MANIFEST.new"
	chmod 644 "$root/$MANIFEST.new"
	mv -f "$root/$MANIFEST.new" "$root/$MANIFEST"
}

install_it() {
	check_writable
	umask 022
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	staged=$work/root$prefix
	DESTDIR=$work/root cmake --install "$1" --prefix "$prefix/" \
		>"$work/log" 2>&1 || {
		cat "$work/log" >&2
		fail "cmake could not install $1"
	}
	[ -z "${2:-}" ] || stage_aliases
	list_staged
	old f >"$work/old"
	old d >"$work/made"
	levels=$(old p)
	levels=$((${levels:-0} + $(make_prefix)))
	make_directories >"$work/new"
	cat "$work/new" >>"$work/made"
	# Until all is there, an uninstall removes both.
	write_manifest "$work/files" "$work/old"
	(cd "$staged" && tar cf - --no-recursion -T "$work/files") |
		(cd "$root/" && tar xf - --unlink-first --no-same-owner) ||
		fail "not everything could be written to $root;" \
			"./run uninstall removes what was"
	LC_ALL=C comm -13 "$work/files" "$work/old" | remove_files
	write_manifest "$work/files"
	cache_libraries "$work/files"
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) say "$prefix/bin is not in PATH" ;;
	esac
}

# ---- libraries ----

# The directory of libgpukit, of a list of files.
library_directory() {
	sed -n "s,^\(.*\)/libgpukit\.so$,$prefix/\1,p" "$1"
}

# searched DIRECTORY: whether the loader searches there.
searched() {
	PATH=$PATH:/usr/sbin:/sbin ldconfig -v -N 2>/dev/null | grep -q "^$1:"
}

# cache_libraries LIST: renews the loader's cache if a library is or was in one
# of its directories; tells how it is found elsewhere.
cache_libraries() {
	directory=$(library_directory "$1")
	[ -z "${DESTDIR:-}" ] || return 0
	if searched "$directory"; then
		[ "$(id -u)" != 0 ] || PATH=$PATH:/usr/sbin:/sbin ldconfig
	elif [ -d "$directory" ]; then
		say "programs that use libgpukit find it with" \
			"LD_LIBRARY_PATH=$directory or -Wl,-rpath,$directory"
	fi
}

# ---- uninstall ----

# remove_files: those on stdin, with what Python compiled of them.
remove_files() {
	while read -r path; do
		# A directory can only be somebody else's.
		if [ -L "$root/$path" ] || [ ! -d "$root/$path" ]; then
			rm -f "$root/$path"
		fi
		case $path in
		*.py)
			cache=$(dirname "$root/$path")/__pycache__
			rm -f "$cache/$(basename "$path" .py)".*.pyc
			rmdir "$cache" 2>/dev/null || true
			;;
		esac
	done
}

remove_directory() {
	[ ! -d "$1" ] || rmdir "$1" 2>/dev/null ||
		say "left: $1, which has files of others"
}

uninstall() {
	[ -f "$root/$MANIFEST" ] || fail "no $root/$MANIFEST:" \
		"./run install has put nothing there"
	[ -w "$root/$(dirname $MANIFEST)" ] ||
		fail "cannot change $root: become root"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	old f >"$work/files"
	old d | LC_ALL=C sort -r >"$work/made"
	remove_files <"$work/files"
	levels=$(old p)
	rm -f "$root/$MANIFEST"
	while read -r path; do
		remove_directory "$root/$path"
	done <"$work/made"
	above=$root
	while [ "${levels:-0}" -gt 0 ] && [ -n "$above" ]; do
		remove_directory "$above"
		above=$(dirname "$above")
		levels=$((levels - 1))
	done
	cache_libraries "$work/files"
}

usage() {
	sed -n 's/^# *\(Usage\|  *tools\)/\1/p' "$0" >&2
	exit 2
}

case ${1:-} in
install)
	case $#,${4:-} in
	3, | 4,--aliases) ;;
	*) usage ;;
	esac
	prefix=$(absolute "$3")
	root=${DESTDIR:-}$prefix
	install_it "$2" "${4:-}"
	;;
check)
	[ $# = 2 ] || usage
	prefix=$(absolute "$2")
	root=${DESTDIR:-}$prefix
	check_writable
	;;
uninstall)
	[ $# = 2 ] || usage
	prefix=$(absolute "$2")
	root=${DESTDIR:-}$prefix
	uninstall
	;;
*) usage ;;
esac
