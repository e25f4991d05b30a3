package papers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/datasets/fault"
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
	problem, err := config.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	r := &letterRun{trials: 3, real: true, problem: problem}
	for _, c := range letterColumns() {
		if all, ok := results[c.name]; ok {
			r.columns, r.names, r.results = append(r.columns, c), append(r.names, c.name), append(r.results, all)
			r.nets = append(r.nets, committee{train: math.NaN(), test: math.NaN()})
		}
	}
	return r
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
		// 0.049 is reached in epoch 2 by one of them, the other was at it for three epochs in vain.
		{"Epochs to the paper's error", "C batch", 2.5, math.Sqrt(0.5), 27.1, AtLeast},
		{"Test error by the paper's epoch", "C batch", 0.045, math.Sqrt(2) * 0.005, 0.049, Exact},
	} {
		got := cellOf(t, report.Tables, c.row, c.column)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
		if !near(got.Value, c.value) || !near(got.Spread, c.spread) || !near(got.Paper, c.paper) || got.Bound != c.bound {
			t.Errorf("%s of %s: %+v, want %+v", c.row, c.column, got, c)
		}
	}
	if note := cellOf(t, report.Tables, "Test error", "C batch").Note; note != "2 of 3 trials" {
		t.Errorf("the note on a missing trial is %q", note)
	}
	if note := cellOf(t, report.Tables, "Epochs to the paper's error", "C batch").Note; note != "1 of 2 came there" {
		t.Errorf("the note on the paper's error is %q", note)
	}
}

// verdictOf returns that of the only statement whose claim has all parts.
func verdictOf(t *testing.T, list []Statement, parts ...string) Verdict {
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
	return found[0].Holds
}

func TestLetterStatements(t *testing.T) {
	good := []*outcome{course(0.9, 0.040), course(0.9, 0.041), course(0.9, 0.042)}
	bad := []*outcome{course(0.9, 0.3, 0.2, 0.06), course(0.9, 0.3, 0.2, 0.061), course(0.9, 0.3, 0.2, 0.059)}
	mixed := []*outcome{course(0.9, 0.040), course(0.9, 0.048), course(0.9, 0.056)}
	slow := []*outcome{course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0621), course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0620), course(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.0619)}
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
		{Holds, []string{"C in two blocks", "inner iterations"}},
		{Holds, []string{"C in four blocks", "by epoch"}},
		{Holds, []string{"C in four blocks", "ahead of online"}},
		{Holds, []string{"C four blocks", "takes less time"}},
		{Holds, []string{"C four blocks", "lower test error than batch"}},
		{Open, []string{"C two blocks", "lower test error than batch"}},
	} {
		if got := verdictOf(t, list, c.claim...); got != c.want {
			t.Errorf("%q: %v, want %v", c.claim, got, c.want)
		}
	}
	r.real = false
	if got := verdictOf(t, r.statements(), "C in four blocks", "test error of at most"); got != Open {
		t.Errorf("a figure of other data has the verdict %v", got)
	}
	if got := verdictOf(t, r.statements(), "C four blocks", "takes less time"); got != Holds {
		t.Errorf("an order on other data has the verdict %v", got)
	}
	r.options.Quick = true
	for _, s := range r.statements() {
		if s.Holds != Open {
			t.Errorf("a quick look decides that %q", s.Claim)
		}
	}
}

func TestLetterCommittees(t *testing.T) {
	nets := []*outcome{course(0.9, 0.040), course(0.9, 0.041), course(0.9, 0.042)}
	for _, c := range []struct {
		net             committee
		against, figure Verdict
	}{
		{committee{10, 0.002, 0.021}, Holds, Holds},
		{committee{10, 0.002, 0.035}, Holds, Fails},
		{committee{10, 0.002, 0.041}, Open, Fails},
		{committee{10, 0.002, 0.05}, Fails, Fails},
		{committee{3, 0.002, 0.021}, Holds, Open},
	} {
		r := letterMade(t, map[string][]*outcome{"C two blocks": nets})
		r.nets[0] = c.net
		list := r.statements()
		if got := verdictOf(t, list, "than its nets have on average"); got != c.against {
			t.Errorf("%+v against its nets: %v, want %v", c.net, got, c.against)
		}
		if got := verdictOf(t, list, "a committee of ten has"); got != c.figure {
			t.Errorf("%+v against the paper's: %v, want %v", c.net, got, c.figure)
		}
	}
}

func TestLetterOnGeneratedLetters(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	report, err := Letter(t.Context(), Options{DataDir: t.TempDir(), Quick: true, Only: []string{"e batch"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.Data, "rendered capital letters: 2000 to train on") || report.Trials != 2 || len(report.Tables[0].Columns) != 1 {
		t.Errorf("%s, %d trials of %v", report.Data, report.Trials, report.Tables[0].Columns)
	}
	inner := cellOf(t, report.Tables, "Inner iterations a solve", "E batch")
	test := cellOf(t, report.Tables, "Test error", "E batch")
	net := cellOf(t, report.Tables, "Committee, test error", "E batch")
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

func TestLetterTrials(t *testing.T) {
	for _, c := range []struct {
		asked int
		want  map[string]int
	}{
		{10, map[string]int{"A online": 5, "C four blocks": 10, "C two blocks": 10, "C batch": 10, "D batch": 3, "E batch": 3}},
		{2, map[string]int{"A online": 2, "C four blocks": 2, "C two blocks": 2, "C batch": 2, "D batch": 2, "E batch": 2}},
	} {
		r := &letterRun{trials: c.asked}
		for _, column := range letterColumns() {
			if got := r.trialsOf(&column); got != c.want[column.name] {
				t.Errorf("%s has %d trials of %d, want %d", column.name, got, c.asked, c.want[column.name])
			}
		}
	}
}
