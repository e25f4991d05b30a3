#!/usr/bin/env bash
# Makes the pictures of the README from the real program: it runs in tmux, and its own key P writes the screen; the
# figure is of recorded runs.
# Needs tmux. Usage: docs/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'tmux -L newtop-pictures kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/newtop" .

# picture NAME COLUMNS ROWS KEYS FLAGS…: presses KEYS after the run's end, then P.
picture() {
	local name=$1 columns=$2 rows=$3 keys=$4
	shift 4
	mkdir "$work/$name"
	tmux -L newtop-pictures -f /dev/null new-session -d -x "$columns" -y "$rows" -s "$name" -c "$work/$name" \
		"NEWTOP_CONFIG_DIR=$work NEWTOP_STATE_DIR=$work COLORTERM=truecolor TERM=xterm-256color $work/newtop --theme dark --seed 1 $*"
	for _ in $(seq 120); do
		sleep 1
		tmux -L newtop-pictures capture-pane -p -t "$name" | grep -q 'epochs in\|ended' && break
	done
	for key in $keys; do
		tmux -L newtop-pictures send-keys -t "$name" "$key"
		sleep 1
	done
	sleep 6 # notices go
	tmux -L newtop-pictures send-keys -t "$name" P
	for _ in $(seq 20); do
		sleep 0.5
		ls "$work/$name"/*.svg >/dev/null 2>&1 && break
	done
	mv "$work/$name"/*.svg "$root/docs/$name.svg"
	tmux -L newtop-pictures kill-session -t "$name"
}

picture screen 120 40 "" --opt tr-newton --epochs 32 --spectrum-every 4
picture theatre 120 36 "Tab Tab z" --opt tr-newton --epochs 20

for method in tr-newton scg adam; do
	NEWTOP_STATE_DIR=$work "$work/newtop" train --opt $method --epochs 40 --seed 1 --name $method >/dev/null 2>&1
done
NEWTOP_STATE_DIR=$work "$work/newtop" runs plot tr-newton scg adam --what error --x equivalents -o docs/figure.svg
