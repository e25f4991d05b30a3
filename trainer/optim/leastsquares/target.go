package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// The rules by which a layer's outputs n are moved so that the layer above, with weights W of J × T, gets
// what it lacks. r are the J residuals of that layer's net inputs, wanted less given.
const (
	// n̂_i = n_i + Σ_j w_ji r_j / Σ_j w_ji²: least squares for each node alone, as if it had to make up for
	// the whole of r. It is [T, eq. 5] for J = 1, where the paper stands.
	rulePrinted = "printed"
	// The same divided by T: together the nodes make up for r once and not T times.
	ruleDamped = "damped"
	// n̂ = n + W⁺r, the shortest change of all nodes together that makes up for as much of r as can be.
	ruleMinimumNorm = "minimum-norm"
	// n̂ = n: hidden layers stay as they are, random features under a layer of least squares.
	ruleNone = "none"
)

// correctionTo stores in c the J × T matrix of a rule, for which n̂ = n + rC with n and r as rows.
func correctionTo(c *mat.Dense, rule string, w blas64.General) {
	if rule == ruleMinimumNorm {
		pseudoInverseTo(c, w)
		return
	}
	share := 1.0
	if rule == ruleDamped {
		share = 1 / float64(w.Cols)
	}
	squares := make([]float64, w.Cols) // Σ_j w_ji²
	for j := range w.Rows {
		for i, v := range w.Data[j*w.Stride:][:w.Cols] {
			squares[i] += v * v
		}
	}
	for j := range w.Rows {
		to := c.RawRowView(j)
		for i, v := range w.Data[j*w.Stride:][:w.Cols] {
			to[i] = 0 // a node that feeds nothing need not move
			if squares[i] >= optim.MinNormal {
				to[i] = share * v / squares[i]
			}
		}
	}
}

// pseudoInverseTo stores (W⁺)ᵀ in c, from W = UΣVᵀ without the singular values that rounding makes of zeros.
// There is one for every set of classes: their coded targets add up to a constant, and so the weights of all
// outputs to nothing. W comes from normal equations, where half of the digits may be rounding.
func pseudoInverseTo(c *mat.Dense, w blas64.General) {
	var svd mat.SVD
	var dense mat.Dense
	dense.SetRawMatrix(w)
	if !svd.Factorize(&dense, mat.SVDThin) {
		panic("optim: no singular values of a finite matrix")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	values := svd.Values(nil)
	least := math.Sqrt(optim.Eps) * values[0]
	for k, sigma := range values {
		inverse := 0.0
		if sigma > least {
			inverse = 1 / sigma
		}
		for j := range w.Rows {
			u.Set(j, k, u.At(j, k)*inverse)
		}
	}
	c.Mul(&u, v.T())
}

// chain and layer are the objective's, as the method works with them.
type (
	chain optim.Chain
	layer optim.Layer
)

func (c *chain) layer(l int) *layer { return (*layer)(&c.Layers[l]) }

// weights returns the view of W^l in the flat vector.
func (l *layer) weights(w []float64) blas64.General {
	return blas64.General{Rows: l.Nodes, Cols: l.Sources, Stride: l.Sources, Data: w[l.Weights:][:l.Nodes*l.Sources]}
}

func (l *layer) biases(w []float64) []float64 { return w[l.Biases:][:l.Nodes:l.Nodes] }

// netInputs returns AWᵀ + 1bᵀ for the rows of a.
func (l *layer) netInputs(w []float64, a *mat.Dense) *mat.Dense {
	v := mat.NewDense(a.RawMatrix().Rows, l.Nodes, nil)
	b := l.biases(w)
	for i := range v.RawMatrix().Rows {
		copy(v.RawRowView(i), b)
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, a.RawMatrix(), l.weights(w), 1, v.RawMatrix())
	return v
}

// wanted turns wanted outputs of the layer, clipped, into wanted net inputs, in place.
func (l *layer) wanted(u *mat.Dense) {
	for i := range u.RawMatrix().Rows {
		l.Activation.Inverse(u.RawRowView(i))
	}
}

func (l *layer) clip(u *mat.Dense, kappa float64) {
	for i := range u.RawMatrix().Rows {
		l.Activation.Clip(u.RawRowView(i), kappa)
	}
}

// outputs returns the outputs of the first layers, as many as asked for, for the rows of x.
func (c *chain) outputs(w []float64, x *mat.Dense, layers int) []*mat.Dense {
	u := make([]*mat.Dense, layers)
	for l := range u {
		u[l] = c.layer(l).netInputs(w, x)
		for i := range u[l].RawMatrix().Rows {
			c.Layers[l].Activation.Value(u[l].RawRowView(i))
		}
		x = u[l]
	}
	return u
}

// misses returns the rows whose largest output is not where the largest target is, or is not a number.
func (c *chain) misses(w []float64) []int {
	var rows []int
	count, columns := c.Inputs.Dims()
	for from := 0; from < count; from += panelRows {
		to := min(from+panelRows, count)
		u := c.outputs(w, c.Inputs.Slice(from, to, 0, columns).(*mat.Dense), len(c.Layers))
		for i := from; i < to; i++ {
			out := u[len(u)-1].RawRowView(i - from)
			if floats.HasNaN(out) || floats.MaxIdx(out) != floats.MaxIdx(c.Targets.RawRowView(i)) {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

// forwardCost returns the multiplications of a forward pass over that many rows.
func (c *chain) forwardCost(rows int) float64 {
	weights := 0.0
	for _, l := range c.Layers {
		weights += float64(l.Nodes) * float64(l.Sources)
	}
	return float64(rows) * weights
}

// some returns a copy of the given rows.
func some(m *mat.Dense, rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), m.RawMatrix().Cols, nil)
	for i, row := range rows {
		out.SetRow(i, m.RawRowView(row))
	}
	return out
}

// rootMeanSquare of all numbers of m.
func rootMeanSquare(m *mat.Dense) float64 {
	data := m.RawMatrix().Data
	return vector.Norm(data) / math.Sqrt(float64(len(data)))
}
