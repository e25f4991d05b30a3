#!/usr/bin/env bash
# Measures what the pages report of, writes the figures between the marks <!-- NAME --> and <!-- end of NAME --> of their page, and
# notes in docs/figures.tsv the sources that they came of, commit, machine, load and date. A test of internal/docs fails where sources
# have changed since. Stopped at any moment, the same command goes on where it was: each bench of a paper keeps a line for every trial in
# WORK/NAME.jsonl. The programs are built once, into WORK; a new commit needs a new WORK. Measure on a quiet machine.
#
#   docs/figures.sh WORK DATA [NAME...]     NAME: as in docs/figures.tsv, and pictures; none: all; DATA: the files of real data
set -euo pipefail
work=${1:?a directory for trials and the program} data=${2:?the directory of real data}
shift 2
cd "$(dirname "$0")/.."
mkdir -p "$work"
work=$(cd "$work" && pwd)
[ -x "$work/newtop-bench" ] || { go build -o "$work/newtop" . && go build -C internal/bench -o "$work/newtop-bench" ./cmd && git rev-parse --short HEAD > "$work/commit"; }
[ $# -gt 0 ] || set -- toys scg letter bpls bpls-hidden recipes core race-letter race-letter-best race-mnist race-recipes tables pictures

# note NAME PAGE SOURCES: SOURCES are patterns of files, of which those of tests don't count.
note() {
	local hash machine
	hash=$(for file in $(ls $3 | grep -v _test.go | LC_ALL=C sort -u); do cat "$file"; done | sha256sum | cut -c1-16)
	machine=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
	awk -F'\t' -v name="$1" '$1 != name' docs/figures.tsv > "$work/figures.tsv"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$hash" "$(cat "$work/commit")" "$machine, $(nproc) cores" \
		"$(cut -d' ' -f1 /proc/loadavg)" "$(date -u +%F)" >> "$work/figures.tsv"
	{ head -n 1 "$work/figures.tsv"; tail -n +2 "$work/figures.tsv" | sort; } > docs/figures.tsv
}

# figure NAME PAGE SOURCES COMMAND...
figure() {
	local name=$1 page=$2 sources=$3
	shift 3
	grep -qx "<!-- $name -->" "$page" && grep -qx "<!-- end of $name -->" "$page" || { echo "$page has no marks of $name" >&2; exit 1; }
	"$@" > "$work/$name.md"
	awk -v name="$name" -v part="$work/$name.md" '
		$0 == "<!-- end of " name " -->" { inside = 0 }
		!inside { print }
		$0 == "<!-- " name " -->" { inside = 1; print ""; while ((getline line < part) > 0) print line; print "" }
	' "$page" > "$work/page.md"
	cp "$work/page.md" "$page"
	note "$name" "$page" "$sources"
}

# fenced COMMAND... prints its output as a block of text.
fenced() { echo '```console'; "$@"; echo '```'; }

# hidden prints the final accuracy of BPLS with hidden layers of each kind, training / test in per cent, means of seeds 1 to 3.
hidden() {
	local act target ridge seed layers
	echo '| hidden layer | printed, no ridge | printed + ridge | minimum-norm, no ridge | minimum-norm + ridge |'
	echo '|---|--:|--:|--:|--:|'
	for act in softmax tanh sigmoid identity none; do
		printf '| %s |' $act
		for target in printed minimum-norm; do
			for ridge in 0 0.01; do
				layers=(--net 50 --act $act --set target=$target)
				if [ $act = none ]; then
					[ $target = printed ] || continue # a linear model has no layer below
					layers=(--net none)
				fi
				for seed in 1 2 3; do
					"$work/newtop" train --data mnist --data-dir "$data" "${layers[@]}" --opt bpls --set ridge-2=$ridge --seed $seed \
						--record off --threads 1 --format jsonl | tail -n 1
				done | sed 's/.*"loss":[^,]*,"error":\([^,]*\),"test_error":\([^,]*\),.*/\1 \2/' |
					awk '{ a += 1 - $1; b += 1 - $2 } END { printf " %.1f / %.1f |", 100 * a / NR, 100 * b / NR }'
			done
		done
		[ $act = none ] && echo ' | |' || echo
	done
}

papers='internal/bench/papers/run*.go internal/bench/papers/judge.go'
for name; do
	case $name in
	core) figure core docs/performance.md 'internal/bench/core.go internal/bench/products.go internal/bench/scaling.go' fenced "$work/newtop-bench" core ;;
	bpls-hidden) figure bpls-hidden docs/bpls.md 'trainer/optim/leastsquares/*.go' hidden ;;
	race-letter | race-letter-best)
		figure "$name" docs/race.md 'internal/bench/race*.go' "$work/newtop-bench" race --only "${name#race-}" --seeds 20 --data-dir "$data" --format md ;;
	race-*) figure "$name" docs/race.md 'internal/bench/race*.go' "$work/newtop-bench" race --only "${name#race-}" --seeds 5 --data-dir "$data" --format md ;;
	tables)
		figure tables docs/tables.md 'internal/bench/tables.*' "$work/newtop-bench" tables --newtop "$work/newtop" --journal "$work/tables.jsonl" --format md ;;
	fair-*)
		figure "$name" docs/race.md internal/bench/fair.go "$work/newtop-bench" fair --only "${name#fair-}" --data-dir "$data" \
			--journal "$work/$name.jsonl" --format md ;;
	pictures) docs/pictures.sh && note pictures docs/cast.svg 'docs/pictures.sh tui/film/main.go' ;;
	*) figure "$name" docs/papers.md "internal/bench/papers/$name*.go $papers" "$work/newtop-bench" "$name" --data-dir "$data" --resume "$work/$name.jsonl" --format brief ;;
	esac
done
