package survey

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/datasets"
)

// of surveys a table.
func of(t *testing.T, text, target string) *Survey {
	t.Helper()
	file := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Load(file, datasets.Options{Target: target, Validation: "0.15", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Of(d)
}

func column(t *testing.T, s *Survey, name string) *Column {
	t.Helper()
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no column %s among %v", name, s.Columns)
	}
	return &s.Columns[i]
}

// Forty rows, all of whose figures can be counted by hand: age is 20 … 59, but missing in rows 0 and 1.
func TestSurvey(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,age,height,city,smoker,born,same,y\n")
	for i := range 40 {
		age := fmt.Sprint(20 + i)
		if i < 2 {
			age = "?"
		}
		fmt.Fprintf(&b, "%d,%s,%g,%s,%s,%d-03-01,7,%s\n", i, age, 1.5+float64(i)/80, []string{"Ulm", "Ulm", "Bonn", "Ulm"}[i%4], []string{"yes", "no"}[i%2], 1960+i, []string{"sick", "well"}[i%2])
	}
	s := of(t, b.String(), "y")
	if all := s.Train + s.Validation + s.Test; all != 40 || s.Sampled != 40 || s.Test == 0 || s.Validation == 0 || s.Outputs != 2 || s.Inputs != 9 {
		t.Errorf("%d + %d + %d rows, %d sampled, %d inputs, %d outputs", s.Train, s.Validation, s.Test, s.Sampled, s.Inputs, s.Outputs)
	}
	if want := []Word{{"sick", 20}, {"well", 20}}; !slices.Equal(s.Classes, want) {
		t.Errorf("classes %v, expected %v", s.Classes, want)
	}
	for _, want := range []struct {
		name, kind, leftOut string
		missing, distinct   int
		inputs              int
	}{
		{"id", "number", "numbers the rows", 0, 40, 0},
		{"age", Whole, "", 2, 38, 2},
		{"height", "number", "", 0, 40, 1},
		{"city", "category", "", 0, 2, 2},
		{"smoker", "boolean", "", 0, 2, 1},
		{"born", "date", "", 0, 40, 3},
		{"same", "number", "has one value in all rows", 0, 1, 0},
		{"y", "category", "", 0, 2, 0},
	} {
		c := column(t, s, want.name)
		if c.Type != want.kind || c.LeftOut != want.leftOut || c.Missing != want.missing || c.Distinct != want.distinct || c.AtLeast || len(c.Inputs) != want.inputs || c.Target != (want.name == "y") {
			t.Errorf("%s: %+v, expected %+v", want.name, *c, want)
		}
	}
	if c := column(t, s, "age"); *c.Min != 22 || *c.Max != 59 || *c.Median != 40.5 || *c.Mean != 40.5 || !slices.Equal(c.Histogram, []int{4, 4, 4, 3, 4, 4, 3, 4, 4, 4}) {
		t.Errorf("age from %v to %v, median %v, mean %v, %v", *c.Min, *c.Max, *c.Median, *c.Mean, c.Histogram)
	}
	if c := column(t, s, "height"); *c.Min != 1.5 || *c.Max != 1.9875 {
		t.Errorf("height from %v to %v", *c.Min, *c.Max)
	}
	if c := column(t, s, "born"); *c.Min != 1960 || *c.Max != 1999 {
		t.Errorf("born from %v to %v", *c.Min, *c.Max)
	}
	if c := column(t, s, "smoker"); c.Alone == nil || *c.Alone != 1 || !c.Leak {
		t.Errorf("smoker, which is the target in other words: %+v", *c)
	}
	if c := column(t, s, "height"); c.Leak {
		t.Errorf("height is no leak: it tells %v", *c.Alone)
	}
}

// A number that is missing in some rows, and the same in all others, has one bar.
func TestOneNumber(t *testing.T) {
	s := of(t, "a,b,y\n"+strings.Repeat("0.01,1,2\n,3,4\n", 20), "y")
	if c := column(t, s, "a"); len(c.Histogram) != 1 || *c.Max != 0.01 || c.Missing != 20 {
		t.Errorf("%+v", *c)
	}
}

func TestRepeats(t *testing.T) {
	text := "a,b\n"
	for i := range 30 {
		text += fmt.Sprintf("%d.5,%d.25\n", i*i, i)
	}
	twice := text + strings.SplitAfterN(text, "\n", 2)[1]
	if s := of(t, text, "b"); s.Repeated != 0 || s.Seen != 0 {
		t.Errorf("%d repeats, %d seen in rows that all differ", s.Repeated, s.Seen)
	}
	if s := of(t, twice, "b"); s.Repeated != 30 || s.Seen == 0 || s.Seen > s.Test {
		t.Errorf("%d repeats of 30 rows that are there twice, %d of %d test rows seen", s.Repeated, s.Seen, s.Test)
	}
}

// Columns that are made from the target are found, however; columns that have nothing or only something to do with it are not.
func TestLeaks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 2000
	for _, task := range []struct {
		name    string
		classes int
		target  func() float64
	}{
		{"regression", 0, func() float64 { return math.Exp(r.NormFloat64()) }},
		{"two classes", 2, func() float64 { return float64(r.IntN(2)) }},
		{"rare class", 2, func() float64 { return float64(r.IntN(20) / 19) }},
		{"26 classes", 26, func() float64 { return float64(r.IntN(26)) }},
	} {
		targets := make([]float64, rows)
		for i := range targets {
			targets[i] = task.target()
		}
		tells := func(of func(y float64) float64) float64 {
			values := make([]float64, rows)
			for i, y := range targets {
				values[i] = of(y)
			}
			return *alone(values, targets, task.classes)
		}
		for name, of := range map[string]func(y float64) float64{
			"a copy":            func(y float64) float64 { return y },
			"another unit":      func(y float64) float64 { return 1e6*y - 3 },
			"the inverse":       func(y float64) float64 { return 1 / (y + 1) },
			"a copy with noise": func(y float64) float64 { return y + 0.001*r.NormFloat64() },
			"parts of it missing": func(y float64) float64 {
				if r.IntN(50) == 0 {
					return math.NaN()
				}
				return y
			},
		} {
			if v := tells(of); v < leak {
				t.Errorf("%s, %s: it tells %v alone", task.name, name, v)
			}
		}
		for name, of := range map[string]func(y float64) float64{
			"noise":             func(float64) float64 { return r.NormFloat64() },
			"row numbers":       func(float64) float64 { return float64(r.IntN(1 << 40)) },
			"something of it":   func(y float64) float64 { return y + 3*r.NormFloat64() },
			"nothing":           func(float64) float64 { return math.NaN() },
			"one value":         func(float64) float64 { return 1 },
			"words by accident": func(float64) float64 { return float64(r.IntN(500)) },
		} {
			if v := tells(of); v >= 0.7 {
				t.Errorf("%s, %s: it tells %v alone", task.name, name, v)
			}
		}
	}
	if v := alone(make([]float64, 30), make([]float64, 30), 0); v != nil {
		t.Errorf("of 30 rows %v is said", *v)
	}
}
