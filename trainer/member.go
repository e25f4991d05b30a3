package trainer

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/optim"
)

// member is one net that a run trains, with the method and the settings it is trained by. A run has one of
// them, a committee as many as it has seeds, which take turns: each does an outer iteration, then the epoch
// is over. They share the objective, since only one of them is at work at a time.
type member struct {
	seed     uint64
	on       binding
	settings *optim.Settings
	method   optim.Method
	weights  []float64 // all of them; the method's are the first
	state    *optim.State
	source   *rand.PCG // of the state's randomness
	previous []float64 // the weights before the outer iteration
	report   optim.Report
	figures  event.EpochEvent // how well the weights do; nothing else of it is filled in
	bearable event.Float      // the loss it started with, or the worse one that its method took over
	above    int              // epochs in a row with a loss far above that, under the same settings
	stalled  string           // why it has come to an end; empty while it goes on
	stepping bool             // inside its method's Step

	rate  float64   // the step length of the gates
	slope []float64 // the gradient for them
}

// Streams of the seeded generator: what is drawn for one purpose does not shift another.
const (
	streamWeights = 1 + iota
	streamMethod
	streamSpectrum
)

// newMember draws the first weights from the seed.
func (r *run) newMember(seed uint64) *member {
	network := r.problem.Network
	m := r.unset(r.binding, r.info, r.settings.Clone())
	m.seed = seed
	*m.source = *rand.NewPCG(seed, streamMethod)
	network.InitTo(m.weights, r.problem.Init, rand.New(rand.NewPCG(seed, streamWeights)))
	return m
}

// unset returns a member whose weights are all 0.
func (r *run) unset(on binding, info *optim.Info, settings *optim.Settings) *member {
	dim := r.problem.Network.Dim()
	m := &member{
		on:       on,
		settings: settings,
		method:   info.New(),
		weights:  make([]float64, dim),
		previous: make([]float64, dim),
		source:   rand.NewPCG(0, 0),
		figures:  unmeasured,
		rate:     gateRate,
	}
	n := on.target.Dim()
	m.state = &optim.State{
		Objective: on.target,
		W:         m.weights[:n:n],
		Gradient:  make([]float64, n),
		Settings:  m.settings,
		Rand:      rand.New(m.source),
		Monitor:   r.watch,
	}
	return m
}

// begin gives the weights to a fresh method. A bad loss that it finds is not its own.
func (m *member) begin(info *optim.Info) {
	m.method = info.New()
	m.above, m.stalled = 0, ""
	m.bearable = max(m.bearable, m.figures.Loss)
}

// step does one outer iteration of a member and measures what came of it. A member that stalled before
// does none. The error is the method's, but for a stall.
func (r *run) step(m *member) error {
	if m.stalled != "" {
		m.report = still
		return nil
	}
	copy(m.previous, m.weights)
	if m.on.fixed != nil {
		m.on.fixed.Gates = m.weights[len(m.state.W):]
	}
	r.unit, r.units = 0, 0
	r.stepping, m.stepping = true, true
	r.training.start()
	report, err := m.method.Step(r.ctx, m.state)
	r.training.stop()
	r.stepping, m.stepping = false, false
	r.unit, r.units = 0, 0
	if err == nil && r.race == nil {
		r.propose(m, &report.Proposal)
	}
	if errors.Is(err, optim.ErrStalled) {
		m.stalled = err.Error()
		report, err = still, nil
	}
	if !slices.Equal(m.previous, m.weights) {
		if err == nil && r.config.descends() {
			r.tune(m)
		}
		r.figure(m)
	}
	m.report = report
	return err
}

// still is the report of a member that does not move.
var still = optim.Report{
	Loss: math.NaN(), GradientNorm: math.NaN(), StepNorm: math.NaN(), Radius: math.NaN(), Rho: math.NaN(),
}

// figure measures how well the weights of a member do.
func (r *run) figure(m *member) {
	e := &m.figures
	r.figures(m.on.objective.Evaluate(m.weights), &e.Loss, &e.Error, &e.RMSE)
	if r.test != nil {
		r.figures(r.test.EvaluateAt(m.weights), &e.TestLoss, &e.TestError, &e.TestRMSE)
	}
}

// moving returns the first member that still moves, or the first one of all.
func (r *run) moving() *member {
	for _, m := range r.members {
		if m.stalled == "" {
			return m
		}
	}
	return r.members[0]
}

// combine returns the members' reports as one: the report itself of a single net; of a committee the means
// of their numbers, and the inner solves of all.
func (r *run) combine() optim.Report {
	if len(r.members) == 1 {
		return r.members[0].report
	}
	var out optim.Report
	mean := func(of func(*optim.Report) float64) float64 {
		sum, count := 0.0, 0
		for _, m := range r.members {
			if v := of(&m.report); !math.IsNaN(v) {
				sum, count = sum+v, count+1
			}
		}
		return sum / float64(count)
	}
	out.GradientNorm = mean(func(p *optim.Report) float64 { return p.GradientNorm })
	out.StepNorm = mean(func(p *optim.Report) float64 { return p.StepNorm })
	out.Radius = mean(func(p *optim.Report) float64 { return p.Radius })
	out.Rho = mean(func(p *optim.Report) float64 { return p.Rho })
	for _, m := range r.members {
		out.Accepted = out.Accepted || m.report.Accepted
	}
	for i, f := range r.moving().report.Diagnostics {
		f.Value = mean(func(p *optim.Report) float64 {
			if i >= len(p.Diagnostics) {
				return math.NaN()
			}
			return p.Diagnostics[i].Value
		})
		out.Diagnostics = append(out.Diagnostics, f)
	}
	return out
}
