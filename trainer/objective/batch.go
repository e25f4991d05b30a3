package objective

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/optim"
)

// BatchGradientTo is for one process that has all rows. A run in several refuses methods that would call it.
func (o *Objective) BatchGradientTo(dst, w []float64, rows []int) float64 {
	count := len(rows)
	if sizes := o.Batches(); sizes != nil {
		count = 0
		for _, k := range rows {
			count += sizes[k]
		}
	}
	o.Spent.addGradients(o.shareOf(count))
	var loss float64
	if external := o.problem.External; external != nil {
		loss = external.RowsGradientTo(dst, w, rows)
	} else {
		loss = o.batches.batchFor(len(rows)).GradientTo(dst, w, rows)
	}
	o.penalty.addTo(dst, w)
	return loss + o.penalty.value(w)
}

// inSingle is what an Objective does in single precision.
type inSingle struct{ o *Objective }

// Single reports whether passes are in single precision, and batches of them need nothing but those.
func (s inSingle) Single() bool {
	p := s.o.problem
	return p.External == nil && p.Network.Precision() == models.Single && p.Noise == 0 && s.o.penalty.lambda == 0
}

// SingleGradientTo is BatchGradientTo in single precision.
func (s inSingle) SingleGradientTo(dst, w []float32, rows []int) float64 {
	s.o.Spent.addGradients(s.o.shareOf(len(rows)))
	return s.o.batches.batchFor(len(rows)).SingleGradientTo(dst, w, rows)
}

// Batches are those of an external model which has its rows in these alone.
func (o *Objective) Batches() []int {
	if o.problem.External == nil {
		return nil
	}
	return o.problem.External.Batches()
}

// BatchGradientSquaresTo is BatchGradientTo for networks of newtop's, with the squares of the gradients of the rows'
// own losses.
func (o *Objective) BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	o.Spent.addGradients(o.shareOf(len(rows)))
	o.Spent.Equivalents += o.shareOf(len(rows)) * (o.cost.Squares/o.cost.Gradient - 1)
	loss := o.batches.batchFor(len(rows)).GradientSquaresTo(dst, squares, w, rows)
	o.penalty.addTo(dst, w)
	return loss + o.penalty.value(w)
}

// BatchFactorsTo is for one process that has all rows. Those of an external model are charged as a gradient and their
// numbers, a multiplication a row each.
func (o *Objective) BatchFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	if external := o.problem.External; external != nil {
		external.RowsFactorsTo(factors, w, rows, rng)
		numbers := 0
		for _, f := range factors {
			numbers += len(f.Inputs) + len(f.Outputs)
		}
		o.Spent.Equivalents += o.shareOf(len(rows)) * (1 + float64(numbers)/o.cost.Gradient)
		return
	}
	o.Spent.Equivalents += o.shareOf(len(rows)) * o.batches.factorsTo(factors, w, rows, rng) / o.cost.Gradient
}

// shareOf returns what share of all training rows that many of the objective's are.
func (o *Objective) shareOf(rows int) float64 { return o.Share * float64(rows) / float64(o.Rows()) }

// Noise returns the standard deviation of what NoisyGradientTo adds.
func (o *Objective) Noise() float64 { return o.problem.Noise }

// NoisyGradientTo is BatchGradientTo with noise on the inputs, of which what gates alone look at is none. It is for
// networks of newtop's.
func (o *Objective) NoisyGradientTo(dst, w []float64, rows []int, rng *rand.Rand) float64 {
	o.Spent.addGradients(o.shareOf(len(rows)))
	loss := o.batches.noisyFor(len(rows)).gradientTo(dst, w, rows, o.problem.Noise, rng)
	o.penalty.addTo(dst, w)
	return loss + o.penalty.value(w)
}

