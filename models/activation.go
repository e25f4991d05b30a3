package models

import (
	"slices"

	"newtop/models/internal/pass"
)

// Activation is the function f_l that turns a layer's net inputs v into its outputs u. Softmax is a
// function of the whole layer; the others act on every node alone.
type Activation uint8

// The activations.
const (
	Identity = Activation(pass.Identity) // u = v
	Sigmoid  = Activation(pass.Sigmoid)  // u = 1/(1 + e^−v)
	Tanh     = Activation(pass.Tanh)     // u = tanh v
	Softplus = Activation(pass.Softplus) // u = log(1 + e^v)
	ReLU     = Activation(pass.ReLU)     // u = max(0, v), with f′(0) = 0
	Softmax  = Activation(pass.Softmax)  // u_i = e^v_i / Σ_j e^v_j
)

var activations = [...]string{
	Identity: "identity", Sigmoid: "sigmoid", Tanh: "tanh", Softplus: "softplus", ReLU: "relu", Softmax: "softmax",
}

// ActivationNames returns the names that ParseActivation reads.
func ActivationNames() []string { return slices.Clone(activations[:]) }

// String returns the name that ParseActivation reads.
func (a Activation) String() string { return nameOf(activations[:], uint8(a)) }

// ParseActivation reads the name of an activation; "linear" is another name of "identity". It returns
// a *NameError for anything else.
func ParseActivation(name string) (Activation, error) {
	if name == "linear" {
		return Identity, nil
	}
	return parseName[Activation]("activation", activations[:], name)
}

// MarshalText writes the name.
func (a Activation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what ParseActivation does.
func (a *Activation) UnmarshalText(text []byte) (err error) {
	*a, err = ParseActivation(string(text))
	return err
}
