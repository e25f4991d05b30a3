package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// SCGDifferences is SCG as first published, with one-sided differences of the gradient in place of exact products [M,
// eq. 15]. The paper says what is wrong with it: with an error ε in E' that of s is up to 2ε/σ_k, and the other part of
// it grows with σ_k.
var SCGDifferences = optim.Info{
	Name:      "scg-fd",
	Title:     "Scaled conjugate gradients, differences",
	Paper:     "Møller 1993 (Neural Networks 6)",
	Equations: "SCG steps 1–9 with s = (E'(w + σ_k p) − E'(w))/σ_k, σ_k = σ/‖p‖",
	Summary: "SCG as first published, from gradients alone; " +
		"cheaper a step than scg, and at the mercy of σ near a solution.",
	Cost:       "2, and 1 where a step fails",
	Primary:    "lambda",
	Monotone:   true,
	Proposes:   true,
	Parameters: optim.Parameters(Lambda, Sigma, Form),
	New: func() optim.Method {
		var d differences
		return &scg{product: d.productTo}
	},
}

// Sigma is the length of the differences.
var Sigma = &optim.Number{
	Key: "sigma", Meaning: "σ, the length of the differences", Default: 1e-4, Max: 1, Open: true,
	Source: "Møller 1993, SCG step 1: 0 < σ ≤ 1e-4",
}

// differences stand in for products with E”.
type differences struct{ point []float64 }

func (d *differences) productTo(dst []float64, s *optim.State, p []float64) error {
	if len(d.point) != len(p) {
		d.point = make([]float64, len(p))
	}
	sigma := Sigma.Of(s.Settings) / vector.Norm(p)
	floats.AddScaledTo(d.point, s.W, sigma, p)
	if loss := s.Objective.GradientTo(dst, d.point); math.IsNaN(loss) {
		return &optim.NotFiniteError{What: "curvature"}
	}
	vector.Sub(dst, dst, s.Gradient)
	vector.Scale(dst, 1/sigma, dst)
	return nil
}
