#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A source file has at most 600 lines below its licence: about 500, with room
# for tables. A table of src/abi has one row for each function of one NVIDIA
# library, however many there are; such a list is not split.
set -eu
git ls-files 'src/*.c' 'src/*.h' 'src/*.S' '*.cpp' '*.cu' '*.def' '*.js' \
	'tests/*.c' 'tests/*.py' 'tools/*' 'bench/*' \
	'python/*.c' 'python/*.h' 'python/*.py' 'examples/*' run |
	xargs wc -l | awk '
	{ most = $2 ~ "^src/abi/.*\\.def$" ? 801 : 601 }
	$2 != "total" && $1 > most { print "sizes: " $2 " has " $1 " lines"; bad = 1 }
	END { exit bad }'
