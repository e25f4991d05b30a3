package kronecker

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// The oracles of this package are the papers' formulas in dense matrices: products by mat.Dense.Mul, bases by mat.QR and
// mat.EigenSym, roots of whole matrices, Kronecker products written out. None of them knows of blocks, strips or tasks.

func method(t testing.TB, name string, set ...string) (optim.Method, *optim.Settings) {
	t.Helper()
	plain := []string{"weight-decay", "0", "schedule", "constant"} // where nothing else is set
	return optimtest.Method(t, []*optim.Info{&SOAP, &Shampoo, &Muon, &KFAC}, name, append(plain, set...)...)
}

// given is an objective whose gradients, and factors, are those of a list, one after the other and wherever the weights are.
type given struct {
	n         int
	matrices  []optim.Matrix
	gradients [][]float64 // in a circle
	factors   [][]optim.Factors
	rows      int

	asked, askedFactors int
	charged             float64
	batches, factorRows [][]int
}

func (o *given) Dim() int                 { return o.n }
func (o *given) Rows() int                { return max(1, o.rows) }
func (o *given) Loss([]float64) float64   { return 1 }
func (o *given) Charge(m float64)         { o.charged += m }
func (o *given) Matrices() []optim.Matrix { return o.matrices }

func (o *given) FactorMatrices() []optim.Matrix { return o.matrices }

func (o *given) GradientTo(dst, _ []float64) float64 {
	copy(dst, o.gradients[o.asked%len(o.gradients)])
	o.asked++
	return 1
}

func (o *given) BatchGradientTo(dst, w []float64, rows []int) float64 {
	o.batches = append(o.batches, slices.Clone(rows))
	return o.GradientTo(dst, w)
}

func (o *given) BatchFactorsTo(factors []optim.Factors, _ []float64, rows []int, _ *rand.Rand) {
	for i, f := range o.factors[o.askedFactors%len(o.factors)] {
		optimtest.StoreFactor(factors[i].Inputs, f.Inputs)
		optimtest.StoreFactor(factors[i].Outputs, f.Outputs)
	}
	o.askedFactors++
	o.factorRows = append(o.factorRows, slices.Clone(rows))
}

// Sample is for the interface alone: what is sampled here has no curvature.
func (o *given) Sample(int, []int) optim.Objective { return o }

var (
	_ optim.FactorObjective  = (*given)(nil)
	_ optim.ChargedObjective = (*given)(nil)
	_ optim.SampledObjective = (*given)(nil)
)

// several are matrices of many shapes with gaps before, between and behind them, and how many numbers that makes.
func several() (all []optim.Matrix, n int) {
	all, n = inOrder(optim.Matrix{Offset: 2, Rows: 3, Cols: 4, Biased: true}, optim.Matrix{Rows: 4, Cols: 2}, optim.Matrix{Offset: 3, Rows: 1, Cols: 5, Biased: true},
		optim.Matrix{Rows: 5, Cols: 1}, optim.Matrix{Rows: 3, Cols: 3}, optim.Matrix{Rows: 4, Cols: 3, Biased: true})
	return all, n + 1
}

// inOrder returns blocks of layers that follow one another, each as far behind the one before as its Offset says, and the end of the last.
func inOrder(blocks ...optim.Matrix) (all []optim.Matrix, n int) {
	for i, m := range blocks {
		m.To, m.From, m.Offset = i+1, i, n+m.Offset
		if n = m.Offset + m.Rows*m.Cols; m.Biased {
			n += m.Rows
		}
		all = append(all, m)
	}
	return all, n
}

// blockIn returns a block, its biases as the last column, of a flat vector.
func blockIn(m optim.Matrix, flat []float64) *mat.Dense {
	x := mat.NewDense(m.Rows, m.Cols, slices.Clone(flat[m.Offset:m.Offset+m.Rows*m.Cols]))
	if !m.Biased {
		return x
	}
	b := mat.NewDense(m.Rows, 1, slices.Clone(flat[m.Offset+m.Rows*m.Cols:][:m.Rows]))
	var wide mat.Dense
	wide.Augment(x, b)
	return &wide
}

// put stores a block in a flat vector.
func put(m optim.Matrix, flat []float64, x mat.Matrix) {
	for i := range m.Rows {
		for j := range m.Cols {
			flat[m.Offset+i*m.Cols+j] = x.At(i, j)
		}
		if m.Biased {
			flat[m.Offset+m.Rows*m.Cols+i] = x.At(i, m.Cols)
		}
	}
}

