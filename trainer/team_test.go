package trainer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// inCrew trains like keepAll, in a crew.
func inCrew(t *testing.T, c config.Config, size int) *archive {
	t.Helper()
	a := &archive{}
	s := mustNew(t, c, a)
	s.JoinTeam(newCrew(t, size))
	toTheEnd(t, s)
	return a
}

// sameRun checks that all events and the last checkpoint of a run in a crew are those of a run alone.
func sameRun(t *testing.T, alone, together *archive) {
	t.Helper()
	if len(alone.events) != len(together.events) {
		t.Errorf("%d events, alone %d", len(together.events), len(alone.events))
	}
	for i := range min(len(alone.events), len(together.events)) {
		a, b := alone.events[i], together.events[i]
		if run, ok := b.(event.RunEvent); ok {
			b = unranked(run, a.(event.RunEvent))
		}
		if a, b := digits(a), digits(b); a != b {
			t.Fatalf("event %d:\nfound    %s\nexpected %s", i, b, a)
		}
	}
	if d := differences(alone.last(t), together.last(t)); d != nil {
		t.Errorf("the last checkpoint differs in %q", d)
	}
}

// unranked gives the first event of a run in a crew the name, time and company of another.
func unranked(e, like event.RunEvent) event.RunEvent {
	e.ID, e.Time, e.Ranks, e.Hosts = like.ID, like.Time, like.Ranks, like.Hosts
	return e
}

// together are runs that several processes can train.
func together() map[string]config.Config {
	out := map[string]config.Config{}
	for name, c := range everyKind() {
		switch {
		case c.Committee > 1, c.Experts > 0, c.Optimizer == "bpls", c.Batch > 0, c.SpectrumMethod != "" && c.Data != "spirals":
			continue
		}
		info, _, err := c.Method()
		factored := slices.Contains(c.Set, "preconditioner=kfac")
		if err != nil || factored || info.Needs&(optim.NeedsFactors|optim.NeedsSample) != 0 { // which one process must have all rows for
			continue
		}
		c.Test = "0.2"
		c.Epochs = 4
		c.Set = slices.Clone(c.Set)
		if slices.ContainsFunc(info.Parameters, func(p optim.Hyperparameter) bool { return p.Key == "batch" }) {
			c.Set = append(c.Set, "batch=0")
		}
		out[name] = c
	}
	return out
}

// TestTeamsHaveTheSameBits as one process, whatever the method.
func TestTeamsHaveTheSameBits(t *testing.T) {
	sizes := []int{2, 3, 5}
	for i, name := range slices.Sorted(maps.Keys(together())) {
		if i%2 == 1 && !nightly.On() {
			continue
		}
		c := together()[name]
		t.Run(name, func(t *testing.T) {
			whole := keepAll(t, c)
			if len(of[event.EpochEvent](&whole.memory)) < 2 {
				t.Fatal("nothing happened")
			}
			for k, size := range sizes {
				if k != i/2%len(sizes) && !nightly.On() {
					continue
				}
				t.Run(fmt.Sprint(size), func(t *testing.T) { sameRun(t, whole, inCrew(t, c, size)) })
			}
		})
	}
}

