package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"newtop/internal/nightly"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

func temporary(t testing.TB) *store.Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "runs.db"))
}

func openStore(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// small is a search of a fraction of a second.
func small(t testing.TB) Config {
	return Config{
		Base:     trainer.Config{Data: "spirals", Validation: "0", Hidden: []int{6}, Seed: 1},
		Over:     dimensions(t, "opt=adam,tr-gn,scg", "rate=1e-3..1:log", "radius=0.1..10:log", "batch=16..128:log:int"),
		Parallel: 1, Threads: 1, Seed: 3, Trials: 9, Finals: -1,
	}
}

// searched runs a search to its end and returns its last board.
func searched(t testing.TB, c Config, s *store.Store, change func(*Search)) *Leaderboard {
	t.Helper()
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(q)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q.Leaderboard()
}

// told writes what a search decided, without its clocks.
func told(b *Leaderboard) string {
	var out strings.Builder
	for i := range b.Trials {
		t := &b.Trials[i]
		fmt.Fprintf(&out, "%d %s seed %d %s, rung %d, %d epochs, %x at %d, %x equivalents, final %v: %s\n", t.Number, text(t.Choices), t.Seed, t.State,
			t.Rung, t.Epochs, float64(t.Best), t.BestEpoch, t.Equivalents, t.Final, t.Error)
	}
	fmt.Fprintln(&out, b.Order, b.Spent)
	return out.String()
}

// The same seed makes the same decisions to the last digit, whether trials pause in memory or go on from their
// checkpoints; another seed makes others.
func TestSameSeedSameSearch(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := small(t)
	c.Finals, c.Seeds = 1, 2
	s := temporary(t)
	want := told(searched(t, c, s, nil))
	if nightly.On() {
		if got := told(searched(t, c, s, nil)); got != want {
			t.Errorf("the second time:\n%s\nexpected\n%s", got, want)
		}
	}
	if got := told(searched(t, c, s, func(q *Search) { q.runner.parked = 0 })); got != want {
		t.Errorf("without room to pause:\n%s\nexpected\n%s", got, want)
	}
	c.Seed++
	if told(searched(t, c, s, nil)) == want {
		t.Error("another seed searches the same")
	}
	if strings.Count(want, "final true") != 2 || !strings.Contains(want, "rung 2") {
		t.Errorf("the search is not what the test is for:\n%s", want)
	}
	s.Close()
}

// Every trial is a run of the store, with what the trial says of itself.
func TestTrialsAreRuns(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Name, c.Parallel, c.Finals = "mine", 3, 1
	b := searched(t, c, s, nil)
	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != len(b.Trials) {
		t.Fatalf("%d runs of %d trials: %v", len(runs), len(b.Trials), err)
	}
	for i := range b.Trials {
		trial := &b.Trials[i]
		run, err := s.Find(t.Context(), trial.Run)
		if err != nil {
			t.Fatal(err)
		}
		method := run.Config.Optimizer
		if run.Name != fmt.Sprintf("mine.%d", trial.Number) || trial.Choices[0].Value != method || run.Config.Seed != trial.Seed ||
			run.Epochs <= trial.Epochs || math.IsNaN(float64(trial.Best)) || trial.Best < run.Best.TestError {
			t.Errorf("%+v is the run %+v", trial, run)
		}
		if i > 0 && !trial.Final && trial.Seed != c.Base.Seed || trial.Final && trial.Seed != c.Base.Seed+1 {
			t.Errorf("trial %d has seed %d", trial.Number, trial.Seed)
		}
	}
	if last := b.Trials[len(b.Trials)-1]; !last.Final || b.Order[0] != len(b.Trials)-1 || last.Setting == last.Number {
		t.Errorf("the final is %+v, the order %v", last, b.Order)
	}
	q, rows, err := search.Find(t.Context(), s, "mine")
	if err != nil || len(rows) != len(b.Trials) || q.Running || q.Phase != "done" || math.Abs(q.Spent-b.Spent) > 1e-9 {
		t.Errorf("%+v with %d trials: %v", q, len(rows), err)
	}
	loaded, err := Load(t.Context(), s, nil, "mine")
	if err != nil || told(loaded) != told(b) {
		t.Errorf("read back it is\n%s\nexpected\n%s%v", told(loaded), told(b), err)
	}
	var taken *store.SearchError
	if _, err := New(c, s); !errors.As(err, &taken) {
		t.Errorf("a second one of the name: %v", err)
	}
	if _, err := Load(t.Context(), s, nil, "yours"); !errors.As(err, &taken) || !strings.Contains(err.Error(), "expected one of mine") {
		t.Errorf("an unknown one: %v", err)
	}
}

// What diverges and what can't be trained stays on the board, with the reason.
func TestBadTrialsStay(t *testing.T) {
	c := Config{
		Base: trainer.Config{Data: "sine", Validation: "0", Hidden: []int{110, 110}},
		Over: dimensions(t, "opt=sgd,lm", "rate=0.01,1e5", "mu=0.01"), Finals: 1, Trials: 10,
	}
	b := searched(t, c, temporary(t), nil)
	states := map[State]int{}
	for _, trial := range b.Trials {
		states[trial.State]++
		if why := trial.Error; trial.State == Diverged && !strings.Contains(why, "loss") || trial.State == Failed && !strings.Contains(why, "too large to factorize") ||
			strings.Contains(why, "\n") {
			t.Errorf("%s: %q", trial.State, why)
		}
	}
	if states[Diverged] != 1 || states[Failed] != 1 || len(b.Trials) != 4 {
		t.Errorf("%d trials: %v, expected one diverged, one failed and two of the good setting", len(b.Trials), states)
	}
	first, last := b.Trials[b.Order[0]], b.Trials[b.Order[3]]
	if first.Choices[1].Value != "0.01" || last.State != Failed || b.Measure != "test RMSE" {
		t.Errorf("%s: the first is %+v, the last %+v", b.Measure, first, last)
	}
	c.Over = dimensions(t, "opt=lm", "mu=0.01,0.1")
	q, err := New(c, temporary(t))
	if err != nil {
		t.Fatal(err)
	}
	var nothing *NothingError
	if err := q.Run(t.Context()); !errors.As(err, &nothing) || !strings.Contains(err.Error(), "none of 2 trials succeeded: lm: ") {
		t.Errorf("a search of nothing but failures: %v", err)
	}
}

func TestTarget(t *testing.T) {
	c := small(t)
	c.Base.TargetError, c.Finals, c.Seeds = 0.35, 2, 3
	c.MaxWork, c.Trials = 5000, 20
	b := searched(t, c, temporary(t), nil)
	best := math.Inf(1)
	finals := 0
	for i := range b.Trials {
		trial := &b.Trials[i]
		reached := trial.State == Reached
		if reached != !math.IsNaN(float64(trial.TargetEquivalents)) || reached && (float64(trial.Best) > 0.35 || trial.TargetSeconds != event.Float(trial.Seconds)) {
			t.Errorf("%+v", trial)
		}
		if trial.Final {
			finals++
			continue
		}
		if reached {
			best = min(best, float64(trial.TargetEquivalents))
		}
	}
	if math.IsInf(best, 1) || finals != 6 || b.Phase != "done" {
		t.Fatalf("%d finals, the best at the target after %g:\n%s", finals, best, told(b))
	}
	if head := b.Trials[b.Order[0]]; !head.Final || head.State != Reached {
		t.Errorf("the first is %+v", head)
	}
	for i := 1; i < len(b.Bests); i++ {
		if b.Bests[i].Value >= b.Bests[i-1].Value || b.Bests[i].Seconds < b.Bests[i-1].Seconds {
			t.Errorf("best so far %v", b.Bests)
		}
	}
}

// Budgets are kept, the finals' share included.
func TestBudgets(t *testing.T) {
	c := small(t)
	c.Trials, c.MaxWork, c.Finals = 0, 600, 1
	b := searched(t, c, temporary(t), nil)
	if b.Spent < 300 || b.Spent > 900 || len(b.Trials) < 10 {
		t.Errorf("%g gradient equivalents in %d trials, expected about 600", b.Spent, len(b.Trials))
	}
	c.MaxWork, c.Budget, c.Parallel = 0, 300*time.Millisecond, 2
	begin := time.Now()
	b = searched(t, c, temporary(t), nil)
	if took := time.Since(begin); took > time.Minute || b.Phase != "done" || len(b.Trials) == 0 {
		t.Errorf("%v of %v in %d trials, %s", took, c.Budget, len(b.Trials), b.Phase)
	}
	c.Budget, c.Trials, c.Over = 0, 50, dimensions(t, "opt=adam,tr-gn", "act=tanh,relu")
	if b = searched(t, c, temporary(t), nil); len(b.Trials) != 5 {
		t.Errorf("%d trials of four settings and a final", len(b.Trials))
	}
}

// Viewers get every board's successor, and the last one, and then the end.
func TestStopAndResume(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := temporary(t)
	c := small(t)
	c.Name, c.Trials, c.Parallel, c.Base.Hidden = "held", 0, 2, []int{50, 50}
	c.Budget = time.Hour
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- q.Run(t.Context()) }()
	leaderboard, boards := q.Leaderboard(), 0
	for leaderboard.Spent < 3 {
		if leaderboard, err = q.Wait(t.Context(), leaderboard); err != nil {
			t.Fatal(err)
		}
		boards++
	}
	var busy *store.SearchError
	if _, err := Resume(t.Context(), s, "held", nil); !errors.As(err, &busy) || !strings.Contains(err.Error(), "searches: expected a search that no process has") {
		t.Errorf("a search that runs can be resumed: %v", err)
	}
	q.Stop()
	q.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for err == nil {
		var next *Leaderboard
		if next, err = q.Wait(t.Context(), leaderboard); err == nil {
			leaderboard = next
		}
	}
	if err != io.EOF || leaderboard.Phase != "stopped" || leaderboard != q.Leaderboard() {
		t.Errorf("the last board is of phase %s: %v", leaderboard.Phase, err)
	}
	stopped := 0
	for _, trial := range leaderboard.Trials {
		if trial.State == Running || trial.State == Waiting || trial.State == Paused {
			t.Errorf("trial %d is %s after the end", trial.Number, trial.State)
		}
		if trial.State == Stopped {
			stopped++
		}
	}
	if stopped == 0 {
		t.Error("no trial was stopped")
	}
	before := len(leaderboard.Trials)
	if _, err := Resume(t.Context(), s, "held", func(c *Config) { c.Budget = time.Millisecond }); !errors.As(err, &busy) ||
		!strings.Contains(err.Error(), "expected a larger Budget") {
		t.Errorf("nothing is left: %v", err)
	}
	q, err = Resume(t.Context(), s, "held", func(c *Config) { c.Budget, c.Trials, c.MaxWork = 0, before+1, leaderboard.Spent+40 })
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := q.Leaderboard()
	if after.Seconds <= leaderboard.Seconds || after.Spent <= leaderboard.Spent || after.Phase != "done" {
		t.Errorf("%+v after %+v", after, leaderboard)
	}
	for i := range leaderboard.Trials {
		if a, b := leaderboard.Trials[i], after.Trials[i]; text(a.Choices) != text(b.Choices) || b.Epochs < a.Epochs || a.Run != "" && a.Run != b.Run {
			t.Errorf("trial %d was %+v, is %+v", i+1, a, b)
		}
	}
	s.Close()
}

