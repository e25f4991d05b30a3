// Package workplace has what nets are trained on and with: the problem, the rows that are bound to it, the threads, and
// the model of another program.
package workplace

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/routine"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// Workplace is what a session's nets are trained on and with.
type Workplace struct {
	Config  *config.Config
	Team    Team // nil: this process has all rows
	Problem *objective.Problem
	Pool    *reduce.Pool
	Test    objective.Linearization // nil without test rows

	Validation objective.Linearization // nil without validation rows
	Monitor    optim.Monitor           // of every method
	Measure    event.Measure           // what the run is judged by
}

// Binding is what a net is trained on.
type Binding struct {
	Objective  *objective.Objective
	Target     optim.Objective         // what the method minimizes: objective, or fixed
	Fixed      *objective.FixedGates   // the objective with the gates of a mixture as they are; nil else
	Validation objective.Linearization // the rows to decide by; nil without any
	Test       objective.Linearization // the rows that decide nothing; nil without any
	Problem    *objective.Problem      // whose rows these are
}

// loaded is what came of loading: the configuration with what a team has settled, and the problem.
type loaded struct {
	Config  config.Config
	Problem *objective.Problem
	Err     error
}

// StartLoading begins to load the problem; ctx ends a wait for an external model. The channel has room, so that a
// loader that nobody waits for ends by itself.
func (w *Workplace) StartLoading(ctx context.Context) <-chan loaded {
	done := make(chan loaded, 1)
	l, prepare := loaded{Config: *w.Config}, Prepare
	if w.Team != nil {
		prepare = w.Team.Prepare
	}
	if w.Config.Model != "" {
		prepare = func(c *config.Config) (*objective.Problem, error) { return prepareExternal(ctx, c) }
	}
	routine.Go(func() {
		l.Err = checkpoint.GuardPanics(func() (err error) {
			l.Problem, err = prepare(&l.Config)
			return err
		})
		done <- l
	})
	return done
}

// Binder returns what binds the network to rows of a problem.
func (w *Workplace) Binder(p *objective.Problem) objective.Binder {
	if w.Team != nil {
		return w.Team
	}
	return p
}

// Whole returns the problem whose rows nets are measured on together: with the inputs of all of them.
func (w *Workplace) Whole() *objective.Problem {
	if j := w.Problem.Joint; j != nil {
		return j.Problem
	}
	return w.Problem
}

// Bind returns the training rows bound again, with an account of their own.
func (w *Workplace) Bind() Binding { return w.bindRows(w.Problem, objective.Rows{}, &objective.Work{}) }

// BindFold returns the training rows but those of a fold, from 1, charged to an account, with these to decide by. The
// nets of a committee share the memory for kept passes. In runs of earlier versions nets have no coding of their own.
func (w *Workplace) BindFold(fold int, spent *objective.Work) Binding {
	n, p, decide := w.Config.Folds, w.Problem, objective.Rows{Part: datasets.Validation}
	rows := objective.Rows{Folds: n, Fold: fold}
	if p.Joint != nil {
		p, rows = p.Joint.Nets[fold-1], objective.Rows{}
	} else {
		decide = objective.Rows{First: fold - 1, Step: n}
	}
	b := w.bindRows(p, rows, spent)
	b.Validation = w.bindForward(p, decide)
	if b.Test != nil {
		b.Test = w.bindForward(p, objective.Rows{Part: datasets.Test})
	}
	return b
}

func (w *Workplace) bindRows(p *objective.Problem, rows objective.Rows, spent *objective.Work) Binding {
	memory := w.Config.Memory
	if w.Config.FoldCommittee() {
		memory = max(1, cmp.Or(memory, models.DefaultMemory)/int64(w.Config.Folds))
	}
	o := objective.Bind(p, w.Binder(p), rows, spent, models.Options{Pool: w.Pool, Memory: memory})
	b := Binding{Objective: o, Target: o, Validation: w.Validation, Test: w.Test, Problem: p}
	if w.Problem.ExpertDim() < w.Problem.Dim() && w.Config.GateTraining != "joint" {
		b.Fixed = objective.FixGates(o)
		b.Target = b.Fixed
	}
	return b
}

// bindForward binds rows of which only forward passes are asked, which keep nothing.
func (w *Workplace) bindForward(p *objective.Problem, rows objective.Rows) objective.Linearization {
	return w.Binder(p).Bind(rows, models.Options{Pool: w.Pool, Memory: 1})
}

// BindHeldOut binds the validation and the test rows, if there are any.
func (w *Workplace) BindHeldOut() {
	if w.Problem.Validation.Rows() > 0 {
		w.Validation = w.bindForward(w.Problem, objective.Rows{Part: datasets.Validation})
	}
	if w.Problem.Test.Rows() > 0 {
		w.Test = w.bindForward(w.Problem, objective.Rows{Part: datasets.Test})
	}
}

