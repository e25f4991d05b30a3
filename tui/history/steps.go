package history

import (
	"math"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
)

const (
	maxStages     = 256   // inner solves whose iterations are kept
	maxIterations = 16384 // of all of them
	maxParts      = 64    // solves of one epoch that get bars of their own
	watchable     = 0.4   // seconds after which a solve is followed while it is under way
	readable      = 0.5   // seconds for which a finished one stays, when they are sooner over than that
)

// Steps keeps the iterations of the latest inner solves, oldest dropped first, the solves of each
// epoch one by one, and the latest look along a step.
type Steps struct {
	Solves     []*Solve
	Dropped    int // solves that were dropped
	Iterations int // iterations in solves
	Front      int // the solve to show to who follows the run, of all there have been
	since      float64
	Works      []EpochWork
	Slice      *event.SliceEvent
	Gen        uint64
}

// Solve is one inner solve with its iterations.
type Solve struct {
	Epoch, Member, Block int
	Steps                []Step
	began                float64 // training seconds when it was first heard of
	Limit                int     // iterations that it may have; 0 if not known
	Goal                 float64 // the residual that ends it, NaN if not known
	Over                 bool
	Summary              *event.InnerSummary // what its epoch said of it, nil before that
	Verdict              Verdict
}

// Step is one iteration.
type Step struct {
	N                                        int
	Residual, Norm, Radius, Curvature, Model float64
}

// Verdict is what became of the step of the only solve of an epoch.
type Verdict struct {
	Known, Accepted bool
	Rho             float64
}

// EpochWork has the solves of one epoch in their order; none if they are too many for bars of their own.
type EpochWork struct {
	Epoch int
	Parts []SolveWork
}

// SolveWork is the number of iterations of a solve and why it ended.
type SolveWork struct {
	Member, Block, Iterations int
	Stop                      krylov.Stop
}

// apply adds what a Delta brings. The iterations of an epoch come before its report, whatever the order in
// which a Delta lists them.
func (t *Steps) apply(d *feed.Delta) {
	for i := range d.Inner {
		t.iteration(&d.Inner[i], &d.Status)
	}
	for i := range d.Epochs {
		t.report(&d.Epochs[i])
	}
	if n := len(t.Solves); n > 0 && len(d.Switches)+len(d.Rewinds) > 0 || d.Done != nil && n > 0 {
		t.Solves[n-1].Over = true // a next iteration, if it is still to have one, opens it again
	}
	if n := len(d.Slices); n > 0 {
		t.Slice = &d.Slices[n-1]
	}
	if len(d.Inner)+len(d.Epochs)+len(d.Slices)+len(d.Switches)+len(d.Rewinds) > 0 {
		t.Gen++
	}
	t.follow(&d.Status, d.Done != nil)
}

// follow chooses what to show to who follows the run: the solve under way if it lasts, else one after another
// that is over, each for as long as it takes to be read.
func (t *Steps) follow(s *event.Status, done bool) {
	n := len(t.Solves)
	if n == 0 {
		return
	}
	latest := t.Dropped + n - 1
	switch last := t.Solves[n-1]; {
	case done || s.Phase == event.Paused || s.Phase == event.Ended || s.Elapsed-last.began >= watchable:
		t.Front, t.since = latest, s.Elapsed
	case t.Front < t.Dropped || math.Abs(s.Elapsed-t.since) >= readable:
		if !last.Over && n > 1 {
			latest--
		}
		t.Front, t.since = latest, s.Elapsed
	}
}

func (t *Steps) iteration(e *event.InnerEvent, s *event.Status) {
	if math.IsNaN(float64(e.StepNorm)) && math.IsNaN(float64(e.Residual)) {
		return // a method that solves otherwise
	}
	step := Step{e.Iteration, float64(e.Residual), float64(e.StepNorm), float64(e.Radius), float64(e.Curvature),
		float64(e.Model)}
	if n := len(t.Solves); n > 0 {
		if last := t.Solves[n-1]; last.continues(e) {
			last.Steps, last.Over = append(last.Steps, step), false
			t.Iterations++
			t.trim()
			return
		}
		t.Solves[n-1].Over = true
	}
	solve := &Solve{Epoch: e.Epoch, Member: e.Member, Block: e.Block, Steps: []Step{step}, began: s.Elapsed}
	solve.Limit, solve.Goal = bounds(s)
	t.Solves = append(t.Solves, solve)
	t.Iterations++
	t.trim()
}

// continues reports whether an iteration belongs to the solve.
func (s *Solve) continues(e *event.InnerEvent) bool {
	return s.Summary == nil && s.Epoch == e.Epoch && s.Member == e.Member && s.Block == e.Block &&
		e.Iteration > s.Last().N
}

// Last is the latest iteration of a solve, which must have one.
func (s *Solve) Last() *Step { return &s.Steps[len(s.Steps)-1] }

// trim drops the oldest solves, and of one that is longer than all may be its oldest half.
func (t *Steps) trim() {
	for len(t.Solves) > 1 && (len(t.Solves) > maxStages || t.Iterations > maxIterations) {
		t.Iterations -= len(t.Solves[0].Steps)
		t.Solves[0] = nil
		t.Solves = t.Solves[1:]
		t.Dropped++
	}
	if s := t.Solves[0]; len(s.Steps) > maxIterations {
		half := len(s.Steps) / 2
		s.Steps = append(s.Steps[:0], s.Steps[half:]...)
		t.Iterations -= half
	}
}

// report takes in what an epoch says of its solves.
func (t *Steps) report(e *event.EpochEvent) {
	for _, s := range t.Solves {
		s.Over = s.Over || s.Epoch <= e.Epoch
	}
	for i := range e.Inner {
		if s := t.find(e.Epoch, &e.Inner[i]); s != nil {
			s.Summary = &e.Inner[i]
			if len(e.Inner) == 1 {
				s.Verdict = Verdict{true, e.Accepted, float64(e.Rho)}
			}
		}
	}
	if len(e.Inner) == 0 {
		return
	}
	w := EpochWork{Epoch: e.Epoch}
	if len(e.Inner) <= maxParts {
		for i := range e.Inner {
			w.Parts = append(w.Parts, SolveWork{e.Inner[i].Member, e.Inner[i].Block, e.Inner[i].Iterations,
				min(e.Inner[i].Stop, krylov.Progress)})
		}
	}
	t.Works = chart.KeepLast(append(t.Works, w), maxSolves)
}

// find returns the latest solve that a summary can be of, one of as many iterations before others: after a
// way back, or when a solve was given up, several have its place in an epoch.
func (t *Steps) find(epoch int, in *event.InnerSummary) *Solve {
	var any *Solve
	for i := len(t.Solves) - 1; i >= 0; i-- {
		s := t.Solves[i]
		if s.Summary != nil || s.Epoch != epoch || s.Block != in.Block || s.Member != in.Member {
			continue
		}
		if s.Last().N == in.Iterations {
			return s
		}
		if any == nil {
			any = s
		}
	}
	return any
}
