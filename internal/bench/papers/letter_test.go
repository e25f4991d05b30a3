package papers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets/fault"
	"newtop/internal/nightly"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
)

// course is a trial with the given test errors, whose training errors are half of them, whose epochs take a second
// each and whose every epoch has a solve of ten inner iterations.
func course(tests ...float64) *outcome {
	o := &outcome{}
	for i, e := range tests {
		s := outcomeRecorder{outcome: *o}
		epoch := event.EpochEvent{Epoch: i, Error: event.Float(e / 2), TestError: event.Float(e), Elapsed: event.Float(i)}
		if i > 0 {
			epoch.Inner = []event.InnerSummary{{Iterations: 10, Flops: 5}}
		}
		s.add(&epoch)
		*o = s.outcome
	}
	return o
}

// letterMade is a run with the given trials of its columns.
func letterMade(t *testing.T, results map[string][]*outcome) *letterRun {
	t.Helper()
	config := trainer.Config{Data: "spirals", Hidden: []int{6}, Out: "tanh"}
	problem, err := trainer.Prepare(&config)
	if err != nil {
		t.Fatal(err)
	}
	problem.Test.Inputs = mat.NewDense(40_000, 2, nil) // of which nothing is asked but how many there are
	r := &letterRun{trials: 3, real: true, problem: problem}
	for _, c := range letterColumns() {
		if all, ok := results[c.name]; ok {
			for _, o := range done(all) {
				o.missed = firstRows(r.testRows(), o.atBest().testErr)
			}
			r.columns, r.names, r.results = append(r.columns, c), append(r.names, c.name), append(r.results, all)
			r.nets = append(r.nets, committee{train: math.NaN(), test: math.NaN()})
		}
	}
	return r
}

// firstRows has the bits of so large a share of the rows, the first ones.
func firstRows(rows int, share float64) []byte {
	bits := make([]byte, (rows+7)/8)
	for p := range int(math.Round(share * float64(rows))) {
		bits[p/8] |= 1 << (p % 8)
	}
	return bits
}

func cellOf(t *testing.T, tables []Table, row, column string) Cell {
	t.Helper()
	for _, table := range tables {
		for _, line := range table.Rows {
			for i, name := range table.Columns {
				if line.Name == row && name == column {
					return line.Cells[i]
				}
			}
		}
	}
	t.Fatalf("no %q of %q", row, column)
	return Cell{}
}

func TestLetterFiguresAreThoseOfTheBestTest(t *testing.T) {
	r := letterMade(t, map[string][]*outcome{
		"C batch":  {course(0.9, 0.06, 0.04, 0.05), course(0.9, 0.05, 0.06, 0.05), nil},
		"A online": {course(0.9, 0.08, 0.07, 0.07)},
	})
	report := r.report()
	for _, c := range []struct {
		row, column          string
		value, spread, paper float64
		bound                Bound
	}{
		{"Stopped epoch", "C batch", 1.5, math.Sqrt(0.5), 27.1, Exact},
		{"Total time", "C batch", 1.5, math.Sqrt(0.5), 61.1 * 60, Exact},
		{"Time per epoch", "C batch", 1, 0, 135.2, Exact},
		{"Inner iterations a solve", "C batch", 10, 0, 31, Exact},
		{"Training error", "C batch", 0.0225, math.Sqrt(2) * 0.0025, 0.012, Exact},
		{"Test error", "C batch", 0.045, math.Sqrt(2) * 0.005, 0.049, Exact},
		{"Test error", "A online", 0.07, 0, 0.064, Exact},
		{"Time of A over this", "C batch", 2 / 1.5, 0, 1.03, Exact},
		{"Foreign load", "C batch", 0, 0, math.NaN(), Exact},
		// 0.05 is reached in epoch 2 by one of them and in epoch 1 by the other.
		{"Epochs", "C batch", 1.5, math.Sqrt(0.5), math.NaN(), Exact},
		{"Epochs", "A online", 3, 0, math.NaN(), AtLeast},
	} {
		got := cellOf(t, report.Tables, c.row, c.column)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
		if !near(got.Value, c.value) || !near(got.Spread, c.spread) || !near(got.Paper, c.paper) || got.Bound != c.bound {
			t.Errorf("%s of %s: %+v, want %+v", c.row, c.column, got, c)
		}
	}
	if note := cellOf(t, report.Tables, "Test error", "C batch").Note; note != "2 of 3 trials" {
		t.Errorf("the note on a missing trial is %q", note)
	}
	if note := cellOf(t, report.Tables, "Epochs", "A online").Note; note != "0 of 1 came there" {
		t.Errorf("the note on the goal is %q", note)
	}
}

