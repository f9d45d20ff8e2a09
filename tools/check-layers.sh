#!/bin/sh
# Who may include whom: includes point downwards only. A row a room: room ROOM
# ALLOWED..., where ALLOWED are rooms (a room covers the rooms in it), single
# headers, or <gpukit> for the public header. Every include with a '/' has its
# room by its path; one without lies in no room and is refused, as is a file in
# no room.
set -eu
bad=0
rows=''

room() {
	rows="$rows $1"
	files=$(git ls-files "src/$1/*.[ch]" "src/$1/*.def" |
		grep -E "^src/$1/[^/]+$" || true)
	[ -n "$files" ] || return 0
	from=$1
	allowed=$(printf '%s|' "$@" | sed 's/\./\\./g')
	# The facts of an ABI are one thing: they name each other bare.
	bare='^$'
	[ "$1" != abi ] || bare='include "[a-z_0-9]+\.(h|def)"'
	# shellcheck disable=SC2086 # a list of files
	found=$(grep -nHE '#[[:space:]]*include[[:space:]]*("|<gpukit/)' $files |
		grep -vE "include[[:space:]]*(\"(${allowed%|})(/[a-z_0-9]+\.(h|def))?\"|<gpukit/)" | grep -vE "$bare" || true)
	case " $* " in
	*' <gpukit> '*) ;;
	*)
		# shellcheck disable=SC2086
		public=$(grep -nHE '#[[:space:]]*include[[:space:]]*<gpukit/' \
			$files || true)
		found=$found$public
		;;
	esac
	[ -z "$found" ] || {
		shift
		printf 'layers: src/%s may include only itself and: %s\n%s\n' \
			"$from" "$*" "$found" >&2
		bad=1
	}
}

room abi
room base '<gpukit>'
room yaml base
room plot base
room core base abi '<gpukit>'
room format core base abi '<gpukit>'
room format/smi format core base '<gpukit>'
room format/boxed format core base '<gpukit>'
room record format core base '<gpukit>'
room export format core base
room hosts format core base '<gpukit>'
room http base
room web format core base '<gpukit>'
room tui tui/lanes hosts format format/boxed core base yaml '<gpukit>'
room tui/lanes tui format core base '<gpukit>'

# The made-up machine knows nothing of the core; their contract is the NVML ABI.
room machine/file base
room machine/store machine/file base abi
room machine/model machine/store machine/file base abi
room machine/trouble machine/model machine/store machine/file base abi
room machine/words machine/trouble machine/model machine/store machine/file \
	base abi yaml
room device machine/store machine/file base abi
room ptx base
room ptx/front ptx base
room ptx/interp ptx/front ptx base
room fronts/common abi base/export.h base/log.h
room fronts/audit
room fronts/nvml fronts/common machine/trouble machine/model machine/store \
	machine/file base abi
room fronts/cuda fronts/common device ptx/front ptx/interp machine/trouble \
	machine/model machine/store machine/file base abi
# They stand on libcuda's public ABI alone.
room fronts/cudart fronts/common abi
room fronts/cublas fronts/common abi base/log.h
room fronts/cufft fronts/common abi base/log.h
room fronts/cusolver fronts/common abi
room fronts/cupti fronts/common abi base/log.h
room fronts/nccl fronts/common abi base/clock.h base/err.h base/futex.h \
	base/log.h base/pidstat.h
room fronts/cusparse fronts/common abi
room fronts/curand fronts/common abi

# The limiter never sees the made-up machine: it runs on any driver.
room limit base abi
room limit/preload limit base abi

verbs='cli/export cli/fake cli/limit cli/plot cli/record cli/select cli/smi cli/stat
	cli/top cli/web'
room cli format core base cli/fake machine/store '<gpukit>'
room cli/serve cli http core base '<gpukit>'
for verb in $verbs; do
	case $verb in
	cli/fake) below='fronts/common ptx/front ptx/interp machine/words
		machine/trouble machine/model machine/store machine/file
		record abi' ;;
	cli/top) below='tui hosts record format/boxed' ;;
	cli/stat) below='format/boxed' ;;
	cli/limit) below='limit abi' ;;
	cli/smi) below='format/smi' ;;
	cli/plot) below='plot record tui tui/lanes' ;;
	cli/record) below='record' ;;
	cli/web) below='web http cli/serve' ;;
	cli/export) below='export http cli/serve' ;;
	*) below= ;;
	esac
	# shellcheck disable=SC2086 # lists of rooms
	room $verb cli format core base $below '<gpukit>'
done

for directory in $(git ls-files 'src/*.[ch]' 'src/*.def' | xargs -n 1 dirname |
	sort -u | sed 's#^src/##'); do
	case " $rows " in
	*" $directory "*) ;;
	*)
		echo "layers: src/$directory has no row in $0" >&2
		bad=1
		;;
	esac
done

# Fronts do not know the machine file: gate.h has the words that they need.
direct=$(grep -nE 'machine/file/(file|device|slot|clock_state)\.h' -r \
	src/fronts src/device || true)
[ -z "$direct" ] || {
	printf 'layers: fronts and device go through machine/store:\n%s\n' \
		"$direct" >&2
	bad=1
}

curses=$(grep -rlE 'include <(n?curses|ncursesw)' src |
	grep -v '^src/tui/term.c$' || true)
[ -z "$curses" ] || {
	echo "layers: only src/tui/term.c may include curses: $curses" >&2
	bad=1
}
exit $bad
