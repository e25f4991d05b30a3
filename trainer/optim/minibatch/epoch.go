// Package minibatch has the epoch that methods share which go through batches of rows: their order, the schedule of
// their rate, the decay of weights, and the check of what is not finite.
package minibatch

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Method goes through all rows once an epoch, in a new random order, with an update after each batch. The last batch
// may be shorter, and its mean is over its own rows.
type Method struct {
	// Update moves the weights.
	Update Update
	// Ahead returns where the gradient is taken, which must stay as it is until the update; nil: at w.
	Ahead func(s *optim.Settings, w []float64) []float64
	// Grown returns the rows of a batch in the epoch that begins, where that many are set; nil: these.
	Grown func(s *optim.State, rows int) int

	order    []int     // of rows, or of batches that the objective has them in
	ends     []int     // where each batch of the epoch ends in the order
	start    []float64 // the weights at the beginning of the epoch
	gradient []float64 // of a batch
	rate     float64   // of the last batch
	batch    Batch
	moved    bool // in the epoch

	decays decays
	double tiles[float64]
	single *tiles[float32] // of an epoch in single precision; nil: there was none
}

var _ optim.Method = (*Method)(nil)

// Update is what methods of batches differ in: how a batch's gradient moves the weights. It is a Tiled or a Whole.
type Update interface {
	// Begin reads the settings for one batch, whose rate the schedule gives.
	Begin(s *optim.State, rate float64)
	// Carried returns a pointer to what the update keeps of the batches it has seen, as optim.Method's does.
	Carried() any
}

// Tiled is an update of every weight by itself.
type Tiled interface {
	Update
	// Move moves a tile of the weights, those from number first on, along its gradient g, which is finite, and keeps
	// the method's memory of them. It meets each weight once after Begin, and several tiles at once.
	Move(w, g []float64, first int)
}

// Single is a Tiled that can have weights, and what it remembers of each, in single precision.
type Single interface {
	Tiled
	// KeepSingle says before Begin whether MoveSingle is called, in place of Move.
	KeepSingle(single bool)
	MoveSingle(w, g []float32, first int)
}

// Whole is an update that needs the gradient of all weights.
type Whole interface {
	Update
	// MoveAll moves the state's weights along the batch's gradient, which is finite. It may have the state's Watch look
	// at pieces of its work, and where that returns an error it leaves the weights as they were and returns it.
	MoveAll(ctx context.Context, s *optim.State, batch *Batch) error
	// Report adds what the update did in an epoch, in which it moved at least once, to the report.
	Report(r *optim.Report)
}

// Batch is the rows of an update, and their mean loss with its gradient.
type Batch struct {
	Number   int // in the epoch, from 0
	Rows     []int
	Loss     float64
	Gradient []float64
}

// Share returns the first rows of some, a share of them and at least one.
func Share(rows []int, share float64) []int { return rows[:max(1, int(share*float64(len(rows))))] }

// Memory is what an update keeps of the batches it has seen.
type Memory[T any] struct {
	Moves *T `archive:"moves"` // nil before the first
}

// Carried returns the memory.
func (m *Memory[T]) Carried() any { return m }

// The hyperparameters that methods of batches share, each with defaults of its own.
var (
	Rate = &optim.Number{
		Key: "rate", Meaning: "the step length along the gradient", Max: optim.Inf, Open: true, OpenMax: true,
	}
	Size = &optim.Count{Key: "batch", Meaning: "rows to an update; 0 for all of them", Max: 1e9}
)

// Parameters describes what a method reads: its own hyperparameters, and behind them those of the decay and the
// schedule, as far as they are not among its own with other defaults.
func Parameters(own ...optim.Handle) []optim.Hyperparameter {
	all := optim.Parameters(own...)
	for _, h := range optim.Parameters(WeightDecay, Schedule, Horizon, Warmup, EndRate) {
		if !slices.ContainsFunc(all, func(o optim.Hyperparameter) bool { return o.Key == h.Key }) {
			all = append(all, h)
		}
	}
	return all
}

// Carried is the update's memory; the rest begins again with every epoch.
func (b *Method) Carried(*optim.State) any { return b.Update.Carried() }

// Restored has the update check what it was given, and make again what was not carried.
func (b *Method) Restored(s *optim.State) error {
	if u, ok := b.Update.(interface{ Restored(*optim.State) error }); ok {
		return u.Restored(s)
	}
	return nil
}

// Step is one epoch. Interrupted, it leaves the weights as the last batch did. When weights or a gradient
// overflow they go back to where the epoch began, so that no caller meets one that is not finite.
func (b *Method) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if !vector.Finite(vector.Norm(s.W)) {
		return report, &optim.NotFiniteError{What: "weights"}
	}
	if rateAt(s, 0, 1) == 0 {
		return report, &optim.StalledError{Reason: "the schedule is over, with a rate of 0"}
	}
	b.start, b.moved = append(b.start[:0], s.W...), false
	mean, err := b.pass(ctx, s)
	if !vector.Finite(vector.Norm(s.W)) {
		copy(s.W, b.start)
		return report, &optim.NotFiniteError{What: "weights"}
	}
	report.GradientNorm = mean
	report.StepNorm = floats.Distance(s.W, b.start, 2)
	report.Rate = b.rate
	if w, ok := b.Update.(Whole); ok && b.moved {
		full := report // which is allocated for this branch alone
		w.Report(&full)
		report = full
	}
	if report.Accepted = report.StepNorm > 0; err == nil && !report.Accepted && !b.prepares() {
		err = &optim.StalledError{Reason: "an epoch changed no weight"}
	}
	return report, err
}

