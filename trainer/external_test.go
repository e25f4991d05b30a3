package trainer

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/internal/safetensors"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/peer/peertest"
)

// twin serves the problem of a configuration as another program's model, and returns what trains it there.
func twin(t *testing.T, c config.Config) (*peertest.Server, config.Config) {
	t.Helper()
	p := mustPrepare(t, c)
	s := &peertest.Server{Problem: p, Start: make([]float64, p.Dim())}
	drawWeights(p, s.Start, c.Seed)
	c.Model, c.Data, c.Test, c.Hidden = s.Serve(t), "", "", nil
	return s, c
}

// bare is an event without what differs between newtop's own run and that of a twin: work, which is counted in another way, and blocks.
func bare(e event.Event) string {
	switch e := e.(type) {
	case event.EpochEvent:
		e.Gradients, e.Products, e.Losses, e.GradientEquivalents, e.Blocks = 0, 0, 0, 0, nil
		e.RMSE, e.TestRMSE = 0, 0 // which comes back from a square
		inner := slices.Clone(e.Inner)
		for i := range inner {
			inner[i].Flops = 0
		}
		e.Inner = inner
		if p := e.Preconditioner; p != nil {
			p = &event.PreconditionerMetrics{Refreshes: p.Refreshes, Factors: slices.Clone(p.Factors)}
			for i := range p.Factors {
				p.Factors[i].To, p.Factors[i].From = 0, 0
			}
			e.Preconditioner = p
		}
		return digits(e)
	case event.SliceEvent, event.SpectrumEvent, event.InnerEvent:
		return digits(e)
	}
	return ""
}

// A model that another program has is trained to the same digits as newtop's own, by every method that it offers enough for; by day
// by some of them.
func TestTwinHasTheSameDigits(t *testing.T) {
	base := config.Config{Data: "spirals", Test: "0.8", Hidden: []int{6, 5}, Epochs: 6, Seed: 3, Threads: 1, SpectrumEvery: 3, SpectrumRows: -1, Density: true}
	for name, set := range map[string][]string{
		"tr-newton": nil, "tr-newton jacobi": {"preconditioner=jacobi"}, "tr-gn": {"blocks=1"}, "tr-gn kfac": {"blocks=1", "preconditioner=kfac"}, "tr-gn-jacobi": nil, "scg": nil, "eigen-gd": nil,
		"adam": {"batch=16"}, "momentum": nil, "sgd": {"batch=50"}, "tr-newton decays": nil, "tr-gn-jacobi decays": nil, "adam decays": {"batch=16", "weight-decay=0.1"},
		"kfac": {"batch=16", "side=6"}, "kfac by the model": {"batch=32", "step=model"}, "hessian-free": {"batch=40"},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains([]string{"tr-newton jacobi", "scg", "adam decays", "kfac", "hessian-free", "tr-gn kfac"}, name) {
				nightly.Only(t, "one of sixteen ways, 0.5 s each")
			}
			own := base
			own.Optimizer, _, _ = strings.Cut(name, " ")
			own.Set = set
			if strings.HasSuffix(name, "decays") {
				own.L2 = 0.01
			}
			s, there := twin(t, own)
			want, got := train(t, own), train(t, there)
			a, b := slices.DeleteFunc(want.events, silent), slices.DeleteFunc(got.events, silent)
			for i := range min(len(a), len(b)) {
				if x, y := bare(a[i]), bare(b[i]); x != y {
					t.Fatalf("event %d\nthere %s\nown   %s", i, y, x)
				}
			}
			if len(a) != len(b) || len(a) < base.Epochs+1 {
				t.Errorf("%d events, own %d", len(b), len(a))
			}
			if kept, told := s.Left(); told != base.Epochs+1 || kept == nil {
				t.Errorf("it was told of %d epochs, and left with the weights %v", told, kept)
			}
		})
	}
}

// silent picks events that say nothing of weights.
func silent(e event.Event) bool { return bare(e) == "" }

// Bounds hold where the model's products are from differences, or rounded to 24 bits, and say so.
func TestBoundsOfInexactProducts(t *testing.T) {
	own := config.Config{Data: "sine", Hidden: []int{4}, Spectrum: 2, Seed: 4, SpectrumRows: -1, SpectrumTolerance: 1e-9}
	p := mustPrepare(t, own)
	exact := curvatures(t, own, evenRows(p.Data.Train.Rows(), p.Data.Train.Rows()))["hessian"]
	for _, c := range []struct {
		manner peertest.Manner
		least  float64 // what each bound has
	}{
		{peertest.Manner{}, 1e-16},
		{peertest.Manner{Single: true}, 1e-7},
		{peertest.Manner{Has: []string{"grad", "rows"}}, 1e-12},
		{peertest.Manner{Has: []string{"grad", "rows"}, Single: true}, 1e-6},
	} {
		s, there := twin(t, own)
		s.Behave(c.manner)
		e := ofTheStart(t, there)
		if e.Differences != (c.manner.Has != nil) {
			t.Errorf("%+v: differences %v", c.manner, e.Differences)
		}
		for i, v := range e.Eigenvalues {
			off := math.Inf(1)
			for _, x := range exact {
				off = min(off, math.Abs(x-float64(v)))
			}
			if r := float64(e.Residuals[i]); off > r+1e-12 || r < c.least { // the step that was taken
				t.Errorf("%+v: %v ± %g is off by %g", c.manner, v, r, off)
			}
		}
	}
}