func TestCancelledContext(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Trials, c.Base.Hidden = 0, []int{50, 50}
	c.MaxWork = 1e9
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if err := q.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if b := q.Leaderboard(); b.Phase != "stopped" {
		t.Error(b.Phase)
	}
	row, _, err := search.Find(t.Context(), s, "last")
	if err != nil || row.Running || row.Phase != "stopped" {
		t.Errorf("%+v: %v", row, err)
	}
}

func TestConfigErrors(t *testing.T) {
	s := temporary(t)
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Sampler = "grid" }, "Sampler grid: expected sobol, random, tpe"},
		{func(c *Config) { c.Trials = -1 }, "Trials -1: expected"},
		{func(c *Config) { c.Budget = -1 }, "Budget -1ns: expected"},
		{func(c *Config) { c.MaxWork = math.NaN() }, "MaxWork NaN: expected"},
		{func(c *Config) { c.Parallel = 1e6 }, "Parallel 1000000: expected"},
		{func(c *Config) { c.Finals = -2 }, "Finals -2: expected"},
		{func(c *Config) { c.Base.Data = "nowhere" }, `unknown data set "nowhere"`},
		{func(c *Config) { c.Base.Test = "5000" }, "Test 5000: expected"},
		{func(c *Config) { c.Name = "a b" }, `name "a b": expected`},
		{func(c *Config) { c.Over[1].Low = 2 }, "Over rate=2..1:log: expected"},
	} {
		config := small(t)
		c.change(&config)
		if _, err := New(config, s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
	}
	if all, err := search.All(t.Context(), s); err != nil || len(all) != 0 {
		t.Errorf("%d searches were begun: %v", len(all), err)
	}
}

