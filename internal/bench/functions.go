package bench

import (
	"time"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// Function is the speed of a vector function on one core, its operands in the cache.
type Function struct {
	Name     string  `json:"name"`
	Elements int     `json:"elements"` // of one call
	MedianNS float64 `json:"median_ns_per_element"`
	BestNS   float64 `json:"best_ns_per_element"`
}

// Sizes of what the functions work on, as the letter net has them.
const (
	layerNodes = 70
	outputs    = 26
	weights    = 6066
)

func measureFunctions(c *clock, budget time.Duration) []Function {
	const n = layerNodes * dataRows
	x, dst, phi, delta := some(n), make([]float64, n), some(n), some(n)
	vector.Scale(x, 4, x) // where nothing saturates yet
	u, v := make([]float64, n), make([]float64, n)
	vector.Tanh(u, x)
	top, sum := make([]float64, dataRows), make([]float64, dataRows)
	probabilities := dst[:outputs*dataRows]
	w, m, s, g := some(weights), make([]float64, weights), make([]float64, weights), some(weights)
	step := vector.AdamStep{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Correct1: 10, Correct2: 1000}
	total := 0.0
	list := []struct {
		name     string
		elements int
		call     func()
	}{
		{"exp", n, func() { vector.Exp(dst, x) }},
		{"tanh", n, func() { vector.Tanh(dst, x) }},
		{"sigmoid", n, func() { vector.Sigmoid(dst, x) }},
		{"softplus", n, func() { vector.Softplus(dst, v, x) }},
		{"softmax", len(probabilities), func() {
			copy(probabilities, x)
			vector.ColumnMax(top, probabilities)
			vector.ColumnSoftmax(sum, top, probabilities)
		}},
		{"tanh push", n, func() { vector.TanhPush(dst, u, phi) }},
		{"sigmoid push", n, func() { vector.SigmoidPush(dst, u, phi) }},
		{"relu push", n, func() { vector.ReLUPush(dst, u, phi) }},
		// These write over what they read; without the copy it would shrink to nothing.
		{"tanh curve", n, func() { copy(dst, x); vector.TanhCurve(dst, u, phi, delta) }},
		{"sigmoid curve", n, func() { copy(dst, x); vector.SigmoidCurve(dst, u, phi, delta) }},
		{"softplus curve", n, func() { copy(dst, x); vector.SoftplusCurve(dst, u, phi, delta) }},
		{"residual", n, func() { total += vector.Residual(dst, u, phi) }},
		{"dot", n, func() { total += vector.Dot(phi, delta) }},
		{"transpose", n, func() { blas.Transpose(dst, layerNodes, x, dataRows, layerNodes, dataRows) }},
		{"adam", weights, func() { vector.Adam(w, m, s, g, &step) }},
	}
	out := make([]Function, len(list))
	for i, f := range list {
		t := c.repeat(budget/time.Duration(len(list)), f.call)
		elements := float64(f.elements)
		out[i] = Function{Name: f.name, Elements: f.elements, MedianNS: t.median / elements, BestNS: t.best / elements}
	}
	return out
}
