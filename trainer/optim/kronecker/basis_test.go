package kronecker

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
)

// rowsOf are sets of d rows that orthonormalize meets.
func rowsOf(d int) map[string]*mat.Dense {
	rng := newRand(uint64(d))
	all := map[string]*mat.Dense{"random": normal(rng, d, d), "orthonormal": orthogonal(rng, d)}

	scaled := normal(rng, d, d)
	for i := range d {
		for j := range d {
			scaled.Set(i, j, scaled.At(i, j)*math.Pow(10, -12*float64(i)/float64(d)))
		}
	}
	all["rows of many lengths"] = scaled

	values := make([]float64, d)
	for i := range values {
		values[i] = math.Pow(10, -12*float64(i)/float64(max(1, d-1)))
	}
	all["condition 1e12"] = mul(orthogonal(rng, d), mat.NewDiagDense(d, values), orthogonal(rng, d))

	near := normal(rng, d, d)
	for i := 1; i < d; i++ {
		for j := range d {
			near.Set(i, j, near.At(i-1, j)+1e-10*near.At(i, j))
		}
	}
	all["nearly dependent"] = near

	low := mul(normal(rng, d, (d+2)/3), normal(rng, (d+2)/3, d))
	all["of a third of the rank"] = low

	same := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			same.Set(i, j, float64(j+1))
		}
	}
	all["all the same"] = same

	axis := mat.NewDense(d, d, nil)
	for i := range d {
		axis.Set(i, (i/2)%d, 3)
	}
	all["axes, each twice"] = axis
	return all
}

// TestOrthonormalize: rows are orthonormal to rounding whatever they were, the first k span what they spanned, and where they are
// independent they are Householder's Q up to signs, as far as their condition lets anyone know it.
func TestOrthonormalize(t *testing.T) {
	for _, d := range []int{1, 2, 3, 7, 23, 24, 25, 49, 80} {
		for name, x := range rowsOf(d) {
			t.Run(fmt.Sprintf("%d rows, %s", d, name), func(t *testing.T) {
				got := mat.DenseCopyOf(x)
				spent := orthonormalize(got.RawMatrix().Data, make([]float64, group*d), d)
				if off := distance(mul(got, got.T()), identity(d)); !(off <= 1e-13) {
					t.Errorf("orthonormal to %.1e", off)
				}
				for k := range d {
					row, left := mat.Row(nil, k, x), mat.Row(nil, k, x)
					for i := range k + 1 {
						q := mat.Row(nil, i, got)
						along := mat.Dot(mat.NewVecDense(d, row), mat.NewVecDense(d, q))
						for j := range left {
							left[j] -= along * q[j]
						}
					}
					if !(largest(left) <= 1e-13*largest(row)) {
						t.Errorf("row %d has %.1e of its length outside of the first rows", k, largest(left)/largest(row))
					}
				}
				threshold := float64(d) * float64(d) * float64(d-1)
				if spent < threshold || name == "orthonormal" && spent != threshold {
					t.Errorf("%g multiplications, where every row takes two products with each before: %g", spent, threshold)
				}
				if d > 30 {
					return
				}
				q := qrOf(x.T())
				for i := range d {
					condition := conditionOf(x, i+1)
					if condition > 1e13 {
						break
					}
					cos := 0.0
					for j := range d {
						cos += q.At(j, i) * got.At(i, j)
					}
					far := 0.0
					for j := range d {
						far = max(far, math.Abs(q.At(j, i)*math.Copysign(1, cos)-got.At(i, j)))
					}
					if !(far <= 20*float64(d)*optim.Eps*condition) {
						t.Errorf("row %d is %.1e from Householder's, with a condition of %.1e", i, far, condition)
					}
				}
			})
		}
	}
}

// conditionOf returns the condition of the first rows of x, brought to length 1.
func conditionOf(x *mat.Dense, rows int) float64 {
	_, d := x.Dims()
	unit := mat.DenseCopyOf(x.Slice(0, rows, 0, d))
	for i := range rows {
		row := mat.NewVecDense(d, unit.RawRowView(i))
		row.ScaleVec(1/mat.Norm(row, 2), row)
	}
	return mat.Cond(unit, 2)
}

