// Package firstorder has the methods that go through batches of rows and move the weights along their gradients.
package firstorder

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// batches is the epoch that first-order methods share: one pass over the rows in a new random order, an
// update after each batch. The last batch may be shorter, and its mean is over its own rows.
type batches struct {
	update update
	// ahead returns where the gradient is taken, which must stay as it is until the update; nil: at w.
	ahead func(s *optim.Settings, w []float64) []float64

	order    []int
	start    []float64 // the weights at the beginning of the epoch
	gradient []float64 // of a batch

	squares []float64               // sums of its squares, of a tile each
	weights []float64               // of the call under way
	share   func(worker, index int) // moveSpan
}

var _ optim.Method = (*batches)(nil)

// update is what first-order methods differ in: how a batch's gradient moves the weights.
type update interface {
	// begin reads the hyperparameters for one batch.
	begin(s *optim.State)
	// move moves a tile of the weights, those from number first on, along its gradient g, which is finite, and keeps
	// the method's memory of them. It meets each weight once after begin, and several tiles at once.
	move(w, g []float64, first int)
	// carried returns a pointer to that memory, as Method.Carried does.
	carried() any
}

// memory is what an update keeps of the batches it has seen.
type memory[T any] struct {
	Moves *T `archive:"moves"` // nil before the first
}

func (m *memory[T]) carried() any { return m }

// tile is how many weights are measured and moved at a time: their gradient stays in the first-level cache.
const tile = 1024

// span is how many tiles a thread moves at a time, some 15 µs of work.
const span = 12

// The hyperparameters that first-order methods share, each with defaults of its own.
var (
	Rate = &optim.Number{
		Key: "rate", Meaning: "the step length along the gradient", Max: optim.Inf, Open: true, OpenMax: true,
	}
	Batch = &optim.Count{Key: "batch", Meaning: "rows to an update; 0 for all of them", Max: 1e9}
)

// Carried is the update's memory; the rest begins anew with every epoch.
func (b *batches) Carried(*optim.State) any { return b.update.carried() }

// Step is one epoch. Interrupted, it leaves the weights as the last batch did. When weights or a gradient
// overflow they go back to where the epoch began, so that no caller meets one that is not finite.
func (b *batches) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if !vector.Finite(vector.Norm(s.W)) {
		return report, &optim.NotFiniteError{What: "weights"}
	}
	b.start = append(b.start[:0], s.W...)
	if len(b.gradient) != len(s.W) {
		b.gradient = make([]float64, len(s.W))
	}
	mean, err := b.pass(ctx, s)
	if !vector.Finite(vector.Norm(s.W)) {
		copy(s.W, b.start)
		return report, &optim.NotFiniteError{What: "weights"}
	}
	report.GradientNorm = mean
	report.StepNorm = floats.Distance(s.W, b.start, 2)
	report.Accepted = true
	if err == nil && report.StepNorm == 0 {
		err = &optim.StalledError{Reason: "an epoch changed no weight"}
	}
	return report, err
}

// pass goes through the batches and returns the root mean square of their gradients' norms.
func (b *batches) pass(ctx context.Context, s *optim.State) (float64, error) {
	rows := s.Objective.(optim.RowObjective)
	size := b.shuffle(s, rows.Rows())
	total := (len(b.order) + size - 1) / size
	squares := 0.0
	for i := range total {
		at := s.W
		if b.ahead != nil {
			at = b.ahead(s.Settings, s.W)
		}
		loss := b.gradientTo(s, rows, at, b.order[i*size:min((i+1)*size, len(b.order))])
		if !vector.Finite(loss) {
			return math.NaN(), &optim.NotFiniteError{What: "loss"}
		}
		length := b.move(s)
		s.Evaluated = false
		if !vector.Finite(length) {
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
func (b *batches) gradientTo(s *optim.State, of optim.RowObjective, at []float64, rows []int) float64 {
	if noisy, ok := of.(optim.NoisyObjective); ok && noisy.Noise() > 0 {
		return noisy.NoisyGradientTo(b.gradient, at, rows, s.Rand)
	}
	if len(rows) == len(b.order) {
		return of.GradientTo(b.gradient, at)
	}
	return of.BatchGradientTo(b.gradient, at, rows)
}

// move updates the weights along the gradient and returns its norm. Threads share the spans of tiles. A span ends at a tile whose
// gradient is not finite, so that the method remembers none, and then the norm is not finite either.
func (b *batches) move(s *optim.State) float64 {
	b.update.begin(s)
	if tiles := (len(s.W) + tile - 1) / tile; len(b.squares) != tiles {
		b.squares = make([]float64, tiles)
	}
	b.weights = s.W
	if b.share == nil {
		b.share = b.moveSpan
	}
	if spans := (len(b.squares) + span - 1) / span; s.Run != nil && spans > 1 {
		s.Run(spans, b.share)
	} else {
		for i := range spans {
			b.moveSpan(0, i)
		}
	}
	b.weights = nil
	squares := 0.0
	for _, part := range b.squares {
		squares += part
	}
	switch {
	case math.IsNaN(squares):
		return math.NaN()
	case squares > 0x1p-900 && squares < 0x1p900:
		return math.Sqrt(squares)
	}
	return vector.Norm(b.gradient) // without over- and underflow
}

// moveSpan moves the weights of a span of tiles, and stores the sums of their gradients' squares, NaN for one that is not finite.
func (b *batches) moveSpan(_, i int) {
	for t := i * span; t < min((i+1)*span, len(b.squares)); t++ {
		from, to := t*tile, min((t+1)*tile, len(b.weights))
		g := b.gradient[from:to]
		b.squares[t] = vector.SumSquares(g)
		if !vector.Finite(b.squares[t]) && !vector.Finite(vector.Norm(g)) {
			b.squares[t] = math.NaN()
			return
		}
		b.update.move(b.weights[from:to], g, from)
	}
}

// shuffle orders the rows anew, from the same beginning each time so that the order depends on the state
// of the generator alone, and returns the batch size. All rows at once keep their order.
func (b *batches) shuffle(s *optim.State, rows int) (size int) {
	if rows < 1 {
		panic(fmt.Sprintf("optim: an objective of %d rows", rows))
	}
	if len(b.order) != rows {
		b.order = make([]int, rows)
	}
	for i := range b.order {
		b.order[i] = i
	}
	size = Batch.Of(s.Settings)
	if size == 0 || size >= rows {
		return rows
	}
	s.Rand.Shuffle(rows, func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
	return size
}
