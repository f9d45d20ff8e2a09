#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Draws the pictures of README.md anew, from what the built command shows in a
# terminal and draws: docs/pictures.sh (needs tmux, python3, gnuplot
# and chromium).
set -eu
cd "$(dirname "$0")/.."
gpukit=build/bin/gpukit

# picture NAME TITLE COLUMNS ROWS KEYS [OPTION...]: what top shows after these keys
picture() {
	name=$1 title=$2 columns=$3 rows=$4 keys=$5
	shift 5
	socket=gpukit-picture-$name-$$
	tmux -L "$socket" new-session -d -x "$columns" -y "$rows" \
		"$gpukit fake --gpus a100-sxm4-80gb:3,h100:1 \
		--mig 3=3g.40gb+2g.20gb+1g.10gb --speed 4 \
		--load train:0-1,mem=60GiB,util=92,period=40s \
		--load infer:2,mem=24GiB,util=45,n=2 \
		--load train:3:0,mem=20GiB -- $gpukit top $*"
	sleep "${SECONDS_OF_HISTORY:-75}"
	for key in $keys; do
		tmux -L "$socket" send-keys "$key"
	done
	sleep 4 # rates need two readings
	tmux -L "$socket" capture-pane -e -N -p |
		python3 tools/ansi_svg.py "$title" >"docs/$name.svg.new"
	mv "docs/$name.svg.new" "docs/$name.svg"
	tmux -L "$socket" kill-server
}

picture top "gpukit top" 140 40 "Down Down" &
picture top-80x24 "gpukit top" 80 24 "" &
picture top-200x60 "gpukit top" 200 60 "" &
picture top-nvitop "gpukit top --look nvitop" 140 44 "Down Down" --look nvitop &
picture top-device "gpukit top: one GPU" 120 56 "d" &
wait
python3 tools/film.py docs/demo.film docs/demo.svg.new
mv docs/demo.svg.new docs/demo.svg

# What plot makes of a minute in which ten minutes go by.
directory=$(mktemp -d)
$gpukit fake --scenario dying-gpu --speed 10 -- \
	$gpukit record --snapshots -i 0.25 --count 220 -o "$directory/day.tape"
(cd "$directory" && "$OLDPWD/$gpukit" plot day.tape)
mv "$directory/day.png" docs/plot.png
rm -r "$directory"

# The page of `gpukit web` after a minute, with one GPU hot and one lost.
"$gpukit" fake --gpus h100-80gb-hbm3:8 --speed 4 \
	--load train:0-3,mem=60GiB,util=92,period=40s \
	--load infer:4,mem=20GiB,n=2 --load infer:6,mem=40GiB,util=45 -- sh -c '
	trap "kill \$web" EXIT
	"$0" web --listen 127.0.0.1:9877 -i 0.25 & web=$!
	sleep "${SECONDS_OF_HISTORY:-75}"
	"$0" fake ctl set 3 temperature=92
	"$0" fake ctl fail 7 lost xid=79
	sleep 5
	chromium --headless --no-sandbox --timeout=8000 --hide-scrollbars \
		--window-size=1280,960 \
		--blink-settings=preferredColorScheme=0 \
		--screenshot=docs/web.png http://127.0.0.1:9877/' "$gpukit"
