// Package datasets holds what networks are trained on: sets that are generated here and need no file,
// readers of file formats, scaling, splits, and the download of the well-known files.
//
// Every set ends as one Dataset: two matrices of rows for training and two for testing, with the
// scaling that leads back to the raw values. Loading is deterministic: the same Options give the same
// bits, whatever GOMAXPROCS.
package datasets

import (
	"gonum.org/v1/gonum/mat"

	"newtop/datasets/csv"
	"newtop/datasets/csv/schema"
)

// Split is the part of a set that is trained on, that is decided by, or that is tested on. Inputs is rows × inputs
// and Targets rows × outputs. Labels[i] is the class of row i as an index into Dataset.Classes; it is
// nil for regression. Features is rows × Dataset.Features, unscaled; it is nil where there are none.
//
// A split that has no rows has empty matrices, of no columns, where others have rows, and
// no Labels, which are not nil for classes.
type Split struct {
	Inputs   *mat.Dense
	Targets  *mat.Dense
	Labels   []int
	Features *mat.Dense
}

// Rows returns the number of rows.
func (s *Split) Rows() int {
	if s.Inputs == nil {
		return 0
	}
	return s.Inputs.RawMatrix().Rows
}

// Feature is a number that is known of every row beside the inputs, made from them: what the gates of a
// mixture of experts may look at. Period is after how much it repeats itself, as an angle does after 360
// degrees; 0: never.
type Feature struct {
	Name   string
	Period float64
}

// Image is the shape of rows that are grey images, stored row by row from the top left pixel.
type Image struct {
	Width, Height int
}

// Dataset is a set ready for training. Its rows are scaled; InputScaling and TargetScaling say how, were
// fitted on the training rows alone and hold for all splits.
type Dataset struct {
	Name        string // as given to Load
	Title       string // one line: what it is, how many rows, how it was split
	Train       Split
	Validation  Split // of no rows unless Options ask for them
	Test        Split
	Classes     []string // class names; nil for regression
	InputNames  []string // one for each column of Inputs
	TargetNames []string // one for each column of Targets; the class names for classes

	InputScaling  Scaling
	TargetScaling Scaling

	Features []Feature // one for each column of a Split's Features; nil for most sets

	Image *Image // nil unless the rows are images

	Table *schema.Table // nil unless the rows are a CSV file's
	Facts []csv.Fact    // what was found in each column of that file

	Notes []string // what was decided for the user, a line each: columns left out, what stands in for missing values, …
}

// Split returns a part of the set.
func (d *Dataset) Split(p Part) *Split {
	return [Parts]*Split{&d.Train, &d.Validation, &d.Test}[p]
}

// Inputs returns the number of input columns.
func (d *Dataset) Inputs() int { return d.Train.Inputs.RawMatrix().Cols }

// Outputs returns the number of target columns: the number of classes, or of regression targets.
func (d *Dataset) Outputs() int { return d.Train.Targets.RawMatrix().Cols }

// TargetUnit returns what a difference of scaled targets is multiplied by to be in the units of the data. It is 1 for
// classes. The targets of a regression that were scaled in different ways have no unit together: they stay as they are,
// by 1, and same is false.
func (d *Dataset) TargetUnit() (unit float64, same bool) {
	s := d.TargetScaling.Scale
	if d.Classes != nil || len(s) == 0 {
		return 1, true
	}
	for _, v := range s {
		if v != s[0] {
			return 1, false
		}
	}
	return s[0], true
}

// Positive returns of two classes the name of the one with fewer training rows, the second of equals; else it is empty.
func (d *Dataset) Positive() string {
	if len(d.Classes) != 2 || len(d.Train.Labels) == 0 {
		return ""
	}
	rows := append(counts(len(d.Train.Labels), d.Train.Labels), 0) // the second class may have none
	return d.Classes[1-min(1, max(0, rows[1]-rows[0]))]
}

// Encode codes the targets of a classification set again: high in the column of a row's class and low in
// the others. Load codes them as 0 and 1, for softmax; tanh outputs want −1 and 1. It panics for a
// regression set and when low = high.
func (d *Dataset) Encode(low, high float64) {
	if d.Classes == nil {
		panic("datasets: Encode of a regression set")
	}
	if !(low < high || high < low) {
		panic("datasets: Encode needs two different numbers")
	}
	n := len(d.Classes)
	for part := range Part(Parts) {
		d.Split(part).encode(n, low, high)
	}
	scale := 1 / (high - low)
	d.TargetScaling = Scaling{Kind: ScaledClasses, Offset: repeat(0-low*scale, n), Scale: repeat(scale, n)}
}

func (s *Split) encode(classes int, low, high float64) {
	if s.Targets == nil {
		s.Targets = newDense(len(s.Labels), classes)
	}
	for i, label := range s.Labels {
		row := s.Targets.RawRowView(i)
		for j := range row {
			row[j] = low
		}
		row[label] = high
	}
}

// finish scales the inputs of all splits and codes the classes as 0 and 1.
func (d *Dataset) finish(s Scaling) {
	d.InputScaling = s
	for part := range Part(Parts) {
		s.apply(d.Split(part).Inputs)
	}
	if d.Classes != nil {
		d.TargetNames = d.Classes
		d.Encode(0, 1)
	}
}

// finishTarget scales the targets of all splits.
func (d *Dataset) finishTarget(s Scaling) {
	d.TargetScaling = s
	for part := range Part(Parts) {
		s.apply(d.Split(part).Targets)
	}
}

// table is a set before it is split: all rows in one piece, the inputs raw.
type table struct {
	inputs   *mat.Dense
	targets  *mat.Dense // nil for classes
	labels   []int      // nil for regression
	features *mat.Dense // nil for most sets
}

func (t *table) rows() int { return t.inputs.RawMatrix().Rows }

// reordered returns a copy of the table with row i in positions[i], of as many rows as there are positions.
func (t *table) reordered(positions []int) *table {
	moved := func(m *mat.Dense) *mat.Dense {
		if m == nil {
			return nil
		}
		out := mat.NewDense(len(positions), m.RawMatrix().Cols, nil)
		for i, to := range positions {
			copy(out.RawRowView(to), m.RawRowView(i))
		}
		return out
	}
	out := &table{inputs: moved(t.inputs), targets: moved(t.targets), features: moved(t.features)}
	if t.labels != nil {
		out.labels = make([]int, len(positions))
		for i, to := range positions {
			out.labels[to] = t.labels[i]
		}
	}
	return out
}

func (t *table) slice(from, to int) Split {
	s := Split{Inputs: rowsOf(t.inputs, from, to)}
	if t.targets != nil {
		s.Targets = rowsOf(t.targets, from, to)
	}
	if t.labels != nil {
		s.Labels = t.labels[from:to:to]
	}
	if t.features != nil {
		s.Features = rowsOf(t.features, from, to)
	}
	return s
}

func rowsOf(m *mat.Dense, from, to int) *mat.Dense {
	if from == to {
		return &mat.Dense{}
	}
	return m.Slice(from, to, 0, m.RawMatrix().Cols).(*mat.Dense)
}

// newDense returns a matrix of zeros, an empty one for no rows.
func newDense(rows, columns int) *mat.Dense {
	if rows == 0 {
		return &mat.Dense{}
	}
	return mat.NewDense(rows, columns, nil)
}

func repeat(v float64, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}
