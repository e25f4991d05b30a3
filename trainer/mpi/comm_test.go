package mpi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// inComms has test use the communicator of process 0 in communicators of several sizes, while the others work; in MPI's own, where a
// launcher has started these tests.
func inComms(t *testing.T, o Options, test func(t *testing.T, w *Comm)) {
	if w := launched(); w != nil {
		if w.Size() > 4 {
			t.Skip("more processes than there are rows for")
		}
		inComm(t, []transport{w}, o, test)
		return
	}
	for _, size := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			e := newEther(t, size)
			var links []transport
			for rank := range size {
				links = append(links, e.end(rank))
			}
			inComm(t, links, o, test)
		})
	}
}

// inComm joins the processes and has all but process 0 work.
func inComm(t *testing.T, links []transport, o Options, test func(t *testing.T, w *Comm)) {
	const code = 3
	var working sync.WaitGroup
	work := func(link transport) {
		w, err := newComm(link, Options{}) // the others' Options don't count
		if err != nil {
			t.Error(err)
			return
		}
		if got, err := w.work(t.Context()); got != code || err != nil {
			t.Errorf("%s ended with %d, %v, expected %d", w.name(w.Rank()), got, err, code)
		}
	}
	for _, link := range links {
		if link.Rank() > 0 {
			working.Go(func() { work(link) })
		}
	}
	defer working.Wait()
	if links[0].Rank() == 0 {
		w, err := newComm(links[0], o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.end(code); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	}
}

// sessionOf returns a session in all processes, or in this one alone for nil, and where it writes its events.
func sessionOf(t *testing.T, w *Comm, c trainer.Config) (*trainer.Session, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	s, err := trainer.New(c, trainer.NewJSONLines(&out))
	if err != nil {
		t.Fatal(err)
	}
	if w != nil {
		s.JoinTeam(w.Team())
	}
	return s, &out
}

// events trains and returns what is said of the run.
func events(t *testing.T, w *Comm, c trainer.Config) []string {
	t.Helper()
	s, out := sessionOf(t, w, c)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return untimed(t, out)
}

// untimed returns events as lines, without what differs from one run to the next: times, and who trains.
func untimed(t *testing.T, out *bytes.Buffer) (lines []string) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"id", "time", "seconds", "elapsed", "began", "lap", "ranks", "hosts", "reduce", "threads"} {
			delete(e, key)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	return lines
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%d events, expected %d", len(got), len(want))
			return
		}
		if got[i] != want[i] {
			t.Errorf("event %d is\n%s\nexpected\n%s", i, got[i], want[i])
			return
		}
	}
}

// small is a run of a few moments on enough rows for some leaves, the last of them not full.
func small(optimizer string) trainer.Config {
	return trainer.Config{Data: "sine", Test: "0.3", Hidden: []int{7}, Optimizer: optimizer, Epochs: 3, Seed: 1, Threads: 1}
}

// TestTraining: a run in several processes is that of one, to the bit.
func TestTraining(t *testing.T) {
	configs := map[string]trainer.Config{}
	for _, optimizer := range []string{"tr-newton", "tr-gn", "tr-gn-jacobi", "tr-rows", "scg", "lbfgs", "lm", "dogleg", "eigen-gd"} {
		configs[optimizer] = small(optimizer)
	}
	c := small("tr-newton")
	c.Blocks = 3
	configs["blocks"] = c
	c = small("tr-gn")
	c.SpectrumEvery, c.Density, c.SpectrumRows = 1, true, 100
	configs["spectrum"] = c
	c = small("tr-newton")
	c.Data, c.Hidden, c.Epochs = "spirals", nil, 2
	configs["classes"] = c
	c = small("tr-gn")
	c.Memory = 1
	configs["nothing kept"] = c
	c = small("adam")
	c.Set = []string{"batch=0"}
	configs["adam"] = c
	wants := map[string][]string{}
	inComms(t, Options{}, func(t *testing.T, w *Comm) {
		for name, c := range configs {
			if wants[name] == nil {
				wants[name] = events(t, nil, c)
			}
			t.Run(name, func(t *testing.T) { compare(t, events(t, w, c), wants[name]) })
		}
	})
}

