package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets/fault"
)

// Rows is a data set of a program's own as it comes, unscaled and in one piece. Load splits it, and scales inputs and
// the targets of a regression to mean 0 and standard deviation 1 over the training rows.
type Rows struct {
	Inputs  *mat.Dense // rows × inputs
	Targets *mat.Dense // rows × outputs of a regression; nil for classes
	Labels  []int      // of each row, an index into Classes; nil for a regression
	Classes []string   // names of two classes or more; nil for a regression
	// InputNames and TargetNames name the columns; nil: x1, x2, … and y1, y2, …
	InputNames, TargetNames []string
	// Tests is how many of the last rows are for testing. 0: a fifth, drawn by Options.Seed. Options.Test says how many
	// instead.
	Tests int
}

// registered are the sets of Register, in its order.
var registered []set

// Register adds a set of a program's own to those that Load, and so a trainer.Config, know by name. Info has its Name
// and Title at least; its other fields are what lists show, and its Kind becomes Generated. load makes the rows, always
// the same for the same Options, of which it may look at Seed, Noise, Rows and Dir. Load copies them.
//
// It is called at the start of a program, before anything else uses data sets. A run on a registered set is resumed,
// and its model used for predictions, where the set is registered again. It panics for a name that another set has, and
// for one that could be a file's.
func Register(info Info, load func(Options) (*Rows, error)) {
	switch {
	case info.Name == "" || info.Title == "" || load == nil:
		panic("datasets: Register: expected a name, a title and a function")
	case strings.ContainsAny(info.Name, pathCharacters):
		panic(fmt.Sprintf("datasets: Register: %q could be a file: expected a name without any of %s", info.Name,
			pathCharacters))
	case !IsTable(info.Name):
		panic(fmt.Sprintf("datasets: Register: there is a set %q already", info.Name))
	}
	info.Kind = Generated
	registered = append(registered, set{info, func(o Options) (*Dataset, error) {
		rows, err := load(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", info.Name, err)
		}
		return rows.dataset(&info, &o)
	}})
}

// dataset makes a set of the rows.
func (r *Rows) dataset(info *Info, o *Options) (*Dataset, error) {
	if err := r.check(info.Name); err != nil {
		return nil, err
	}
	count, columns := r.Inputs.Dims()
	if o.Rows > 0 {
		count = min(count, o.Rows)
	}
	tests := fifth(count)
	if r.Tests > 0 {
		tests = min(r.Tests, count-1)
	}
	tests, err := o.testRows(count, tests)
	if err != nil {
		return nil, err
	}
	t := (&table{inputs: r.Inputs, targets: r.Targets, labels: r.Labels}).reordered(r.order(count, o.Seed))
	d := &Dataset{Name: info.Name, Title: info.Title, Classes: r.Classes,
		InputNames: named(r.InputNames, "x", columns), TargetNames: r.TargetNames}
	if err := d.split(t, tests, o, " rows"); err != nil {
		return nil, err
	}
	if r.Targets != nil {
		d.TargetNames = named(r.TargetNames, "y", d.Outputs())
		d.finishTarget(standard(d.Train.Targets, nil))
	}
	d.finish(standard(d.Train.Inputs, nil))
	return d, nil
}

// order returns where the first count rows go: they are drawn unless the last ones are for testing.
func (r *Rows) order(count int, seed uint64) (positions []int) {
	if r.Tests == 0 {
		return shuffle(count, seed)
	}
	positions = make([]int, count)
	for i := range positions {
		positions[i] = i
	}
	return positions
}

// check returns a *fault.FormatError for rows that don't fit together.
func (r *Rows) check(name string) error {
	invalid := func(row int, found, expected string) error {
		return &fault.FormatError{File: name, Offset: fault.Whole, Row: row, Found: found, Expected: expected}
	}
	if r == nil || r.Inputs == nil || r.Inputs.IsEmpty() {
		return invalid(0, "no inputs", "a matrix of rows × inputs")
	}
	count, columns := r.Inputs.Dims()
	switch targets, labels := r.Targets != nil, r.Labels != nil; {
	case count < 2:
		return invalid(0, fmt.Sprint(count, " row"), "two rows or more, for training and test")
	case targets == labels:
		return invalid(0, fmt.Sprintf("targets: %v, labels: %v", targets, labels),
			"targets of a regression, or labels of classes")
	case targets && (r.Targets.RawMatrix().Rows != count || r.Classes != nil):
		return invalid(0, fmt.Sprintf("%d rows of targets and %d classes", r.Targets.RawMatrix().Rows, len(r.Classes)),
			fmt.Sprintf("%d rows and no class", count))
	case labels && (len(r.Labels) != count || len(r.Classes) < 2):
		return invalid(0, fmt.Sprintf("%d labels of %d classes", len(r.Labels), len(r.Classes)),
			fmt.Sprintf("%d labels of two classes or more", count))
	case r.InputNames != nil && len(r.InputNames) != columns:
		return invalid(0, fmt.Sprintf("%d names of inputs", len(r.InputNames)), fmt.Sprint(columns))
	case targets && r.TargetNames != nil && len(r.TargetNames) != r.Targets.RawMatrix().Cols:
		return invalid(0, fmt.Sprintf("%d names of targets", len(r.TargetNames)),
			fmt.Sprint(r.Targets.RawMatrix().Cols))
	case r.Tests < 0 || r.Tests >= count:
		return invalid(0, fmt.Sprint(r.Tests, " test rows"), fmt.Sprintf("a number from 0 to %d", count-1))
	}
	for i := range count {
		numbers := r.Inputs.RawRowView(i)
		if r.Targets != nil {
			numbers = slices.Concat(numbers, r.Targets.RawRowView(i))
		} else if c := r.Labels[i]; c < 0 || c >= len(r.Classes) {
			return invalid(i+1, fmt.Sprint("label ", c), fmt.Sprintf("a class from 0 to %d", len(r.Classes)-1))
		}
		for _, v := range numbers {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return invalid(i+1, fmt.Sprint(v), "finite numbers")
			}
		}
	}
	return nil
}

// named returns names, or if there are none as many as there are columns.
func named(names []string, letter string, columns int) []string {
	if names != nil {
		return slices.Clone(names)
	}
	for j := range columns {
		names = append(names, fmt.Sprint(letter, j+1))
	}
	return names
}
