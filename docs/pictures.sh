#!/usr/bin/env bash
# Makes the pictures of the README from the real program: it runs in tmux, and its own key P writes the screen; the
# figure is of recorded runs.
# Needs tmux and Python; with PyTorch for one of them. Usage: docs/pictures.sh
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
		"NEWTOP_CONFIG_DIR=$work NEWTOP_STATE_DIR=$work COLORTERM=truecolor TERM=xterm-256color $work/newtop $*"
	for _ in $(seq 120); do
		sleep 1
		tmux -L newtop-pictures capture-pane -p -t "$name" | grep -q 'epochs in\|ended\|finished' && break
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

# The film is the tour, whose scenes have a line each.
mkdir "$work/film"
tmux -L newtop-pictures -f /dev/null new-session -d -x 100 -y 30 -s film -c "$work/film" \
	"NEWTOP_CONFIG_DIR=$work NEWTOP_STATE_DIR=$work COLORTERM=truecolor TERM=xterm-256color $work/newtop record $work/film/newtop.cast --theme dark --tour"
sleep 26
tmux -L newtop-pictures send-keys -t film q
sleep 3
go run ./tui/film "$work/film/newtop.cast" docs/cast.svg 24

picture screen 120 40 "" --theme dark --seed 1 --opt tr-newton --epochs 32 --set spectrum-every=4
picture theatre 120 36 "Tab Tab z" --theme dark --seed 1 --opt tr-newton --epochs 20

# A network in PyTorch, where Python has it.
python=${NEWTOP_PYTHON:-python3}
if "$python" -c 'import torch' 2>/dev/null; then
	NEWTOP_PYTHON=$python picture model 120 36 "" --theme dark --model "$root/internal/python/testdata/digits.py" --epochs 24 --set spectrum-every=4
fi

# A program as others write them: a line of text now and then, and numbers that newtop does not know by name.
cat >"$work/train.py" <<'END'
import math, random, time
random.seed(1)
for step in range(20, 4001, 20):
    fit, noise = math.exp(-step / 900), random.gauss(0, 0.03)
    print(f"step {step}: train loss {0.2 + 2 * fit + noise:.4f}, lr {1e-3 * (1 - step / 4500):.2e}, grad_norm {1 + 3 * fit + noise:.3f}, perplexity {math.exp(0.2 + 2 * fit):.3f}")
    if step % 200 == 0:
        print(f"step {step}: val loss {0.26 + 2 * fit:.4f}, val acc {0.93 - 0.8 * fit:.4f}")
    time.sleep(0.02)
END
picture watch 120 30 "" watch --theme dark -- python3 "$work/train.py"

for method in tr-newton scg adam; do
	NEWTOP_STATE_DIR=$work "$work/newtop" train --opt $method --epochs 40 --seed 1 --name $method >/dev/null 2>&1
done
NEWTOP_STATE_DIR=$work "$work/newtop" runs plot tr-newton scg adam --what error --x equivalents -o docs/figure.svg
