package pass

import (
	"math"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// Activation is the function f_l that turns a layer's net inputs v into its outputs u.
type Activation uint8

// The activations, as models describes them.
const (
	Identity Activation = iota
	Sigmoid
	Tanh
	Softplus
	ReLU
	Softmax
)

// A layer offers four maps: value u = f(v), push-forward φ ↦ Jφ, pull-back ε ↦ Jᵀε, and the derivative
// of the pull-back along φ. For the elementwise activations they need no more than
//
//	f′     a function of u (tanh: 1 − u², …), but for softplus, which keeps it
//	f″/f′  a function of u or f′; with it f″∘φ∘ε = (f″/f′)∘φ∘δ, so that ε need not be kept
//
// so that a product with the Hessian evaluates no transcendental function.

// value replaces v by f(v). Softplus stores f′ in slope, which the others ignore. Not for softmax.
func value[F Float](a Activation, v, slope []F) {
	switch a {
	case Sigmoid:
		vector.Sigmoid(v, v)
	case Tanh:
		vector.Tanh(v, v)
	case Softplus:
		vector.Softplus(v, slope, v)
	case ReLU:
		vector.ReLU(v, v)
	}
}

// softplus returns log(1 + e^x) and its derivative, the sigmoid, without overflow.
func softplus(x float64) (value, slope float64) {
	e := math.Exp(-math.Abs(x))
	value = max(x, 0) + math.Log1p(e)
	if x < 0 {
		return value, e / (1 + e)
	}
	return value, 1 / (1 + e)
}

// slope stores f′∘x in dst, for outputs u or, of softplus, the slope that was kept. Not for softmax.
func slope[F Float](a Activation, dst, u, slope, x []F) {
	switch a {
	case Identity:
		copy(dst, x)
	case Sigmoid:
		vector.SigmoidPush(dst, u, x)
	case Tanh:
		vector.TanhPush(dst, u, x)
	case Softplus:
		vector.Mul(dst, slope, x)
	case ReLU:
		vector.ReLUPush(dst, u, x)
	}
}

// bend replaces x by f′∘x + (f″/f′)∘φ∘δ, if the activation is curved.
func bend[F Float](a Activation, x, u, slope, phi, delta []F) {
	switch a {
	case Sigmoid:
		vector.SigmoidCurve(x, u, phi, delta)
	case Tanh:
		vector.TanhCurve(x, u, phi, delta)
	case Softplus:
		vector.SoftplusCurve(x, slope, phi, delta)
	}
}

func (a Activation) curved() bool { return a == Sigmoid || a == Tanh || a == Softplus }

// keeps returns how many numbers a node and row of a layer with this activation keep beside u and δ:
// f′ for softplus, ε − ⟨u, ε⟩ for softmax.
func (a Activation) keeps() int {
	if a == Softplus || a == Softmax {
		return 1
	}
	return 0
}

// Float is a number of either precision.
type Float = blas.Float

func nodeOf[F Float](x []F, i, rows int) []F { return x[i*rows : (i+1)*rows] }