// A curve keeps its beginning and its shape, and what was given out.
func TestThinnedCurve(t *testing.T) {
	var c boundedCurve
	var kept []Point
	for i := range 1000 {
		c.add(Point{Seconds: float64(i)})
		if i == 50 {
			kept = c.points
		}
	}
	if len(c.points) > maxPoints || c.points[0].Seconds != 0 || c.points[len(c.points)-1].Seconds < 1000-2*float64(c.every) {
		t.Errorf("%d points up to %v", len(c.points), c.points[len(c.points)-1])
	}
	if !slices.IsSortedFunc(c.points, func(a, b Point) int { return int(a.Seconds - b.Seconds) }) || kept[7].Seconds != 7 {
		t.Error("points were changed")
	}
}

// TestMeasure: trials are judged by what their runs are judged by, and a search that was
// recorded when it was the training loss there goes on with that.
func TestMeasure(t *testing.T) {
	for _, c := range []struct{ data, validation, want string }{
		{"spirals", "0", "test error"}, {"sine", "0", "test RMSE"}, {"spirals", "", "validation error"}, {"sine", "", "validation RMSE"},
	} {
		config := small(t)
		config.Base.Validation = c.validation
		config.Base.Data, config.Over, config.Trials = c.data, dimensions(t, "opt=tr-gn,scg"), 2
		s := temporary(t)
		b := searched(t, config, s, nil)
		if b.Measure != c.want || b.Share() != strings.HasSuffix(c.want, "error") {
			t.Errorf("%s: %s, expected %s", c.data, b.Measure, c.want)
		}
		run, err := s.Find(t.Context(), b.Trials[b.Order[0]].Run)
		if err != nil || run.Opening.Measure().Info().Name != c.want {
			t.Errorf("%s: the run is judged by %s; %v", c.data, run.Opening.Measure().Info().Name, err)
		}
	}
	if q := measureNamed("training loss"); q.Quantity != event.Loss {
		t.Errorf("an older search goes on with %s", q.Info().Name)
	}
}
