package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestMeasureOutputs(t *testing.T) {
	ln := math.Log
	for _, c := range []struct {
		name          string
		out           Activation
		loss          LossFunction
		u, t          []float64 // two rows of two outputs
		want, squared float64
		wrong         int
	}{
		{"mse", Identity, SquaredError, []float64{1, 2, 3, 5}, []float64{0, 2, 3, 1}, (1 + 16) / 4., 17, 1},
		{"softmax", Softmax, CrossEntropy, []float64{.25, .75, .5, .5}, []float64{0, 1, 1, 0}, (ln(4./3) + ln(2)) / 2, .125 + .5, 0},
		{"certain and right", Softmax, CrossEntropy, []float64{0, 1, 1, 0}, []float64{0, 1, 1, 0}, 0, 0, 0},
		{"certain and wrong", Softmax, CrossEntropy, []float64{1, 0, 1, 0}, []float64{0, 1, 1, 0}, math.Inf(1), 2, 1},
		{"sigmoid", Sigmoid, CrossEntropy, []float64{.5, .25, 1, 0}, []float64{1, 0, 1, 0}, (ln(2) + ln(4./3)) / 2, .25 + .0625, 0},
	} {
		n := mustNetwork(t, Chain(1, nil, 2, Identity, c.out, c.loss, SkipNone))
		got := n.MeasureOutputs(mat.NewDense(2, 2, c.u), mat.NewDense(2, 2, c.t))
		want := Evaluation{Rows: 2, Outputs: 2, Misclassified: c.wrong, Loss: c.want, SquaredError: c.squared}
		if math.Abs(got.Loss-want.Loss) < 1e-15 {
			got.Loss = want.Loss
		}
		if got != want {
			t.Errorf("%s: %+v, expected %+v", c.name, got, want)
		}
		if rows := (n.RowLoss(c.u[:2], c.t[:2]) + n.RowLoss(c.u[2:], c.t[2:])) / 2; rows != c.want && math.Abs(rows-c.want) > 1e-15 {
			t.Errorf("%s: the rows cost %v, expected %v", c.name, rows, c.want)
		}
	}
}

// TestMeasureOwnOutputs: a network's own outputs measure like the network itself.
func TestMeasureOwnOutputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		out  Activation
		loss LossFunction
	}{{Tanh, SquaredError}, {Softmax, SquaredError}, {Softmax, CrossEntropy}, {Sigmoid, CrossEntropy}} {
		p := randomData(t, Chain(3, []int{5}, 4, Tanh, c.out, c.loss, SkipNone), rng, 130)
		u := mat.NewDense(130, 4, nil)
		p.n.OutputTo(u, p.w, p.x)
		got, want := p.n.MeasureOutputs(u, p.t), p.n.Linearize(p.w, p.x, p.t).Evaluation()
		wantNear(t, describe(p.n), []float64{got.Loss, got.SquaredError, float64(got.Misclassified)},
			[]float64{want.Loss, want.SquaredError, float64(want.Misclassified)}, 1e-13)
	}
}
