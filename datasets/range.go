package datasets

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Range is the rows [First, Last) of a split.
type Range struct{ First, Last int }

// Rows returns how many rows the range has.
func (r Range) Rows() int { return r.Last - r.First }

// Keep says which rows of sets of so many Load keeps: some to train on, and some or none to test on. Load
// panics if there are no such rows. It may ask more than once.
type Keep func(train, test int) (trainRows, testRows Range)

// rows returns what is kept of sets of so many rows: all of them for nil.
func (k Keep) rows(train, test int) (trainRows, testRows Range) {
	trainRows, testRows = Range{0, train}, Range{0, test}
	if k == nil {
		return trainRows, testRows
	}
	trainRows, testRows = k(train, test)
	if r := trainRows; r.First < 0 || r.First >= r.Last || r.Last > train {
		panic(fmt.Sprintf("datasets: Keep of the rows [%d, %d) of %d to train on", r.First, r.Last, train))
	}
	if r := testRows; r.First < 0 || r.First > r.Last || r.Last > test {
		panic(fmt.Sprintf("datasets: Keep of the rows [%d, %d) of %d to test on", r.First, r.Last, test))
	}
	return trainRows, testRows
}

// Total returns how many rows the split has where it was loaded whole.
func (s *Split) Total() int {
	if s.All == 0 {
		return s.Rows()
	}
	return s.All
}

// keep copies what is kept out of a set that was made whole, so that the rest can be freed.
func (d *Dataset) keep(k Keep) {
	if k == nil {
		return
	}
	train, test := k.rows(d.Train.Rows(), d.Test.Rows())
	d.Train, d.Test = d.Train.copyOf(train), d.Test.copyOf(test)
}

func (s *Split) copyOf(r Range) Split {
	c := Split{Inputs: rowsCopy(s.Inputs, r), Targets: rowsCopy(s.Targets, r)}
	if s.Labels != nil {
		c.Labels = append(make([]int, 0, r.Rows()), s.Labels[r.First:r.Last]...)
	}
	if s.Features != nil {
		c.Features = rowsCopy(s.Features, r)
	}
	c.place(r, s.Rows())
	return c
}

// newSplit returns the rows r of all, of so many zeros each, with room for their labels.
func newSplit(r Range, all, columns int) Split {
	s := Split{Inputs: newDense(r.Rows(), columns), Labels: make([]int, 0, r.Rows())}
	s.place(r, all)
	return s
}

// place notes which of all rows the split has.
func (s *Split) place(r Range, all int) {
	if r.Rows() < all {
		s.First, s.All = r.First, all
	}
}

func rowsCopy(m *mat.Dense, r Range) *mat.Dense {
	if r.Rows() == 0 {
		return &mat.Dense{}
	}
	return mat.DenseCopyOf(rowsOf(m, r.First, r.Last))
}
