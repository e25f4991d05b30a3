package trainer

import (
	"encoding/json"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/kernel"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
)

// maxRitz is how many Ritz values of an inner solve an event carries: half from each end.
const maxRitz = 16

// publish sends an event, or the status alone, to everyone.
func (r *run) publish(e event.Event) {
	r.shown.restart(statusInterval)
	if e != nil {
		for _, rec := range r.recordings {
			rec.put(r.ctx, entry{event: e})
		}
	}
	r.hub.Publish(e, r.status())
}

func (r *run) status() event.Status {
	s := event.Status{
		Phase:      r.phase,
		Epoch:      r.epoch,
		EpochLimit: r.config.Epochs,
		Optimizer:  r.info.Name,
		Unit:       r.unit,
		Units:      r.units,
		Elapsed:    r.training.elapsed().Seconds(),
		Computing:  r.computing,
		Kept:       r.kept.epochs,
		Racing:     r.race != nil,
	}
	if r.objective != nil {
		s.Equivalents = r.objective.Spent.Equivalents
	}
	if r.reporter != nil {
		s.Recording = r.reporter.Recording()
	}
	if r.race != nil {
		s.Equivalents += r.race.objective.Spent.Equivalents
	}
	settings := r.chosen()
	for i := range settings.Parameters() {
		h := &settings.Parameters()[i]
		s.Settings = append(s.Settings, event.Setting{
			Key:     h.Key,
			Text:    h.Text(settings.Get(h.Key)),
			Meaning: h.Meaning,
			Range:   h.Range(),
			Primary: h.Key == r.info.Primary,
		})
	}
	return s
}

func (r *run) opening() event.RunEvent {
	data, network := r.problem.Data, r.problem.Network
	arch := network.Architecture()
	model := event.ModelInfo{Layers: []int{arch.Inputs}, Loss: arch.Loss.String(), Parameters: network.Dim(), Experts: r.config.Experts}
	for _, l := range arch.Layers {
		model.Layers = append(model.Layers, l.Nodes)
		model.Activations = append(model.Activations, l.Activation.String())
	}
	for _, b := range network.Blocks() {
		model.Connections = append(model.Connections, event.ConnectionInfo{To: b.To, From: b.From, Weights: b.Size()})
	}
	settings := map[string]any{}
	if text, err := json.Marshal(r.settings); err == nil {
		_ = json.Unmarshal(text, &settings) // what Marshal wrote
	}
	committee := 0
	if len(r.members) > 1 {
		committee = len(r.members)
	}
	if r.id == "" {
		now := time.Now()
		r.id, r.begun = newID(now), now.UTC().Truncate(time.Millisecond)
	}
	e := event.RunEvent{
		Version: 1,
		ID:      r.id,
		Time:    r.begun,
		Data: event.DataInfo{
			Name:      data.Name,
			TrainRows: data.Train.Total(),
			TestRows:  data.Test.Total(),
			Inputs:    data.Inputs(),
			Outputs:   data.Outputs(),
			Classes:   len(data.Classes),
		},
		Model:     model,
		Optimizer: r.info.Name,
		Settings:  settings,
		Seed:      r.config.Seed,
		Committee: committee,
		Threads:   r.pool.Threads(),
		Kernel:    kernel.Selected().String(),
		Batch:     r.config.Batch,
		Epochs:    r.config.Epochs,
	}
	if r.team != nil {
		e.Ranks = r.team.Size()
		r.team.Describe(&e)
	}
	return e
}

// measure describes the weights of now and the outer iteration that led to them.
func (r *run) measure() event.EpochEvent {
	report := r.combine()
	spent := r.objective.Spent
	e := event.EpochEvent{
		Epoch:               r.epoch,
		Optimizer:           r.info.Name,
		GradientNorm:        event.Float(report.GradientNorm),
		StepNorm:            event.Float(report.StepNorm),
		Radius:              event.Float(report.Radius),
		Rho:                 event.Float(report.Rho),
		Rate:                event.Float(math.NaN()),
		Accepted:            report.Accepted,
		Gradients:           event.Float(spent.Gradients),
		Products:            event.Float(spent.Products),
		Losses:              event.Float(spent.Losses),
		GradientEquivalents: event.Float(spent.Equivalents),
		Elapsed:             event.Float(r.training.elapsed().Seconds()),
		TestLoss:            event.Float(math.NaN()),
		TestError:           event.Float(math.NaN()),
		TestRMSE:            event.Float(math.NaN()),
	}
	if r.info.Primary == firstorder.Rate.Key {
		e.Rate = event.Float(firstorder.Rate.Of(r.chosen()))
	}
	r.summarize(&e)
	for i, m := range r.members {
		for _, in := range m.report.Inner {
			e.Inner = append(e.Inner, summarize(&in, i))
		}
	}
	for _, f := range report.Diagnostics {
		e.Figures = append(e.Figures, event.Figure{Key: f.Key, Symbol: f.Symbol, Meaning: f.Meaning, Value: event.Float(f.Value)})
	}
	e.Blocks = r.norms()
	e.Gates = r.gates()
	return e
}

// chosen returns the settings that are shown: the first member's, or those that the run begins with.
func (r *run) chosen() *optim.Settings {
	if len(r.members) == 0 {
		return r.settings
	}
	return r.members[0].settings
}

// summarize fills in how well the weights of now do: those of the one net, or the mean output of a
// committee beside its members.
func (r *run) summarize(e *event.EpochEvent) {
	if len(r.members) > 1 {
		r.assemble(e)
		return
	}
	f := &r.members[0].figures
	e.Loss, e.Error, e.RMSE = f.Loss, f.Error, f.RMSE
	e.TestLoss, e.TestError, e.TestRMSE = f.TestLoss, f.TestError, f.TestRMSE
}

func (r *run) figures(v models.Evaluation, loss, wrong, rmse *event.Float) {
	*loss, *rmse, *wrong = event.Float(v.Loss), event.Float(v.RMSE()), event.Float(math.NaN())
	if r.problem.Data.Classes != nil {
		*wrong = event.Float(v.Error())
	}
}

func summarize(in *optim.InnerSolve, member int) event.InnerSummary {
	ritz := in.Ritz
	if len(ritz) > maxRitz {
		ends := append([]float64(nil), ritz[:maxRitz/2]...)
		ritz = append(ends, ritz[len(ritz)-maxRitz/2:]...)
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
	}
}

func relative(residual, gradient float64) event.Float {
	if gradient == 0 {
		return 0
	}
	return event.Float(residual / gradient)
}

// norms returns the norms of every block of weights: of the weights now, of the last gradient over all rows
// that the method computed, and of the step. Of a committee they are the first member's. The gradient is the one
// that the step came from, but where the step ended with a new one.
func (r *run) norms() []event.BlockNorms {
	blocks, first := r.problem.Network.Blocks(), r.members[0]
	report := &first.report
	out := make([]event.BlockNorms, len(blocks))
	whole := r.epoch > 0 && !r.batched() && !math.IsNaN(report.GradientNorm)
	for i, b := range blocks {
		from, to := b.Offset, b.Offset+b.Size()
		w := first.weights[from:to]
		out[i] = event.BlockNorms{To: b.To, From: b.From, Weight: event.Float(floats.Norm(w, 2)), Gradient: event.Float(math.NaN())}
		if whole {
			out[i].Gradient = event.Float(floats.Norm(first.state.Gradient[from:to], 2))
		}
		if report.Accepted && r.epoch > 0 {
			out[i].Step = event.Float(floats.Distance(w, first.previous[from:to], 2))
		}
	}
	return out
}
