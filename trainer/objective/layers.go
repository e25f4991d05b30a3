package objective

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/optim"
)

// coded reports whether the targets are classes, as datasets codes them: one 1 in each row among 0 or −1.
func coded(t *mat.Dense) bool {
	rows, columns := t.Dims()
	if columns < 2 {
		return false
	}
	low := min(t.At(0, 0), t.At(0, 1))
	if low != 0 && low != -1 {
		return false
	}
	for i := range rows {
		ones := 0
		for _, v := range t.RawRowView(i) {
			switch v {
			case 1:
				ones++
			case low:
			default:
				return false
			}
		}
		if ones != 1 {
			return false
		}
	}
	return true
}

// inverses are the activations that can be undone, a row at a time.
var inverses = map[models.Activation]optim.Activation{
	models.Identity: {
		Value:   func([]float64) {},
		Clip:    func([]float64, float64) {},
		Inverse: func([]float64) {},
	},
	models.Sigmoid: {
		Value:   each(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }),
		Clip:    func(u []float64, kappa float64) { clamp(u, kappa, 1-kappa) },
		Inverse: each(func(u float64) float64 { return math.Log(u) - math.Log1p(-u) }),
	},
	models.Tanh: {
		Value:   each(math.Tanh),
		Clip:    func(u []float64, kappa float64) { clamp(u, kappa-1, 1-kappa) },
		Inverse: each(math.Atanh),
	},
	models.Softplus: {
		Value:   each(func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }),
		Clip:    func(u []float64, kappa float64) { clamp(u, kappa, math.Inf(1)) },
		Inverse: each(func(u float64) float64 { return u + math.Log(-math.Expm1(-u)) }),
	},
	models.Softmax: {Value: softmax, Clip: clipSoftmax, Inverse: logits},
}

// each makes a map of a row from a map of a number.
func each(f func(float64) float64) func([]float64) {
	return func(x []float64) {
		for i, v := range x {
			x[i] = f(v)
		}
	}
}

func clamp(u []float64, low, high float64) {
	for i, v := range u {
		u[i] = min(max(v, low), high)
	}
}

func softmax(v []float64) {
	floats.AddConst(-floats.Max(v), v)
	for i, x := range v {
		v[i] = math.Exp(x)
	}
	floats.Scale(1/floats.Sum(v), v)
}

// clipSoftmax moves u to where all numbers are positive and their sum is 1. A row that is one already stays
// as it is but for what is below κ.
func clipSoftmax(u []float64, kappa float64) {
	clamp(u, kappa, 1)
	floats.Scale(1/floats.Sum(u), u)
}

// logits replaces probabilities by their logarithms, which softmax gives back whatever constant is added: the
// one for which their sum is 0 makes them the shortest.
func logits(u []float64) {
	for i, v := range u {
		u[i] = math.Log(v)
	}
	floats.AddConst(-floats.Sum(u)/float64(len(u)), u)
}
