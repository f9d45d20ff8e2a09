#!/bin/sh
# A source file has at most 600 lines: about 500, with room for tables.
set -eu
git ls-files 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.py' 'bench/*' \
	'python/*.c' 'python/*.h' 'python/*.py' 'examples/*' |
	xargs wc -l | awk '
	$2 != "total" && $1 > 600 { print "sizes: " $2 " has " $1 " lines"; bad = 1 }
	END { exit bad }'