// prepares reports whether the update did nothing but prepare for the batches to come.
func (b *Method) prepares() bool {
	p, ok := b.Update.(interface{ Prepares() bool })
	return ok && b.moved && p.Prepares()
}

// pass goes through the batches and returns the root mean square of their gradients' norms.
func (b *Method) pass(ctx context.Context, s *optim.State) (float64, error) {
	rows := s.Objective.(optim.RowObjective)
	size := b.divide(s, rows)
	single := b.beginSingle(s, size)
	if single != nil {
		defer func() { s.Settled(); s.Settle = nil }()
	} else if len(b.gradient) != len(s.W) {
		b.gradient = make([]float64, len(s.W))
	}
	total, first := len(b.ends), 0
	squares := 0.0
	for i := range total {
		at := s.W
		if b.Ahead != nil {
			at = b.Ahead(s.Settings, s.W)
		}
		b.batch = Batch{Number: i, Rows: b.order[first:b.ends[i]], Gradient: b.gradient}
		first = b.ends[i]
		var loss float64
		if single != nil {
			loss = single.SingleGradientTo(b.single.gradient, b.single.weights, b.batch.Rows)
		} else {
			loss = b.gradientTo(s, rows, at, b.batch.Rows)
		}
		if !vector.Finite(loss) {
			return math.NaN(), &optim.NotFiniteError{What: "loss"}
		}
		b.batch.Loss, b.rate = loss, rateAt(s, i, total)
		length, err := b.move(ctx, s, single != nil)
		b.moved = b.moved || err == nil
		s.Evaluated = false
		if err != nil {
			return math.Sqrt(squares / float64(max(1, i))), err
		}
		if !vector.Finite(length) {
			s.Settle = nil
			copy(s.W, b.start)
			return math.NaN(), &optim.NotFiniteError{What: "gradient"}
		}
		squares += length * length
		in := optim.Inner{Iteration: krylov.Iteration{Number: i + 1}, Loss: loss, Total: total}
		if err := s.Watch(ctx, in); err != nil {
			return math.Sqrt(squares / float64(i+1)), err
		}
	}
	return math.Sqrt(squares / float64(total)), nil
}

// gradientTo stores the gradient of a batch.
func (b *Method) gradientTo(s *optim.State, of optim.RowObjective, at []float64, rows []int) float64 {
	if noisy, ok := of.(optim.NoisyObjective); ok && noisy.Noise() > 0 {
		return noisy.NoisyGradientTo(b.gradient, at, rows, s.Rand)
	}
	if len(rows) == len(b.order) {
		return of.GradientTo(b.gradient, at)
	}
	return of.BatchGradientTo(b.gradient, at, rows)
}

// beginSingle returns the objective if the epoch's weights, gradient and memory are in single precision: its passes and
// the update are, and batches are not all rows, whose gradient is added up in double precision. Else it returns nil.
func (b *Method) beginSingle(s *optim.State, size int) optim.SingleObjective {
	u, ok := b.Update.(Single)
	if !ok {
		return nil
	}
	o, _ := s.Objective.(optim.SingleObjective)
	if o == nil || !o.Single() || size == len(b.order) {
		u.KeepSingle(false)
		return nil
	}
	u.KeepSingle(true)
	if n := len(s.W); b.single == nil || len(b.single.weights) != n {
		b.single, b.gradient = &tiles[float32]{weights: make([]float32, n), gradient: make([]float32, n),
			move: u.MoveSingle}, nil
	}
	vector.Narrow(b.single.weights, s.W)
	s.Settle = func() { vector.Widen(s.W, b.single.weights) }
	return o
}

// move updates the weights along the gradient and returns its norm.
func (b *Method) move(ctx context.Context, s *optim.State, single bool) (float64, error) {
	b.beginDecay(s)
	b.Update.Begin(s, b.rate)
	if single {
		return b.single.moveAll(s, &b.decays), nil
	}
	if t, ok := b.Update.(Tiled); ok {
		if b.double.weights, b.double.gradient = s.W, b.gradient; b.double.move == nil {
			b.double.move = t.Move
		}
		return b.double.moveAll(s, &b.decays), nil
	}
	length := vector.Norm(b.gradient)
	if !vector.Finite(length) {
		return length, nil
	}
	decay(s.W, 0, &b.decays)
	return length, b.Update.(Whole).MoveAll(ctx, s, &b.batch)
}

// divide orders the rows again, from the same beginning each time so that the order depends on the state of the
// generator alone, and finds where batches end. All rows at once keep their order. An objective's own batches keep
// theirs, in which they may be read, and are taken together until they have enough rows.
func (b *Method) divide(s *optim.State, of optim.RowObjective) (size int) {
	rows, sizes := of.Rows(), []int(nil)
	if o, ok := of.(optim.BatchedObjective); ok {
		sizes = o.Batches()
	}
	if rows < 1 {
		panic(fmt.Sprintf("minibatch: an objective of %d rows", rows))
	}
	count := rows
	if sizes != nil {
		count = len(sizes)
	}
	if len(b.order) != count {
		b.order = make([]int, count)
	}
	for i := range b.order {
		b.order[i] = i
	}
	size = Size.Of(s.Settings)
	if b.Grown != nil && size > 0 {
		size = b.Grown(s, size)
	}
	b.ends = b.ends[:0]
	switch {
	case size == 0 || size >= rows:
	case sizes == nil:
		s.Rand.Shuffle(rows, func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
		for end := size; end < rows; end += size {
			b.ends = append(b.ends, end)
		}
	default:
		taken := 0
		for i, n := range sizes[:count-1] {
			if taken += n; taken >= size {
				b.ends, taken = append(b.ends, i+1), 0
			}
		}
	}
	b.ends = append(b.ends, count)
	if size == 0 || size >= rows {
		return rows
	}
	return size
}
