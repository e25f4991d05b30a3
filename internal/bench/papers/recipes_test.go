package papers

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/event"
)

// fit is a trial that came to an RMSE after so many epochs of so many seconds, with so many inner iterations of so many
// operations in each.
func fit(rmse float64, epochs int, each float64, inner int, flops float64) *outcome {
	s := &outcomeRecorder{}
	for i := range epochs + 1 {
		e := event.EpochEvent{Epoch: i, Elapsed: event.Float(each * float64(i)), Error: event.Float(math.NaN()),
			TestError: event.Float(math.NaN()), RMSE: 1, TestRMSE: 1}
		if i > 0 && inner > 0 {
			e.Inner = []event.InnerSummary{{Iterations: inner, Flops: event.Float(flops)}}
		}
		if i == epochs {
			e.RMSE, e.TestRMSE = event.Float(rmse), event.Float(1.5*rmse)
		}
		s.add(&e)
	}
	return &s.outcome
}

func recipesMade(t *testing.T, results map[string][]*outcome) *recipesRun {
	t.Helper()
	r := &recipesRun{target: recipesTarget, trials: 3, base: trainer.Config{Data: "recipes"}}
	for _, c := range recipesColumns() {
		if all, ok := results[c.name]; ok {
			r.columns, r.names, r.results = append(r.columns, c), append(r.names, c.name), append(r.results, all)
		}
	}
	single := r.config(&recipesColumn{}, 1)
	var err error
	if r.problem, err = trainer.Prepare(&single); err != nil {
		t.Fatal(err)
	}
	return r
}

func three(make func(i int) *outcome) []*outcome { return []*outcome{make(0), make(1), make(2)} }

func TestRecipesFigures(t *testing.T) {
	r := recipesMade(t, map[string][]*outcome{
		"A": {fit(0.01, 1000, 1, 0, 0)},
		"C": three(func(i int) *outcome { return fit(0.0019, 10+i, 0.5, 100, 2e6) }),
		"E": {fit(0.0019, 20, 0.5, 40, 3e6), fit(0.004, 50, 0.5, 40, 3e6), nil},
	})
	tables := r.report().Tables
	for _, c := range []struct {
		row, column          string
		value, spread, paper float64
		bound                Bound
		note                 string
	}{
		{"Total time", "C", 5.5, 0.5, 107.2 * 60, Exact, ""},
		{"Stopped epoch", "C", 11, 1, 261.5, Exact, ""},
		{"Time per epoch", "C", 0.5, 0, 24.6, Exact, ""},
		{"Inner iterations an epoch", "C", 100, 0, 216, Exact, ""},
		{"Operations of one, to C's", "C", 1, 0, 1, Exact, ""},
		{"Operations of one, to C's", "E", 1.5, 0, 1.3, Exact, "1 of 2 reached it"},
		{"Time of one, to C's", "E", 2.5, 0, math.NaN(), Exact, "1 of 2 reached it"},
		{"Stopped epoch", "E", 35, math.Sqrt(450), 300.3, AtLeast, "1 of 2 reached it"},
		{"Total time", "A", 1000, 0, 8748.4 * 60, AtLeast, "0 of 1 reached it"},
		{"Test RMSE", "A", 0.015, 0, 0.020, Exact, "0 of 1 reached it"},
		{"Time of A over this", "C", 1000 / 5.5, 0, 81.6, AtLeast, ""},
		{"Time of A over this", "E", math.NaN(), 0, 136, Exact, ""},
		{"Trials", "E", 2, 0, 20, Exact, ""},
		{"Work, gradients", "A", 0, 0, 2920000, AtLeast, "0 of 1 reached it"},
	} {
		got := cellOf(t, tables, c.row, c.column)
		near := func(a, b float64) bool {
			return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b))
		}
		if !near(got.Value, c.value) || !near(got.Spread, c.spread) || !near(got.Paper, c.paper) || got.Bound != c.bound || got.Note != c.note {
			t.Errorf("%s of %s: %+v, want %+v", c.row, c.column, got, c)
		}
	}
}

