package kronecker

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Curvature is the Gauss–Newton matrix as K-FAC has it (Martens & Grosse 2015), a Kronecker product for each block of
// weights W, m × n with its biases as the last column, and nothing between blocks:
//
//	A  n × n, the running mean of ā āᵀ for the block's inputs ā
//	S  m × m, that of g gᵀ for the derivatives g by its net inputs, of targets that the model draws (§5)
//	γ  the damping, which π = √((tr A/n)/(tr S/m)) shares out (§6.3)
//
//	(S ⊗ A + γI)⁻¹ ≈ (S + √γ/π·I)⁻¹ ⊗ (A + π√γ·I)⁻¹
//
// A factor of more rows than some bound is the mean of its eigenvalues, times I; a diagonal is all of it. Where A is a
// diagonal and W a row, γ is added to A alone. Numbers that are in no block have the mean eigenvalue of all blocks.
type Curvature struct {
	Factors CurvatureFactors
	Root    bool // whether solves are by the square root of the damped inverse

	objective optim.FactorObjective
	blocks    []block
	rest      []optim.Span
	fresh     []optim.Factors
	g, y, z   []float64 // in the order of the blocks
	dst       []float64 // of the call under way
	inverts   refreshes
	solves    tasks
	price     float64 // multiplications of a solve
	refresh   refresh
}

// CurvatureFactors is what of a Curvature is carried.
type CurvatureFactors struct {
	Updates int            `archive:"updates"`
	Side    int            `archive:"side"`
	Gamma   float64        `archive:"inverse damping"` // γ of the inverses
	Blocks  []blockFactors `archive:"blocks"`
}

// blockFactors are a block's factors, and their damped inverses as they were made last. Of a long side all are one
// number, and of a diagonal those on it.
type blockFactors struct {
	A        optim.Numbers `archive:"inputs"`
	S        optim.Numbers `archive:"outputs"`
	InverseA optim.Numbers `archive:"inputs inverse"`
	InverseS optim.Numbers `archive:"outputs inverse"`
}

// NewCurvature returns one of n weights whose factors are empty, for sides of at most that many rows.
func NewCurvature(o optim.Objective, n, side int) *Curvature {
	c := &Curvature{Factors: CurvatureFactors{Side: side}}
	blocks, _ := blocksOf(o.(optim.FactorObjective).FactorMatrices(), n)
	for _, b := range blocks {
		a, s := room(b.n, side, b.DiagonalInputs), room(b.m, side, b.DiagonalOutputs)
		c.Factors.Blocks = append(c.Factors.Blocks, blockFactors{
			A: make([]float64, a), S: make([]float64, s), InverseA: make([]float64, a), InverseS: make([]float64, s),
		})
	}
	c.layOut(o, n)
	return c
}

// room returns how many numbers a factor of d rows has.
func room(d, side int, diagonal bool) int {
	switch {
	case diagonal:
		return d
	case d > side:
		return 1
	}
	return d * d
}

// RestoreCurvature returns one with factors that were carried, or an error where they are not those of the objective's
// weights.
func RestoreCurvature(from *CurvatureFactors, o optim.Objective, n int) (*Curvature, error) {
	blocks, _ := blocksOf(o.(optim.FactorObjective).FactorMatrices(), n)
	if from == nil || len(blocks) != len(from.Blocks) {
		return nil, errors.New("factors of other blocks of weights")
	}
	for i, b := range blocks {
		f := &from.Blocks[i]
		a, s := room(b.n, from.Side, b.DiagonalInputs), room(b.m, from.Side, b.DiagonalOutputs)
		if len(f.A) != a || len(f.InverseA) != a || len(f.S) != s || len(f.InverseS) != s {
			return nil, errors.New("factors of another size")
		}
	}
	c := &Curvature{Factors: *from}
	c.layOut(o, n)
	return c, nil
}

// layOut makes room and tasks.
func (c *Curvature) layOut(o optim.Objective, n int) {
	c.objective = o.(optim.FactorObjective)
	c.blocks, c.rest = blocksOf(c.objective.FactorMatrices(), n)
	c.g, c.y, c.z = make([]float64, n), make([]float64, n), make([]float64, n)
	c.fresh, c.inverts, c.solves, c.price = nil, refreshes{}, tasks{}, 0
	for i := range c.blocks {
		b, f := &c.blocks[i], &c.Factors.Blocks[i]
		c.fresh = append(c.fresh, optim.Factors{Inputs: make([]float64, len(f.A)), Outputs: make([]float64, len(f.S))})
		c.inverts.add(func() (float64, error) { return c.invert(b, f) })
		cost := 0 // of a row
		if whole(f.A, b.n) {
			cost += b.n * b.n
		}
		if whole(f.S, b.m) {
			cost += b.m * b.n
		}
		c.price += float64(cost) * float64(b.m)
		strips(b.m, cost+b.n, func(from, to int) {
			c.solves.add(func() { c.solve(b, f, from, to) })
		})
	}
}

