#!/bin/sh
# Prints the rows that src/abi/nvml.def lacks against an nvml.h, one per
# function, ready to be reviewed and pasted. For people, when a new driver
# comes out; no build runs it. Exit 0: none is missing, 1: some are, 2: usage.
set -eu

if [ $# -ne 1 ] || [ ! -r "$1" ]; then
	echo "usage: $0 path/to/nvml.h" >&2
	exit 2
fi
rows=$(dirname "$0")/../src/abi/nvml.def

# Unexpanded, the header would rename nvmlInit to nvmlInit_v2, and so on.
${CC:-cc} -E -P -DNVML_NO_UNVERSIONED_FUNC_DEFS "$1" | tr -s '\n\t ' ' ' |
	tr ';' '\n' |
	sed -n 's/.*nvmlReturn_t \(nvml[A-Za-z0-9_]*\) *(\(.*\)) *$/\1 \2/p' |
	LC_ALL=C sort | awk '
	NR == FNR {
		if (match($0, /^NVML\(nvml[A-Za-z0-9_]*/))
			have[substr($0, 6, RLENGTH - 5)] = 1
		next
	}
	!($1 in have) {
		name = $1
		sub(/^[^ ]+ /, "")
		gsub(/ *\* */, " *")
		printf "NVML(%s, (%s))\n", name, $0
		missing++
	}
	END { exit missing > 0 }' "$rows" -
