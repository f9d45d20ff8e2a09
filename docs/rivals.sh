#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One made-up machine with all kinds of trouble in other viewers, as far as they
# are installed, and in ours, at three sizes: docs/rivals.sh [DIRECTORY],
# build/pictures by default (needs tmux and python3). To look at, not to keep.
set -eu
cd "$(dirname "$0")/.."
into=${1:-build/pictures}
gpukit=$PWD/build/bin/gpukit
machine=rivals-$$
mkdir -p "$into"
PATH=$PWD/build/venv/bin:$PATH

# draw NAME COLUMNS ROWS COMMAND...
draw() {
	name=$1-$2x$3 columns=$2 rows=$3
	shift 3
	socket=gpukit-rival-$name-$$
	tmux -L "$socket" new-session -d -x "$columns" -y "$rows" \
		"$gpukit fake join $machine -- $*; sleep 99"
	sleep "${SECONDS_OF_HISTORY:-60}"
	tmux -L "$socket" capture-pane -e -N -p |
		python3 tools/ansi_svg.py "$name" >"$into/$name.svg"
	tmux -L "$socket" kill-server
}

# Two that train, one of them hot and held back, one with two servers, one that
# holds memory and does nothing, a free one, and one that is lost in the end.
"$gpukit" fake --quiet --name "$machine" --gpus h100:6 \
	--load train:0-1,mem=60GiB,util=92,period=40s \
	--load infer:2,mem=24GiB,util=45,n=2 --load idle:3,mem=38GiB \
	--load infer:5,mem=12GiB -- sleep 1000 &
server=$!
trap 'kill $server' EXIT
until "$gpukit" fake ctl --name "$machine" show 0 >/dev/null 2>&1; do
	sleep 0.1
done
(
	sleep $((${SECONDS_OF_HISTORY:-60} / 2))
	"$gpukit" fake ctl --name "$machine" set 0 temperature=91
	"$gpukit" fake ctl --name "$machine" fail 5 lost xid=79
) &
for size in "80 24" "120 40" "200 60"; do
	# shellcheck disable=SC2086 # two numbers
	for viewer in "gpukit $gpukit top" "nvitop nvitop" "nvtop nvtop" \
		"btop btop"; do
		command -v "${viewer#* }" >/dev/null ||
			[ "${viewer%% *}" = gpukit ] || continue
		draw "${viewer%% *}" $size "${viewer#* }" &
	done
done
sleep $((${SECONDS_OF_HISTORY:-60} + 10))
ls "$into"