// A run with a model elsewhere goes on from each of its checkpoints to the same digits.
func TestTwinResumes(t *testing.T) {
	for opt, data := range map[string]string{"tr-newton": "spirals", "adam": "spirals", "tr-gn": "sine"} {
		s, there := twin(t, config.Config{Data: data, Hidden: []int{5}, Optimizer: opt, Epochs: 5, Seed: 2, SpectrumEvery: 2})
		s.Behave(peertest.Manner{Bare: opt == "tr-gn"})
		whole := keepAll(t, there)
		for i := range whole.kept {
			from := &whole.kept[i]
			sameRest(t, whole, resumed(t, there, whole, from), from)
		}
		_, elsewhere := twin(t, config.Config{Data: "spirals", Hidden: []int{6}, Optimizer: opt, Epochs: 5, Seed: 2})
		session := mustResume(t, elsewhere, whole.last(t), whole.events[:1])
		var spoilt *checkpoint.CheckpointError
		if err := session.Run(t.Context()); !errors.As(err, &spoilt) || strings.Contains(err.Error(), "\n") {
			t.Errorf("another model: %v", err)
		}
	}
}

// A program that goes away after any of its answers ends the run with one line, and the run keeps its last whole epoch.
func TestTwinThatBreaks(t *testing.T) {
	s, there := twin(t, config.Config{Data: "spirals", Test: "0.8", Hidden: []int{4}, Epochs: 2, Seed: 2, SpectrumEvery: 1})
	requests := 1
	for ; ; requests++ {
		s.Behave(peertest.Manner{Break: requests})
		m := &archive{}
		session := mustNew(t, there, m)
		err := session.Run(t.Context())
		if err == nil {
			break
		}
		if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "twin") && !strings.Contains(text, "peer") {
			t.Errorf("after %d requests: %v", requests, err)
		}
		done := of[event.DoneEvent](&m.memory)
		if len(done) != 1 || done[0].Reason != event.ReasonFailed {
			t.Fatalf("after %d requests: %+v", requests, done)
		}
		if epochs := of[event.EpochEvent](&m.memory); len(epochs) > 1 {
			if got := m.last(t).Epoch; got != epochs[len(epochs)-1].Epoch && got != epochs[len(epochs)-1].Epoch-1 {
				t.Errorf("after %d requests: kept epoch %d of %d", requests, got, len(epochs)-1)
			}
		}
	}
	if requests < 20 {
		t.Errorf("a run of 2 epochs took %d requests", requests)
	}
}

// What a model elsewhere lacks is refused before the run, in one line.
func TestWhatATwinLacks(t *testing.T) {
	for _, c := range []struct {
		has  []string
		c    config.Config
		want string
	}{
		{[]string{"hv"}, config.Config{}, "has no gradient"},
		{[]string{"grad"}, config.Config{Optimizer: "tr-gn"}, "no products with the Gauss–Newton matrix"},
		{[]string{"grad"}, config.Config{Optimizer: "adam", Set: []string{"batch=9"}}, "no rows to take some of: expected batch=0"},
		{[]string{"grad", "gnv"}, config.Config{Optimizer: "tr-gn-jacobi"}, "no diagonal"},
		{nil, config.Config{Optimizer: "bpls"}, "layers are not known"},
		{nil, config.Config{Optimizer: "tr-rows"}, "rows of its Jacobian"},
		{[]string{"grad", "hv", "eval"}, config.Config{Set: []string{"blocks=2"}}, "can't be split"},
	} {
		own := c.c
		own.Data, own.Hidden, own.Optimizer, own.Set = "spirals", []int{4}, "", nil
		s, there := twin(t, own)
		s.Behave(peertest.Manner{Has: c.has})
		there.Optimizer, there.Set, there.Epochs = c.c.Optimizer, c.c.Set, 2
		session, err := New(there)
		if err == nil {
			err = session.Run(t.Context())
		}
		var before *PrepareError
		if !errors.As(err, &before) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v %s: %v, expected %q", c.has, c.c.Optimizer, err, c.want)
		}
	}
}

