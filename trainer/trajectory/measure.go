package trajectory

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
	"newtop/trainer/workplace"
)

// maxRitz is how many Ritz values of an inner solve an event carries: half from each end.
const maxRitz = 16

// Measure describes the current weights and the outer iteration that led to them, with what was spent and that many
// seconds of training.
func (t *Trajectory) Measure(spent *objective.Work, seconds float64) event.EpochEvent {
	report := combinedReport(t.Members)
	e := event.UnknownEpoch(t.Epoch)
	e.Optimizer = t.Info.Name
	e.GradientNorm = event.Float(report.GradientNorm)
	e.StepNorm = event.Float(report.StepNorm)
	e.Radius = radiusOf(report.Radius)
	e.Rho = event.Float(report.Rho)
	e.Rate = event.Float(report.Rate)
	e.Accepted = report.Accepted
	e.Elapsed = event.Float(seconds)
	workplace.WriteWork(&e, spent)
	if e.Rate.Absent() && t.Info.Primary == minibatch.Rate.Key {
		e.Rate = event.Float(minibatch.Rate.Of(t.CurrentSettings()))
	}
	t.summarize(&e)
	for i, m := range t.Members {
		for _, in := range m.Report.Inner {
			e.Inner = append(e.Inner, innerSummary(&in, i))
		}
	}
	for _, d := range report.Diagnostics {
		e.Metrics = append(e.Metrics, event.NewMetric(d.Key, d.Symbol, d.Meaning, event.Float(d.Value)))
	}
	if t.Work.Problem.L2 > 0 {
		e.Metrics = append(e.Metrics, event.NewMetric("penalty", "½λ‖w‖²", "weight decay's part of the loss",
			t.Penalty()))
	}
	e.Blocks = blockNorms(t)
	e.Gates = gateMetrics(t)
	e.Preconditioner = preconditioner(report.Preconditioner)
	return e
}

// summarize fills in how well the current weights do: those of the one net, or the mean output of a
// committee beside its members.
func (t *Trajectory) summarize(e *event.EpochEvent) {
	fillScore(t, e)
	if len(t.Members) == 1 {
		workplace.CopyMetrics(e, &t.Members[0].Metrics)
		return
	}
	evaluateMean(t.Work, t.Members, e)
	t.Work.Config.OmitWeighted(e)
	e.Members = make([]event.MemberMetrics, len(t.Members))
	for i, m := range t.Members {
		f := &m.Metrics
		e.Members[i] = event.MemberMetrics{
			Seed: m.Seed, Loss: f.Loss, TestLoss: f.TestLoss, Error: f.Error, TestError: f.TestError,
			RMSE: f.RMSE, TestRMSE: f.TestRMSE,
			ValidationLoss: f.ValidationLoss, ValidationError: f.ValidationError, ValidationRMSE: f.ValidationRMSE,
		}
	}
}

// Refresh makes the last epoch's metrics those of the weights as they are now.
func (t *Trajectory) Refresh() { t.summarize(&t.Last) }

// blockNorms returns the norms of every block of weights: of the weights now, of the last gradient over all rows
// that the method computed, and of the step. Of a committee they are the first member's. The gradient is the one
// that the step came from, but where the step ended with a new one.
func blockNorms(t *Trajectory) []event.BlockNorms {
	blocks, first := t.Work.Problem.Blocks(), t.Members[0]
	report := &first.Report
	out := make([]event.BlockNorms, len(blocks))
	whole := t.Epoch > 0 && !t.Batched() && !math.IsNaN(report.GradientNorm)
	for i, b := range blocks {
		from, to := b.Offset, b.Offset+b.Size()
		w := first.Weights[from:to]
		out[i] = event.BlockNorms{To: b.To, From: b.From, Weight: event.ValueOf(floats.Norm(w, 2)),
			Gradient: event.Absent}
		if whole {
			out[i].Gradient = event.ValueOf(floats.Norm(first.State.Gradient[from:to], 2))
		}
		if report.Accepted && t.Epoch > 0 {
			out[i].Step = event.ValueOf(floats.Distance(w, first.Previous[from:to], 2))
		}
	}
	return out
}