// Update takes the factors at w over some rows into the running means: (1 − 1/k) of what they were, as long as that is
// less than decay, for the k-th time (§5).
func (c *Curvature) Update(w []float64, rows []int, decay float64, rng *rand.Rand) {
	c.objective.BatchFactorsTo(c.fresh, w, rows, rng)
	c.Factors.Updates++
	share := min(1-1/float64(c.Factors.Updates), decay)
	for i := range c.blocks {
		f, fresh := &c.Factors.Blocks[i], &c.fresh[i]
		average(f.A, fresh.Inputs, share)
		average(f.S, fresh.Outputs, share)
	}
}

// average makes x keep·x + (1 − keep)·fresh.
func average(x, fresh []float64, share float64) {
	vector.Scale(x, share, x)
	vector.Axpy(x, 1-share, fresh)
}

// Invert makes the inverses those of the factors as they are, with the damping γ, and returns how many multiplications
// it took.
func (c *Curvature) Invert(s *optim.State, gamma float64) (spent float64, err error) {
	defer c.refresh.since(time.Now())
	c.Factors.Gamma = gamma
	err = c.inverts.do(s, &spent)
	return spent, err
}

func (c *Curvature) invert(b *block, f *blockFactors) (spent float64, err error) {
	ofA, ofS := c.damping(b, f)
	inverse, cost := inverseTo, inverseCost
	if c.Root {
		inverse, cost = rootTo, eigenCost+1
	}
	if !inverse(f.InverseA, f.A, b.n, ofA) || !inverse(f.InverseS, f.S, b.m, ofS) {
		return 0, &optim.NotFiniteError{What: "curvature"}
	}
	for _, x := range []struct{ len, d int }{{len(f.A), b.n}, {len(f.S), b.m}} {
		if x.len > 1 && x.len == x.d*x.d {
			spent += cost * cube(x.d)
		}
	}
	return spent, nil
}

// damping returns what is added to A and to S, π√γ and √γ/π. Where one of them is 0, π is 1.
func (c *Curvature) damping(b *block, f *blockFactors) (ofA, ofS float64) {
	pi, root := 1.0, math.Sqrt(c.Factors.Gamma)
	if b.m == 1 && b.DiagonalInputs {
		return c.Factors.Gamma, 0
	}
	if a, s := meanDiagonal(f.A, b.n), meanDiagonal(f.S, b.m); a > 0 && s > 0 {
		pi = math.Sqrt(a / s)
	}
	return pi * root, root / pi
}

// meanDiagonal returns the mean of the diagonal of a factor of d rows, which is the mean of its eigenvalues.
func meanDiagonal(x []float64, d int) float64 {
	if !whole(x, d) {
		return floats.Sum(x) / float64(len(x))
	}
	sum := 0.0
	for i := range d {
		sum += x[i*d+i]
	}
	return sum / float64(d)
}

// whole reports whether a factor of d rows is a matrix, rather than a diagonal or the mean of one.
func whole(x []float64, d int) bool { return len(x) == d*d && d > 1 }

// inverseCost is how many multiplications inverseTo takes, in d³ (Golub & Van Loan 2013, §4.2.5; Higham 2002, §14.3).
const inverseCost = 0.5

// inverseTo stores (F + shift·I)⁻¹ for a symmetric F of d rows, of d numbers for a diagonal, or of one for a multiple
// of I, and reports whether it could.
func inverseTo(dst, f []float64, d int, shift float64) bool {
	if !whole(f, d) {
		for i, v := range f {
			dst[i] = 1 / (v + shift)
		}
		return vector.Finite(vector.Norm(f)) && vector.Finite(vector.Norm(dst))
	}
	copy(dst, f)
	for i := range d {
		dst[i*d+i] += shift
	}
	if !vector.Finite(vector.Norm(dst)) {
		return false
	}
	t, ok := lapack64.Potrf(blas64.Symmetric{N: d, Stride: d, Uplo: blas.Upper, Data: dst})
	if !ok {
		return false
	}
	lapack64.Potri(t)
	symmetrize(dst, d)
	return true
}

// rootTo is inverseTo for (F + shift·I)^−½.
func rootTo(dst, f []float64, d int, shift float64) bool {
	if !whole(f, d) {
		for i, v := range f {
			dst[i] = 1 / math.Sqrt(v+shift)
		}
		return vector.Finite(vector.Norm(f)) && vector.Finite(vector.Norm(dst))
	}
	q, values := make([]float64, d*d), make([]float64, d)
	if !eigenTo(q, values, f, d) {
		return false
	}
	scaled := slices.Clone(q)
	for i, v := range values {
		row := scaled[i*d:][:d]
		vector.Scale(row, 1/math.Sqrt(max(v, 0)+shift), row)
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, matrix(q, d, d, d), matrix(scaled, d, d, d), 0, matrix(dst, d, d, d))
	return vector.Finite(vector.Norm(dst))
}

