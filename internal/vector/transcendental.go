package vector

import "math"

// Exp stores e^x.
func Exp(dst, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = math.Exp(v)
	}
}

// Tanh stores tanh x.
func Tanh(dst, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = math.Tanh(v)
	}
}

// Sigmoid stores 1/(1 + e^−x).
func Sigmoid(dst, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = logistic(v, math.Exp(-math.Abs(v)))
	}
}

// logistic returns 1/(1 + e^−x) from e^−|x|, which keeps the digits of the small values.
func logistic(x, e float64) float64 {
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// Softplus stores log(1 + e^x) in dst and its derivative, the sigmoid, in slope.
func Softplus(dst, slope, x []float64) {
	slope = slope[:len(dst)]
	for i, v := range x[:len(dst)] {
		e := math.Exp(-math.Abs(v))
		slope[i] = logistic(v, e)
		dst[i] = max(v, 0) + math.Log1p(e)
	}
}
