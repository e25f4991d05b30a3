package datasets

import (
	"math"
	"slices"
	"testing"
)

// Rows to decide by are taken from those to train on and are the same each time; the others stay in their order, classes have
// equal shares, and the rows to test on are as they were.
func TestValidation(t *testing.T) {
	for _, name := range []string{"letters", "digits", "spirals", "recipes", "sine", "parity"} {
		whole := mustLoad(t, name, Options{Seed: 3, Rows: 1024})
		o := Options{Seed: 3, Rows: 1024, Validation: "0.15"}
		d := mustLoad(t, name, o)
		n := whole.Train.Rows()
		if want := int(math.Round(0.15 * float64(n))); d.Validation.Rows() != want || d.Train.Rows() != n-want {
			t.Fatalf("%s: %d + %d of %d rows", name, d.Train.Rows(), d.Validation.Rows(), n)
		}
		raw := func(d *Dataset, s *Split, i int) []float64 {
			row := make([]float64, d.Inputs())
			d.InputScaling.RawTo(row, s.Inputs.RawRowView(i))
			return row
		}
		same := func(a, b []float64) bool {
			return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(x)) })
		}
		train, decide := 0, 0
		for i := range n {
			row := raw(whole, &whole.Train, i)
			switch {
			case train < d.Train.Rows() && same(row, raw(d, &d.Train, train)):
				train++
			case decide < d.Validation.Rows() && same(row, raw(d, &d.Validation, decide)):
				decide++
			default:
				t.Fatalf("%s: row %d is in neither part in its order", name, i)
			}
		}
		if d.Test.Rows() != whole.Test.Rows() || !same(raw(whole, &whole.Test, 0), raw(d, &d.Test, 0)) {
			t.Errorf("%s: the rows to test on are others", name)
		}
		if d.Classes == nil {
			continue
		}
		all, some := make([]int, len(d.Classes)), make([]int, len(d.Classes))
		for _, c := range whole.Train.Labels {
			all[c]++
		}
		for i, c := range d.Validation.Labels {
			some[c]++
			if d.Validation.Targets.At(i, c) != 1 {
				t.Errorf("%s: row %d is coded as another class", name, i)
			}
		}
		for c := range all {
			if share := 0.15 * float64(all[c]); math.Abs(float64(some[c])-share) >= 1.2 {
				t.Errorf("%s: %d of %d rows of class %s", name, some[c], all[c], d.Classes[c])
			}
		}
	}
}

// Every row is in one of the folds, which have the same size and the same shares of the classes to a row.
func TestFolds(t *testing.T) {
	classes := make([]int, 103)
	for i := range classes {
		classes[i] = min(i%7, 2)
	}
	for _, label := range []func(i int) int{nil, func(i int) int { return classes[i] }} {
		seen := make([]int, len(classes))
		for k := 1; k <= 4; k++ {
			o := Options{Seed: 1, Folds: 4, Fold: k}
			to, err := o.arrange(len(classes), 3, nil, label)
			if err != nil {
				t.Fatal(err)
			}
			if to.Sizes != (Sizes{75, 25, 3}) {
				t.Errorf("fold %d has %d rows", k, to.Sizes)
			}
			count := make([]int, 3)
			for i := range classes {
				part, at := to.to(i)
				if part == Validation {
					seen[i]++
					count[classes[i]]++
				}
				if i >= 100 && (part != Test || at != i-100) {
					t.Errorf("row %d is not for testing", i)
				}
			}
			for c, n := range count {
				share := 0
				for _, of := range classes[:100] {
					if of == c {
						share++
					}
				}
				if label != nil && math.Abs(float64(n)-float64(share)/4) >= 1 {
					t.Errorf("fold %d has %d of %d rows of class %d", k, n, share, c)
				}
			}
		}
		for i, n := range seen[:100] {
			if n != 1 {
				t.Errorf("row %d is in %d folds", i, n)
			}
		}
	}
}

// A class keeps a row to train on if it can, and as many rows are drawn as were asked for.
func TestDrawOfSmallClasses(t *testing.T) {
	classes := []int{0, 1, 1, 2, 2, 2, 2, 2, 2, 2}
	for count := 1; count < len(classes); count++ {
		picked := drawRows(len(classes), count, classes, 1, streamTest)
		taken, left := 0, make([]int, 3)
		for i, p := range picked {
			if p {
				taken++
			} else {
				left[classes[i]]++
			}
		}
		if taken != count || count <= 7 && slices.Min(left) == 0 {
			t.Errorf("%d of %d rows drawn, of the classes %d stay", taken, count, left)
		}
	}
}

func TestWrongValidation(t *testing.T) {
	for _, o := range []Options{
		{Validation: "many"}, {Validation: "-1"}, {Validation: "1.5"}, {Validation: "400"}, {Validation: "0.0"},
		{Folds: 1, Fold: 1}, {Folds: 401, Fold: 1}, {Folds: 5, Fold: -1}, {Folds: 5, Fold: 6}, {Folds: -2},
	} {
		if _, err := Load("sine", o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if d := mustLoad(t, "sine", Options{Validation: "0"}); d.Validation.Rows() != 0 {
		t.Errorf("%d rows to decide by", d.Validation.Rows())
	}
}
