package shape

import "fmt"

// reason says why a line with numbers gave nothing.
type reason uint8

const (
	given     reason = iota
	otherRank        // another process wrote it
	barState         // a bar moved on before it counted
	setting
	unclear // prose, or a name that no word of the field explains
	early   // before the first x
	summary // of the run
	reasons
)

// tally counts what becomes of lines with numbers.
type tally struct {
	lines   [reasons]int
	taken   int // values whose x had one of a line with its own x
	counted int // lines whose x was that of the line before, so that lines count
}

// note counts what became of a line.
func (t *tally) note(r reason) { t.lines[r]++ }

// warning says in a line where the reading may be wrong: values were left out, lines were counted in place of an x that
// did not grow, or of the lines with numbers less than a third gave any. States of bars, other processes and the run's
// summary are understood, and not counted as lines that gave none. It is empty where all is well.
func (t *tally) warning() string {
	read := t.lines[given]
	all := read + t.lines[setting] + t.lines[unclear] + t.lines[early]
	switch {
	case t.taken > 0:
		return fmt.Sprintf("%d of %d lines with numbers read; values left out, as their step has one: %d", read,
			all, t.taken)
	case t.counted > 0:
		return fmt.Sprintf("several lines have the same epoch: lines counted as steps: %d", t.counted)
	case 3*read < all:
		return fmt.Sprintf("%d of %d lines with numbers read; left out as settings %d, as prose %d, before the first "+
			"step %d", read, all, t.lines[setting], t.lines[unclear], t.lines[early])
	}
	return ""
}
