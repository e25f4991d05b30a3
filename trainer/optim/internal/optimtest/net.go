package optimtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Net is a classifier with one hidden layer in the plainest arithmetic, one row and one number after the other:
//
//	v₁ = W₁x + b₁, h = tanh v₁, v₂ = W₂h + b₂, p = softmax v₂, E = mean over rows of −log p at the row's class
//
// The weights are W₁, b₁, W₂, b₂, row by row. Its Gauss–Newton matrix is dense, the mean of JᵀHJ over rows with J =
// ∂v₂/∂w and H = diag p − ppᵀ, and so are K-FAC's factors. Whatever a method of batches asks for it has, and it keeps
// count.
type Net struct {
	In, Hidden, Classes int
	X                   [][]float64
	Class               []int

	Batches  [][]int   // that gradients were asked of
	Sampled  [][][]int // the rows of all samples, by slot
	Factored [][]int   // that factors were asked of
	Targets  [][]int   // the classes that were drawn for these
	Charged  float64
	whole    *Net // of a sample; nil: it is no sample
}

// NewNet returns a net with rows of normal numbers whose classes another such net reports, and weights of it.
func NewNet(in, hidden, classes, rows int, seed uint64) (n *Net, w []float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	n = &Net{In: in, Hidden: hidden, Classes: classes, X: make([][]float64, rows), Class: make([]int, rows)}
	normals := func(count int, scale float64) []float64 {
		x := make([]float64, count)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	teacher := normals(n.Dim(), 1)
	for p := range n.X {
		n.X[p] = normals(in, 1)
		_, _, out := n.forward(teacher, p)
		n.Class[p] = slices.Index(out, slices.Max(out))
	}
	return n, normals(n.Dim(), 0.5)
}

func (n *Net) Dim() int  { return n.Hidden*(n.In+1) + n.Classes*(n.Hidden+1) }
func (n *Net) Rows() int { return len(n.X) }

// layers returns W₁, b₁, W₂, b₂.
func (n *Net) layers(w []float64) (w1, b1, w2, b2 []float64) {
	w1, w = w[:n.Hidden*n.In], w[n.Hidden*n.In:]
	b1, w = w[:n.Hidden], w[n.Hidden:]
	return w1, b1, w[:n.Classes*n.Hidden], w[n.Classes*n.Hidden:]
}

// forward returns h, p and v₂ of row p.
func (n *Net) forward(w []float64, row int) (h, p, v []float64) {
	w1, b1, w2, b2 := n.layers(w)
	for i := range n.Hidden {
		sum := b1[i]
		for j, x := range n.X[row] {
			sum += w1[i*n.In+j] * x
		}
		h = append(h, math.Tanh(sum))
	}
	for i := range n.Classes {
		sum := b2[i]
		for j, x := range h {
			sum += w2[i*n.Hidden+j] * x
		}
		v = append(v, sum)
	}
	total, most := 0.0, slices.Max(v)
	for _, x := range v {
		total += math.Exp(x - most)
	}
	for _, x := range v {
		p = append(p, math.Exp(x-most)/total)
	}
	return h, p, v
}

// jacobian returns ∂v₂/∂w at a row.
func (n *Net) jacobian(w []float64, row int) *mat.Dense {
	h, _, _ := n.forward(w, row)
	_, _, w2, _ := n.layers(w)
	j := mat.NewDense(n.Classes, n.Dim(), nil)
	b1, at2 := n.Hidden*n.In, n.Hidden*(n.In+1)
	for c := range n.Classes {
		for i := range n.Hidden {
			slope := w2[c*n.Hidden+i] * (1 - h[i]*h[i])
			for k, x := range n.X[row] {
				j.Set(c, i*n.In+k, slope*x)
			}
			j.Set(c, b1+i, slope)
			j.Set(c, at2+c*n.Hidden+i, h[i])
		}
		j.Set(c, at2+n.Classes*n.Hidden+c, 1)
	}
	return j
}

// rowGradient returns the gradient of a row's loss for some class of it, and that loss.
func (n *Net) rowGradient(w []float64, row, class int) (g []float64, loss float64) {
	_, e, v := n.forward(w, row)
	most, total := slices.Max(v), 0.0
	for _, x := range v {
		total += math.Exp(x - most)
	}
	e[class]--
	out := mat.NewVecDense(n.Dim(), nil)
	out.MulVec(n.jacobian(w, row).T(), mat.NewVecDense(n.Classes, e))
	return out.RawVector().Data, most + math.Log(total) - v[class]
}

func (n *Net) all() []int {
	all := make([]int, n.Rows())
	for i := range all {
		all[i] = i
	}
	return all
}

// mean stores the gradient over rows, and in squares that of its rows' squares, if they are not nil.
func (n *Net) mean(dst, squares, w []float64, rows []int) (loss float64) {
	clear(dst)
	clear(squares)
	for _, row := range rows {
		g, e := n.rowGradient(w, row, n.Class[row])
		loss += e / float64(len(rows))
		for i, g := range g {
			dst[i] += g / float64(len(rows))
			if squares != nil {
				squares[i] += g * g / float64(len(rows))
			}
		}
	}
	return loss
}

func (n *Net) Loss(w []float64) float64 { return n.mean(make([]float64, n.Dim()), nil, w, n.all()) }

func (n *Net) GradientTo(dst, w []float64) float64 { return n.BatchGradientTo(dst, w, n.all()) }

func (n *Net) BatchGradientTo(dst, w []float64, rows []int) float64 {
	n.Batches = append(n.Batches, slices.Clone(rows))
	return n.mean(dst, nil, w, rows)
}

func (n *Net) BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	return n.mean(dst, squares, w, rows)
}