// TestTeamsAreSteered like one process: looks, spectra, settings, methods, races and rewinds leave the same events.
func TestTeamsAreSteered(t *testing.T) {
	racers := []event.Racer{
		{Optimizer: "tr-gn"}, {Optimizer: "lbfgs"}, {Optimizer: "tr-newton", Set: []string{"blocks=3"}},
		{Optimizer: "adam", Set: []string{"batch=0"}}, {Optimizer: "dogleg"},
	}
	// In the middle of an assembly, in which every process waits for its turn, all else must go on too.
	within := []event.Command{
		event.StepEpoch{}, event.StepInner{}, event.Slice{}, event.ShowErrors{Worst: 3}, event.Spectrum{}, event.Set{Key: "mu", Value: "0.01"}, event.StepEpoch{}, event.StepInner{},
		event.Race{Racers: []event.Racer{{Optimizer: "lm"}, {Optimizer: "tr-gn"}}, Equivalents: 50}, event.Pick{Racer: 0},
		event.StepEpoch{}, event.StepInner{}, event.Switch{Optimizer: "dogleg"}, event.StepEpoch{}, event.StepInner{}, event.Slice{}, event.Rewind{Epoch: 1}, event.StepEpoch{}, event.StepInner{},
	}
	script := []event.Command{
		event.StepEpoch{}, event.StepInner{}, event.Slice{}, event.StepEpoch{}, event.Slice{}, event.ShowErrors{Worst: 7}, event.ShowErrors{Train: true, Worst: 3},
		event.Set{Key: "blocks", Value: "4"}, event.StepEpoch{}, event.Spectrum{}, event.Set{Key: "radius", Value: "0.5"}, event.StepEpoch{},
		event.Race{Racers: racers, Equivalents: 60}, event.Pick{Racer: 2}, event.StepEpoch{}, event.Slice{}, event.Rewind{Epoch: 2}, event.StepEpoch{},
		event.Switch{Optimizer: "lm"}, event.StepEpoch{}, event.Switch{Optimizer: "scg"}, event.StepEpoch{}, event.ShowWeights{To: 1},
		event.Race{Racers: racers[:2], Equivalents: 30}, event.Pick{Racer: -1}, event.StepEpoch{},
	}
	for name, c := range map[string]config.Config{
		"classes":    {Data: "spirals", Hidden: []int{6}, Optimizer: "tr-newton", SpectrumRows: 500, Batch: 2000},
		"signed":     {Data: "spirals", Hidden: []int{6}, Out: "tanh", Optimizer: "tr-gn-jacobi", SpectrumRows: -1},
		"regression": {Data: "sine", Hidden: []int{5}, Optimizer: "tr-newton", Memory: 1},
		"assembly":   {Data: "spirals", Hidden: []int{6}, Optimizer: "lm", SpectrumRows: 200},
	} {
		script, slices := script, 3
		if c.Optimizer == "lm" {
			script, slices = within, 2
		}
		steered := func(size int) *memory {
			m := &memory{}
			s := mustNew(t, c, m)
			if size > 1 {
				c := newCrew(t, size)
				c.narrow = size == 2
				s.JoinTeam(c)
			}
			d := takeWheel(t, s, m)
			for _, command := range script {
				switch command.(type) {
				case event.Slice, event.ShowErrors, event.Spectrum:
					d.look(command)
				default:
					d.do(command)
				}
			}
			return d.stop()
		}
		alone := steered(1)
		if len(of[event.SliceEvent](alone)) != slices || len(of[event.ErrorsEvent](alone)) == 0 || len(of[event.SpectrumEvent](alone)) != 1 {
			t.Fatalf("%s: the script does not look", name)
		}
		for _, size := range []int{2, 5} {
			if testing.Short() && (size == 2) != (c.Optimizer == "lm") {
				continue
			}
			together := steered(size)
			for i := range min(len(alone.events), len(together.events)) {
				if a, b := untimed(alone.events[i], alone.events[0]), untimed(together.events[i], alone.events[0]); a != b {
					t.Fatalf("%s, %d processes, event %d:\nfound    %s\nexpected %s", name, size, i, b, a)
				}
			}
			if a, b := len(alone.events), len(together.events); a != b {
				t.Errorf("%s, %d processes: %d events, expected %d", name, size, b, a)
			}
		}
	}
}

// look asks for an analysis and waits until it is recorded.
func (d *steered) look(c event.Command) {
	d.t.Helper()
	before := d.m.looks()
	d.do(c)
	for d.m.looks() == before && d.t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

// looks returns how many looks were recorded.
func (m *memory) looks() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(of[event.SliceEvent](m)) + len(of[event.ErrorsEvent](m)) + len(of[event.SpectrumEvent](m))
}

// untimed is digits, with laps and, of two runs, their beginnings.
func untimed(e, first event.Event) string {
	switch e := e.(type) {
	case event.RunEvent:
		return digits(unranked(e, first.(event.RunEvent)))
	case event.LapEvent:
		e.Lap.Seconds, e.Lap.Elapsed = 0, 0
		return fmt.Sprintf("%+v", e)
	}
	return digits(e)
}

// TestTeamsGoOn from a checkpoint of another number of processes, to the same bits.
func TestTeamsGoOn(t *testing.T) {
	for _, c := range []config.Config{
		{Data: "spirals", Hidden: []int{5, 4}, Optimizer: "tr-newton", Blocks: 3, SpectrumEvery: 2, SpectrumRows: 300, Epochs: 6},
		{Data: "sine", Hidden: []int{5}, Optimizer: "lbfgs", Epochs: 6},
	} {
		whole := keepAll(t, c)
		for _, began := range []int{1, 2, 5} {
			first := whole
			if began > 1 {
				first = inCrew(t, c, began)
			}
			for _, goesOn := range []int{1, 2, 4} {
				from := &first.kept[3]
				rest := &archive{}
				s := mustResume(t, c, from.checkpoint(t), first.events[:from.events], rest)
				s.JoinTeam(newCrew(t, goesOn))
				toTheEnd(t, s)
				rest.events[0] = unranked(rest.events[0].(event.RunEvent), whole.events[0].(event.RunEvent))
				sameRest(t, whole, rest, &whole.kept[3])
			}
		}
	}
}

