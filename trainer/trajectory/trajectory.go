// Package trajectory takes nets from epoch to epoch under one method: it owns their weights, measures them, and keeps
// the best ones and those of earlier epochs.
package trajectory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"newtop/internal/vector"
	"newtop/models/modelfile"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/workplace"
)

// Trajectory is nets on their way from epoch to epoch under one method: those of a session, or a racer's one.
type Trajectory struct {
	Work *workplace.Workplace
	workplace.Binding
	Info     *optim.Info
	Settings *optim.Settings // that members begin with
	Members  []*Member
	Turn     int           // whose turn it is in the outer iteration in progress
	Started  time.Duration // the training time at its beginning

	Epoch             int // finished outer iterations
	Since             int // after which its method took over
	Before            int // that the run had finished where these began to be counted, of a racer
	First, Last, Best event.EpochEvent
	// of each member after the best epoch, never changed; nil where the run ends with the last ones
	BestWeights [][]float64
}

// Add adds a net whose weights are all 0 and which is trained on some rows.
func (t *Trajectory) Add(seed uint64, settings *optim.Settings, on workplace.Binding) *Member {
	dim, n := t.Work.Problem.Dim(), t.Target.Dim()
	m := &Member{
		Seed:     seed,
		Binding:  on,
		Settings: settings,
		Method:   t.Info.New(),
		Weights:  make([]float64, dim),
		Previous: make([]float64, dim),
		average:  t.Work.Config.Average,
		Source:   rand.NewPCG(seed, workplace.StreamMethod),
		Metrics:  workplace.Unmeasured,
		Rate:     gateRate,
	}
	m.State = &optim.State{
		Objective: on.Target,
		W:         m.Weights[:n:n],
		Gradient:  make([]float64, n),
		Settings:  settings,
		Rand:      rand.New(m.Source),
		Monitor:   t.Work.Monitor,
		Run:       t.Work.Pool.Run,
	}
	t.Members = append(t.Members, m)
	return m
}

// CurrentSettings returns the settings that are shown: the first member's, or those that members begin with.
func (t *Trajectory) CurrentSettings() *optim.Settings {
	if len(t.Members) == 0 {
		return t.Settings
	}
	return t.Members[0].Settings
}

// SwitchTo hands the weights to another method, as the last one left them.
func (t *Trajectory) SwitchTo(info *optim.Info) {
	t.Info, t.Settings, t.Since = info, t.Work.DefaultSettings(info), t.Epoch
	for _, m := range t.Members {
		m.Settings = t.Settings.Clone()
		m.State.Settings = m.Settings
		m.StartMethod(info, t.Minimized(m))
	}
}

// EvaluateStart evaluates the starting weights.
func (t *Trajectory) EvaluateStart() {
	for _, m := range t.Members {
		t.Evaluate(m)
		m.ReferenceLoss = t.Minimized(m)
		m.Report = IdleReport
		m.Report.Accepted = true
	}
}

// Evaluate measures how well the weights of a member do that count. What the objective keeps of those it was asked for
// stays, as methods find it.
func (t *Trajectory) Evaluate(m *Member) {
	measure := func() { t.Work.Evaluate(&m.Binding, m.Effective(m.Weights), &m.Metrics) }
	if len(m.Trail) == 0 {
		measure()
	} else {
		m.Binding.Objective.PreserveEvaluation(measure)
	}
	t.Work.Config.OmitWeighted(&m.Metrics)
}

// RecordEpoch counts an outer iteration that took the members to the epoch's metrics.
func (t *Trajectory) RecordEpoch(e *event.EpochEvent) {
	t.Last = *e
	ExtendTrails(t.Members)
	if t.Work.Better(e, &t.Best) {
		t.SetBest(e)
	}
}

// Snapshot returns what it takes to go back to the current epoch.
func (t *Trajectory) Snapshot() Snapshot {
	s := Snapshot{Last: t.Last, Best: t.Best, BestWeights: t.BestWeights, Trails: Trails(t.Members)}
	if s.Weights = t.BestWeights; s.Weights == nil || t.Best.Epoch != t.Last.Epoch || t.Work.Config.Average > 1 {
		s.Weights = nil
		for _, m := range t.Members {
			s.Weights = append(s.Weights, slices.Clone(m.Weights))
		}
	}
	return s
}

// Rewind goes back to an earlier epoch. The method begins again with the settings that it has; what is drawn at random
// continues.
func (t *Trajectory) Rewind(to *Snapshot) {
	t.Epoch, t.Turn = to.Last.Epoch, 0
	t.Since = min(t.Since, t.Epoch)
	for i, m := range t.Members {
		copy(m.Weights, to.Weights[i])
		m.Trail = to.Trails[i]
		m.State.Evaluated = false
		t.Evaluate(m)
		m.StartMethod(t.Info, t.Minimized(m))
	}
	t.Last, t.Best, t.BestWeights = to.Last, to.Best, to.BestWeights
}

