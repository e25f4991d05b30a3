package papers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer"
)

// linearization of a net on random rows.
func linearized(t *testing.T, a models.Architecture) (*models.Linearization, []float64) {
	t.Helper()
	n, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	random := func(columns int) *mat.Dense {
		m := mat.NewDense(40, columns, nil)
		m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
		return m
	}
	w := make([]float64, n.Dim())
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return n.Bind(random(n.Inputs()), random(n.Outputs()), models.Options{}), w
}

// Of a linear model the gradient is linear in w, and the one-sided difference is exact but for rounding, which grows
// as 1/σ. Of any other net it is wrong by a term that is proportional to σ.
func TestDifferenceErrors(t *testing.T) {
	l, w := linearized(t, models.Chain(4, nil, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	for i, e := range differenceErrors(l, w, []float64{1, 1e-3, 1e-6}) {
		if limit := []float64{1e-13, 1e-11, 1e-8}[i]; e > limit {
			t.Errorf("a linear model's difference is wrong by %g, more than %g", e, limit)
		}
	}
	l, w = linearized(t, models.Chain(4, []int{5}, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	e := differenceErrors(l, w, []float64{1e-3, 1e-4, 1e-5, 1e-11, 1e-12, 1e-13, 1e-14})
	if a, b := e[0]/e[1], e[1]/e[2]; math.Abs(a-10) > 0.1 || math.Abs(b-10) > 0.1 {
		t.Errorf("errors %.3g fall %.3g and %.3g times", e[:3], a, b)
	}
	if e[6] < 100*e[3] {
		t.Errorf("rounding: %.3g", e[3:])
	}
}

func TestSlope(t *testing.T) {
	errors := make([][]float64, len(scgSigmas))
	for i, sigma := range scgSigmas {
		errors[i] = []float64{3e-16 / sigma, 12e-16 / sigma}
	}
	if s := slopeBelow(errors, roundingFrom); math.Abs(s+1) > 1e-9 {
		t.Errorf("slope %v", s)
	}
	if g := geometric([]float64{1, 4}); math.Abs(g-2) > 1e-15 {
		t.Errorf("geometric mean %v", g)
	}
	if m := median([]float64{5, 1, 2, 9}); m != 3.5 {
		t.Errorf("median %v", m)
	}
}

// study makes one of runs with given iterations: of exact products, σ = 1e-4 and σ = 1e-16.
func study(exact, published, small []float64) *scgStudy {
	s := &scgStudy{scgProblem: scgProblem{name: "made", most: 1000}, columns: []scgColumn{{"exact", 0}, {"σ=1e-4", 1e-4}, {"σ=1e-16", 1e-16}}}
	for _, v := range [][]float64{exact, published, small} {
		var runs []scgRun
		for _, n := range v {
			runs = append(runs, scgRun{Iterations: n, Equivalents: 3 * n, Seconds: n, Reached: n < 1000})
		}
		s.runs = append(s.runs, runs)
	}
	for _, sigma := range scgSigmas {
		e := []float64{max(sigma, 1e-15/sigma)}
		s.start, s.end = append(s.start, e), append(s.end, e)
	}
	s.price = scgPrice{counted: 3, timed: []float64{2.9, 2.91, 2.89}, loads: []float64{0, 0.01, 0}}
	return s
}

func TestSCGStatements(t *testing.T) {
	for _, test := range []struct {
		name                    string
		exact, published, small []float64
		want                    string // what the reason begins with why the claims on work and time are open
	}{
		{"quicker", []float64{50, 60, 70}, []float64{100, 121, 139}, []float64{500, 610, 690}, "would hold; "},
		{"slower", []float64{100, 121, 139}, []float64{50, 60, 70}, []float64{99, 120, 140}, "would fail; "},
	} {
		got := scgStatements([]*scgStudy{study(test.exact, test.published, test.small)})
		for _, s := range got[:2] {
			if s.Holds != Open || !strings.HasPrefix(s.Why, test.want) {
				t.Errorf("%s: %+v", test.name, s)
			}
		}
		if len(got) != 4 || got[2].Holds != Holds || got[3].Holds != Fails {
			t.Errorf("%s: %+v", test.name, got[2:])
		}
	}
	if s := scgStatements([]*scgStudy{study([]float64{1}, []float64{2}, []float64{1000})}); s[0].Holds != Open || s[0].Why != "" {
		t.Errorf("one trial: %+v", s)
	}
}

func TestSCGTable(t *testing.T) {
	table := study([]float64{50, 70}, []float64{60, 60}, []float64{400, 1000}).table()
	row := table.Rows[0]
	if row.Name != "iterations" || row.Cells[0].Value != 60 || row.Cells[0].Bound != Exact {
		t.Errorf("%+v", row)
	}
	if c := row.Cells[2]; c.Value != 700 || c.Bound != AtLeast || c.Note != "1 of 2 reached it" {
		t.Errorf("%+v", c)
	}
}

// The real thing on a small problem: exact products and short differences take the same way.
func TestSCGReport(t *testing.T) {
	r, err := SCG(t.Context(), Options{Data: "sine", Trials: 2, Threads: 1, Only: []string{"exact", "σ=1e-8"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) != 3 || r.Data != "sine (1-20-1), 400 rows" {
		t.Fatalf("%d tables of %s", len(r.Tables), r.Data)
	}
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: %s has %d cells of %d", table.Title, row.Name, len(row.Cells), len(table.Columns))
			}
		}
	}
	iterations := r.Tables[0].Rows[0].Cells
	if a, b := iterations[0].Value, iterations[1].Value; !(a > 50 && b > 50 && a < 1000 && b < 1000) || iterations[0].Bound != Exact {
		t.Errorf("%v and %v iterations", a, b)
	}
}

func TestSCGRefuses(t *testing.T) {
	for _, o := range []Options{{Only: []string{"σ=2"}}, {Data: "digits"}} {
		var wrong *trainer.ConfigError
		if _, err := SCG(t.Context(), o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := SCG(ctx, Options{Data: "sine"}); r == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}
