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
	taken   // a line with an x of its own has a value there
	summary // of the run
	torn    // half an object, or a row of too few or too many cells
	reasons
)

var reasonNames = [reasons]string{"gave points, or said x", "written by another rank", "states of bars that moved on",
	"settings", "prose, or no metric", "before the first x", "on a taken x", "summaries",
	"torn rows"}

// trace is what became of the lines of a shape, a table or a pattern, for Explain.
type trace struct {
	prefix, example string // of its first line
	number          int    // of that
	lines           [reasons]int
	of              any // *shape, *header of a table, or *Pattern
}

// tally counts what becomes of lines with numbers.
type tally struct {
	lines   [reasons]int
	all     int // lines, also those without numbers
	taken   int // values whose x had one of a line with its own x
	counted int // lines whose x was that of the line before, so that lines count
	beyond  int // lines whose shape is not remembered
	traces  []*trace
	current
}

// current is the line that is read now.
type current struct {
	of    *trace // nil: nobody asks
	noted bool   // it was counted, or will be with its record
}

// note counts what became of a line.
func (t *tally) note(r reason) {
	t.lines[r]++
	t.noted = true
	if t.of != nil {
		t.of.lines[r]++
	}
}

// follow makes what is noted from now on that of a trace too, which begins with this line if there is none yet.
func (t *tally) follow(of **trace, prefix, line []byte) {
	if *of == nil {
		*of = &trace{prefix: string(prefix), example: string(line[:min(len(line), maxExample)])}
		t.traces = append(t.traces, *of)
		(*of).number = len(t.traces)
	}
	t.of = *of
}

// maxExample bounds the bytes that are kept of a line.
const maxExample = 2000

// warning says in a line where the reading may be wrong: values were left out, lines were counted in place of an x that
// did not grow, or of the lines with numbers less than a third gave any. States of bars, other processes and the run's
// summary are understood, and not counted as lines that gave none. It is empty where all is well.
func (t *tally) warning() string {
	read := t.lines[given]
	all := read + t.lines[setting] + t.lines[unclear] + t.lines[early] + t.lines[taken] + t.lines[torn]
	if t.taken == 0 && t.counted == 0 && t.lines[torn] == 0 && 3*read >= all {
		return ""
	}
	text := fmt.Sprintf("read %d of %d lines with numbers", read, all)
	switch t.taken {
	case 0:
	case 1:
		text += "; 1 point fell on a taken x"
	default:
		text += fmt.Sprintf("; %d points fell on a taken x", t.taken)
	}
	if n := t.lines[torn]; n > 0 {
		text += fmt.Sprintf("; torn rows: %d", n)
	}
	if t.counted > 0 {
		text += "; lines are counted as steps, as several have the same epoch"
	}
	return text + " (--explain)"
}
