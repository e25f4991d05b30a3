package tune

import (
	"testing"
	"time"
)

// No row of a search names a run that is not in the store, at whatever moment it is read.
func TestRowsNameStoredRuns(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Name, c.Trials, c.Parallel = "mine", 12, 2
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- q.Run(t.Context()) }()
	found := map[string]bool{} // runs, which stay once they are there
	for running := true; running; time.Sleep(time.Millisecond) {
		select {
		case err := <-over:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		b, err := Load(t.Context(), s, nil, "mine")
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Trials {
			run := b.Trials[i].Run
			if run == "" || found[run] {
				continue
			}
			if _, err := s.Find(t.Context(), run); err != nil {
				t.Fatalf("trial %d of %d: %v", i+1, len(b.Trials), err)
			}
			found[run] = true
		}
	}
	if len(found) != c.Trials {
		t.Errorf("%d of %d trials name a run in the end", len(found), c.Trials)
	}
}
