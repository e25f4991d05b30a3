package trainer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// workplace is what a session's nets are trained on and with.
type workplace struct {
	config  *Config
	team    Team // nil: this process has all rows
	problem *objective.Problem
	pool    *reduce.Pool
	test    objective.Linearization // nil without test rows

	validation objective.Linearization // nil without validation rows
	monitor    optim.Monitor           // of every method
	measure    event.Measure           // what the run is judged by
}

// binding is what a net is trained on.
type binding struct {
	objective *objective.Objective
	target    optim.Objective         // what the method minimizes: objective, or fixed
	fixed     *objective.FixedGates   // the objective with the gates of a mixture as they are; nil else
	held      objective.Linearization // the rows to decide by; nil without any
}

// loaded is what came of loading: the configuration with what a team has settled, and the problem.
type loaded struct {
	config  Config
	problem *objective.Problem
	err     error
}

// load begins to load the problem; ctx ends a wait for a model elsewhere. The channel has room, so that a loader that
// nobody waits for ends by itself.
func (w *workplace) load(ctx context.Context) <-chan loaded {
	done := make(chan loaded, 1)
	l, prepare := loaded{config: *w.config}, Prepare
	if w.team != nil {
		prepare = w.team.Prepare
	}
	if w.config.Model != "" {
		prepare = func(c *Config) (*objective.Problem, error) { return prepareElsewhere(ctx, c) }
	}
	go func() {
		l.err = guard(func() (err error) {
			l.problem, err = prepare(&l.config)
			return err
		})
		done <- l
	}()
	return done
}

// rows returns what binds the network to rows.
func (w *workplace) rows() objective.Binder {
	if w.team != nil {
		return w.team
	}
	return w.problem
}

// bind returns the training rows bound anew, with an account of their own.
func (w *workplace) bind() binding { return w.bindRows(objective.Rows{}, &objective.Work{}) }

// bindFold returns the training rows but those of a fold, from 1, charged to an account, with these to decide by. The
// nets of a committee share the memory for kept passes.
func (w *workplace) bindFold(fold int, spent *objective.Work) binding {
	n := w.config.Folds
	b := w.bindRows(objective.Rows{Folds: n, Fold: fold}, spent)
	b.held = w.rows().Bind(objective.Rows{First: fold - 1, Step: n}, models.Options{Pool: w.pool, Memory: 1})
	return b
}

func (w *workplace) bindRows(rows objective.Rows, spent *objective.Work) binding {
	memory := w.config.Memory
	if rows.Folds > 0 {
		memory = max(1, cmp.Or(memory, models.DefaultMemory)/int64(rows.Folds))
	}
	o := objective.Bind(w.problem, w.rows(), rows, spent, models.Options{Pool: w.pool, Memory: memory})
	b := binding{objective: o, target: o, held: w.validation}
	if w.problem.ExpertDim() < w.problem.Dim() && w.config.GateTraining != "joint" {
		b.fixed = objective.FixGates(o)
		b.target = b.fixed
	}
	return b
}

// bindOthers binds the validation and the test rows, if there are any. Only forward passes are asked of them, and those
// keep nothing.
func (w *workplace) bindOthers() {
	if w.problem.Validation.Rows() > 0 {
		w.validation = w.rows().Bind(objective.Rows{Part: datasets.Validation}, models.Options{Pool: w.pool, Memory: 1})
	}
	if w.problem.Test.Rows() > 0 {
		w.test = w.rows().Bind(objective.Rows{Part: datasets.Test}, models.Options{Pool: w.pool, Memory: 1})
	}
}

// offers returns an error unless a method finds what it needs. A matrix is assembled of all weights, those
// of gates included, even where the method is shown a part of it.
func (b *binding) offers(info *optim.Info) error {
	return cmp.Or(optim.Offers(b.target, info.Needs), optim.Offers(b.objective, info.Needs&optim.NeedsMatrix))
}

// suits returns an error if the team, a model elsewhere, or a method with such settings can't do what is to be trained.
func (w *workplace) suits(info *optim.Info, settings *optim.Settings) error {
	if err := w.config.suitsLoss(info); err != nil {
		return err
	}
	switch {
	case w.team == nil:
		return w.suitsElsewhere(info, settings)
	case info.Needs&optim.NeedsLayers != 0:
		return &ConfigError{Field: "Optimizer", Value: info.Name,
			Expected: "a method that does not solve for layers, where several processes train"}
	case info.Needs&optim.NeedsRows == 0:
		return nil
	}
	rows := w.problem.Train.Rows()
	if batch := minibatch.Size.Of(settings); batch > 0 && batch < rows {
		return &ConfigError{Field: info.Name + " with batch", Value: fmt.Sprint(batch),
			Expected: fmt.Sprintf("all rows to an update, {Set} batch=0 or {Batch} %d, where several processes train",
				rows)}
	}
	return nil
}

// defaults returns the settings that a method begins with when it takes over.
func (w *workplace) defaults(info *optim.Info) *optim.Settings {
	settings := optim.NewSettings(info.Parameters)
	// A number of rows or blocks that this method refuses is left at the method's own default.
	_ = w.config.putSizes(info, settings)
	w.config.fit(settings, w.problem.Data, func(string) bool { return false })
	return settings
}

