package bench

import (
	"math/rand/v2"
	"time"

	"newtop/internal/vector"
)

// Epoch is what an epoch of gradient descent over Rows rows of the letter problem takes on one core: gradients of
// batches of rows in random order and updates of the weights.
type Epoch struct {
	Batch         int     `json:"batch"`
	Rows          int     `json:"rows"`
	MedianMS      float64 `json:"median_ms"`
	BestMS        float64 `json:"best_ms"`
	RowsPerSecond float64 `json:"rows_per_second"` // at the median
	GFLOPS        float64 `json:"gflops"`
}

func measureEpochs(c *clock, budget time.Duration, o *Options) []Epoch {
	p := newProblem(1, o.Rows)
	order := rand.New(rand.NewPCG(3, 4)).Perm(o.Rows)
	sizes := []int{1, 8, 64, 256}
	out := make([]Epoch, len(sizes))
	for i, size := range sizes {
		t := summarize(c.rounds(budget/time.Duration(len(sizes)), p.epoch(order, size))[0])
		e := Epoch{Batch: size, Rows: o.Rows, RowsPerSecond: 1e9 * float64(o.Rows) / t.median,
			GFLOPS: 2 * p.net.Cost().Gradient * float64(o.Rows) / t.median}
		e.MedianMS, e.BestMS = t.milliseconds()
		out[i] = e
	}
	return out
}

// epoch returns a call that goes through the rows once.
func (p *problem) epoch(order []int, size int) func() {
	const rate = 1e-3
	batch, w, g := p.net.NewBatch(p.x, p.t, size), append([]float64(nil), p.w...), make([]float64, p.net.Dim())
	return func() {
		for first := 0; first < len(order); first += size {
			batch.GradientTo(g, w, order[first:min(first+size, len(order))])
			vector.Axpy(w, -rate, g)
		}
	}
}
