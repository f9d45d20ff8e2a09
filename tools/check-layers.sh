#!/bin/sh
# Includes point downwards only: base <- core <- format <- {cli, tui};
# base <- {machine, limit}; yaml is for machine and tui; core and machine never include
# each other. abi is facts and knows nobody.
set -eu
bad=0

# layer DIR ALLOWED...: files of src/DIR may include only from these.
layer() {
	dir=$1
	shift
	[ -d "src/$dir" ] || return 0
	allowed=$(printf '%s|' "$dir" "$@")
	found=$(grep -rnE '#[[:space:]]*include "[a-z]+/' "src/$dir" |
		grep -vE "include \"(${allowed%|})/" || true)
	[ -z "$found" ] || {
		printf 'layers: src/%s may include only: %s %s\n%s\n' \
			"$dir" "$dir" "$*" "$found" >&2
		bad=1
	}
}

layer base
layer abi
layer core base abi
layer format core base abi
layer record format core base
layer plot base
layer export format core base
layer cli tui plot export record format core base fronts device ptx machine limit abi
layer yaml base
layer tui format core base yaml
layer machine base abi yaml
layer device machine base abi
layer ptx machine base abi
layer fronts machine device ptx base abi
layer limit base abi

curses=$(grep -rlE 'include <(n?curses|ncursesw)' src | grep -v '^src/tui/term.c$' || true)
[ -z "$curses" ] || {
	echo "layers: only src/tui/term.c may include curses: $curses" >&2
	bad=1
}
exit $bad
