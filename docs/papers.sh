#!/usr/bin/env bash
# Runs what docs/papers.md reports of, with the papers' numbers of trials, and writes the figures and verdicts into that page.
# Stopped at any moment, the same command goes on where it was: each bench keeps a line for every trial in WORK/NAME.jsonl. The
# program is built once, into WORK/newtop; a new commit needs a new WORK. Measure on a quiet machine: what ran while others took
# more than 5 % of the processors decides no claim about time.
#
#   docs/papers.sh WORK DATA [NAME...]     NAME: toys, scg, letter, bpls, recipes; none: all; DATA: the files of real data
set -euo pipefail
work=${1:?a directory for trials and the program} data=${2:?the directory of real data}
shift 2
cd "$(dirname "$0")/.."
mkdir -p "$work"
[ -x "$work/newtop" ] || go build -o "$work/newtop" .
[ $# -gt 0 ] || set -- toys scg letter bpls recipes
for name; do
	"$work/newtop" bench "$name" --data-dir "$data" --resume "$work/$name.jsonl" --format brief > "$work/$name.md"
	awk -v name="$name" -v part="$work/$name.md" '
		$0 == "<!-- end of " name " -->" { inside = 0 }
		!inside { print }
		$0 == "<!-- " name " -->" { inside = 1; print ""; while ((getline line < part) > 0) print line; print "" }
	' docs/papers.md > "$work/page.md"
	mv "$work/page.md" docs/papers.md
done
