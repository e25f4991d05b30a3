package datasets

// Part names a split of a set.
type Part uint8

// The parts, in the order in which a set's rows are kept.
const (
	Train      Part = iota // rows to train on
	Validation             // rows to decide by
	Test                   // rows that decide nothing
	Parts      = 3
)

// Parts in words.
func (p Part) String() string { return [Parts]string{"training", "validation", "test"}[p] }

// Sizes are how many rows each part of a set has.
type Sizes [Parts]int

// newSplit returns a split of that many rows of zeros, with room for their labels.
func newSplit(rows, columns int) Split {
	return Split{Inputs: newDense(rows, columns), Labels: make([]int, rows)}
}