// verdictOf returns that of the only statement whose claim has all parts.
func verdictOf(t *testing.T, list []Statement, parts ...string) Verdict {
	t.Helper()
	return statementOf(t, list, parts...).Holds
}

// statementOf returns the only statement whose claim has all parts.
func statementOf(t *testing.T, list []Statement, parts ...string) Statement {
	t.Helper()
	var found []Statement
	for _, s := range list {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(s.Claim, p)
		}
		if all {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d claims with %q", len(found), parts)
	}
	return found[0]
}

func TestLetterStatements(t *testing.T) {
	good := []*outcome{course(0.9, 0.040), course(0.9, 0.041), course(0.9, 0.042)}
	bad := []*outcome{course(0.9, 0.3, 0.2, 0.06), course(0.9, 0.3, 0.2, 0.061), course(0.9, 0.3, 0.2, 0.059)}
	mixed := []*outcome{course(0.9, 0.040), course(0.9, 0.048), course(0.9, 0.056)}
	slow := []*outcome{course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0581), course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0580), course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0579)}
	for _, all := range [][]*outcome{good, bad, mixed, slow} { // equal numbers of three trials decide nothing
		for k, o := range all {
			for i := range o.points {
				o.points[i].elapsed *= 1 + 0.001*float64(k)
				o.points[i].inner += o.points[i].inner * k / 10
			}
		}
	}
	r := letterMade(t, map[string][]*outcome{"A online": slow, "C four blocks": good, "C two blocks": mixed, "C batch": bad})
	list := r.statements()
	for _, c := range []struct {
		want  Verdict
		claim []string
	}{
		{Holds, []string{"C in four blocks", "test error of at most"}},
		{Open, []string{"C in two blocks", "test error of at most"}},
		{Fails, []string{"C in batch mode", "test error of at most"}},
		{Holds, []string{"A, online", "test error of at most"}},
		{Fails, []string{"C in four blocks", "inner iterations"}},
		{Open, []string{"C in two blocks", "inner iterations"}}, // whose error may not be the paper's
		{Open, []string{"C in four blocks", "by epoch"}},        // all three in epoch 1: three equal numbers tell no spread
		{Holds, []string{"C in four blocks", "as fast as online"}},
		{Open, []string{"C in two blocks has a lower test error than batch"}},
	} {
		if got := verdictOf(t, list, c.claim...); got != c.want {
			t.Errorf("%q: %v, want %v", c.claim, got, c.want)
		}
	}
	clear := letterMade(t, map[string][]*outcome{"C two blocks": good, "C batch": bad})
	if got := verdictOf(t, clear.statements(), "C in two blocks has a lower test error than batch"); got != Holds {
		t.Errorf("4.1 %% against 6 %%: %v", got)
	}
	busy := r.of("C four blocks")[0]
	busy.foreign = 0.3
	for _, s := range r.statements() {
		if strings.Contains(s.Claim, "as fast as online") && (s.Holds != Open || !strings.HasPrefix(s.Why, "would hold; others took up to 30 %")) {
			t.Errorf("a busy machine decides: %+v", s)
		}
	}
	busy.foreign = 0
	r.real = false
	for _, s := range r.statements() {
		if s.Holds != Open {
			t.Errorf("other data decide that %q", s.Claim)
		}
	}
	r.options.Quick = true
	for _, s := range r.statements() {
		if s.Holds != Open {
			t.Errorf("a quick look decides that %q", s.Claim)
		}
	}
}

