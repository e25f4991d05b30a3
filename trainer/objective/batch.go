package objective

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/optim"
)

// BatchGradientTo is for one process that has all rows. A run in several refuses methods that would call it.
func (o *Objective) BatchGradientTo(dst, w []float64, rows []int) float64 {
	o.chargeBatch(len(rows))
	var loss float64
	if there := o.problem.Elsewhere; there != nil {
		loss = there.RowsGradientTo(dst, w, rows)
	} else {
		loss = o.batchFor(len(rows)).GradientTo(dst, w, rows)
	}
	o.penalty.addTo(dst, w)
	return loss + o.penalty.at(w)
}

// BatchGradientSquaresTo is BatchGradientTo for networks of newtop's, with the squares of the gradients of the rows'
// own losses.
func (o *Objective) BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	o.chargeBatch(len(rows))
	o.Spent.Equivalents += o.shareOf(len(rows)) * (o.cost.Squares/o.cost.Gradient - 1)
	loss := o.batchFor(len(rows)).GradientSquaresTo(dst, squares, w, rows)
	o.penalty.addTo(dst, w)
	return loss + o.penalty.at(w)
}

// BatchFactorsTo is for networks of newtop's with all rows in one process.
func (o *Objective) BatchFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	o.factors = o.factors[:0]
	for _, f := range factors {
		o.factors = append(o.factors, models.Factors(f))
	}
	batch := o.batchFor(len(rows))
	o.Spent.Equivalents += o.shareOf(len(rows)) * batch.FactorCost(o.factors) / o.cost.Gradient
	batch.FactorsTo(o.factors, w, rows, rng)
	clear(o.factors) // which are the caller's
}

// shareOf returns what share of all training rows so many of the objective's are.
func (o *Objective) shareOf(rows int) float64 { return o.Share * float64(rows) / float64(o.Rows()) }

func (o *Objective) chargeBatch(rows int) {
	o.Spent.Gradients += o.shareOf(rows)
	o.Spent.Equivalents += o.shareOf(rows)
}

// all returns the rows of an objective.
func (o *Objective) all() (x, t models.Matrix) {
	if o.found[0] == nil {
		p := o.on.(*Problem)
		o.found[0], o.found[1] = p.Select(o.rows, 0, p.Of(o.rows))
	}
	return o.found[0], o.found[1]
}

// batchFor returns the batch, which takes so many rows.
func (o *Objective) batchFor(rows int) *models.Batch {
	if rows > o.most {
		o.most = rows
		x, t := o.all()
		o.batch = o.newBatch(x, t, rows)
	}
	return o.batch
}

func (o *Objective) newBatch(x, t models.Matrix, most int) *models.Batch {
	b := o.problem.Network.NewBatch(x, t, most)
	b.Pool = o.options.Pool
	return b
}

// Noise returns the standard deviation of what NoisyGradientTo adds.
func (o *Objective) Noise() float64 { return o.problem.Noise }

// NoisyGradientTo is BatchGradientTo with noise on the inputs, of which what gates alone look at is none. It is for
// networks of newtop's.
func (o *Objective) NoisyGradientTo(dst, w []float64, rows []int, rng *rand.Rand) float64 {
	o.chargeBatch(len(rows))
	if o.noisy == nil || len(rows) > len(o.noisy.all) {
		o.noisy = o.newNoisyBatch(len(rows))
	}
	loss := o.noisy.gradientTo(dst, w, rows, o.problem.Noise, rng)
	o.penalty.addTo(dst, w)
	return loss + o.penalty.at(w)
}

// noisyBatch is a batch of copies of rows.
type noisyBatch struct {
	batch  *models.Batch
	inputs int
	from   [2]models.Matrix // inputs and targets of all rows
	copies [2]models.Matrix
	all    []int // 0, 1, 2, …
}

func (o *Objective) newNoisyBatch(rows int) *noisyBatch {
	p := o.problem
	x, t := o.all()
	b := &noisyBatch{inputs: p.Network.Inputs(), from: [2]models.Matrix{x, t}}
	b.copies = [2]models.Matrix{p.newMatrix(rows, p.Network.Columns()), p.newMatrix(rows, p.Network.Outputs())}
	b.batch = o.newBatch(b.copies[0], b.copies[1], rows)
	for i := range rows {
		b.all = append(b.all, i)
	}
	return b
}

// gradientTo draws in the order of the rows and their inputs.
func (b *noisyBatch) gradientTo(dst, w []float64, rows []int, sigma float64, rng *rand.Rand) float64 {
	for i, j := range rows {
		for k, m := range b.copies {
			copyRow(m, i, b.from[k], j)
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
