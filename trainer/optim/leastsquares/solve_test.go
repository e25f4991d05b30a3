package leastsquares

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
)

func normalMatrix(rng *rand.Rand, rows, columns int) *mat.Dense {
	m := mat.NewDense(rows, columns, nil)
	m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
	return m
}

// leastSquaresCases are matrices of every shape and rank that layers have.
func leastSquaresCases(rng *rand.Rand) map[string]*mat.Dense {
	constant := normalMatrix(rng, 30, 5)
	for i := range 30 {
		constant.Set(i, 2, 0.1) // whose mean is not 0.1 exactly
	}
	twins := normalMatrix(rng, 30, 6)
	for i := range 30 {
		twins.Set(i, 4, twins.At(i, 1))
		twins.Set(i, 5, twins.At(i, 0)-2*twins.At(i, 2))
	}
	simplex := mat.NewDense(40, 5, nil)
	for i := range 40 {
		sum := 0.0
		for j := range 5 {
			simplex.Set(i, j, math.Exp(rng.NormFloat64()))
			sum += simplex.At(i, j)
		}
		for j := range 5 {
			simplex.Set(i, j, simplex.At(i, j)/sum)
		}
	}
	scaled := normalMatrix(rng, 30, 4)
	for i := range 30 {
		scaled.Set(i, 3, 1e-4*scaled.At(i, 3))
	}
	return map[string]*mat.Dense{
		"tall":         normalMatrix(rng, 50, 7),
		"wide":         normalMatrix(rng, 6, 20),
		"square":       normalMatrix(rng, 8, 8),
		"one row":      normalMatrix(rng, 1, 3),
		"one column":   normalMatrix(rng, 9, 1),
		"zero":         mat.NewDense(10, 3, nil),
		"constant":     constant,
		"dependent":    twins,
		"simplex":      simplex,
		"small column": scaled,
		"panels":       normalMatrix(rng, 2*panelRows+100, 20),
	}
}

// The gradient of what is minimized is zero, with the column of ones written out; the rank is that of the
// centred matrix by its singular values; and where there are several solutions it is the shortest, the one
// without a part that Ã does not feel.
func TestLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for name, a := range leastSquaresCases(rng) {
		for _, qr := range []bool{false, true} {
			for _, ridge := range []float64{0, 1e-9, 0.1} {
				rows, n := a.Dims()
				b := normalMatrix(rng, rows, 3)
				x, bias, rank := solved(t, leastSquares{qr: qr, ridge: ridge}, a, b)
				where := fmt.Sprintf("%s, qr %v, ridge %g", name, qr, ridge)

				centred := centre(a)
				var svd mat.SVD
				if !svd.Factorize(centred, mat.SVDFullV) {
					t.Fatal("no singular values")
				}
				if want := svd.Rank(1e-10); svd.Values(nil)[0] > 0 && rank != want || svd.Values(nil)[0] == 0 && rank != 0 {
					t.Errorf("%s: rank %d, want %d", where, rank, want)
				}
				largest := 0.0
				for j := range n {
					c := centred.ColView(j)
					largest = max(largest, mat.Dot(c, c))
				}
				// r = AX + 1bᵀ − B; Aᵀr + λX = 0 and 1ᵀr = 0.
				var r, g mat.Dense
				r.Mul(a, x)
				r.Apply(func(i, j int, v float64) float64 { return v + bias[j] - b.At(i, j) }, &r)
				g.Mul(a.T(), &r)
				var shrunk mat.Dense
				shrunk.Scale(ridge*largest, x)
				g.Add(&g, &shrunk)
				scale := 1e-13 * float64(rows) * (1 + mat.Norm(x, 2)) * (1 + mat.Norm(a, 2))
				if !qr {
					scale *= 100
				}
				if got := mat.Norm(&g, 2); got > scale {
					t.Errorf("%s: the gradient is %.2g, more than %.2g", where, got, scale)
				}
				for j := range 3 {
					if got := math.Abs(mat.Sum(r.ColView(j))); got > scale {
						t.Errorf("%s: the residuals add up to %.2g", where, got)
					}
				}
				var v mat.Dense
				svd.VTo(&v)
				noise := 1e-9
				if !qr && ridge > 0 { // rounding in ÃᵀÃ, in directions that only the ridge holds
					noise += 10 * optim.Eps / ridge
				}
				for k := rank; k < n; k++ {
					var part mat.Dense
					part.Mul(v.ColView(k).T(), x)
					if got := mat.Norm(&part, 2); got > noise*(1+mat.Norm(x, 2)) {
						t.Errorf("%s: %.2g of the solution is not needed", where, got)
					}
				}
			}
		}
	}
}