// TestEigenTo: eigenvalues and vectors of what is on and above the diagonal, in descending order, and the matrix as it was.
func TestEigenTo(t *testing.T) {
	for _, d := range []int{1, 2, 3, 8, 30} {
		rng := newRand(uint64(d))
		line := mul(normal(rng, d, 1), identity(1))
		for name, f := range map[string]*mat.Dense{
			"definite": spd(rng, d), "indefinite": symmetrized(normal(rng, d, d)), "0": mat.NewDense(d, d, nil), "I": identity(d),
			"of rank 1": mul(line, line.T()), "tiny": combined(1e-200, spd(rng, d), 0, identity(d)), "huge": combined(1e200, spd(rng, d), 0, identity(d)),
		} {
			below := mat.DenseCopyOf(f)
			for i := range d {
				for j := range i {
					below.Set(i, j, 77*rng.Float64())
				}
			}
			in := slices.Clone(below.RawMatrix().Data)
			q, values := mat.NewDense(d, d, nil), make([]float64, d)
			if !eigenTo(q.RawMatrix().Data, values, in, d) {
				t.Errorf("%d, %s: no eigenvalues", d, name)
				continue
			}
			want, _ := eigen(f)
			scale := max(math.Abs(want[0]), math.Abs(want[d-1]))
			if !slices.Equal(in, below.RawMatrix().Data) {
				t.Errorf("%d, %s: the matrix is another one", d, name)
			}
			if !(apart(values, want) <= 1e-13*scale) || !slices.IsSortedFunc(values, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) && scale > 0 {
				t.Errorf("%d, %s: eigenvalues %v, want %v", d, name, values, want)
			}
			if off := distance(mul(q, q.T()), identity(d)); !(off <= 1e-13) {
				t.Errorf("%d, %s: vectors are orthonormal to %.1e", d, name, off)
			}
			if back := mul(q.T(), mat.NewDiagDense(d, values), q); !(distance(back, f) <= 1e-13*scale) {
				t.Errorf("%d, %s: QᵀΛQ is off by %.1e", d, name, distance(back, f))
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if eigenTo(make([]float64, 4), make([]float64, 2), []float64{1, bad, 0, 1}, 2) {
			t.Errorf("eigenvalues of a matrix with %g", bad)
		}
	}
}

// turned is a step of orthogonal iteration by Householder's method: the columns of Q in the descending order of qᵢᵀFqᵢ, and
// Q of FQ. Columns whose curvature is rounding stand for themselves, as they stood.
func turned(f, q *mat.Dense) (next *mat.Dense, order []int, times []float64) {
	fq, order, times := turnedColumns(f, q)
	return qrOf(fq), order, times
}

// turnedColumns returns what turned makes orthogonal.
func turnedColumns(f, q *mat.Dense) (x *mat.Dense, order []int, times []float64) {
	d, _ := f.Dims()
	along := mul(q.T(), f, q)
	for i := range d {
		order, times = append(order, i), append(times, along.At(i, i))
	}
	threshold := float64(d) * optim.Eps * slices.Max(times)
	for i, v := range times {
		if v <= threshold {
			times[i] = 0
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case times[a] > times[b]:
			return -1
		case times[a] < times[b]:
			return 1
		}
		return 0
	})
	fq := mul(f, q)
	x = mat.NewDense(d, d, nil)
	for j, k := range order {
		if times[k] > 0 {
			x.SetCol(j, mat.Col(nil, k, fq))
		} else {
			x.SetCol(j, mat.Col(nil, k, q))
		}
	}
	return x, order, times
}

// sameColumns returns how far the columns of two orthogonal matrices are from one another, up to their signs.
func sameColumns(x, y *mat.Dense) float64 {
	most := 0.0
	_, d := x.Dims()
	for j := range d {
		a, b := x.ColView(j), y.ColView(j)
		sign := math.Copysign(1, mat.Dot(a, b))
		for i := range d {
			most = max(most, math.Abs(sign*a.AtVec(i)-b.AtVec(i)))
		}
	}
	return most
}

// factorOf returns a factor of that matrix with that basis, and nonsense below the diagonal.
func factorOf(f, q *mat.Dense) *factor {
	d, _ := f.Dims()
	out := newFactor(d)
	for i := range d {
		for j := range d {
			out.F[i*d+j], out.Qt[i*d+j] = f.At(i, j), q.At(j, i)
			if j < i {
				out.F[i*d+j] = 99
			}
		}
	}
	out.room(d)
	return out
}

// TestTurn: one QR step of orthogonal iteration, with the vectors in the order of their curvature.
func TestTurn(t *testing.T) {
	for _, d := range []int{1, 2, 5, 24, 31} {
		rng := newRand(uint64(d))
		graded := make([]float64, d)
		for i := range graded {
			graded[i] = math.Pow(10, -6*float64(i)/float64(d))
		}
		u := orthogonal(rng, d)
		for name, f := range map[string]*mat.Dense{"even": spd(rng, d), "graded": symmetrized(mul(u, mat.NewDiagDense(d, graded), u.T()))} {
			q := orthogonal(rng, d)
			got := factorOf(f, q)
			want, order, times := turned(f, q)
			spent, err := got.turn()
			if err != nil || !slices.Equal(got.order, order) {
				t.Fatalf("%d, %s: %v, order %v, want %v", d, name, err, got.order, order)
			}
			if far := sameColumns(basisIn(got), want); !(far <= 1e-9) {
				t.Errorf("%d, %s: the basis is %.1e from Householder's", d, name, far)
			}
			if distance(mat.NewDense(d, d, got.q), mat.NewDense(d, d, got.Qt).T()) != 0 {
				t.Errorf("%d, %s: Q is not the transpose of Qᵀ", d, name)
			}
			for i, k := range order {
				if math.Abs(got.Values[i]-times[k]) > 1e-13*times[order[0]] {
					t.Errorf("%d, %s: curvature %d is %g, want %g", d, name, i, got.Values[i], times[k])
				}
			}
			if threshold := cube(d) + float64(d*d*(d-1)); spent < threshold {
				t.Errorf("%d, %s: %g multiplications, where FQ and Q take %g at least", d, name, spent, threshold)
			}
			if name != "graded" {
				continue
			}
			for range 800 {
				if _, err := got.turn(); err != nil {
					t.Fatal(err)
				}
			}
			values, vectors := eigen(f)
			if far := sameColumns(basisIn(got), vectors); !(far <= 1e-8) || !(apart(got.Values, values) <= 1e-12) {
				t.Errorf("%d: after many turns vectors are %.1e off, values %.1e", d, far, apart(got.Values, values))
			}
		}
	}
}

// TestTurnOfWhatVanishes: a factor without curvature, or with next to none in some directions, leaves an orthogonal basis, and where
// nothing is but rounding the vectors are those that were.
func TestTurnOfWhatVanishes(t *testing.T) {
	const d = 6
	rng := newRand(3)
	v := normal(rng, d, 1)
	for name, f := range map[string]*mat.Dense{
		"0": mat.NewDense(d, d, nil), "of rank 1": mul(v, v.T()), "of rank 1 and tiny": combined(1e-290, mul(v, v.T()), 0, identity(d)),
		"below normal numbers": combined(1e-309, spd(rng, d), 0, identity(d)),
		"the least numbers":    combined(5e-324, identity(d), 0, identity(d)),
		"huge":                 combined(1e300, spd(rng, d), 0, identity(d)),
	} {
		q := orthogonal(rng, d)
		got := factorOf(f, q)
		for range 3 {
			if _, err := got.turn(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if off := distance(mul(basisIn(got).T(), basisIn(got)), identity(d)); !(off <= 1e-13) {
				t.Fatalf("%s: orthonormal to %.1e", name, off)
			}
			got.updateRoot(1e-4, -0.5)
			if most := largest(got.Root); !(most < math.Inf(1)) {
				t.Errorf("%s: the root has %g", name, most)
			}
		}
		if name == "0" && distance(basisIn(got), q) > 1e-14 {
			t.Errorf("0 turned the basis by %.1e", distance(basisIn(got), q))
		}
		if name == "of rank 1" {
			along := mat.Dot(v.ColView(0), basisIn(got).ColView(0))
			if want := mat.Norm(v, 2); math.Abs(math.Abs(along)-want) > 1e-13*want {
				t.Errorf("the first vector has %g of the only direction's %g", along, want)
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		f := spd(rng, d)
		f.Set(0, d-1, bad)
		q := orthogonal(rng, d)
		got := factorOf(f, q)
		var broken *optim.NotFiniteError
		if _, err := got.turn(); !errors.As(err, &broken) || distance(basisIn(got), q) != 0 {
			t.Errorf("%g: %v, the basis moved by %g", bad, err, distance(basisIn(got), q))
		}
		if _, err := got.decompose(); !errors.As(err, &broken) || distance(basisIn(got), q) != 0 {
			t.Errorf("%g: %v, the basis moved by %g", bad, err, distance(basisIn(got), q))
		}
	}
}

// TestTakeRoot: in the basis of the eigenvectors Root is the power of the whole matrix, in another one that of QᵀFQ's diagonal.
func TestTakeRoot(t *testing.T) {
	const d, epsilon = 7, 1e-3
	rng := newRand(5)
	f := spd(rng, d)
	values, vectors := eigen(f)
	shifted := combined(1, f, epsilon*values[0], identity(d))
	for _, p := range []float64{-0.25, -0.5} {
		got := factorOf(f, vectors)
		if spent := got.updateRoot(epsilon, p); spent != 2*cube(d) {
			t.Errorf("%g multiplications for two products of matrices", spent)
		}
		if far := distance(mat.NewDense(d, d, got.Root), power(shifted, p)); !(far <= 1e-13) {
			t.Errorf("power %g is off by %.1e", p, far)
		}
		q := orthogonal(rng, d)
		got = factorOf(f, q)
		got.updateRoot(epsilon, p)
		along := mul(q.T(), f, q)
		weights, most := make([]float64, d), 0.0
		for i := range weights {
			most = max(most, along.At(i, i))
		}
		for i := range weights {
			weights[i] = math.Pow(along.At(i, i)+epsilon*most, p)
		}
		if far := distance(mat.NewDense(d, d, got.Root), mul(q, mat.NewDiagDense(d, weights), q.T())); !(far <= 1e-13) {
			t.Errorf("power %g in another basis is off by %.1e", p, far)
		}
	}
	got := factorOf(mat.NewDense(d, d, nil), orthogonal(rng, d))
	got.updateRoot(epsilon, -0.25)
	if far := distance(mat.NewDense(d, d, got.Root), identity(d)); !(far <= 1e-14) {
		t.Errorf("the root of 0 is %.1e from I", far)
	}
}

func TestTransposeTo(t *testing.T) {
	for rows := 1; rows <= 19; rows++ {
		for cols := 1; cols <= 19; cols++ {
			x, got := normals(newRand(1), rows*cols), make([]float64, rows*cols)
			transposeTo(got, x, rows, cols)
			for i := range rows {
				for j := range cols {
					if got[j*rows+i] != x[i*cols+j] {
						t.Fatalf("%d × %d: entry %d, %d", rows, cols, i, j)
					}
				}
			}
		}
	}
}

// TestStrips: strips cover every row once, in order, and none is empty.
func TestStrips(t *testing.T) {
	for _, rows := range []int{1, 2, 7, 8, 9, 64, 100, 1000} {
		for _, cost := range []int{0, 1, 100, 4160, 32768, taskSize, 10 * taskSize} {
			next := 0
			strips(rows, cost, func(from, to int) {
				if from != next || to <= from || to > rows {
					t.Fatalf("%d rows of %d: strip %d to %d after %d", rows, cost, from, to, next)
				}
				if to < rows && (to-from)%8 != 0 {
					t.Errorf("%d rows of %d: a strip of %d", rows, cost, to-from)
				}
				next = to
			})
			if next != rows {
				t.Errorf("%d rows of %d: only %d are covered", rows, cost, next)
			}
		}
	}
}

// FuzzOrthonormalize: whatever the rows are that it may be given, they become orthonormal, and the first of them span what they spanned.
func FuzzOrthonormalize(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(3), int8(0))
	f.Add([]byte{1, 1, 1, 1, 0, 0, 2}, uint8(9), int8(40))
	f.Add([]byte{0, 255, 0, 1}, uint8(30), int8(-30))
	f.Fuzz(func(t *testing.T, numbers []byte, rows uint8, scale int8) {
		d := 1 + int(rows)%40
		x := mat.NewDense(d, d, nil)
		for i := range d {
			unit := math.Ldexp(1, int(scale)*i%900)
			for j := range d {
				if k := i*d + j; len(numbers) > 0 {
					x.Set(i, j, unit*float64(int8(numbers[k%len(numbers)]+byte(k/len(numbers)))))
				}
			}
			if largest(x.RawRowView(i)) == 0 {
				x.Set(i, 0, unit)
			}
		}
		got := mat.DenseCopyOf(x)
		orthonormalize(got.RawMatrix().Data, make([]float64, group*d), d)
		if off := distance(mul(got, got.T()), identity(d)); !(off <= 1e-13) {
			t.Fatalf("%d rows are orthonormal to %.1e", d, off)
		}
		for k := range d {
			row := mat.DenseCopyOf(x.Slice(k, k+1, 0, d))
			row.Scale(1/largest(row.RawRowView(0)), row)
			along := mul(row, got.T())
			for i := k + 1; i < d; i++ {
				if !(math.Abs(along.At(0, i)) <= 1e-12) {
					t.Fatalf("row %d of %d has %.1e along vector %d", k, d, along.At(0, i), i)
				}
			}
		}
	})
}