// Streams of the seeded generator: what is drawn for one purpose does not shift another.
const (
	streamWeights = 1 + iota
	streamMethod
	streamSpectrum
	streamProbes
)

// drawTo draws a net's first weights from its seed.
func (w *workplace) drawTo(dst []float64, seed uint64) {
	w.problem.InitTo(dst, rand.New(rand.NewPCG(seed, streamWeights)))
}

// validates reports whether there are rows to decide by.
func (w *workplace) validates() bool { return w.validation != nil || w.config.FoldCommittee() }

// validationRows returns how many rows decide.
func (w *workplace) validationRows() int {
	if w.config.FoldCommittee() {
		return w.problem.Train.Rows()
	}
	return w.problem.Validation.Rows()
}

// evaluate measures how well the weights of a net do.
func (w *workplace) evaluate(on *binding, weights []float64, e *event.EpochEvent) {
	data := w.problem.Data
	trainMetrics(e, on.objective.Evaluate(weights), data)
	if on.held != nil {
		validationMetrics(e, on.held.EvaluateAt(weights), data)
	}
	if w.test != nil {
		testMetrics(e, w.test.EvaluateAt(weights), data)
	}
	if w.elsewhere() == nil {
		return
	}
	for _, f := range []*event.Float{&e.RMSE, &e.TestRMSE, &e.Error, &e.TestError} { // which such a model need not tell
		if f.NonFinite() || *f < 0 {
			*f = event.Absent
		}
	}
}

// A committee [MD §3] is the plain mean of the outputs of nets that were trained independently. By Jensen's
// inequality its squared error, and its cross-entropy, is at most the mean of its members'.

// evaluateMean measures how well the mean output of several nets does. Where each has a fold of its own, no row may be
// decided by nets that were trained on it: the figures of training and validation rows are then the mean over the nets'
// own rows.
func evaluateMean(w *workplace, nets []*member, e *event.EpochEvent) {
	data := w.problem.Data
	if w.config.FoldCommittee() {
		evaluateFolds(w, nets, e)
	} else {
		trainMetrics(e, meanOutputs(w, &w.problem.Train, nets), data)
	}
	if w.validation != nil {
		validationMetrics(e, meanOutputs(w, &w.problem.Validation, nets), data)
	}
	if w.test != nil {
		testMetrics(e, meanOutputs(w, &w.problem.Test, nets), data)
	}
}

// evaluateFolds fills in the means over the rows that each net was trained on, and over those that it is decided by,
// which are each row once.
func evaluateFolds(w *workplace, nets []*member, e *event.EpochEvent) {
	mean := func(rows func(m *member) int, of event.Quantity, power float64) event.Float {
		sum, n := 0.0, 0
		for _, m := range nets {
			sum += float64(rows(m)) * math.Pow(float64(*of.Of(&m.metrics)), power)
			n += rows(m)
		}
		return event.ValueOf(math.Pow(sum/float64(n), 1/power))
	}
	trained := func(m *member) int { return m.on.objective.Rows() }
	held := func(m *member) int { return m.on.held.Rows() }
	e.Loss, e.ValidationLoss = mean(trained, event.Loss, 1), mean(held, event.ValidationLoss, 1)
	e.RMSE, e.ValidationRMSE = mean(trained, event.RMSE, 2), mean(held, event.ValidationRMSE, 2)
	e.Error, e.ValidationError = event.Absent, event.Absent
	if w.problem.Data.Classes != nil {
		e.Error, e.ValidationError = mean(trained, event.Error, 1), mean(held, event.ValidationError, 1)
	}
}

// mean evaluates the nets' mean output on the rows of a split, over all of them in their order, so that it does not
// depend on the threads.
func meanOutputs(w *workplace, s *objective.Split, nets []*member) models.Evaluation {
	u := mat.NewDense(s.Rows(), w.problem.Network.Outputs(), nil)
	w.outputsTo(u, s.X, countedOf(nets))
	return w.problem.Network.MeasureOutputs(u, s.T)
}

// outputsTo stores the mean of the outputs of nets with such weights for the rows of x, which each thread has an equal
// part of, in dst.
func (w *workplace) outputsTo(dst *mat.Dense, x models.Matrix, nets [][]float64) {
	rows, _ := x.Dims()
	outputs := w.problem.Network.Outputs()
	dst.Zero()
	var workers sync.WaitGroup
	const chunk = 256
	threads := w.pool.Threads()
	for worker := range threads {
		workers.Go(func() {
			for from := worker * chunk; from < rows; from += threads * chunk {
				to := min(from+chunk, rows)
				part := dst.Slice(from, to, 0, outputs).(*mat.Dense)
				inputs := models.Doubles(x, from, to)
				u := mat.NewDense(to-from, outputs, nil)
				for _, weights := range nets {
					w.problem.Network.OutputTo(u, weights, inputs)
					for i := range to - from {
						floats.AddScaled(part.RawRowView(i), 1/float64(len(nets)), u.RawRowView(i))
					}
				}
			}
		})
	}
	workers.Wait()
}