// solved returns the solution as n × m, and calls between as often as units says.
func solved(t *testing.T, q leastSquares, a, b *mat.Dense) (x mat.Matrix, bias []float64, rank int) {
	t.Helper()
	rows, n := a.Dims()
	_, m := b.Dims()
	calls := 0
	q.between = func() error { calls++; return nil }
	w := mat.NewDense(m, n, nil)
	bias = make([]float64, m)
	before, wanted := mat.DenseCopyOf(a), mat.DenseCopyOf(b)
	rank, err := q.solveTo(w.RawMatrix(), bias, false, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if calls != q.units(rows) {
		t.Errorf("%d × %d: %d pieces of work, %d were announced", rows, n, calls, q.units(rows))
	}
	if !mat.Equal(before, a) || !mat.Equal(wanted, b) {
		t.Error("the data were changed")
	}
	if q.spent < 0 || rank > 0 && q.spent < float64(rank)*float64(rank) {
		t.Errorf("%g multiplications", q.spent)
	}
	return w.T(), bias, rank
}

func centre(a *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(a)
	rows, n := a.Dims()
	for j := range n {
		mean := mat.Sum(a.ColView(j)) / float64(rows)
		for i := range rows {
			out.Set(i, j, a.At(i, j)-mean)
		}
	}
	return out
}

func TestLeastSquaresStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	ended := errors.New("ended")
	for _, qr := range []bool{false, true} {
		for calls := range 4 {
			q := leastSquares{qr: qr}
			q.between = func() error {
				if calls--; calls < 0 {
					return ended
				}
				return nil
			}
			a, b := normalMatrix(rng, 2*panelRows, 2), normalMatrix(rng, 2*panelRows, 1)
			limit := q.units(2 * panelRows)
			left := calls
			if _, err := q.solveTo(zeros(1, 2), make([]float64, 1), false, a, b); left < limit != errors.Is(err, ended) {
				t.Errorf("qr %v, an end after %d of %d: %v", qr, left, limit, err)
			}
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			for _, target := range []bool{false, true} {
				q := leastSquares{qr: qr, ridge: 1e-2, between: func() error { return nil }}
				a, b := normalMatrix(rng, 20, 3), normalMatrix(rng, 20, 2)
				if target {
					b.Set(7, 1, bad)
				} else {
					a.Set(7, 1, bad)
				}
				_, err := q.solveTo(zeros(2, 3), make([]float64, 2), false, a, b)
				var broken *optim.NotFiniteError
				if !errors.As(err, &broken) {
					t.Errorf("qr %v, a target %v of %g: %v", qr, target, bad, err)
				}
			}
		}
	}
}

// Each rule against what defines it, for one output and for several, more of them than nodes included.
func TestTargetRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for _, size := range [][2]int{{1, 4}, {3, 5}, {5, 5}, {6, 2}, {1, 1}} {
		outputs, nodes := size[0], size[1]
		w := normalMatrix(rng, outputs, nodes)
		n, r := normalMatrix(rng, 7, nodes), normalMatrix(rng, 7, outputs)
		var y mat.Dense // what the layer above wants: Wn + r
		y.Mul(n, w.T())
		y.Add(&y, r)
		moved := map[string]*mat.Dense{}
		for _, rule := range []string{rulePrinted, ruleDamped, ruleMinimumNorm} {
			c := mat.NewDense(outputs, nodes, nil)
			correctionTo(c, rule, w.RawMatrix())
			d := &mat.Dense{}
			d.Mul(r, c)
			moved[rule] = d
		}
		for p := range 7 {
			for i := range nodes {
				to := n.At(p, i) + moved[rulePrinted].At(p, i)
				slope := 0.0 // of ½Σ_j (y_j − Σ_{t≠i} w_jt n_t − w_ji z)² along z = n̂_i
				for j := range outputs {
					rest := y.At(p, j)
					for k := range nodes {
						if k != i {
							rest -= w.At(j, k) * n.At(p, k)
						}
					}
					slope -= w.At(j, i) * (rest - w.At(j, i)*to)
					if outputs == 1 && math.Abs(rest/w.At(0, i)-to) > 1e-10*(1+math.Abs(to)) {
						t.Errorf("%v: n̂ = %g, by eq. 5 %g", size, to, rest/w.At(0, i))
					}
				}
				if math.Abs(slope) > 1e-10*(1+math.Abs(to)) {
					t.Errorf("%v: the printed rule leaves a slope of %g", size, slope)
				}
				if got, want := moved[ruleDamped].At(p, i)*float64(nodes), moved[rulePrinted].At(p, i); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("%v: damped %g times %d, printed %g", size, got, nodes, want)
				}
			}
		}
		checkMinimumNorm(t, w, r, moved[ruleMinimumNorm])
	}
}

