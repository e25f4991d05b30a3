package datasets

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

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

// Range is the rows [First, Last) of a split.
type Range struct{ First, Last int }

// Rows returns how many rows the range has.
func (r Range) Rows() int { return r.Last - r.First }

// Ranges are rows of each part of a set.
type Ranges [Parts]Range

// Rows returns how many rows the ranges have.
func (r Ranges) Rows() (n int) {
	for _, part := range r {
		n += part.Rows()
	}
	return n
}

// Keep says which rows of sets of such sizes Load keeps: some to train on, and some or none of the others. Load panics
// if there are no such rows. It may ask more than once.
type Keep func(Sizes) Ranges

// rows returns what is kept of sets of such sizes: all of them for nil.
func (k Keep) rows(sizes Sizes) (r Ranges) {
	if k != nil {
		r = k(sizes)
	} else {
		for part, n := range sizes {
			r[part] = Range{0, n}
		}
	}
	for part, n := range sizes {
		of := r[part]
		if of.First < 0 || of.First > of.Last || of.Last > n || of.Rows() == 0 && Part(part) == Train {
			panic(fmt.Sprintf("datasets: Keep of the rows [%d, %d) of %d %s rows", of.First, of.Last, n, Part(part)))
		}
	}
	return r
}

// Split returns a part of the set.
func (d *Dataset) Split(p Part) *Split {
	return [Parts]*Split{&d.Train, &d.Validation, &d.Test}[p]
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
	for part, r := range k.rows(d.sizes()) {
		s := d.Split(Part(part))
		*s = s.copyOf(r)
	}
}

// sizes returns how many rows the parts of a whole set have.
func (d *Dataset) sizes() (s Sizes) {
	for part := range s {
		s[part] = d.Split(Part(part)).Rows()
	}
	return s
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
	s := Split{Inputs: newDense(r.Rows(), columns), Labels: make([]int, r.Rows())}
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
