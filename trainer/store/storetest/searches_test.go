package storetest

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
)

func TestSearches(t *testing.T) {
	s := temporary(t)
	ctx := t.Context()
	if all, err := search.All(ctx, s); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	var wrong *sqlfile.SearchError
	if _, _, err := search.Find(ctx, s, "last"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "there are no searches yet") {
		t.Error(err)
	}
	q := search.Search{Name: "mine", Config: json.RawMessage(`{"Trials":3}`), Version: "0.7", Phase: "searching", Data: "letters"}
	r, err := search.New(ctx, s, &q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := search.New(ctx, s, &search.Search{Name: "mine", Config: q.Config}); !errors.As(err, &wrong) {
		t.Errorf("a name that is taken: %v", err)
	}
	unnamed := search.Search{Config: q.Config}
	if _, err := search.New(ctx, s, &unnamed); err != nil || unnamed.Name != "tune-"+unnamed.ID || unnamed.ID == q.ID {
		t.Errorf("%+v: %v", unnamed, err)
	}
	want := []search.Trial{
		{Number: 1, Run: "a", State: "done", Seed: math.MaxUint64, Rung: 2, Choices: json.RawMessage(`[]`), Metrics: json.RawMessage(`{"Best":0.1}`)},
		{Number: 2, State: "failed", Reason: "no file", Final: true, Choices: json.RawMessage(`[{"Key":"opt"}]`), Metrics: json.RawMessage(`{}`)},
	}
	if err := r.Save(ctx, &q, want); err != nil {
		t.Fatal(err)
	}
	want[0].State, q.Phase, q.Seconds, q.Spent = "reached", "finals", 1.5, 80
	if err := r.Save(ctx, &q, want[:1]); err != nil {
		t.Fatal(err)
	}
	got, trials, err := search.Find(ctx, s, q.ID)
	if err != nil || !reflect.DeepEqual(trials, want) || got.Phase != "finals" || got.Seconds != 1.5 || got.Spent != 80 || got.Trials != 2 ||
		!got.Running || !got.Started.Equal(q.Started) || string(got.Config) != string(q.Config) || string(got.Rest) != "{}" {
		t.Errorf("%+v with %+v: %v", got, trials, err)
	}
	if _, _, _, err := search.Continue(ctx, s, "mine"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("a search that has a process: %v", err)
	}
	if err := r.Release(ctx); err != nil {
		t.Fatal(err)
	}
	again, _, trials, err := search.Continue(ctx, s, "mine")
	if err != nil || len(trials) != 2 {
		t.Fatalf("%v, %v", trials, err)
	}
	if err := r.Save(ctx, &q, nil); !errors.Is(err, search.ErrSearchLost) {
		t.Errorf("writing to a search that was given up: %v", err)
	}
	if err := again.Save(ctx, &q, nil); err != nil {
		t.Error(err)
	}
	if _, _, err := search.Find(ctx, s, "yours"); !errors.As(err, &wrong) || !strings.HasSuffix(err.Error(), "expected one of "+unnamed.Name+", mine") {
		t.Errorf("an unknown name: %v", err)
	}
	var bad *sqlfile.RowError
	for _, change := range []string{"UPDATE trials SET seed = 'x'", "UPDATE searches SET begun = 'then'"} {
		if _, err := s.DB.Exec(change); err != nil {
			t.Fatal(err)
		}
		if _, _, err := search.Find(ctx, s, "mine"); !errors.As(err, &bad) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// A search is removed with the runs of its trials and no others, which lists without trials and last never show.
func TestTrialsApart(t *testing.T) {
	s := temporary(t)
	ctx := t.Context()
	for _, name := range []string{"own", "mine.1", "mine.2"} {
		written(t, s, recorder.About{Name: name, Command: "newtop train", Config: trainer.Config{Data: "letters"}}, everyKind("20261121-120000-"+strings.Repeat(name[len(name)-1:], 6), 3)...)
	}
	own, err := s.Find(ctx, "last~2")
	if err != nil || own.Name != "own" {
		t.Fatalf("%+v: %v", own, err)
	}
	q := search.Search{Name: "mine", Config: json.RawMessage(`{}`)}
	r, err := search.New(ctx, s, &q)
	if err != nil {
		t.Fatal(err)
	}
	trials := []search.Trial{{Number: 3, Run: "removed before"}, {Number: 4}}
	for i, name := range []string{"mine.1", "mine.2"} {
		run, err := s.Find(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, search.Trial{Number: i + 1, Run: run.ID})
	}
	if err := r.Save(ctx, &q, trials); err != nil {
		t.Fatal(err)
	}
	last, err := s.Find(ctx, "last")
	if err != nil || last.ID != own.ID {
		t.Errorf("the last run is %+v: %v", last, err)
	}
	if alone, err := s.Runs(ctx, store.Filter{Alone: true}); err != nil || len(alone) != 1 || alone[0].ID != own.ID {
		t.Errorf("%+v: %v", alone, err)
	}
	var wrong *sqlfile.SearchError
	for _, names := range [][]string{{"mine"}, {"yours"}} {
		if err := search.Remove(ctx, s, names...); !errors.As(err, &wrong) || wrong.Name != names[0] {
			t.Errorf("%v: %v", names, err)
		}
	}
	if err := r.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := search.Remove(ctx, s, q.ID); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Runs(ctx, store.Filter{}); err != nil || len(runs) != 1 || runs[0].ID != own.ID {
		t.Errorf("%d runs are left: %v", len(runs), err)
	}
	var left int
	if err := s.DB.QueryRow("SELECT count(*) FROM trials").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d trials are left: %v", left, err)
	}
}

// A database of version 1 can be read as it is, and gets the new tables when it is opened for writing; its runs stay.
func TestSearchesInAVersion1Store(t *testing.T) {
	path := version1(t)
	old := reading(t, path)
	if all, err := search.All(t.Context(), old); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	var wrong *sqlfile.SearchError
	if _, _, err := search.Find(t.Context(), old, "mine"); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if find(t, old, "old").Epochs != 4 {
		t.Error("a run of the old database is not what it was")
	}
	s := open(t, path)
	if _, err := search.New(t.Context(), s, &search.Search{Name: "mine", Config: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	if find(t, s, "old").Epochs != 4 {
		t.Error("a run has changed with the version")
	}
	if all, err := search.All(t.Context(), old); err != nil || len(all) != 1 {
		t.Errorf("the older reader sees %v, %v", all, err)
	}
}
