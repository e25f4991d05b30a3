package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets/fault"
)

// line has n points on y = 3x + 1.
func line(n int) *Rows {
	r := &Rows{Inputs: mat.NewDense(n, 1, nil), Targets: mat.NewDense(n, 1, nil)}
	for i := range n {
		r.Inputs.Set(i, 0, float64(i))
		r.Targets.Set(i, 0, 3*float64(i)+1)
	}
	return r
}

// own registers a set for a test.
func own(t *testing.T, name string, rows *Rows) {
	t.Helper()
	before := registered
	t.Cleanup(func() { registered = before })
	Register(Info{Name: name, Title: "a set of the test's own"}, func(Options) (*Rows, error) { return rows, nil })
}

// TestRegister: a registered set is split, scaled and listed like those that newtop makes, and the rows that it
// was made of stay as they are.
func TestRegister(t *testing.T) {
	rows := line(50)
	own(t, "line", rows)
	if last := List()[len(List())-1]; last.Name != "line" || last.Kind != Generated || IsTable("line") {
		t.Errorf("%+v", last)
	}
	d := mustLoad(t, "line", Options{Seed: 1})
	if d.Title != "a set of the test's own: 40 training rows, 10 test rows" || !slices.Equal(d.InputNames, []string{"x1"}) ||
		!slices.Equal(d.TargetNames, []string{"y1"}) {
		t.Errorf("%+v", d)
	}
	if rows.Inputs.At(49, 0) != 49 || rows.Targets.At(49, 0) != 148 {
		t.Error("the rows that were given have been changed")
	}
	raw := make([]float64, 1)
	for part := range Part(Parts) {
		s := d.Split(part)
		for i := range s.Rows() {
			x := s.Inputs.At(i, 0)*d.InputScaling.Scale[0] + d.InputScaling.Offset[0]
			d.TargetScaling.RawTo(raw, s.Targets.RawRowView(i))
			if math.Abs(raw[0]-3*x-1) > 1e-12*148 {
				t.Fatalf("row %d of part %d has the target %v of x = %v", i, part, raw[0], x)
			}
		}
	}
	if again := mustLoad(t, "line", Options{Seed: 1}); !mat.Equal(again.Train.Inputs, d.Train.Inputs) || !mat.Equal(again.Test.Targets, d.Test.Targets) {
		t.Error("loaded twice, it is another set")
	}
	if less := mustLoad(t, "line", Options{Rows: 20, Test: "5", Validation: "0.2"}); less.Train.Rows() != 12 || less.Validation.Rows() != 3 || less.Test.Rows() != 5 {
		t.Errorf("%d, %d and %d rows", less.Train.Rows(), less.Validation.Rows(), less.Test.Rows())
	}
}

// TestRegisterInOrder: where a set says how many of its last rows are for testing, these are.
func TestRegisterInOrder(t *testing.T) {
	r := &Rows{Inputs: line(10).Inputs, Labels: []int{0, 1, 0, 1, 0, 1, 0, 1, 1, 1}, Classes: []string{"even", "odd"}, InputNames: []string{"i"}, Tests: 3}
	own(t, "ordered", r)
	d := mustLoad(t, "ordered", Options{})
	if d.Test.Rows() != 3 || !slices.Equal(d.Test.Labels, []int{1, 1, 1}) || d.Test.Inputs.At(2, 0) != (9-3)/d.InputScaling.Scale[0] ||
		d.Outputs() != 2 || !slices.Equal(d.TargetNames, r.Classes) {
		t.Errorf("%+v", d)
	}
}

// TestRegisterRefuses: a name that is taken or a file's, and rows that don't fit together.
func TestRegisterRefuses(t *testing.T) {
	own(t, "line", line(5))
	for name, want := range map[string]string{"line": `a set "line" already`, "letters": `a set "letters" already`, "a.csv": "could be a file", "": "expected a name"} {
		var got string
		func() {
			defer func() { got = fmt.Sprint(recover()) }()
			Register(Info{Name: name, Title: "x"}, func(Options) (*Rows, error) { return nil, nil })
		}()
		if !strings.Contains(got, want) {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	for want, change := range map[string]func(*Rows){
		"no inputs":                              func(r *Rows) { r.Inputs = nil },
		"targets: false, labels: false":          func(r *Rows) { r.Targets = nil },
		"4 rows of targets":                      func(r *Rows) { r.Targets = line(4).Targets },
		"0 labels of 0 classes":                  func(r *Rows) { r.Targets, r.Labels = nil, []int{} },
		"row 2: found label 2, expected a class": func(r *Rows) { r.Targets, r.Labels, r.Classes = nil, []int{0, 2, 0, 0, 0}, []string{"a", "b"} },
		"row 4: found NaN, expected finite":      func(r *Rows) { r.Inputs.Set(3, 0, math.NaN()) },
		"2 names of inputs":                      func(r *Rows) { r.InputNames = []string{"a", "b"} },
		"2 names of targets":                     func(r *Rows) { r.TargetNames = []string{"a", "b"} },
		"5 test rows, expected a number fr":      func(r *Rows) { r.Tests = 5 },
	} {
		r := line(5)
		change(r)
		before := registered
		own(t, "wrong", r)
		_, err := Load("wrong", Options{})
		if _, ok := errors.AsType[*fault.FormatError](err); !ok || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, expected %s", err, want)
		}
		registered = before
	}
	gone := errors.New("the disk is gone")
	Register(Info{Name: "gone", Title: "x"}, func(Options) (*Rows, error) { return nil, gone })
	if _, err := Load("gone", Options{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
