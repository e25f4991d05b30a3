package shape

// reason says why a line with numbers gave nothing.
type reason uint8

const (
	given reason = iota
	otherRank
	barState
	setting
	unclear
	early
	summary
	reasons
)

var reasonNames = [reasons]string{"given", "other ranks", "states of bars", "settings", "prose", "before the first x",
	"summary"}

// Report says what of a log was read.
type Report struct {
	Lines   int            // with numbers
	Given   int            // of them, that gave values or a place
	Omitted map[string]int // the others, by reason
	Taken   int            // values that came for an x that had one of a line with its own x
	Counted int            // lines whose x was taken by the line before, so that lines count
	Shapes  []Line         // by how often they came
}

// Line is a shape of lines of a log.
type Line struct {
	Example string
	Count   int
	Names   []string // of its metrics
	Axes    int      // counters
}

// tally counts what becomes of lines.
type tally struct {
	lines   [reasons]int
	taken   int
	counted int
}
