package kronecker

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// factor is the second moment F of the vectors that a block's gradient G, m × n, is made of along one side: the
// decaying sum of GGᵀ over the updates for its outputs, of GᵀG for its inputs, with an orthogonal basis near its
// eigenvectors.
type factor struct {
	F  optim.Numbers `archive:"factor"` // d × d, of which what is on and above the diagonal counts
	Qt optim.Numbers `archive:"basis"`  // Qᵀ: a row for each vector q_i, by descending curvature
	// q_iᵀFq_i when the basis was last made, of the mean of which F is a multiple
	Values optim.Numbers `archive:"values"`
	Root   optim.Numbers `archive:"root"` // Shampoo's power of F; none of SOAP's

	d     int
	q     []float64 // Q
	next  []float64 // room for the next Qᵀ
	dots  []float64
	order []int // of the last turn
	times []float64
}

// newFactor returns one of d rows that are 0.
func newFactor(d int) *factor {
	f := &factor{F: make([]float64, d*d), Qt: make([]float64, d*d), Values: make([]float64, d)}
	f.room(d)
	return f
}

// room makes room for what is made again of what is carried.
func (f *factor) room(d int) {
	f.d = d
	f.q, f.next = make([]float64, d*d), make([]float64, d*d)
	f.dots, f.order, f.times = make([]float64, group*d), make([]int, d), make([]float64, d)
	transposeTo(f.q, f.Qt, d, d)
}

// fits reports whether a factor that was carried is one of d rows.
func (f *factor) fits(d int) bool {
	return len(f.F) == d*d && len(f.Qt) == d*d && len(f.Values) == d && (len(f.Root) == 0 || len(f.Root) == d*d)
}

// decompose makes the basis the eigenvectors of F.
func (f *factor) decompose() (spent float64, err error) {
	if !eigenTo(f.Qt, f.Values, f.F, f.d) {
		return 0, &optim.NotFiniteError{What: "curvature"}
	}
	transposeTo(f.q, f.Qt, f.d, f.d)
	return eigenCost * cube(f.d), nil
}

// turn brings the basis nearer to the eigenvectors of F by a step of orthogonal iteration, Q ← qr(FQ) (Vyas et al.
// 2024, algorithm 4), with the vectors in the order of their curvature: the new vector i comes from the old one
// order[i]. Vectors whose curvature is nothing but rounding, or has no length to be divided by, stay as they are and in
// the order in which they are.
func (f *factor) turn() (spent float64, err error) {
	d := f.d
	symmetrize(f.F, d)
	fq := f.next
	// (FQ)ᵀ
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(f.Qt, d, d, d), matrix(f.F, d, d, d), 0, matrix(fq, d, d, d))
	for i := range d {
		f.times[i] = vector.Dot(f.Qt[i*d:][:d], fq[i*d:][:d])
	}
	if !vector.Finite(vector.Norm(fq)) {
		return 0, &optim.NotFiniteError{What: "curvature"}
	}
	threshold := max(float64(d)*optim.Eps*floats.Max(f.times), optim.MinNormal)
	for i, v := range f.times {
		if !(v > threshold) {
			f.times[i] = 0
		}
	}
	descending(f.order, f.times)
	for i, k := range f.order {
		from := fq
		if f.times[k] == 0 {
			from = f.Qt
		}
		copy(f.q[i*d:][:d], from[k*d:][:d])
		f.Values[i] = f.times[k]
	}
	copy(f.Qt, f.q)
	spent = cube(d) + orthonormalize(f.Qt, f.dots, d)
	transposeTo(f.q, f.Qt, d, d)
	return spent, nil
}

// updateRoot makes Root the power of F + εvI, v being the largest curvature, as the basis and F are now. Where F is 0,
// or below normal numbers, it is I.
func (f *factor) updateRoot(epsilon, power float64) (spent float64) {
	d := f.d
	if len(f.Root) != d*d {
		f.Root = make([]float64, d*d)
	}
	symmetrize(f.F, d)
	fq := matrix(f.next, d, d, d)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(f.Qt, d, d, d), matrix(f.F, d, d, d), 0, fq)
	for i := range d {
		f.Values[i] = max(0, vector.Dot(f.Qt[i*d:][:d], fq.Data[i*d:][:d]))
	}
	largest := floats.Max(f.Values)
	for i, v := range f.Values {
		w := 1.0
		if largest >= optim.MinNormal {
			w = math.Pow(v+epsilon*largest, power)
		}
		vector.Scale(fq.Data[i*d:][:d], w, f.Qt[i*d:][:d])
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, matrix(f.Qt, d, d, d), fq, 0, matrix(f.Root, d, d, d))
	return 2 * cube(d)
}

// symmetrize makes what is below the diagonal what is above.
func symmetrize(f []float64, d int) {
	for i := range d {
		for j := range i {
			f[i*d+j] = f[j*d+i]
		}
	}
}

// addOutputs adds tasks that make F of the outputs βF + GGᵀ for G in g and Gᵀ in gt, and returns their multiplications.
func (f *factor) addOutputs(t *tasks, b *block, beta *float64, g, gt []float64) (price float64) {
	strips(f.d, f.d*b.n, func(from, to int) {
		price += float64(to-from) * float64(f.d-from) * float64(b.n)
		t.add(func() {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(g[from*b.n:], to-from, b.n, b.n),
				matrix(gt[from:], b.n, b.m-from, b.m),
				*beta, matrix(f.F[from*f.d+from:], to-from, f.d-from, f.d))
		})
	})
	return price
}

// addInputs is addOutputs for F of the inputs, βF + GᵀG.
func (f *factor) addInputs(t *tasks, b *block, beta *float64, g []float64) (price float64) {
	strips(f.d, f.d*b.m, func(from, to int) {
		price += float64(to-from) * float64(f.d-from) * float64(b.m)
		t.add(func() {
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, matrix(g[from:], b.m, to-from, b.n),
				matrix(g[from:], b.m, b.n-from, b.n),
				*beta, matrix(f.F[from*f.d+from:], to-from, f.d-from, f.d))
		})
	})
	return price
}
