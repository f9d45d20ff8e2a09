#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the rows for functions of an nvml.h that src/abi/nvml/nvml.def lacks,
# to be reviewed and pasted, without the driver that introduced each: MAJOR and
# MINOR do not compile. For people, when a new driver appears; no build runs
# it. Exit status 0: none is missing, 1: some are, 2: wrong usage.
set -eu

if [ $# -ne 1 ] || [ ! -r "$1" ]; then
	echo "usage: $0 path/to/nvml.h" >&2
	exit 2
fi
rows=$(dirname "$0")/../src/abi/nvml/nvml.def

# Without this macro the header would rename nvmlInit to nvmlInit_v2, and so on.
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
		printf "NVML(%s, MAJOR, MINOR, UNUSED, ORDINARY, NONE, REFUSED(NOT_MODELLED), (%s))\n", name, $0
		missing++
	}
	END { exit missing > 0 }' "$rows" -