// checkMinimumNorm wants Wᵀ(Wd − r) = 0 and every d in the row space of W.
func checkMinimumNorm(t *testing.T, w, r, d *mat.Dense) {
	t.Helper()
	var left, g mat.Dense
	left.Mul(d, w.T())
	left.Sub(&left, r)
	g.Mul(&left, w)
	if got := mat.Norm(&g, 2); got > 1e-11 {
		t.Errorf("minimum norm: a gradient of %g", got)
	}
	outputs, nodes := w.Dims()
	if outputs <= nodes && mat.Norm(&left, 2) > 1e-11 {
		t.Errorf("minimum norm: %g is not made up for", mat.Norm(&left, 2))
	}
	var svd mat.SVD
	svd.Factorize(w, mat.SVDFull)
	var v mat.Dense
	svd.VTo(&v)
	for k := svd.Rank(1e-12); k < nodes; k++ {
		var part mat.Dense
		part.Mul(d, v.ColView(k))
		if got := mat.Norm(&part, 2); got > 1e-11 {
			t.Errorf("minimum norm: %g for nothing", got)
		}
	}
}

// A node that feeds nothing stays; so do all of them under weights of zero, and outputs that add up to a
// constant, as softmax logits do, leave the minimum norm one rank less.
func TestTargetRulesOnAwkwardWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	dead := normalMatrix(rng, 3, 4)
	for j := range 3 {
		dead.Set(j, 2, 0)
	}
	logits := normalMatrix(rng, 3, 4)
	for i := range 4 {
		logits.Set(2, i, -logits.At(0, i)-logits.At(1, i))
	}
	for name, w := range map[string]*mat.Dense{"dead": dead, "zero": mat.NewDense(3, 4, nil), "logits": logits} {
		for _, rule := range []string{rulePrinted, ruleDamped, ruleMinimumNorm} {
			c := normalMatrix(rng, 3, 4)
			correctionTo(c, rule, w.RawMatrix())
			for i := range 4 {
				fed := mat.Norm(w.ColView(i), 2) > 0
				if got := mat.Norm(c.ColView(i), 2); math.IsNaN(got) || !fed && got > 1e-14 {
					t.Errorf("%s, %s: node %d moves by %g", name, rule, i, got)
				}
			}
		}
	}
	c := mat.NewDense(3, 4, nil)
	correctionTo(c, ruleMinimumNorm, logits.RawMatrix())
	r := normalMatrix(rng, 5, 3)
	for p := range 5 { // what logits lack adds up to nothing
		r.Set(p, 2, -r.At(p, 0)-r.At(p, 1))
	}
	var d mat.Dense
	d.Mul(r, c)
	checkMinimumNorm(t, logits, r, &d)
}

// A product by strips is AᵀA.
func TestGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for _, columns := range []int{1, 127, 128, 129, 300} {
		a := normalMatrix(rng, 17, columns)
		g := zeros(columns, columns)
		addGram(g, a.RawMatrix())
		var want mat.Dense
		want.Mul(a.T(), a)
		for i := range columns {
			for j := i; j < columns; j++ {
				if got := g.Data[i*g.Stride+j]; math.Abs(got-want.At(i, j)) > 1e-12 {
					t.Fatalf("%d columns: entry (%d, %d) is %g, want %g", columns, i, j, got, want.At(i, j))
				}
			}
		}
	}
}

// Without biases the solution is that of A Wᵀ = B as it stands, by gonum's QR.
func TestUnbiasedSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	a, b := normalMatrix(rng, 40, 5), normalMatrix(rng, 40, 2)
	var want mat.Dense
	if err := want.Solve(a, b); err != nil {
		t.Fatal(err)
	}
	for _, qr := range []bool{false, true} {
		q := leastSquares{qr: qr, between: func() error { return nil }}
		w, bias := mat.NewDense(2, 5, nil), []float64{1, 1}
		if rank, err := q.solveTo(w.RawMatrix(), bias, true, a, b); err != nil || rank != 5 {
			t.Fatal(rank, err)
		}
		if !mat.EqualApprox(w.T(), &want, 1e-10) || bias[0] != 0 || bias[1] != 0 {
			t.Errorf("qr %t: biases %v, weights\n%v, want\n%v", qr, bias, mat.Formatted(w.T()), mat.Formatted(&want))
		}
	}
}