// Where a model has no losses of some rows, methods of batches take all at once: by themselves, and as they are told.
func TestAllRowsAtOnce(t *testing.T) {
	for _, set := range [][]string{nil, {"batch=0"}} {
		own := config.Config{Data: "spirals", Hidden: []int{6}, Epochs: 3, Seed: 3, Optimizer: "adam", Set: []string{"batch=0"}}
		s, there := twin(t, own)
		s.Behave(peertest.Manner{Has: []string{"grad", "eval"}})
		there.Set = set
		want, got := of[event.EpochEvent](train(t, own)), of[event.EpochEvent](train(t, there))
		if len(got) != len(want) || bare(got[len(got)-1]) != bare(want[len(want)-1]) {
			t.Errorf("%q: %s\nown %s", set, bare(got[len(got)-1]), bare(want[len(want)-1]))
		}
	}
}

// Where a model has gradients alone, products come from their differences, of which about half of the digits hold.
func TestProductsFromDifferences(t *testing.T) {
	own := config.Config{Data: "spirals", Hidden: []int{6}, Epochs: 4, Seed: 3, SpectrumEvery: 2, SpectrumRows: -1}
	s, there := twin(t, own)
	s.Behave(peertest.Manner{Has: []string{"grad"}})
	want, m := of[event.SpectrumEvent](train(t, own)), train(t, there)
	got := of[event.SpectrumEvent](m)
	for i := range want {
		for j, v := range want[i].Eigenvalues {
			if d := float64(got[i].Eigenvalues[j] - v); d > 1e-6 || d < -1e-6 {
				t.Errorf("eigenvalue %d of epoch %d: %.9g, own %.9g", j, want[i].Epoch, float64(got[i].Eigenvalues[j]), float64(v))
			}
		}
	}
	if notes := of[event.ConsoleEvent](m); len(notes) != 1 || !strings.Contains(notes[0].Text, "differences of gradients") {
		t.Errorf("notes %v", notes)
	}
}

// Its analyses, rewinding, racing and saving work as of newtop's own; what needs rows is refused.
func TestTwinIsSteered(t *testing.T) {
	s, there := twin(t, config.Config{Data: "spirals", Hidden: []int{4}, Seed: 2})
	s.Behave(peertest.Manner{Single: true})
	session := mustNew(t, there)
	background(t, session)
	mail := session.Subscribe()
	defer mail.Close()
	reached := func(epochs int) {
		follow(t, mail, func(all *feed.Delta) bool { return all.Status.Epoch >= epochs })
	}
	reached(3)
	do(t, session, event.Spectrum{})
	do(t, session, event.Slice{})
	do(t, session, event.ShowWeights{To: 1, From: 0})
	do(t, session, event.StepInner{})
	follow(t, mail, func(all *feed.Delta) bool { return all.Status.Phase == event.Paused })
	do(t, session, event.Pause{})
	do(t, session, event.Switch{Optimizer: "adam"})
	reached(4)
	do(t, session, event.Rewind{Epoch: 2})
	do(t, session, event.Race{Racers: []event.Racer{{Optimizer: "tr-newton"}, {Optimizer: "tr-gn"}}, Equivalents: 20})
	var refused *event.CommandError
	if err := session.Do(t.Context(), event.ShowErrors{Train: true}); !errors.As(err, &refused) {
		t.Errorf("errors: %v", err)
	}
	file := filepath.Join(t.TempDir(), "w.safetensors")
	do(t, session, event.Save{File: file})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Decode(text, file)
	if err != nil || len(f.Tensors) == 0 {
		t.Fatal(err)
	}
	for _, tensor := range f.Tensors {
		if !strings.HasPrefix(tensor.Name, "weight") && !strings.HasPrefix(tensor.Name, "bias") {
			t.Errorf("tensor %q", tensor.Name)
		}
	}
}

// A run of another program's model says so in its first event.
func TestOpeningOfATwin(t *testing.T) {
	_, there := twin(t, config.Config{Data: "spirals", Hidden: []int{4}, Epochs: 1})
	run := of[event.RunEvent](train(t, there))[0]
	if run.External() || run.Model.Program == "" || len(run.Model.Blocks) == 0 || run.Model.Layers != nil || run.Data.Name != "twin" {
		t.Errorf("%+v", run)
	}
	if lacks := strings.Join(run.Model.Missing, " "); lacks != "tr-rows bpls" {
		t.Errorf("it lacks %q", lacks)
	}
	size := 0
	for _, b := range run.Model.Blocks {
		n := 1
		for _, d := range b.Shape {
			n *= d
		}
		size += n
	}
	if size != run.Model.Parameters {
		t.Errorf("%d weights in blocks of %d", size, run.Model.Parameters)
	}
}