func TestLetterCommittees(t *testing.T) {
	for _, c := range []struct {
		nets            int
		test            float64
		against, figure Verdict
	}{
		{10, 0.018, Holds, Holds},
		{10, 0.0215, Holds, Open}, // within what other rows might do
		{10, 0.035, Holds, Fails},
		{10, 0.041, Open, Fails},
		{10, 0.05, Fails, Fails},
		{3, 0.018, Open, Open},
	} {
		r := letterMade(t, map[string][]*outcome{"C two blocks": {course(0.9, 0.040), course(0.9, 0.041), course(0.9, 0.042)}})
		r.nets[0] = committee{c.nets, 0.002, c.test, missRates([][]byte{firstRows(r.testRows(), c.test)}, r.testRows())}
		list := r.statements()
		if got := verdictOf(t, list, "than its nets have on average"); got != c.against {
			t.Errorf("%+v against its nets: %v, want %v", c, got, c.against)
		}
		if got := verdictOf(t, list, "a committee of ten has"); got != c.figure {
			t.Errorf("%+v against the paper's: %v, want %v", c, got, c.figure)
		}
	}
}

func TestLetterOnGeneratedLetters(t *testing.T) {
	nightly.Only(t, "trains committees, 4 s; TestBenchGoesOn trains nets on the same letters")
	report, err := Letter(t.Context(), Options{DataDir: t.TempDir(), Quick: true, Only: []string{"tuned e"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.Data, "rendered capital letters: 2000 training rows") || report.Trials != 2 || len(report.Tables[0].Columns) != 1 {
		t.Errorf("%s, %d trials of %v", report.Data, report.Trials, report.Tables[0].Columns)
	}
	inner := cellOf(t, report.Tables, "Inner iterations a solve", "tuned E")
	test := cellOf(t, report.Tables, "Test error", "tuned E")
	net := cellOf(t, report.Tables, "Committee, test error", "tuned E")
	if !(inner.Value >= 1) || !(test.Value > 0 && test.Value < 0.9) || !(net.Value < test.Value) {
		t.Errorf("inner %v, test error %v, of the committee %v", inner, test, net)
	}
}

func TestLetterErrors(t *testing.T) {
	if _, err := Letter(t.Context(), Options{Only: []string{"no such"}}); err == nil {
		t.Error("an unknown column is no error")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter-recognition.data"), []byte("not letters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Letter(t.Context(), Options{DataDir: dir})
	if _, bad := errors.AsType[*fault.FormatError](err); !bad {
		t.Errorf("a bad file gives %v", err)
	}
	_, err = Letter(t.Context(), Options{Data: "sine"})
	if wrong, ok := errors.AsType[*trainer.ConfigError](err); !ok || wrong.Field != "--data" {
		t.Errorf("regression gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := Letter(ctx, Options{Data: "letters", Quick: true})
	if err != context.Canceled || report == nil || cellOf(t, report.Tables, "Test error", "C batch").Note != "0 of 2 trials" {
		t.Errorf("cancelled: %v and %+v", err, report)
	}
}

func TestShapeOf(t *testing.T) {
	n, err := models.NewNetwork(models.Chain(16, []int{70, 50}, 26, models.Tanh, models.Tanh, models.SquaredError, models.SkipNone))
	if err != nil {
		t.Fatal(err)
	}
	if got := shapeOf(n); got != "16-70-50-26" || n.Dim() != 6066 {
		t.Errorf("%s with %d weights", got, n.Dim())
	}
}

// The paper's work: a gradient an epoch, a loss for each block, and inner iterations, each of one block.
func TestLetterPaperWork(t *testing.T) {
	r := letterMade(t, nil)
	c := r.problem.Network.Cost()
	columns := letterColumns()
	for i, want := range []float64{
		597.8,
		36.6 * (1 + 4.5*c.GaussNewton/c.Gradient + 4*c.Loss/c.Gradient),
		22.1 * (1 + 26.3*c.GaussNewton/c.Gradient + 2*c.Loss/c.Gradient),
		27.1 * (1 + 31*c.GaussNewton/c.Gradient + c.Loss/c.Gradient),
	} {
		if got := r.paperWork(&columns[i]); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %g gradients, want %g", columns[i].name, got, want)
		}
	}
}
