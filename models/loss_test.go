package models

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// identityInto returns a network without hidden layers, with weights that make its net inputs equal to
// its inputs.
func identityInto(t *testing.T, outputs int, out Activation, loss LossFunction) (*Network, []float64) {
	n := mustNetwork(t, Chain(outputs, nil, outputs, Identity, out, loss, SkipNone))
	w := make([]float64, n.Dim())
	for i := range outputs {
		w[i*outputs+i] = 1
	}
	return n, w
}

func TestLosses(t *testing.T) {
	ln := math.Log
	for _, c := range []struct {
		name string
		out  Activation
		loss LossFunction
		v, t []float64
		want float64
	}{
		{"mse", Identity, SquaredError, []float64{1, -2}, []float64{0, 1}, 5},
		{"softmax mse", Softmax, SquaredError, []float64{0, 0}, []float64{1, 0}, 0.25},
		{"softmax", Softmax, CrossEntropy, []float64{0, ln(3)}, []float64{0, 1}, ln(4) - ln(3)},
		{"soft targets", Softmax, CrossEntropy, []float64{0, ln(3)}, []float64{.5, .5}, ln(4) - ln(3)/2},
		{"far right", Softmax, CrossEntropy, []float64{800, -800}, []float64{1, 0}, 0},
		{"far wrong", Softmax, CrossEntropy, []float64{800, -800}, []float64{0, 1}, 1600},
		{"huge", Softmax, CrossEntropy, []float64{1e300, 0}, []float64{0, 1}, 1e300},
		{"no weight on −∞", Softmax, CrossEntropy, []float64{-1e308, 1e308}, []float64{0, 1}, 0},
		{"sigmoid", Sigmoid, CrossEntropy, []float64{0, ln(3)}, []float64{1, 0}, ln(2) + ln(4)},
		{"sigmoid far right", Sigmoid, CrossEntropy, []float64{800, -800}, []float64{1, 0}, 0},
		{"sigmoid far wrong", Sigmoid, CrossEntropy, []float64{800, -800}, []float64{0, 1}, 1600},
		{"sigmoid of one", Sigmoid, CrossEntropy, []float64{-ln(3)}, []float64{1}, ln(4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, w := identityInto(t, len(c.v), c.out, c.loss)
			l := n.Linearize(w, mat.NewDense(1, len(c.v), c.v), mat.NewDense(1, len(c.v), c.t))
			wantNear(t, "loss", []float64{l.Loss()}, []float64{c.want}, 1e-15)
			dst, d := make([]float64, n.Dim()), make([]float64, n.Dim())
			l.GradientTo(dst)
			wantFinite(t, "gradient", dst)
			d[n.Dim()-1] = 1
			l.HessianTo(dst, d)
			wantFinite(t, "Hd", dst)
			l.GaussNewtonTo(dst, d)
			wantFinite(t, "Gd", dst)
			l.GaussNewtonDiagTo(dst)
			if math.Abs(c.v[0]) < 1e100 { // the square of 1e300 is out of range
				wantFinite(t, "diagonal", dst)
			}
		})
	}
}

// TestSigmoidLossKeepsItsDigits: a certain and right output costs log(1 + e^−|v|) to all digits, on either
// side, and a certain and wrong one |v| more.
func TestSigmoidLossKeepsItsDigits(t *testing.T) {
	n, w := identityInto(t, 1, Sigmoid, CrossEntropy)
	for _, far := range []float64{0.5, 10, 36, 40, 100, 700} {
		right := math.Log1p(math.Exp(-far))
		for _, c := range []struct{ v, t, want float64 }{
			{far, 1, right}, {-far, 0, right}, {far, 0, right + far}, {-far, 1, right + far}, {far, 0.25, right + 0.75*far},
		} {
			got := n.Linearize(w, mat.NewDense(1, 1, []float64{c.v}), mat.NewDense(1, 1, []float64{c.t})).Loss()
			if math.Abs(got-c.want) > 1e-15*c.want {
				t.Errorf("v = %g, t = %g: loss %.17g, expected %.17g", c.v, c.t, got, c.want)
			}
		}
	}
}

func wantFinite(t *testing.T, what string, x []float64) {
	t.Helper()
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s[%d] = %g", what, i, v)
			return
		}
	}
}

func TestEvaluation(t *testing.T) {
	n, w := identityInto(t, 3, Identity, SquaredError)
	x := mat.NewDense(4, 3, []float64{
		1, 2, 3, // right
		3, 2, 1, // wrong
		5, 5, 0, // the first of two equals: right
		-1, 0, 1, // right
	})
	targets := mat.NewDense(4, 3, []float64{0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1})
	e := n.Linearize(w, x, targets).Evaluation()
	if e.Rows != 4 || e.Outputs != 3 || e.Misclassified != 1 || e.Error() != 0.25 {
		t.Errorf("got %+v", e)
	}
	x.Set(2, 0, math.NaN()) // where nothing is larger than it
	if e := n.Linearize(w, x, targets).Evaluation(); e.Misclassified != 2 || !math.IsNaN(e.Loss) {
		t.Errorf("with a NaN: %+v, expected 2 wrong rows and no loss", e)
	}
	x.Set(2, 0, 5)
	x.Set(3, 0, 0)
	squared := 1. + 4 + 4 + 9 + 1 + 1 + 16 + 25
	e = n.Linearize(w, x, targets).Evaluation()
	wantNear(t, "evaluation", []float64{e.SquaredError, e.Loss, e.RMSE()},
		[]float64{squared, squared / 8, math.Sqrt(squared / 12)}, 1e-15)

	one, w := identityInto(t, 1, Sigmoid, CrossEntropy)
	if e := one.Linearize(w, mat.NewDense(1, 1, []float64{-3}), mat.NewDense(1, 1, []float64{1})).Evaluation(); e.Misclassified != 0 {
		t.Errorf("one output: %d wrong, expected 0", e.Misclassified)
	}
}

// TestNotFinite: a NaN or an infinity in one row of the data reaches the loss and the gradient, and
// nothing hangs or panics.
func TestNotFinite(t *testing.T) {
	for seed := range uint64(60) {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			p := randomProblem(t, seed, 150, true)
			pool := reduce.NewPool(2)
			p.x.Set(77, 0, bad)
			p.t.Set(77, 0, bad)
			l := p.n.Bind(p.x, p.t, Options{Pool: pool})
			numbers := everything(l, p)
			if loss := numbers[0]; !math.IsNaN(loss) && !math.IsInf(loss, 0) {
				t.Errorf("%s: loss %g with %g in the data", describe(p.n), loss, bad)
			}
			p.x.Set(77, 0, 1)
			p.t.Set(77, 0, 1)
			l = p.n.Bind(p.x, p.t, Options{Pool: pool})
			p.w[0] = bad
			everything(l, p)
			pool.Close()
		}
	}
}
