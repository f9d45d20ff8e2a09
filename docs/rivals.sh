#!/bin/sh
# The same made-up machine in other viewers, as far as they are installed, beside
# ours: docs/rivals.sh [DIRECTORY], build/pictures by default (needs tmux and
# python3). To look at, not to keep.
set -eu
cd "$(dirname "$0")/.."
into=${1:-build/pictures}
mkdir -p "$into"
PATH=$PWD/build/venv/bin:$PATH

# draw NAME COLUMNS ROWS COMMAND...
draw() {
	name=$1-$2x$3 columns=$2 rows=$3
	shift 3
	socket=gpukit-rival-$name-$$
	tmux -L "$socket" new-session -d -x "$columns" -y "$rows" \
		"build/bin/gpukit fake --gpus h100:4 \
		--load train:0-1,mem=60GiB,util=92,period=40s \
		--load infer:2,mem=24GiB,util=45,n=2 \
		--load idle:3,mem=8GiB -- $*"
	sleep "${SECONDS_OF_HISTORY:-60}"
	tmux -L "$socket" capture-pane -e -p |
		python3 tools/ansi_svg.py "$name" >"$into/$name.svg"
	tmux -L "$socket" kill-server
}

for size in "80 24" "120 40" "200 60"; do
	# shellcheck disable=SC2086 # two numbers
	for viewer in "gpukit build/bin/gpukit top" "nvitop nvitop" \
		"nvtop nvtop" "btop btop"; do
		command -v "${viewer#* }" >/dev/null ||
			[ "${viewer%% *}" = gpukit ] || continue
		draw "${viewer%% *}" $size "${viewer#* }" &
	done
	wait
done
ls "$into"