func TestRecipesStatements(t *testing.T) {
	good := func(epochs int, each float64, inner int, flops float64) []*outcome {
		return three(func(i int) *outcome { return fit(0.0019, epochs+i*epochs/8, each, inner, flops) })
	}
	r := recipesMade(t, map[string][]*outcome{
		"A": {fit(0.01, 1100, 1, 0, 0), fit(0.01, 1101, 1, 0, 0)}, "B": good(10, 3, 100, 7e6)[:1], "C": good(10, 1, 100, 1e6),
		"mixture B": three(func(i int) *outcome { return fit(0.1, 300, 1, 9, 1e6) }),
		"D":         good(8, 0.5, 90, 1e6), "E": good(20, 0.5, 50, 1.25e6),
		"mixture C": good(100, 1, 100, 1e6), "mixture D": {fit(0.0019, 100, 1, 9, 1e6), fit(0.1, 100, 1, 9, 1e6)},
	})
	r.of("mixture D")[0].end().testRMSE *= 1.3
	list := r.statements()
	for _, c := range []struct {
		want  Verdict
		why   string // begins with it
		claim []string
	}{
		{Open, "", []string{"D on one net is 280 times"}}, // A did not come to the target
		{Open, "would hold", []string{"D on one net takes less time than C"}},
		{Open, "would hold", []string{"D on one net takes less time than E"}},
		{Open, "", []string{"C on one net takes less time than B"}}, // one pair
		{Open, "would hold", []string{"D on one net takes fewer epochs than E"}},
		{Open, "would fail", []string{"C on five experts takes less time than C on one"}},
		{Open, "", []string{"D on five experts takes less time than D on one"}}, // one pair reached the target
		{Open, "would hold", []string{"On one net all second-order algorithms"}},
		{Open, "would fail", []string{"On five experts all second-order algorithms"}},
		{Holds, "", []string{"Pearlmutter's product saves"}},
		{Holds, "", []string{"An inner iteration of E takes at most"}},
	} {
		s := statementOf(t, list, c.claim...)
		if s.Holds != c.want || !strings.HasPrefix(s.Why, c.why) || (c.why == "") != (s.Why == "") {
			t.Errorf("%+v, want %v because %q", s, c.want, c.why)
		}
	}
	exact := recipesMade(t, map[string][]*outcome{
		"A": three(func(i int) *outcome { return fit(0.0019, 60+i, 1, 0, 0) }), "D": good(8, 0.5, 90, 1e6),
	})
	if s := statementOf(t, exact.statements(), "280 times"); s.Holds != Open || !strings.HasPrefix(s.Why, "would fail; the colours are generated") {
		t.Errorf("fifteen times ahead: %+v", s)
	}
}

func TestRecipesEndToEnd(t *testing.T) {
	var last Progress
	report, err := Recipes(t.Context(), Options{Quick: true, Only: []string{"A", "D", "mixture E"}, Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"D", "mixture E"} {
		if c := cellOf(t, report.Tables, "Training RMSE at the end", column); !(c.Value <= quickRecipesTarget) {
			t.Errorf("%s ended at %v", column, c)
		}
	}
	if !strings.Contains(report.Tables[0].Title, "16-82-10") || math.Abs(last.Share-1) > 1e-9 {
		t.Errorf("%s; %+v", report.Tables[0].Title, last)
	}
}

func TestRecipesErrors(t *testing.T) {
	_, err := Recipes(t.Context(), Options{Data: "sine"})
	if wrong, ok := errors.AsType[*trainer.ConfigError](err); !ok || wrong.Field != "--data" {
		t.Errorf("other data give %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := Recipes(ctx, Options{Quick: true})
	if err != context.Canceled || report == nil || cellOf(t, report.Tables, "Trials", "D").Value != 0 {
		t.Errorf("cancelled: %v and %+v", err, report)
	}
}
