package papers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"newtop/datasets"
	"newtop/trainer"
)

// The figure of merit as the paper prints it, on numbers that are done by hand.
func TestRMSEOverRuns(t *testing.T) {
	c := rmseCell([]float64{1, 4, 4}) // mean 3, standard deviation √3, standard error of the mean 1
	if math.Abs(c.Value-math.Sqrt(3)) > 1e-15 || math.Abs(c.Spread-1/(2*math.Sqrt(3))) > 1e-15 || c.Bound != Exact {
		t.Errorf("%+v", c)
	}
	c = rmseCell([]float64{4, math.Inf(1)})
	if c.Value != 2 || c.Spread != 0 || c.Bound != AtLeast || c.Note != "1 of 2 overflowed" {
		t.Errorf("%+v", c)
	}
	if c = rmseCell([]float64{math.Inf(1)}); !math.IsNaN(c.Value) || c.Note == "" {
		t.Errorf("%+v", c)
	}
}

func toyNamed(t *testing.T, data string) *toy {
	t.Helper()
	all, err := chosenToys(data)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d problems, %v", len(all), err)
	}
	return all[0]
}

// On the two lines BPLS is least squares: run by run it has the residuals of two straight lines that are fitted apart.
func TestBPLSIsLinearRegressionOnLines(t *testing.T) {
	lines := toyNamed(t, "bpls-linear")
	for seed := uint64(1); seed <= 30; seed++ {
		data, err := datasets.Load("bpls-linear", datasets.Options{Noise: 0.5, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var train, test float64
		for j := range 2 {
			column := func(s *datasets.Split) (x, y []float64) {
				for i := range s.Rows() {
					x, y = append(x, s.Inputs.At(i, 0)), append(y, s.Targets.At(i, j))
				}
				return x, y
			}
			x, y := column(&data.Train)
			a, b := stat.LinearRegression(x, y, nil, false)
			for i := range x {
				train += (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
			}
			x, y = column(&data.Test)
			for i := range x {
				test += (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
			}
		}
		run := toyTrial(t.Context(), lines, &toyMethods[0], 0.5, seed)
		if math.Abs(run.train-train) > 1e-9*train || math.Abs(run.test-test) > 1e-9*test {
			t.Errorf("seed %d: ‖ỹ − ŷ‖² %.12g and %.12g, linear regression %.12g and %.12g", seed, run.train, run.test, train, test)
		}
		if exact := toyTrial(t.Context(), lines, &toyMethods[0], 0, seed); exact.train > 1e-20 || exact.test > 1e-20 {
			t.Errorf("seed %d: without noise the teacher is missed by %g and %g", seed, exact.train, exact.test)
		}
	}
}

// What least squares of two lines has on average, by the textbook and by 2,000 fits.
func TestExpectedRMSEOfLines(t *testing.T) {
	if train, test := expectedRMSE(2, false), expectedRMSE(2, true); math.Abs(train-2*math.Sqrt(6)) > 1e-12 || math.Abs(test-2*math.Sqrt(4.25)) > 1e-12 {
		t.Errorf("%v and %v", train, test)
	}
	lines := toyNamed(t, "bpls-linear")
	var train, test []float64
	for seed := uint64(1); seed <= 2000; seed++ {
		run := toyTrial(t.Context(), lines, &toyMethods[0], 1, seed)
		train, test = append(train, run.train), append(test, run.test)
	}
	for _, half := range []struct {
		of   []float64
		want float64
	}{{train, expectedRMSE(1, false)}, {test, expectedRMSE(1, true)}} {
		if c := rmseCell(half.of); math.Abs(c.Value-half.want) > 3*c.Spread {
			t.Errorf("%v ± %v, expected %v", c.Value, c.Spread, half.want)
		}
	}
}

// toyNumbers makes a figure of runs with given squares, one slice for each method and σ.
func toyNumbers(data string, squares map[string][]float64) *toyFigure {
	f := &toyFigure{toy: &toy{data: data, title: "toy", figure: 4, sigmas: []float64{0, 1}}}
	for _, m := range toyMethods {
		v, ok := squares[m.name]
		if !ok {
			continue
		}
		runs, each := make([][]toyRun, 2), 0.001*(1+0.1*float64(len(f.methods)))
		for j := range runs {
			for k, s := range v {
				s += float64(j) + each*float64(k)*(1+0.1*float64(j)) // which grows with σ
				runs[j] = append(runs[j], toyRun{train: s, test: s, seconds: m.cost * (1 + 0.01*float64(k))})
			}
		}
		f.methods, f.runs, f.loads = append(f.methods, m), append(f.runs, runs), append(f.loads, []float64{0, 0})
	}
	return f
}

func TestToyStatements(t *testing.T) {
	verdicts := func(f *toyFigure) map[string]Verdict {
		m := map[string]Verdict{}
		for _, s := range f.statements() {
			for _, key := range []string{"grow", "in training", "outperforms", "faster"} {
				if strings.Contains(s.Claim, key) {
					m[key] = s.Holds
				}
			}
			if s.Claim == "" || s.Found == "" {
				t.Errorf("%+v", s)
			}
		}
		return m
	}
	near, far := []float64{1, 1, 1}, []float64{2, 2, 2}
	for _, test := range []struct {
		squares map[string][]float64
		want    map[string]Verdict
	}{
		{map[string][]float64{"BPLS": near, "SGD": far, "Adam": far, "random hidden": near},
			map[string]Verdict{"grow": Holds, "in training": Holds, "outperforms": Holds, "faster": Holds}},
		{map[string][]float64{"BPLS": far, "SGD": far, "Adam": near, "random hidden": near},
			map[string]Verdict{"grow": Holds, "in training": Fails, "outperforms": Fails, "faster": Holds}},
		{map[string][]float64{"BPLS": {0.5, 3}, "SGD": {1, 1}},
			map[string]Verdict{"grow": Holds, "in training": Open, "outperforms": Open, "faster": Holds}},
		{map[string][]float64{"SGD": near, "Adam": near}, map[string]Verdict{"grow": Holds}},
	} {
		got := verdicts(toyNumbers("bpls-sigmoid", test.squares))
		for key, want := range test.want {
			if got[key] != want {
				t.Errorf("%v: %q is %d, want %d", test.squares, key, got[key], want)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%v: statements on %v", test.squares, got)
		}
	}
}

// The report has both figures, does not depend on the threads, and tells how far it is up to the end.
func TestToysReport(t *testing.T) {
	var reports []*Report
	for _, threads := range []int{1, 3} {
		var last Progress
		r, err := Toys(t.Context(), Options{Trials: 4, Threads: threads, Only: []string{"BPLS", "lm", "Random Hidden"}, Progress: func(p Progress) {
			if p.Share < last.Share || p.What == "" {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(last.Share-1) > 1e-9 {
			t.Errorf("ends at %v", last.Share)
		}
		reports = append(reports, r)
	}
	if len(reports[0].Tables) != 6 || !slices.Equal(reports[0].Seeds, []uint64{1, 2, 3, 4}) {
		t.Fatalf("%d tables, seeds %v", len(reports[0].Tables), reports[0].Seeds)
	}
	for i, table := range reports[0].Tables {
		for j, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: %s has %d cells of %d", table.Title, row.Name, len(row.Cells), len(table.Columns))
			}
			for k, c := range row.Cells {
				if other := reports[1].Tables[i].Rows[j].Cells[k]; row.Unit != Seconds && row.Name != "foreign load" && other.Value != c.Value {
					t.Errorf("%s: %s: %v and %v", table.Title, row.Name, c, other)
				}
			}
		}
	}
}

func TestToysRefuse(t *testing.T) {
	for _, o := range []Options{{Only: []string{"BPLS", "Newton"}}, {Data: "letters"}} {
		var wrong *trainer.ConfigError
		if r, err := Toys(t.Context(), o); r != nil || !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Toys(ctx, Options{Trials: 2}); r == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestTogether(t *testing.T) {
	for _, test := range []struct {
		parts []Verdict
		want  Verdict
	}{
		{nil, Open}, {[]Verdict{Holds, Holds}, Holds}, {[]Verdict{Holds, Open}, Open}, {[]Verdict{Open, Fails, Holds}, Fails},
	} {
		if got := together(test.parts); got != test.want {
			t.Errorf("%v: %v, want %v", test.parts, got, test.want)
		}
	}
}

func TestSideBySide(t *testing.T) {
	counts := make([]int, 50)
	if err := sideBySide(t.Context(), len(counts), 4, func(i int) { counts[i]++ }); err != nil {
		t.Fatal(err)
	}
	if slices.Max(counts) != 1 || slices.Min(counts) != 1 {
		t.Errorf("%v", counts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	err := sideBySide(ctx, 100, 1, func(i int) {
		if done++; i == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || done != 4 {
		t.Errorf("%v after %d", err, done)
	}
}
