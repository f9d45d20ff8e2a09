#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README's two commands, as typed by somebody who has just cloned the project:
# waits until the viewer shows a GPU, and leaves it with its key. Used by
# tools/fresh.sh. Exit status 1: one of them failed.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=

say() {
	printf '%s\n' "two-commands: $*"
}

# Runs the viewer in a terminal of its own (script(1)) that writes to a file.
# The pipe keeps its input open.
demo() {
	place=$(mktemp -d)
	mkfifo "$place/keys"
	script -qefc 'stty rows 40 cols 120; ./run demo' "$place/screen" \
		<"$place/keys" >/dev/null 2>&1 &
	viewer=$!
	exec 3>"$place/keys"
	until grep -qa A100 "$place/screen" 2>/dev/null; do
		kill -0 "$viewer" 2>/dev/null || break
		sleep 1
	done
	shown=$(grep -ca A100 "$place/screen")
	printf q >&3
	exec 3>&-
	if ! wait "$viewer" || [ "$shown" = 0 ]; then
		say "./run demo failed:"
		tail -n 20 "$place/screen"
		return 1
	fi
	say "./run demo: the viewer came up, and ended by its key"
}

demo || failed=demo
./run test || failed="$failed test"
[ -z "$failed" ]