// Sample is for one process that has all rows. The copies, and what is kept of passes on them, stay
// in memory for the next sample of the slot that has as many rows; the bound of models.Options.Memory is for each slot.
func (o *Objective) Sample(slot int, rows []int) optim.Objective {
	if external := o.problem.External; external != nil {
		s := Bind(o.problem, externalSample{rows, external}, Rows{}, o.Spent, o.options)
		s.Share = o.shareOf(len(rows))
		return s
	}
	for len(o.samples) <= slot {
		o.samples = append(o.samples, nil)
	}
	s := o.samples[slot]
	if s == nil || s.Rows() != len(rows) {
		s = newSample(o, len(rows))
		o.samples[slot] = s
	}
	x, t := o.batches.all()
	for i, j := range rows {
		if j < 0 || j >= o.Rows() {
			panic(fmt.Sprintf("objective: Sample: row %d of %d", j, o.Rows()))
		}
		copyRow(s.copies[0], i, x, j)
		copyRow(s.copies[1], i, t, j)
	}
	s.renew()
	return s.Objective
}

// batches go through chosen rows of an objective. They have all rows in this process.
type batches struct {
	problem   *Problem
	rows      Rows // of the objective
	pool      *reduce.Pool
	batch     *models.Batch
	size      int              // rows that batch takes at once
	noisy     *noisyBatch      // nil before the first
	rowsFound [2]models.Matrix // inputs and targets of all rows, as all returns them; nil before they are asked for
	factors   []models.Factors // of the call in progress
}

// all returns the rows of the objective.
func (b *batches) all() (x, t models.Matrix) {
	if b.rowsFound[0] == nil {
		b.rowsFound[0], b.rowsFound[1] = b.problem.Select(b.rows, 0, b.problem.Of(b.rows))
	}
	return b.rowsFound[0], b.rowsFound[1]
}

// batchFor returns the batch, which takes that many rows.
func (b *batches) batchFor(rows int) *models.Batch {
	if rows > b.size {
		b.size = rows
		x, t := b.all()
		b.batch = b.newBatch(x, t, rows)
	}
	return b.batch
}

func (b *batches) newBatch(x, t models.Matrix, size int) *models.Batch {
	batch := b.problem.Network.NewBatch(x, t, size)
	batch.Pool = b.pool
	return batch
}

// factorsTo is models.Batch.FactorsTo. It returns what that costs per row.
func (b *batches) factorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) (cost float64) {
	b.factors = b.factors[:0]
	for _, f := range factors {
		b.factors = append(b.factors, models.Factors(f))
	}
	batch := b.batchFor(len(rows))
	cost = batch.FactorCost(b.factors)
	batch.FactorsTo(b.factors, w, rows, rng)
	clear(b.factors) // which are the caller's
	return cost
}

// noisyFor returns the batch with noise, which takes that many rows.
func (b *batches) noisyFor(rows int) *noisyBatch {
	if b.noisy != nil && rows <= len(b.noisy.all) {
		return b.noisy
	}
	p := b.problem
	x, t := b.all()
	n := &noisyBatch{inputs: p.Network.Inputs(), source: [2]models.Matrix{x, t}}
	n.copies = [2]models.Matrix{p.newMatrix(rows, p.Network.Columns()), p.newMatrix(rows, p.Network.Outputs())}
	n.batch = b.newBatch(n.copies[0], n.copies[1], rows)
	for i := range rows {
		n.all = append(n.all, i)
	}
	b.noisy = n
	return n
}

// noisyBatch is a batch of copies of rows.
type noisyBatch struct {
	batch  *models.Batch
	inputs int
	source [2]models.Matrix // inputs and targets of all rows
	copies [2]models.Matrix
	all    []int // 0, 1, 2, …
}

// gradientTo draws in the order of the rows and their inputs.
func (b *noisyBatch) gradientTo(dst, w []float64, rows []int, sigma float64, rng *rand.Rand) float64 {
	for i, j := range rows {
		for k, m := range b.copies {
			copyRow(m, i, b.source[k], j)
		}
		switch x := b.copies[0].(type) {
		case *models.SingleMatrix:
			for k, v := range x.Row(i)[:b.inputs] {
				x.Row(i)[k] = float32(float64(v) + sigma*rng.NormFloat64())
			}
		case *mat.Dense:
			row := x.RawRowView(i)[:b.inputs]
			for k := range row {
				row[k] += sigma * rng.NormFloat64()
			}
		}
	}
	return b.batch.GradientTo(dst, w, b.all[:len(rows)])
}
