package trajectory

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
	"newtop/trainer/workplace"
)

// Member is one net that is trained, with the method and the settings it is trained by. A run has one of
// them, a committee as many as it has seeds, which take turns: each does an outer iteration, then the epoch
// is over. They share the objective, since only one of them is at work at a time.
type Member struct {
	Seed     uint64
	Binding  workplace.Binding // what it is trained on
	Settings *optim.Settings
	Method   optim.Method
	Weights  []float64 // all of them; the method's are the first
	State    *optim.State
	Source   *rand.PCG // of the state's randomness
	Previous []float64 // the weights before the outer iteration
	average  int       // over the weights of how many epochs the mean counts
	// the last of these, of which the newest is where the last epoch ended; nil: its weights count
	Trail         trail
	Report        optim.Report
	Metrics       event.EpochEvent // how well the weights do; nothing else of it is filled in
	ReferenceLoss event.Float      // the minimized loss it started with, or the worse one that its method took over
	EpochsAbove   int              // epochs in a row with a loss far above that, under the same settings
	Stalled       string           // why it has come to an end; empty while it continues
	Stepping      bool             // inside its method's Step

	Rate         float64   // the step length of the gates
	gateGradient []float64 // the gradient for them
}

// IdleReport is the report of a member that does not move.
var IdleReport = optim.Report{
	Loss: math.NaN(), GradientNorm: math.NaN(), StepNorm: math.NaN(), Radius: math.NaN(), Rho: math.NaN(),
	Rate: math.NaN(),
}

// StartMethod gives the weights, of that much loss, to a fresh method. A bad loss that it finds is not its own.
func (m *Member) StartMethod(info *optim.Info, loss event.Float) {
	m.Method = info.New()
	m.EpochsAbove, m.Stalled = 0, ""
	m.ReferenceLoss = max(m.ReferenceLoss, loss)
}

// RestingWeights returns the weights that nobody is moving: a method whose step is one whole has not moved them before
// it is over, and may have trials in them meanwhile.
func (m *Member) RestingWeights(batched bool) []float64 {
	if m.Stepping && !batched {
		return m.Previous
	}
	return m.Weights
}

// The gates' step length begins at gateRate and is adapted: doubled when a step lowered the loss, quartered
// until one does, gateTries times at most. The gates' parameters have no units, so that it suits all data.
const (
	gateRate  = 0.1
	gateTries = 4
)

// TuneGates does one step of steepest descent on the gates of a mixture [MD, §3], if one lowers the loss.
func (m *Member) TuneGates(o *objective.Objective) {
	if m.gateGradient == nil {
		m.gateGradient = make([]float64, len(m.Weights))
	}
	loss := o.GradientTo(m.gateGradient, m.Weights)
	slope, gates := m.gateGradient[len(m.State.W):], m.Weights[len(m.State.W):]
	if !(floats.Norm(slope, 2) > 0) {
		return
	}
	before := slices.Clone(gates)
	for range gateTries {
		floats.AddScaledTo(gates, before, -m.Rate, slope)
		if slices.Equal(gates, before) {
			return
		}
		if o.Loss(m.Weights) < loss {
			m.Rate *= 2
			m.State.Evaluated = false
			return
		}
		m.Rate /= 4
	}
	copy(gates, before)
}

func (m *Member) archive(k *optim.Archive) {
	seed := strconv.FormatUint(m.Seed, 10)
	k.Text("seed", &seed)
	if k.Restoring() && k.Err() == nil && seed != strconv.FormatUint(m.Seed, 10) {
		k.Fail("seed", "%s: expected %d", seed, m.Seed)
	}
	archiveSource(k, m.Source)
	k.In("setting").Settings(m.Settings)
	k.Vector("weights", &m.Weights, len(m.Weights))
	archiveTrail(k, &m.Trail, m.average, len(m.Weights))
	k.Number("loss", &m.State.Loss)
	if m.State.Evaluated = k.Has("evaluated", m.State.Evaluated); m.State.Evaluated {
		k.Vector("gradient", &m.State.Gradient, len(m.State.W))
	}
	workplace.ArchiveMetrics(k.In("figures"), &m.Metrics)
	k.Number("bearable", (*float64)(&m.ReferenceLoss))
	k.Count("above", &m.EpochsAbove, optim.MaxCount)
	k.Text("stalled", &m.Stalled)
	k.Number("gate rate", &m.Rate)
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

// firstMoving returns the first of the nets that still moves, or the first one of all.
func firstMoving(nets []*Member) *Member {
	for _, m := range nets {
		if m.Stalled == "" {
			return m
		}
	}
	return nets[0]
}

// combinedReport returns the nets' reports as one: the report itself of a single net; of a committee the means
// of their numbers, and the first one's preconditioner.
func combinedReport(nets []*Member) optim.Report {
	if len(nets) == 1 {
		return nets[0].Report
	}
	var out optim.Report
	mean := func(of func(*optim.Report) float64) float64 {
		sum, count := 0.0, 0
		for _, m := range nets {
			if v := of(&m.Report); !math.IsNaN(v) {
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
		out.Accepted = out.Accepted || m.Report.Accepted
	}
	out.Preconditioner = firstMoving(nets).Report.Preconditioner
	for i, d := range firstMoving(nets).Report.Diagnostics {
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