// Offers returns an error unless a method finds what it needs. A matrix is assembled of all weights, those
// of gates included, even where the method is shown a part of it.
func (b *Binding) Offers(info *optim.Info) error {
	return cmp.Or(optim.Offers(b.Target, info.Needs), optim.Offers(b.Objective, info.Needs&optim.NeedsMatrix))
}

// CheckMethod returns an error if the team, an external model, or a method with such settings can't do what is to be
// trained.
func (w *Workplace) CheckMethod(info *optim.Info, settings *optim.Settings) error {
	if err := w.Config.SuitsLoss(info); err != nil {
		return err
	}
	switch {
	case w.Team == nil:
		return w.checkExternal(info, settings)
	case info.Needs&optim.NeedsLayers != 0:
		return &config.ConfigError{Field: "Optimizer", Value: info.Name,
			Expected: "a method that does not solve for layers, where several processes train"}
	case info.Needs&optim.NeedsRows == 0:
		return nil
	}
	rows := w.Problem.Train.Rows()
	if batch := minibatch.Size.Of(settings); batch > 0 && batch < rows {
		return &config.ConfigError{Field: info.Name + " with batch", Value: fmt.Sprint(batch),
			Expected: fmt.Sprintf("all rows to an update, {Set} batch=0 or {Batch} %d, where several processes train",
				rows)}
	}
	return nil
}

// DefaultSettings returns the settings that a method begins with when it takes over.
func (w *Workplace) DefaultSettings(info *optim.Info) *optim.Settings {
	settings := optim.NewSettings(info.Parameters)
	// A number of rows or blocks that this method refuses is left at the method's own default.
	_ = w.Config.ApplySizes(info, settings)
	w.AdaptDefaults(settings, func(string) bool { return false })
	return settings
}

// Streams of the seeded generator: what is drawn for one purpose does not shift another.
const (
	streamWeights = 1 + iota
	StreamMethod
	StreamSpectrum
	StreamProbes
)

// DrawWeights draws a net's first weights from its seed.
func (w *Workplace) DrawWeights(dst []float64, seed uint64) {
	w.Problem.InitTo(dst, rand.New(rand.NewPCG(seed, streamWeights)))
}

// HasValidation reports whether there are rows to decide by.
func (w *Workplace) HasValidation() bool { return w.Validation != nil || w.Config.FoldCommittee() }

// ValidationRows returns how many rows decide.
func (w *Workplace) ValidationRows() int {
	if w.Config.FoldCommittee() {
		return w.Problem.Train.Rows()
	}
	return w.Problem.Validation.Rows()
}

// Evaluate measures how well the weights of a net do.
func (w *Workplace) Evaluate(on *Binding, weights []float64, e *event.EpochEvent) {
	data := on.Problem.Data
	TrainMetrics(e, on.Objective.Evaluate(weights), data)
	if on.Validation != nil {
		ValidationMetrics(e, on.Validation.EvaluateAt(weights), data)
	}
	if on.Test != nil {
		TestMetrics(e, on.Test.EvaluateAt(weights), data)
	}
	if w.External() == nil {
		return
	}
	for _, f := range []*event.Float{&e.RMSE, &e.TestRMSE, &e.Error, &e.TestError} { // which such a model need not tell
		if f.NonFinite() || *f < 0 {
			*f = event.Absent
		}
	}
}

// Outputs returns what the whole problem's network computes as net k with such weights.
func (w *Workplace) Outputs(k int, weights []float64) *models.Outputs {
	if j := w.Problem.Joint; j != nil {
		return j.Network.NewOutputs(j.WeightsOf(k, weights), w.Pool)
	}
	return w.Problem.Network.NewOutputs(weights, w.Pool)
}

// OutputsTo stores the mean of the outputs of nets with such weights for the rows of x, the whole problem's, in dst.
func (w *Workplace) OutputsTo(dst *mat.Dense, x models.Matrix, nets [][]float64) {
	rows, outputs := dst.Dims()
	u := mat.NewDense(rows, outputs, nil)
	dst.Zero()
	for k, weights := range nets {
		w.Outputs(k, weights).To(u, x)
		for i := range rows {
			floats.AddScaled(dst.RawRowView(i), 1/float64(len(nets)), u.RawRowView(i))
		}
	}
}

// Better reports whether an epoch is better than another by what the run's weights are chosen by.
func (w *Workplace) Better(e, than *event.EpochEvent) bool {
	if by := w.Config.Score(); by != nil {
		return by.Better(e, than)
	}
	return w.Measure.Better(e, than)
}

// KeepsBest reports whether the run ends with the weights of its best epoch.
func (w *Workplace) KeepsBest() bool { return w.HasValidation() && w.Config.Weights != "last" }
