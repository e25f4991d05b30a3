package datasets

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"newtop/datasets/csv/lex"
)

// What a table becomes is what pandas and numpy make of it; testdata/table.py has the program.
func TestFiguresOfPandas(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "table.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Numbers map[string]struct{ Mean, SD, Median float64 }
		City    []float64
		Place   []string
		Test    [][]*float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	same := func(a, b float64) bool { return scalar.EqualWithinAbsOrRel(a, b, 1e-9, 1e-9) }
	for _, mode := range []string{lex.MissingIndicator, lex.MissingMean, lex.MissingMedian} {
		d := mustLoad(t, filepath.Join("testdata", "table.csv"), Options{Test: filepath.Join("testdata", "table_test.csv"), Columns: lex.Options{Missing: mode}})
		order := []string{"age", "income", "seen year", "seen month", "seen day of week", "seen hour", "paid"}
		at := func(name string) int { return slices.Index(d.InputNames, name) }
		for _, name := range order {
			j, f := at(name), want.Numbers[name]
			if !same(d.InputScaling.Offset[j], f.Mean) || !same(d.InputScaling.Scale[j], f.SD) {
				t.Errorf("%s: mean %g, deviation %g, expected %g and %g", name, d.InputScaling.Offset[j], d.InputScaling.Scale[j], f.Mean, f.SD)
			}
		}
		for i := range d.Test.Rows() {
			row := raw(d, &d.Test, i)
			for k, name := range order {
				v := want.Numbers[name].Mean
				if mode == lex.MissingMedian {
					v = want.Numbers[name].Median
				}
				if want.Test[i][k] != nil {
					v = *want.Test[i][k]
				}
				if got := row[at(name)]; !same(got, v) {
					t.Errorf("%s, row %d: %s is %g, expected %g", mode, i, name, got, v)
				}
			}
			for _, name := range []string{"age", "income", "paid"} {
				if j := at(name + " missing"); (j >= 0) != (mode == lex.MissingIndicator) || j >= 0 && (row[j] == 1) != (want.Test[i][slices.Index(order, name)] == nil) {
					t.Errorf("row %d: %s is said to be missing: %g", i, name, row)
				}
			}
			if got := row[at("city: mean price")]; !same(got, want.City[i]) {
				t.Errorf("row %d: city is %g, expected %g", i, got, want.City[i])
			}
			input := "place=" + want.Place[i]
			if want.Place[i] == "missing" {
				input = "place missing"
			}
			sum := 0.0
			for _, name := range []string{"place=north", "place=south", "place=other", "place missing"} {
				sum += math.Abs(row[at(name)])
			}
			if sum != 1 || row[at(input)] != 1 {
				t.Errorf("row %d: %s is not set in %v", i, input, row)
			}
		}
	}
}
