package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// leastSquares finds the weights of all neurons of a layer at once [T, eq. 4 and 6]:
//
//	min ‖A Wᵀ + 1bᵀ − B‖² + λ‖W‖²
//
//	A, B   P × n, the layer's inputs, and P × m, its wanted net inputs; a̅, b̅ the means of their columns
//	W, b   m × n weights and m biases
//	Ã, B̃   A − 1a̅ᵀ and B − 1b̅ᵀ, which take b out of the problem: b = b̅ − W a̅
//	       with a̅ and b̅ taken as 0 there is no b
//	λ      ridge times the largest diagonal entry of ÃᵀÃ
//	R, Π   r × n upper trapezoid with RᵀR = Πᵀ ÃᵀÃ Π, from pivoting; r is the rank that is used
//	X      the solution Wᵀ, n × m; ΠᵀX minimizes ‖RΠᵀX − c‖² + λ‖X‖² with Rᵀc = Πᵀ ÃᵀB̃
//
// Without a ridge it is the shortest of all solutions, whatever the rank.
type leastSquares struct {
	qr      bool         // by QR of Ã, twice the digits and several times the work; else from ÃᵀÃ
	ridge   float64      // relative, ≥ 0
	between func() error // called between pieces of work, units of them to a solve; an error ends it
	spent   float64      // multiplications done

	means [2][]float64
	panel [2][]float64 // rows of Ã and of B̃
}

// panelRows is how many rows are taken at once, and how long the method goes without looking up.
const panelRows = 1024

// units returns how many times a solve over that many rows calls between.
func (q *leastSquares) units(rows int) int {
	if q.qr {
		return 1
	}
	return (rows+panelRows-1)/panelRows + 1
}

// solveTo stores the solution in w, m × n, and bias, or zeros there if it is to be unbiased, and returns the rank r. It
// returns a *NotFiniteError where a or b, or the solution, has a NaN or overflows.
func (q *leastSquares) solveTo(w blas64.General, bias []float64, unbiased bool, a, b *mat.Dense) (rank int, err error) {
	q.means[0], q.means[1] = meansTo(q.means[0], a), meansTo(q.means[1], b)
	if unbiased {
		clear(q.means[0])
		clear(q.means[1])
	}
	var x blas64.General
	if q.qr {
		x, rank, err = q.orthogonal(a.RawMatrix(), b.RawMatrix())
	} else {
		x, rank, err = q.normal(a.RawMatrix(), b.RawMatrix())
	}
	if err == nil && !vector.Finite(vector.Norm(x.Data)) {
		err = &optim.NotFiniteError{What: "least-squares problem"}
	}
	if err != nil {
		return 0, err
	}
	for j := range bias {
		row := w.Data[j*w.Stride:][:w.Cols]
		for i := range row {
			row[i] = x.Data[i*x.Stride+j]
		}
		bias[j] = q.means[1][j] - floats.Dot(row, q.means[0])
	}
	return rank, q.between()
}

// meansTo returns the means of m's columns, in dst where it has room.
func meansTo(dst []float64, m *mat.Dense) []float64 {
	rows, columns := m.Dims()
	dst = append(dst[:0], make([]float64, columns)...)
	for i := range rows {
		floats.Add(dst, m.RawRowView(i))
	}
	floats.Scale(1/float64(rows), dst)
	return dst
}

// centred returns rows of m from the given one on, less the means, in the buffer of that index.
func (q *leastSquares) centred(which int, m blas64.General, from, rows int) blas64.General {
	if size := rows * m.Cols; cap(q.panel[which]) < size {
		q.panel[which] = make([]float64, size)
	}
	p := blas64.General{Rows: rows, Cols: m.Cols, Stride: m.Cols, Data: q.panel[which][:rows*m.Cols]}
	for i := range rows {
		floats.SubTo(p.Data[i*p.Stride:][:p.Cols], m.Data[(from+i)*m.Stride:][:m.Cols], q.means[which])
	}
	return p
}

// normal solves from the normal equations: the upper half of G = ÃᵀÃ, and H = ÃᵀB̃, are summed over panels
// of rows.
func (q *leastSquares) normal(a, b blas64.General) (x blas64.General, rank int, err error) {
	n := a.Cols
	g, h := zeros(n, n), zeros(n, b.Cols)
	for from := 0; from < a.Rows; from += panelRows {
		rows := min(panelRows, a.Rows-from)
		pa, pb := q.centred(0, a, from, rows), q.centred(1, b, from, rows)
		addGram(g, pa)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, pa, pb, 1, h)
		q.spent += float64(rows) * float64(n) * (float64(n)/2 + float64(b.Cols))
		if err := q.between(); err != nil {
			return x, 0, err
		}
	}
	largest := 0.0
	for i := range n {
		d := g.Data[i*g.Stride+i]
		if !vector.Finite(d) {
			return x, 0, &optim.NotFiniteError{What: "least-squares problem"}
		}
		largest = max(largest, d)
	}
	if !vector.Finite(vector.Norm(h.Data)) {
		return x, 0, &optim.NotFiniteError{What: "least-squares problem"}
	}
	if largest == 0 {
		return h, 0, nil // Ã = 0, and so is H
	}
	x, rank = q.factor(g, h, largest, float64(max(a.Rows, n))*optim.Eps*largest)
	return x, rank, nil
}

