package trainer

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// member is one net that is trained, with the method and the settings it is trained by. A run has one of
// them, a committee as many as it has seeds, which take turns: each does an outer iteration, then the epoch
// is over. They share the objective, since only one of them is at work at a time.
type member struct {
	seed     uint64
	on       binding // what it is trained on
	settings *optim.Settings
	method   optim.Method
	weights  []float64 // all of them; the method's are the first
	state    *optim.State
	source   *rand.PCG // of the state's randomness
	previous []float64 // the weights before the outer iteration
	average  int       // over the weights of how many epochs the mean counts
	trail    trail     // the last of these, of which the newest is where the last epoch ended; nil: its weights count
	report   optim.Report
	metrics  event.EpochEvent // how well the weights do; nothing else of it is filled in
	bearable event.Float      // the minimized loss it started with, or the worse one that its method took over
	above    int              // epochs in a row with a loss far above that, under the same settings
	stalled  string           // why it has come to an end; empty while it goes on
	stepping bool             // inside its method's Step

	rate  float64   // the step length of the gates
	slope []float64 // the gradient for them
}

// still is the report of a member that does not move.
var still = optim.Report{
	Loss: math.NaN(), GradientNorm: math.NaN(), StepNorm: math.NaN(), Radius: math.NaN(), Rho: math.NaN(),
	Rate: math.NaN(),
}

// begin gives the weights, of so much loss, to a fresh method. A bad loss that it finds is not its own.
func (m *member) begin(info *optim.Info, loss event.Float) {
	m.method = info.New()
	m.above, m.stalled = 0, ""
	m.bearable = max(m.bearable, loss)
}

// settled returns the weights that nobody is moving: a method whose step is one whole has not moved them before it is
// over, and may have trials in them meanwhile.
func (m *member) settled(batched bool) []float64 {
	if m.stepping && !batched {
		return m.previous
	}
	return m.weights
}

// The gates' step length begins at gateRate and is adapted: doubled when a step lowered the loss, quartered
// until one does, gateTries times at most. The gates' parameters have no units, so that it suits all data.
const (
	gateRate  = 0.1
	gateTries = 4
)

// tuneGates does one step of steepest descent on the gates of a mixture [MD, §3], if one lowers the loss.
func (m *member) tuneGates(o *objective.Objective) {
	if m.slope == nil {
		m.slope = make([]float64, len(m.weights))
	}
	loss := o.GradientTo(m.slope, m.weights)
	slope, gates := m.slope[len(m.state.W):], m.weights[len(m.state.W):]
	if !(floats.Norm(slope, 2) > 0) {
		return
	}
	before := slices.Clone(gates)
	for range gateTries {
		floats.AddScaledTo(gates, before, -m.rate, slope)
		if slices.Equal(gates, before) {
			return
		}
		if o.Loss(m.weights) < loss {
			m.rate *= 2
			m.state.Evaluated = false
			return
		}
		m.rate /= 4
	}
	copy(gates, before)
}

func (m *member) archive(k *optim.Archive) {
	seed := strconv.FormatUint(m.seed, 10)
	k.Text("seed", &seed)
	if k.Restoring() && k.Err() == nil && seed != strconv.FormatUint(m.seed, 10) {
		k.Fail("seed", "%s: expected %d", seed, m.seed)
	}
	archiveSource(k, m.source)
	k.In("setting").Settings(m.settings)
	k.Vector("weights", &m.weights, len(m.weights))
	archiveTrail(k, &m.trail, m.average, len(m.weights))
	k.Number("loss", &m.state.Loss)
	if m.state.Evaluated = k.Has("evaluated", m.state.Evaluated); m.state.Evaluated {
		k.Vector("gradient", &m.state.Gradient, len(m.state.W))
	}
	archiveMetrics(k.In("figures"), &m.metrics)
	k.Number("bearable", (*float64)(&m.bearable))
	k.Count("above", &m.above, optim.MaxCount)
	k.Text("stalled", &m.stalled)
	k.Number("gate rate", &m.rate)
}

// archiveSource carries where a generator is in its stream.
func archiveSource(k *optim.Archive, source *rand.PCG) {
	at, err := source.MarshalBinary()
	if err != nil {
		panic("trainer: " + err.Error())
	}
	text := hex.EncodeToString(at)
	k.Text("random numbers", &text)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	if at, err = hex.DecodeString(text); err == nil {
		err = source.UnmarshalBinary(at)
	}
	if err != nil {
		k.Fail("random numbers", "%v", err)
	}
}

// moving returns the first of the nets that still moves, or the first one of all.
func moving(nets []*member) *member {
	for _, m := range nets {
		if m.stalled == "" {
			return m
		}
	}
	return nets[0]
}

// combined returns the nets' reports as one: the report itself of a single net; of a committee the means
// of their numbers, and the first one's preconditioner.
func combined(nets []*member) optim.Report {
	if len(nets) == 1 {
		return nets[0].report
	}
	var out optim.Report
	mean := func(of func(*optim.Report) float64) float64 {
		sum, count := 0.0, 0
		for _, m := range nets {
			if v := of(&m.report); !math.IsNaN(v) {
				sum, count = sum+v, count+1
			}
		}
		if count == 0 {
			return math.NaN() // none of them has it
		}
		return sum / float64(count)
	}
	out.GradientNorm = mean(func(p *optim.Report) float64 { return p.GradientNorm })
	out.StepNorm = mean(func(p *optim.Report) float64 { return p.StepNorm })
	out.Radius = mean(func(p *optim.Report) float64 { return p.Radius })
	out.Rho = mean(func(p *optim.Report) float64 { return p.Rho })
	out.Rate = mean(func(p *optim.Report) float64 { return p.Rate })
	for _, m := range nets {
		out.Accepted = out.Accepted || m.report.Accepted
	}
	out.Preconditioner = moving(nets).report.Preconditioner
	for i, d := range moving(nets).report.Diagnostics {
		d.Value = mean(func(p *optim.Report) float64 {
			if i >= len(p.Diagnostics) {
				return math.NaN()
			}
			return p.Diagnostics[i].Value
		})
		out.Diagnostics = append(out.Diagnostics, d)
	}
	return out
}
