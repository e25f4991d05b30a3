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

// warning says in a line where the reading may be wrong: values were left out, lines were counted in place of an x that
// did not grow, or of the lines with numbers less than a third gave any. States of bars, other processes and the run's
// summary are understood, and not counted as lines that gave none. It is empty where all is well.
func (t *tally) warning() string {
	read := t.lines[given]
	all := read + t.lines[setting] + t.lines[unclear] + t.lines[early]
	switch {
	case t.taken > 0:
		return fmt.Sprintf("left out of %d lines with numbers, %d of which were read: values for steps that have one, "+
			"%d in all", all, read, t.taken)
	case t.counted > 0:
		return fmt.Sprintf("lines are counted as steps, %d in all, since several have the same epoch", t.counted)
	case 3*read < all:
		return fmt.Sprintf("of %d lines with numbers %d were read: %d look like settings, %d like prose, and %d come "+
			"before the first step", all, read, t.lines[setting], t.lines[unclear], t.lines[early])
	}
	return ""
}