// Model returns the nets as they are now, for the file of a run.
func (t *Trajectory) Model(run string) *modelfile.Model {
	weights := make([][]float64, len(t.Members))
	for i, m := range t.Members {
		weights[i] = m.Effective(m.RestingWeights(t.Batched()))
	}
	return DescribeModel(t.Work.Problem, weights, provenance(t.Work.Config, run, t.Info.Name, t.Epoch, &t.Last))
}

// FixGates gives the objective a member's gates, if it is the one that leaves them as they are.
func (t *Trajectory) FixGates(m *Member) {
	if m.Binding.Fixed != nil {
		m.Binding.Fixed.Gates = m.Weights[len(m.State.W):]
	}
}

// MemberPrefix names a member of a committee, for the beginning of a sentence.
func (t *Trajectory) MemberPrefix(m *Member) string {
	if len(t.Members) == 1 {
		return ""
	}
	return fmt.Sprintf("seed %d: ", m.Seed)
}

// CanClimb reports whether too large a rate makes the method raise the loss. A bad loss that one met which
// only ever lowers it is not its own: it may be there to mend it. And one that does not follow the loss, as it
// solves for the weights, is not lost where the loss is high.
func (t *Trajectory) CanClimb() bool { return !t.Info.Monotone && t.Info.Primary != "" }

// Batched reports whether the method goes through batches, so that its steps are many small ones.
func (t *Trajectory) Batched() bool { return t.Info.Needs&optim.NeedsRows != 0 }

// A loss far above its starting value counts as diverged, and so does one that stays above it: saturating
// activations keep a hopeless loss finite for ever, and bounded outputs keep it within a few times the start,
// so that waiting for a NaN is not enough.
const (
	divergence = 30  // times the start, at once
	worse      = 1.5 // times the start, for worseFor epochs in a row
	worseFor   = 5
)

// Minimized returns what a member's method minimizes: the loss of the rows, which events tell, and the penalty.
func (t *Trajectory) Minimized(m *Member) event.Float {
	return m.Metrics.Loss + event.Float(t.Objective.Penalty(m.Effective(m.Weights)))
}

// Penalty returns the mean of the members' penalties.
func (t *Trajectory) Penalty() event.Float {
	sum := 0.0
	for _, m := range t.Members {
		sum += t.Objective.Penalty(m.Effective(m.Weights))
	}
	return event.Float(sum / float64(len(t.Members)))
}

// FirstPenalty returns what it was at the start, whose weights are drawn again.
func (t *Trajectory) FirstPenalty() event.Float {
	sum, w := 0.0, make([]float64, t.Work.Problem.Dim())
	for _, m := range t.Members {
		t.Work.DrawWeights(w, m.Seed)
		sum += t.Objective.Penalty(w)
	}
	return event.Float(sum / float64(len(t.Members)))
}

// CheckConvergence says of the first member after an outer iteration whose loss is not finite, has left far behind
// where its method began, or stays above that under one method and its settings. Else it is empty.
func (t *Trajectory) CheckConvergence() (diverged string) {
	for _, m := range t.Members {
		loss, start := float64(t.Minimized(m)), float64(m.ReferenceLoss)
		m.EpochsAbove++
		if !(loss > worse*start) {
			m.EpochsAbove = 0
		}
		switch {
		case !vector.Finite(loss):
			return t.MemberPrefix(m) + "the loss is not finite"
		case !t.CanClimb():
		case loss > divergence*start && start > 0, m.EpochsAbove >= worseFor:
			return fmt.Sprintf("%sthe loss rose to %.3g, from %.3g at the start", t.MemberPrefix(m), loss, start)
		}
	}
	return ""
}

// SetPosition tells a member's method where it stands in the run.
func (t *Trajectory) SetPosition(m *Member) {
	m.State.Epoch, m.State.Epochs = t.Epoch-t.Since, max(0, t.Work.Config.Epochs-t.Before-t.Since)
}

// Stalled returns why the first member stalled, and whether all have.
func (t *Trajectory) Stalled() (reason string, all bool) {
	for _, m := range t.Members {
		if m.Stalled == "" {
			return "", false
		}
	}
	return t.Members[0].Stalled, true
}

// Diverged returns the error of nets that have.
func (t *Trajectory) Diverged(epoch int, reason string) *DivergedError {
	hint := "expected another optimizer or other settings"
	if t.CanClimb() {
		hint = "expected a smaller " + t.Info.Primary + " than " + optim.Format(t.CurrentSettings().Get(t.Info.Primary))
	}
	if !t.First.Loss.Finite() {
		hint = "expected finite data and starting weights"
	}
	return &DivergedError{Epoch: epoch, Optimizer: t.Info.Name, Reason: reason, Hint: hint}
}

// DivergedError says that a run met a loss or weights that are no numbers, or a loss far above the one
// it started from.
type DivergedError struct {
	Epoch     int
	Optimizer string
	Reason    string
	Hint      string // what to change
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("%s diverged in epoch %d: %s; %s", e.Optimizer, e.Epoch, e.Reason, e.Hint)
}