// inBlocks reports which numbers are in a block.
func inBlocks(all []optim.Matrix, n int) []bool {
	in := make([]bool, n)
	for _, m := range all {
		size := m.Rows * m.Cols
		if m.Biased {
			size += m.Rows
		}
		for i := range size {
			in[m.Offset+i] = true
		}
	}
	return in
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func normal(rng *rand.Rand, rows, cols int) *mat.Dense {
	return mat.NewDense(rows, cols, normals(rng, rows*cols))
}

// orthogonal returns a random orthogonal matrix.
func orthogonal(rng *rand.Rand, d int) *mat.Dense { return qrOf(normal(rng, d, d)) }

// spd returns a random symmetric matrix whose eigenvalues lie between 0.1 and 2.
func spd(rng *rand.Rand, d int) *mat.Dense {
	q, values := orthogonal(rng, d), make([]float64, d)
	for i := range values {
		values[i] = 0.1 + 1.9*rng.Float64()
	}
	return symmetrized(mul(q, mat.NewDiagDense(d, values), q.T()))
}

func symmetrized(x *mat.Dense) *mat.Dense {
	var sum mat.Dense
	sum.Add(x, x.T())
	sum.Scale(0.5, &sum)
	return &sum
}

// qrOf returns Q of X = QR by Householder's method.
func qrOf(x mat.Matrix) *mat.Dense {
	var qr mat.QR
	qr.Factorize(x)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

func mul(x mat.Matrix, all ...mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(x)
	for _, y := range all {
		var next mat.Dense
		next.Mul(out, y)
		out = &next
	}
	return out
}

func identity(d int) *mat.Dense {
	x := mat.NewDense(d, d, nil)
	for i := range d {
		x.Set(i, i, 1)
	}
	return x
}

// combined returns aX + bY.
func combined(a float64, x mat.Matrix, b float64, y mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Apply(func(i, j int, v float64) float64 { return a*v + b*y.At(i, j) }, x)
	return &out
}

// eigen returns the eigenvalues of a symmetric matrix in descending order, and the vectors in columns.
func eigen(f *mat.Dense) (values []float64, vectors *mat.Dense) {
	d, _ := f.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, f.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		panic("no eigenvalues")
	}
	up, v := e.Values(nil), new(mat.Dense)
	e.VectorsTo(v)
	vectors = mat.NewDense(d, d, nil)
	for j := range d {
		values = append(values, up[d-1-j])
		vectors.SetCol(j, mat.Col(nil, d-1-j, v))
	}
	return values, vectors
}

// power returns F^p of a symmetric F by its eigenvalues.
func power(f *mat.Dense, p float64) *mat.Dense {
	values, q := eigen(f)
	for i, v := range values {
		values[i] = math.Pow(v, p)
	}
	return mul(q, mat.NewDiagDense(len(values), values), q.T())
}

// distance returns the largest difference of two matrices' entries.
func distance(x, y mat.Matrix) float64 {
	most := 0.0
	rows, cols := x.Dims()
	for i := range rows {
		for j := range cols {
			if d := math.Abs(x.At(i, j) - y.At(i, j)); !(d <= most) {
				most = d
			}
		}
	}
	return most
}

// apart returns the largest difference of two vectors' entries.
func apart(x, y []float64) float64 {
	return distance(mat.NewVecDense(len(x), x), mat.NewVecDense(len(y), y))
}

func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// basisIn returns a factor's basis, a vector in each column.
func basisIn(f *factor) *mat.Dense {
	return mat.DenseCopyOf(mat.NewDense(f.d, f.d, slices.Clone(f.Qt)).T())
}

// upperOf returns the symmetric matrix of which f has what is on and above the diagonal.
func upperOf(f []float64, d int) *mat.Dense {
	x := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			x.Set(i, j, f[min(i, j)*d+max(i, j)])
		}
	}
	return x
}

// inAnyOrder does tasks by several threads, the last one first.
func inAnyOrder(count int, task func(worker, i int)) {
	var done sync.WaitGroup
	for i := range count {
		done.Go(func() { task(i%2, count-1-i) })
	}
	done.Wait()
}

// step does one epoch and ends the test where it fails.
func step(t testing.TB, m optim.Method, s *optim.State) optim.Report {
	t.Helper()
	r, err := m.Step(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Epoch++
	return r
}