// gateMetrics describes the gates of the first member as they are now.
func gateMetrics(t *Trajectory) []event.GateMetrics {
	network, w := t.Work.Problem.Network, t.Members[0].Weights
	if network == nil {
		return nil
	}
	gates := network.GatesAt(w)
	if gates == nil {
		return nil
	}
	shares := make([]float64, len(gates))
	network.GateSharesTo(shares, w, t.Work.Problem.Train.X)
	out := make([]event.GateMetrics, len(gates))
	period := network.Architecture().Mixture.Period
	for i, g := range gates {
		if period > 0 {
			g.Center = math.Mod(math.Mod(g.Center, period)+period, period)
		}
		out[i] = event.GateMetrics{Width: event.Float(g.Width), Slope: event.Float(g.Slope),
			Center: event.Float(g.Center), Share: event.Float(shares[i])}
	}
	return out
}

// maxEigenvalues is how many eigenvalues of a factor an event carries.
const maxEigenvalues = 16

func preconditioner(p *optim.Preconditioner) *event.PreconditionerMetrics {
	if p == nil {
		return nil
	}
	out := &event.PreconditionerMetrics{Refreshes: p.Refreshes, Seconds: event.Float(p.Time.Seconds())}
	for _, f := range p.Factors {
		side := event.SideInputs
		if f.Outputs {
			side = event.SideOutputs
		}
		metrics := event.FactorMetrics{To: f.To, From: f.From, Side: side, Size: f.Size,
			Damping: event.Float(f.Damping)}
		n := len(f.Values)
		metrics.Ends = n > 0 && n < f.Size // which a method does not estimate but at the ends
		for i := range min(n, maxEigenvalues) {
			if n > maxEigenvalues {
				i = i * (n - 1) / (maxEigenvalues - 1)
			}
			metrics.Eigenvalues = append(metrics.Eigenvalues, event.Float(rounded(f.Values[i])))
		}
		out.Factors = append(out.Factors, metrics)
	}
	return out
}

// rounded returns a number with five digits.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64) // which FormatFloat wrote
	return v
}

func innerSummary(in *optim.InnerSolve, member int) event.InnerSummary {
	ritz := in.Ritz
	if len(ritz) > maxRitz {
		ends := append([]float64(nil), ritz[:maxRitz/2]...)
		ritz = append(ends, ritz[len(ritz)-maxRitz/2:]...)
	}
	share := event.Absent
	if in.Predicted > 0 {
		share = event.Float(in.Steihaug / in.Predicted)
	}
	return event.InnerSummary{
		Block:          in.Block,
		Member:         member,
		Iterations:     in.Iterations,
		Stop:           in.Stop,
		Residual:       relative(in.Residual, in.GradientNorm),
		TrueResidual:   relative(in.TrueResidual, in.GradientNorm),
		StepNorm:       event.Float(in.StepNorm),
		Curvature:      event.Float(in.Curvature),
		Ritz:           event.Floats(ritz),
		Preconditioned: in.Preconditioned,
		Flops:          event.Float(in.Flops / float64(max(1, in.Iterations))),
		LanczosSteps:   in.LanczosSteps,
		Multiplier:     event.Float(in.Multiplier),
		SteihaugShare:  share,
	}
}

// InnerEvent describes an inner iteration of the member whose turn it is.
func (t *Trajectory) InnerEvent(block int, it *krylov.Iteration) event.InnerEvent {
	return event.InnerEvent{
		Epoch:     t.Epoch + 1,
		Block:     block,
		Member:    t.Turn,
		Iteration: it.Number,
		Residual:  relative(it.Residual, it.Gradient),
		StepNorm:  event.Float(it.StepNorm),
		Radius:    radiusOf(it.Radius),
		Curvature: event.Float(it.Curvature),
		Model:     event.Float(it.Model),
	}
}

func relative(residual, gradient float64) event.Float {
	if gradient == 0 {
		return 0
	}
	return event.Float(residual / gradient)
}

// radiusOf is a radius as events have it: one that bounds nothing is none.
func radiusOf(v float64) event.Float {
	if math.IsInf(v, 1) {
		return event.Absent
	}
	return event.Float(v)
}