// addGram adds the upper half of pᵀp to g, and some of the lower. Strips of columns go through the general
// product, which is much faster than the symmetric one and does little more than half of its work.
func addGram(g, p blas64.General) {
	const strip = 128
	for i := 0; i < p.Cols; i += strip {
		width := min(strip, p.Cols-i)
		left, right, to := p, p, g
		left.Cols, left.Data = width, p.Data[i:]
		right.Cols, right.Data = p.Cols-i, p.Data[i:]
		to.Rows, to.Cols, to.Data = width, p.Cols-i, g.Data[i*g.Stride+i:]
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, left, right, 1, to)
	}
}

// factor solves (G + λI)X = H, and GX = H by pivoted Cholesky that stops at pivots of at most tolerance.
func (q *leastSquares) factor(g, h blas64.General, largest, tolerance float64) (x blas64.General, rank int) {
	n := g.Rows
	q.spent += float64(n) * float64(n) * float64(n) / 3
	pivoted := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: append([]float64(nil), g.Data...)}
	order := make([]int, n)
	t, rank, _ := lapack64.Pstrf(pivoted, order, tolerance, make([]float64, 2*n))
	if lambda := q.ridge * largest; lambda > 0 {
		for i := range n {
			g.Data[i*g.Stride+i] += lambda
		}
		if l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: g.Stride, Data: g.Data}); ok {
			lapack64.Potrs(l, h)
			return h, rank
		}
	}
	c := zeros(rank, h.Cols)
	for i := range rank {
		copy(c.Data[i*c.Stride:][:c.Cols], h.Data[order[i]*h.Stride:])
	}
	r := blas64.General{Rows: rank, Cols: n, Stride: t.Stride, Data: t.Data}
	blas64.Trsm(blas.Left, blas.Trans, 1, leading(r), c)
	return q.shortest(r, c, 0, order), rank
}

// orthogonal solves by QR of Ã with column pivoting.
func (q *leastSquares) orthogonal(a, b blas64.General) (x blas64.General, rank int, err error) {
	pa, pb := q.centred(0, a, 0, a.Rows), q.centred(1, b, 0, b.Rows)
	n, limit := a.Cols, min(a.Rows, a.Cols)
	if !vector.Finite(vector.Norm(pa.Data)) || !vector.Finite(vector.Norm(pb.Data)) {
		return x, 0, &optim.NotFiniteError{What: "least-squares problem"}
	}
	order, tau := make([]int, n), make([]float64, limit)
	for i := range order {
		order[i] = -1 // free to move
	}
	withWork(func(work []float64, size int) { lapack64.Geqp3(pa, order, tau, work, size) })
	q.spent += float64(n) * float64(limit) * float64(max(a.Rows, n)-limit/3)
	first := math.Abs(pa.Data[0])
	for rank < limit && math.Abs(pa.Data[rank*pa.Stride+rank]) > float64(max(a.Rows, n))*optim.Eps*first {
		rank++
	}
	withWork(func(work []float64, size int) {
		lapack64.Ormqr(blas.Left, blas.Trans, pa, tau, pb, work, size)
	})
	r := blas64.General{Rows: rank, Cols: n, Stride: pa.Stride, Data: pa.Data}
	c := blas64.General{Rows: rank, Cols: pb.Cols, Stride: pb.Stride, Data: pb.Data}
	return q.shortest(r, c, q.ridge*first*first, order), rank, nil
}

// shortest returns the X for which ‖RΠᵀX − c‖² + λ‖X‖² is least, without a ridge the shortest with RΠᵀX = c:
// the first n rows of the shortest solution of [R √λI]Y = c, by LQ. It overwrites r and c.
func (q *leastSquares) shortest(r, c blas64.General, lambda float64, order []int) blas64.General {
	n, rank := r.Cols, r.Rows
	x := zeros(n, c.Cols)
	if rank == 0 {
		return x
	}
	y := c
	if lambda == 0 && rank == n {
		blas64.Trsm(blas.Left, blas.NoTrans, 1, leading(r), y)
	} else {
		y = q.underdetermined(r, c, math.Sqrt(lambda))
	}
	for i, to := range order {
		copy(x.Data[to*x.Stride:][:x.Cols], y.Data[i*y.Stride:])
	}
	return x
}

// underdetermined returns the shortest solution of [R ρI]Y = c, as many rows as the matrix has columns.
func (q *leastSquares) underdetermined(r, c blas64.General, rho float64) blas64.General {
	columns := r.Cols
	if rho > 0 {
		columns += r.Rows
	}
	q.spent += float64(r.Rows) * float64(r.Rows) * float64(columns)
	t, y := zeros(r.Rows, columns), zeros(columns, c.Cols)
	for i := range r.Rows {
		copy(t.Data[i*t.Stride+i:][:r.Cols-i], r.Data[i*r.Stride+i:])
		if rho > 0 {
			t.Data[i*t.Stride+r.Cols+i] = rho
		}
		copy(y.Data[i*y.Stride:][:y.Cols], c.Data[i*c.Stride:])
	}
	tau := make([]float64, r.Rows)
	withWork(func(work []float64, size int) { lapack64.Gelqf(t, tau, work, size) })
	lower := leading(t)
	lower.Uplo = blas.Lower
	top := y
	top.Rows = r.Rows
	blas64.Trsm(blas.Left, blas.NoTrans, 1, lower, top)
	withWork(func(work []float64, size int) { lapack64.Ormlq(blas.Left, blas.Trans, t, tau, y, work, size) })
	return y
}

// leading returns the upper triangle of a's first columns, as many as it has rows.
func leading(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// withWork calls a LAPACK routine with as much room for its work as it asks for.
func withWork(routine func(work []float64, size int)) {
	size := make([]float64, 1)
	routine(size, -1)
	work := make([]float64, int(size[0]))
	routine(work, len(work))
}

func zeros(rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: make([]float64, rows*columns)}
}
