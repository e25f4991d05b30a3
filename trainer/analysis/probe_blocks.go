package analysis

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/models"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// norms are those of whole vectors.
func (p *probe) norms() error {
	p.add("gradient-norm", "‖g‖", "length of the gradient", math.Sqrt(p.gg))
	if p.o.Update != nil {
		p.add("update-norm", "‖u‖", "length of the last update", floats.Norm(p.o.Update, 2))
	}
	if p.o.Weights != nil {
		p.add("weight-norm", "‖w‖", "length of the weights", floats.Norm(p.o.Weights, 2))
	}
	return nil
}

// blocks describes each block by itself. The products left are for all of them alike.
func (p *probe) blocks() error {
	if len(p.o.Blocks) == 0 {
		return nil
	}
	h := newDiagonalBlock(p.h)
	for i, b := range p.o.Blocks {
		h.weights = []optim.Span{{First: b.From, Last: b.To}}
		lambda, err := p.largest(h, p.left()/(len(p.o.Blocks)-i))
		if err != nil {
			return err
		}
		p.add("lambda-1/"+b.Name, "λ₁(H_b)", "largest eigenvalue of the block "+b.Name, lambda)
		p.add("gradient-norm/"+b.Name, "‖g_b‖", "length of the gradient in the block "+b.Name,
			floats.Norm(p.g[b.From:b.To], 2))
		if p.o.Weights != nil {
			p.add("weight-norm/"+b.Name, "‖w_b‖", "length of the weights in the block "+b.Name,
				floats.Norm(p.o.Weights[b.From:b.To], 2))
		}
	}
	return nil
}

// blockSteps is how many Lanczos steps a block may take.
const blockSteps = 30

// doubt is the residual, relative to an eigenvalue, above which a block's eigenvalue is not shown: it has no
// certificate beside it.
const doubt = 0.1

// wholes is how many vectors of all weights stand beside a block's basis: the gradient, the starts, and two that are
// padded.
const wholes = 5

// largest returns the largest eigenvalue of a block in that many products, NaN if these are too few.
func (p *probe) largest(h *diagonalBlock, products int) (float64, error) {
	if products < 3 { // a step and two certificates
		return math.NaN(), nil
	}
	rest := cmp.Or(p.o.Memory, models.DefaultMemory) - 8*wholes*int64(p.l.Dim())
	found, err := krylov.Lanczos(h, 1, krylov.LanczosOptions{
		Steps: min(blockSteps, products-2), Basis: basisSize(max(1, rest), h.Dim(), 1), Tolerance: p.o.Tolerance,
		Floor: cmp.Or(p.o.Tolerance, oneTolerance), Seed: p.o.Seed,
		Monitor: p.monitor,
	})
	if err != nil || found.Top == nil {
		return math.NaN(), err
	}
	if top := found.Top[0]; top.Residual <= doubt*math.Abs(top.Value) {
		return top.Value, nil
	}
	return math.NaN(), nil
}

// diagonalBlock is the rows and columns of a matrix that some weights have.
type diagonalBlock struct {
	krylov.Operator
	weights []optim.Span
	v, hv   []float64 // of the whole matrix
}

func newDiagonalBlock(h krylov.Operator) *diagonalBlock {
	return &diagonalBlock{Operator: h, v: make([]float64, h.Dim()), hv: make([]float64, h.Dim())}
}

func (d *diagonalBlock) Dim() (n int) {
	for _, w := range d.weights {
		n += w.Last - w.First
	}
	return n
}

func (d *diagonalBlock) MulVecTo(dst, v []float64) {
	d.Operator.MulVecTo(d.hv, d.pad(v))
	for _, w := range d.weights {
		dst = dst[copy(dst, d.hv[w.First:w.Last]):]
	}
}

// pad returns a vector of the block as one of the whole matrix, until the next one.
func (d *diagonalBlock) pad(v []float64) []float64 {
	clear(d.v)
	for _, w := range d.weights {
		v = v[copy(d.v[w.First:w.Last], v):]
	}
	return d.v
}
