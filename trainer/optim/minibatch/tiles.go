package minibatch

import (
	"math"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// tile is how many weights are measured and moved at a time: their gradient stays in the first-level cache.
const tile = 1024

// span is how many tiles a thread moves at a time, some 15 µs of work.
const span = 12

// tiles are the weights and the gradient of a batch, which are moved tile by tile, in the precision of F.
type tiles[F vector.Float] struct {
	weights, gradient []F
	move              func(w, g []F, first int) // Tiled's
	squares           []float64                 // sums of the gradient's squares, of a tile each
	share             func(worker, index int)   // moveSpan; nil before it is needed
	decays            *decays                   // of the call under way
}

// moveAll moves all weights and returns the gradient's norm. Threads share the spans of tiles. A span ends at a tile
// whose gradient is not finite, so that the method remembers none, and then the norm is not finite either.
func (t *tiles[F]) moveAll(s *optim.State, by *decays) float64 {
	if count := (len(t.weights) + tile - 1) / tile; len(t.squares) != count {
		t.squares = make([]float64, count)
	}
	t.decays = by
	if t.share == nil {
		t.share = t.moveSpan
	}
	if spans := (len(t.squares) + span - 1) / span; s.Run != nil && spans > 1 {
		s.Run(spans, t.share)
	} else {
		for i := range spans {
			t.moveSpan(0, i)
		}
	}
	squares := 0.0
	for _, part := range t.squares {
		squares += part
	}
	switch g := any(t.gradient).(type) {
	case []float64:
		if !math.IsNaN(squares) && !(squares > 0x1p-900 && squares < 0x1p900) {
			return vector.Norm(g) // without over- and underflow
		}
	}
	return math.Sqrt(squares)
}

// moveSpan moves the weights of a span of tiles, and stores the sums of their gradients' squares, NaN for one that is
// not finite.
func (t *tiles[F]) moveSpan(_, index int) {
	for i := index * span; i < min((index+1)*span, len(t.squares)); i++ {
		from, to := i*tile, min((i+1)*tile, len(t.weights))
		w, g := t.weights[from:to], t.gradient[from:to]
		t.squares[i] = vector.SumSquares(g)
		if d, double := any(g).([]float64); !vector.Finite(t.squares[i]) && !(double && vector.Finite(vector.Norm(d))) {
			t.squares[i] = math.NaN()
			return
		}
		decay(w, from, t.decays)
		t.move(w, g, from)
	}
}

// decays are the weights that decay in an update.
type decays struct {
	left  float64      // of each
	spans []optim.Span // nil: none decays
	whole [1]optim.Span
}

// decay lets weights decay, those from number first on.
func decay[F vector.Float](w []F, first int, by *decays) {
	for _, s := range by.spans {
		if from, to := max(s.First, first), min(s.Last, first+len(w)); from < to {
			vector.Scale(w[from-first:to-first], F(by.left), w[from-first:to-first])
		}
	}
}