// TestTeamsRefuse what several processes can't train, in one line, and train on.
func TestTeamsRefuse(t *testing.T) {
	plain := config.Config{Data: "sine", Hidden: []int{4}, Optimizer: "tr-gn"}
	for want, change := range map[string]func(*config.Config){
		"Committee 3: expected one net":                                    func(c *config.Config) { c.Committee = 3 },
		"Experts 2: expected no mixture":                                   func(c *config.Config) { c.Hidden, c.Experts, c.Gate = nil, 2, "x" },
		"Processes 3: expected at most 2 processes for 100 training rows":  func(c *config.Config) { c.Test = "400" },
		"adam with batch 64: expected all rows":                            func(c *config.Config) { c.Optimizer = "adam" },
		"sgd with batch 399: expected all rows":                            func(c *config.Config) { c.Optimizer, c.Batch = "sgd", 399 },
		"Optimizer bpls: expected a method that does not solve for layers": func(c *config.Config) { c.Optimizer = "bpls" },
	} {
		c := plain
		change(&c)
		m := &memory{}
		s := mustNew(t, c, m)
		s.JoinTeam(newCrew(t, 3))
		err := s.Run(t.Context())
		var prepare *PrepareError
		if !errors.As(err, &prepare) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	m := &memory{}
	s := mustNew(t, plain, m)
	s.JoinTeam(newCrew(t, 3))
	d := takeWheel(t, s, m)
	d.refused(event.Switch{Optimizer: "adam"}, "adam with batch 64: expected all rows")
	d.refused(event.Switch{Optimizer: "bpls"}, "expected one process")
	d.refused(event.Race{Racers: []event.Racer{{Optimizer: "tr-gn"}, {Optimizer: "sgd"}}}, "racer sgd: sgd with batch 64: expected all rows")
	d.do(event.Race{Racers: []event.Racer{{Optimizer: "tr-gn"}, {Optimizer: "sgd", Set: []string{"batch=0"}}}, Equivalents: 4})
	d.do(event.Pick{Racer: 1})
	d.refused(event.Set{Key: "batch", Value: "10"}, "expected all rows")
	d.do(event.StepEpoch{})
	d.stop()
}

// TestOldFingerprints are still those of their data, in one process and in several.
func TestOldFingerprints(t *testing.T) {
	c := config.Config{Data: "sine", Hidden: []int{4}, Optimizer: "tr-gn", Epochs: 4}
	whole := keepAll(t, c)
	from := whole.kept[2].checkpoint(t)
	for size := 1; size < 4; size++ {
		// As it was written before fingerprints were made of leaves.
		for fingerprint, fits := range map[string]bool{
			"0dc2ba94bc7a204ec401148387587852-f43ba4a583d6d5da2db65b65cf8d9790": true,
			"0dc2ba94bc7a204ec401148387587853-f43ba4a583d6d5da2db65b65cf8d9790": false,
			"0dc2ba94bc7a204ec401148387587852-f43ba4a583d6d5da2db65b65cf8d9791": false,
		} {
			from.Fingerprint = fingerprint
			rest := &archive{}
			s := mustResume(t, c, from, nil, rest)
			s.JoinTeam(newCrew(t, size))
			if err := s.Run(t.Context()); (err == nil) != fits {
				t.Errorf("%d processes, fingerprint %s: %v", size, fingerprint, err)
			}
		}
	}
}

// slowCrew is one that takes its time to prepare.
type slowCrew struct {
	*crew
	begun, prepared chan struct{}
}

func (c *slowCrew) Prepare(config *config.Config) (*objective.Problem, error) {
	close(c.begun)
	time.Sleep(20 * time.Millisecond)
	defer close(c.prepared)
	return c.crew.Prepare(config)
}

// TestTeamsAreWaitedFor by a run that is cancelled or stopped while they prepare.
func TestTeamsAreWaitedFor(t *testing.T) {
	for _, end := range []func(*Session, func()) error{
		func(_ *Session, cancel func()) error { cancel(); return nil },
		func(s *Session, _ func()) error { return s.Do(t.Context(), event.Stop{}) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := &slowCrew{newCrew(t, 2), make(chan struct{}), make(chan struct{})}
		s := mustNew(t, config.Config{Data: "sine", Hidden: []int{3}})
		s.JoinTeam(c)
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		<-c.begun
		if err := end(s, cancel); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		select {
		case <-c.prepared:
		default:
			t.Error("the run was over before its team had prepared")
		}
		cancel()
	}
}
