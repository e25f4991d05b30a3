package models

import "math"

// Activation is the function f_l that turns a layer's net inputs v into its outputs u. Softmax is a
// function of the whole layer; the others act on every node alone.
type Activation uint8

// The activations.
const (
	Identity Activation = iota // u = v
	Sigmoid                    // u = 1/(1 + e^−v)
	Tanh                       // u = tanh v
	Softplus                   // u = log(1 + e^v)
	ReLU                       // u = max(0, v), with f′(0) = 0
	Softmax                    // u_i = e^v_i / Σ_j e^v_j
)

var activations = [...]string{
	Identity: "identity", Sigmoid: "sigmoid", Tanh: "tanh", Softplus: "softplus", ReLU: "relu", Softmax: "softmax",
}

// String returns the name that ParseActivation reads.
func (a Activation) String() string { return nameOf(activations[:], uint8(a)) }

// ParseActivation reads the name of an activation; "linear" is another name of "identity". It returns
// a *NameError for anything else.
func ParseActivation(name string) (Activation, error) {
	if name == "linear" {
		return Identity, nil
	}
	i, err := parseName("activation", activations[:], name)
	return Activation(i), err
}

// MarshalText writes the name.
func (a Activation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what ParseActivation does.
func (a *Activation) UnmarshalText(text []byte) (err error) {
	*a, err = ParseActivation(string(text))
	return err
}

// A layer offers four maps: value u = f(v), push-forward φ ↦ Jφ, pull-back ε ↦ Jᵀε, and the derivative
// of the pull-back along φ. For the elementwise activations they need no more than
//
//	f′     a function of u (tanh: 1 − u², …), but for softplus, which keeps it
//	f″/f′  a function of u or f′; with it f″∘φ∘ε = (f″/f′)∘φ∘δ, so that ε need not be kept
//
// so that a product with the Hessian evaluates no transcendental function.

// value replaces v by f(v). Softplus stores f′ in slope, which the others ignore. Not for softmax.
func (a Activation) value(v, slope []float64) {
	switch a {
	case Sigmoid:
		for i, x := range v {
			v[i] = 1 / (1 + math.Exp(-x))
		}
	case Tanh:
		for i, x := range v {
			v[i] = math.Tanh(x)
		}
	case Softplus:
		slope = slope[:len(v)]
		for i, x := range v {
			v[i], slope[i] = softplus(x)
		}
	case ReLU:
		for i, x := range v {
			v[i] = max(x, 0)
		}
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

// slope stores f′ in d for outputs u. Not for softplus, which kept it, and not for softmax.
func (a Activation) slope(d, u []float64) {
	u = u[:len(d)]
	switch a {
	case Identity:
		for i := range d {
			d[i] = 1
		}
	case Sigmoid:
		for i, u := range u {
			d[i] = u * (1 - u)
		}
	case Tanh:
		for i, u := range u {
			d[i] = 1 - u*u
		}
	case ReLU:
		for i, u := range u {
			d[i] = 0
			if u != 0 { // a NaN passes
				d[i] = 1
			}
		}
	}
}

// bend stores f″/f′ in q for outputs u with slopes d, if the activation is curved.
func (a Activation) bend(q, u, d []float64) {
	u, d = u[:len(q)], d[:len(q)]
	switch a {
	case Sigmoid:
		for i, u := range u {
			q[i] = 1 - 2*u
		}
	case Tanh:
		for i, u := range u {
			q[i] = -2 * u
		}
	case Softplus:
		for i, d := range d {
			q[i] = 1 - d
		}
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

// softmax replaces the logits v of nodes × rows by probabilities. It leaves every row's largest logit
// in top and the sum of e^(v−top) in sum, both of one number a row.
func softmax(v, top, sum []float64) {
	columnMax(top, v)
	clear(sum)
	rows := len(sum)
	for i := 0; i < len(v); i += rows {
		for j, x := range v[i : i+rows] {
			e := math.Exp(x - top[j])
			v[i+j] = e
			sum[j] += e
		}
	}
	for i := 0; i < len(v); i += rows {
		for j := range v[i : i+rows] {
			v[i+j] /= sum[j]
		}
	}
}

// columnMax stores the largest of every row's numbers in top; x is nodes × rows.
func columnMax(top, x []float64) {
	rows := len(top)
	copy(top, x)
	for i := rows; i < len(x); i += rows {
		for j, v := range x[i : i+rows] {
			if v > top[j] {
				top[j] = v
			}
		}
	}
}

// columnDots stores ⟨x, y⟩ of every row in dst; x and y are nodes × rows.
func columnDots(dst, x, y []float64) {
	rows := len(dst)
	clear(dst)
	for i := 0; i < len(x); i += rows {
		y := y[i : i+rows]
		for j, v := range x[i : i+rows] {
			dst[j] += v * y[j]
		}
	}
}