// SolveTo stores the damped inverse times r, both of all weights, in dst, and returns how many multiplications it took.
func (c *Curvature) SolveTo(s *optim.State, dst, r []float64) (spent float64) {
	mean, count := 0.0, 0
	for i := range c.blocks {
		b, f := &c.blocks[i], &c.Factors.Blocks[i]
		b.gather(b.of(c.g), r)
		mean += float64(b.size()) * meanDiagonal(f.A, b.n) * meanDiagonal(f.S, b.m)
		count += b.size()
	}
	clear(dst)
	c.dst = dst
	c.solves.do(s)
	c.dst = nil
	scale := 1 / (mean/float64(count) + c.Factors.Gamma)
	if c.Root {
		scale = math.Sqrt(scale)
	}
	for _, p := range c.rest {
		vector.Scale(dst[p.First:p.Last], scale, r[p.First:p.Last])
	}
	return c.price
}

// solve adds rows [from, to) of S⁻¹GA⁻¹, with damping, to dst.
func (c *Curvature) solve(b *block, f *blockFactors, from, to int) {
	x, z := b.of(c.g), b.of(c.z)
	scale := 1.0
	switch {
	case whole(f.S, b.m):
		b.leftTo(z, blas.NoTrans, f.InverseS, x, from, to)
		x = z
	case len(f.S) == 1:
		scale = f.InverseS[0]
	default:
		for i := from; i < to; i++ {
			vector.Scale(z[i*b.n:][:b.n], f.InverseS[i], x[i*b.n:])
		}
		x = z
	}
	y := b.of(c.y)
	switch {
	case whole(f.A, b.n):
		b.rightTo(y, x, f.InverseA, from, to)
		x = y
	case len(f.A) == 1:
		scale *= f.InverseA[0]
	default:
		for i := from; i < to; i++ {
			vector.Mul(y[i*b.n:][:b.n], f.InverseA, x[i*b.n:])
		}
		x = y
	}
	b.add(c.dst, scale, x, from, to)
}

// Report describes the factors as they are now. Their spectra are for readers, so that nothing is charged for them.
func (c *Curvature) Report() *optim.Preconditioner {
	out := c.refresh.report()
	for i := range c.blocks {
		b, f := &c.blocks[i], &c.Factors.Blocks[i]
		ofA, ofS := c.damping(b, f)
		out.Factors = append(out.Factors,
			optim.Factor{To: b.To, From: b.From, Outputs: true, Size: b.m, Values: spectrum(f.S, b.m), Damping: ofS},
			optim.Factor{To: b.To, From: b.From, Size: b.n, Values: spectrum(f.A, b.n), Damping: ofA})
	}
	return out
}

// exactRows is up to how many rows a factor's spectrum is computed, and not estimated.
const exactRows = 32

// spectrum returns eigenvalues of a factor of d rows in descending order: all of them, or of a larger one estimates of
// eight at each end by Lanczos' method. Of one that is a multiple of I there are none.
func spectrum(f []float64, d int) []float64 {
	switch {
	case len(f) == 1 && d > 1:
		return nil
	case !whole(f, d):
		values := slices.Sorted(slices.Values(f))
		slices.Reverse(values)
		if k := len(values); k > exactRows {
			values = slices.Delete(values, 8, k-8)
		}
		return values
	case d <= exactRows:
		values := make([]float64, d)
		a := blas64.Symmetric{N: d, Stride: d, Uplo: blas.Upper, Data: append([]float64(nil), f...)}
		lapack64.Syev('N', a, values, make([]float64, 3*d), 3*d)
		slices.Reverse(values)
		return values
	}
	ends, err := krylov.Lanczos(symmetric{f, d}, 8, krylov.LanczosOptions{Steps: 40, Tolerance: 1e-2, Floor: 1e-2,
		Seed: 1})
	if err != nil {
		return nil
	}
	var values []float64
	for _, p := range ends.Top {
		values = append(values, p.Value)
	}
	for i := len(ends.Bottom) - 1; i >= 0; i-- {
		values = append(values, max(0, ends.Bottom[i].Value))
	}
	return values
}

// symmetric is a matrix of d rows as an operator.
type symmetric struct {
	f []float64
	d int
}

func (s symmetric) Dim() int { return s.d }

func (s symmetric) MulVecTo(dst, v []float64) {
	for i := range dst {
		dst[i] = vector.Dot(s.f[i*s.d:][:s.d], v)
	}
}