// Matrix returns the Gauss–Newton matrix.
func (n *Net) Matrix(w []float64) *mat.Dense {
	sum := mat.NewDense(n.Dim(), n.Dim(), nil)
	for row := range n.X {
		_, p, _ := n.forward(w, row)
		h := mat.NewDense(n.Classes, n.Classes, nil)
		for i := range p {
			for j := range p {
				h.Set(i, j, -p[i]*p[j])
			}
			h.Set(i, i, p[i]-p[i]*p[i])
		}
		j := n.jacobian(w, row)
		var part mat.Dense
		part.Product(j.T(), h, j)
		part.Scale(1/float64(n.Rows()), &part)
		sum.Add(sum, &part)
	}
	return sum
}

func (n *Net) GaussNewton(w []float64) krylov.Operator {
	g := n.Matrix(w)
	return Product{n.Dim(), func(dst, v []float64) {
		mat.NewVecDense(len(dst), dst).MulVec(g, mat.NewVecDense(len(v), v))
	}}
}

func (n *Net) GaussNewtonDiagTo(dst, w []float64) {
	g := n.Matrix(w)
	for i := range dst {
		dst[i] = g.At(i, i)
	}
}

// Sample is the net of some of its rows.
func (n *Net) Sample(slot int, rows []int) optim.Objective {
	whole := n
	if n.whole != nil {
		whole = n.whole
	}
	for len(whole.Sampled) <= slot {
		whole.Sampled = append(whole.Sampled, nil)
	}
	whole.Sampled[slot] = append(whole.Sampled[slot], slices.Clone(rows))
	part := &Net{In: n.In, Hidden: n.Hidden, Classes: n.Classes, whole: whole}
	for _, row := range rows {
		part.X, part.Class = append(part.X, n.X[row]), append(part.Class, n.Class[row])
	}
	return part
}

func (n *Net) Matrices() []optim.Matrix {
	return []optim.Matrix{
		{To: 1, From: 0, Rows: n.Hidden, Cols: n.In, Biased: true},
		{To: 2, From: 1, Rows: n.Classes, Cols: n.Hidden, Offset: n.Hidden * (n.In + 1), Biased: true},
	}
}

// FactorMatrices are the Matrices.
func (n *Net) FactorMatrices() []optim.Matrix { return n.Matrices() }

// BatchFactorsTo stores the factors, a number for its mean where there is room for one alone, of classes that it draws.
func (n *Net) BatchFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	n.Factored = append(n.Factored, slices.Clone(rows))
	var drawn []int
	for _, row := range rows {
		_, p, _ := n.forward(w, row)
		u, class := rng.Float64(), 0
		for class < n.Classes-1 && u >= p[class] {
			u -= p[class]
			class++
		}
		drawn = append(drawn, class)
	}
	n.Targets = append(n.Targets, drawn)
	for i, f := range n.FactorsOf(w, rows, drawn) {
		StoreFactor(factors[i].Inputs, f.Inputs)
		StoreFactor(factors[i].Outputs, f.Outputs)
	}
}

// StoreFactor stores a factor, or the mean of its diagonal where there is room for a number.
func StoreFactor(dst, f []float64) {
	if d := int(math.Sqrt(float64(len(f)))); len(dst) == 1 {
		dst[0] = 0
		for i := range d {
			dst[0] += f[i*d+i] / float64(d)
		}
		return
	}
	copy(dst, f)
}

// FactorsOf returns the factors over rows with such classes, whole.
func (n *Net) FactorsOf(w []float64, rows, classes []int) []optim.Factors {
	sizes := [][2]int{{n.In + 1, n.Hidden}, {n.Hidden + 1, n.Classes}}
	out := make([]optim.Factors, len(sizes))
	for i, size := range sizes {
		out[i] = optim.Factors{Inputs: make([]float64, size[0]*size[0]), Outputs: make([]float64, size[1]*size[1])}
	}
	_, _, w2, _ := n.layers(w)
	for i, row := range rows {
		h, p, _ := n.forward(w, row)
		g2 := slices.Clone(p)
		g2[classes[i]]--
		g1 := make([]float64, n.Hidden)
		for j := range g1 {
			for c := range g2 {
				g1[j] += w2[c*n.Hidden+j] * g2[c] * (1 - h[j]*h[j])
			}
		}
		inputs := [][]float64{append(slices.Clone(n.X[row]), 1), append(slices.Clone(h), 1)}
		for l, g := range [][]float64{g1, g2} {
			addSquare(out[l].Inputs, inputs[l], 1/float64(len(rows)))
			addSquare(out[l].Outputs, g, 1/float64(len(rows)))
		}
	}
	return out
}

// addSquare adds a·xxᵀ to a matrix.
func addSquare(dst, x []float64, a float64) {
	for i, u := range x {
		for j, v := range x {
			dst[i*len(x)+j] += a * u * v
		}
	}
}

func (n *Net) Charge(multiplications float64) { n.Charged += multiplications }

var (
	_ optim.FactorObjective      = (*Net)(nil)
	_ optim.SquaresObjective     = (*Net)(nil)
	_ optim.SampledObjective     = (*Net)(nil)
	_ optim.GaussNewtonObjective = (*Net)(nil)
	_ optim.ChargedObjective     = (*Net)(nil)
)
