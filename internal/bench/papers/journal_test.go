package papers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/event"
)

var made1 = Origin{Commit: "v1", Machine: "a chip", Arguments: "bench letter"}

func opened1(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path, made1)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A trial runs once, whatever comes in between: another process, or a line that was cut short.
func TestJournalRemembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	runs := 0
	ask := func(j *Journal, trial string) float64 {
		t.Helper()
		v, foreign, err := recall(t.Context(), j, trial, func() (float64, error) { runs++; return 0.1 * float64(runs), nil })
		if err != nil || foreign < 0 || foreign > 1 {
			t.Fatal(foreign, err)
		}
		return v
	}
	j := opened1(t, path)
	first, second := ask(j, "one"), ask(j, "two")
	if ask(j, "one") != first || runs != 2 {
		t.Errorf("%d runs", runs)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-3], 0o600); err != nil { // the second trial's line is cut short
		t.Fatal(err)
	}
	j = opened1(t, path)
	if ask(j, "one") != first || runs != 2 {
		t.Errorf("after a restart %d runs", runs)
	}
	if ask(j, "two") == second || runs != 3 {
		t.Errorf("a torn line was believed: %d runs", runs)
	}
	if _, err := OpenJournal(path, made1); err == nil {
		t.Error("two write one journal")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = opened1(t, path)
	defer j.Close()
	if ask(j, "one") != first || runs != 3 {
		t.Errorf("after two restarts %d runs", runs)
	}
}

func TestJournalRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trials.jsonl")
	if err := opened1(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		origin Origin
		want   string
	}{
		{Origin{"v2", made1.Machine, made1.Arguments}, `newtop "v2" and not "v1"`},
		{Origin{made1.Commit, "another", made1.Arguments}, `the machine "another"`},
		{Origin{made1.Commit, made1.Machine, "bench bpls"}, `the arguments "bench bpls"`},
	} {
		_, err := OpenJournal(path, c.origin)
		if wrong, ok := errors.AsType[*trainer.ConfigError](err); !ok || wrong.Field != "--resume" || !strings.Contains(wrong.Expected, c.want) {
			t.Errorf("%+v: %v", c.origin, err)
		}
	}
	for _, text := range []string{"not a journal\n", "{}\n", `{"newtop":"v1","machine":"a chip","arguments":"bench letter"}` + "\n{}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJournal(path, made1); err == nil || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := OpenJournal(filepath.Join(dir, "no", "such"), made1); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

// An outcome comes back from a journal as it was, the numbers that are none too.
func TestOutcomesGoThroughAJournal(t *testing.T) {
	config := spirals("tr-gn", 3)
	problem, err := trainer.Prepare(&config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	var all []*outcome
	for range 2 {
		j := opened1(t, path)
		s := schedule{threads: 1, journal: j}
		got, err := s.run(t.Context(), []trial{{name: "it", config: config, problem: problem, share: func(*point) float64 { return 0 }}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got[0])
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, b := all[0], all[1]
	same := reflect.DeepEqual(a.weights, b.weights) && string(a.missed) == string(b.missed) && a.best == b.best && a.reason == event.ReasonEpochs &&
		b.reason == a.reason && a.testRows == b.testRows && len(a.points) == len(b.points) && len(a.weights) > 0 && a.end().elapsed == b.end().elapsed
	for i := range a.points {
		p, q := a.points[i], b.points[i]
		if math.IsNaN(p.radius) && math.IsNaN(q.radius) {
			p.radius, q.radius = 0, 0
		}
		same = same && p == q
	}
	if !same || a.foreign != b.foreign && !(math.IsNaN(a.foreign) && math.IsNaN(b.foreign)) {
		t.Errorf("%+v came back as %+v", a, b)
	}
	if err := new(outcome).UnmarshalJSON([]byte(`{"points":[[1,2]]}`)); err == nil {
		t.Error("a point of two numbers is no error")
	}
}

// A bench that is stopped and begun anew reports what one that was not stopped does.
func TestBenchGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	o := Options{Data: "letters", Quick: true, Trials: 2, Threads: 1, Only: []string{"SOAP"}}
	j := opened1(t, path)
	ctx, stop := context.WithCancel(t.Context())
	o.Journal, o.Progress = j, func(p Progress) {
		if p.Share >= 0.5 {
			stop()
		}
	}
	if _, err := Letter(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = opened1(t, path)
	defer j.Close()
	if n := len(j.done); n != 1 {
		t.Fatalf("%d trials are done", n)
	}
	o.Journal, o.Progress = j, nil
	report, err := Letter(t.Context(), o)
	if err != nil || len(j.done) != 2 || cellOf(t, report.Tables, "Trials", "SOAP").Value != 2 {
		t.Errorf("%v, %d trials", err, len(j.done))
	}
}