// TestFast: sums in another order differ in the last digits.
func TestFast(t *testing.T) {
	inComms(t, Options{Fast: true}, func(t *testing.T, w *Comm) {
		if got := w.About().Reduce; got != "fast" {
			t.Errorf("sums are %s, expected fast", got)
		}
		for _, optimizer := range []string{"tr-newton", "lm"} {
			got, want := events(t, w, small(optimizer)), events(t, nil, small(optimizer))
			if len(got) != len(want) {
				t.Fatalf("%d events, expected %d", len(got), len(want))
			}
			for i := range got {
				var a, b struct {
					Type string
					Loss float64
				}
				if err := json.Unmarshal([]byte(got[i]), &a); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal([]byte(want[i]), &b); err != nil {
					t.Fatal(err)
				}
				if a.Type == "epoch" && !near(a.Loss, b.Loss) {
					t.Errorf("%s: a loss of %v, expected %v", optimizer, a.Loss, b.Loss)
				}
			}
		}
	})
}

// TestFastNested: an assembly in the middle of another one leaves its numbers alone.
func TestFastNested(t *testing.T) {
	inComms(t, Options{Fast: true}, func(t *testing.T, w *Comm) {
		team, c := w.Team(), small("lm")
		if _, err := team.Prepare(&c); err != nil {
			t.Fatal(err)
		}
		assemble := func(seed float64, watch func(part, parts int) error) *mat.SymDense {
			l := team.Bind(objective.Rows{}, models.Options{})
			weights := make([]float64, l.Dim())
			for i := range weights {
				weights[i] = seed / float64(i+1)
			}
			l.Update(weights)
			m := mat.NewSymDense(l.Dim(), nil)
			if err := l.GaussNewtonMatrixTo(m, watch); err != nil {
				t.Error(err)
			}
			return m
		}
		want, nested := assemble(1, nil), false
		got := assemble(1, func(int, int) error {
			if !nested {
				nested = true
				assemble(2, nil)
			}
			return nil
		})
		if !nested || !mat.EqualApprox(got, want, 1e-12) {
			t.Error("other numbers")
		}
	})
}

func near(a, b float64) bool { return a-b < 1e-6*b && b-a < 1e-6*b }

// TestAbout: what each process says of itself reaches process 0.
func TestAbout(t *testing.T) {
	inComms(t, Options{Timeout: time.Minute}, func(t *testing.T, w *Comm) {
		a := w.About()
		if a.Reduce != "fixed" || len(a.Hosts) != w.Size() || len(a.Threads) != w.Size() || a.Library == "" || a.Threads[0] < 1 {
			t.Errorf("%+v", a)
		}
		if w.config.Timeout != time.Minute {
			t.Errorf("a timeout of %s, expected 1m0s", w.config.Timeout)
		}
		w.Team() // for the others to have something to hear
	})
}

// TestPrepareAgain: the last problem counts, and its parts may be bound as often as one likes.
func TestPrepareAgain(t *testing.T) {
	inComms(t, Options{}, func(t *testing.T, w *Comm) {
		for _, hidden := range []int{3, 4} {
			c := small("tr-gn")
			c.Hidden = []int{hidden}
			compare(t, events(t, w, c), events(t, nil, c))
		}
	})
}

func TestPrepareFails(t *testing.T) {
	inComms(t, Options{}, func(t *testing.T, w *Comm) {
		if w.Size() == 1 {
			return
		}
		c := small("tr-gn")
		c.Data = "nothing.csv"
		s, err := trainer.New(c)
		if err != nil {
			t.Fatal(err)
		}
		s.JoinTeam(w.Team())
		err = s.Run(context.Background())
		if err == nil || strings.Contains(err.Error(), "rank") || !strings.Contains(err.Error(), "nothing.csv") {
			t.Errorf("%v, expected what process 0 found", err)
		}
	})
}
