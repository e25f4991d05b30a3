package models

import (
	"fmt"
	"math"
	"slices"

	"newtop/models/internal/pass"
)

// LossFunction is what a network's outputs are measured by, for one row: the number of a loss in package pass, whose
// methods compute with it.
type LossFunction uint8

// The losses.
const (
	// SquaredError is ½‖u − t‖².
	SquaredError LossFunction = iota
	// CrossEntropy is −Σ t log u after softmax, and −Σ t log u + (1−t) log(1−u) after sigmoid, where
	// every output is a class of its own. Targets are probabilities; 0·log 0 is 0.
	CrossEntropy
)

// RegisterLoss adds a loss that is a sum of ℓ(u, t) over the outputs u of a row and their targets t, and returns its
// number, by which an Architecture has it; ParseLoss, files and Configs know it by name. at returns ℓ and its first two
// derivatives by u, of which the second is never negative: all products, the exact Hessian's too, are made of these.
// Passes call it for every output of every row, several threads at once.
//
// It is called at the start of a program, before anything else uses losses: what is trained with a registered loss,
// resumed or read from a file wants it registered again. It panics for a name that another loss has.
func RegisterLoss(name string, at func(u, t float64) (value, slope, curvature float64)) LossFunction {
	switch {
	case name == "" || at == nil:
		panic("models: RegisterLoss: expected a name and a function")
	case slices.Contains(LossNames(), name):
		panic(fmt.Sprintf("models: RegisterLoss: there is a loss %q already", name))
	case len(pass.Losses) > math.MaxUint8:
		panic("models: RegisterLoss: too many losses")
	}
	pass.Losses = append(pass.Losses, pass.Elementwise{Called: name, At: at})
	return LossFunction(len(pass.Losses) - 1)
}

// LossNames returns the names that ParseLoss reads.
func LossNames() []string {
	var names []string
	for _, l := range pass.Losses {
		names = append(names, l.Name())
	}
	return names
}

// String returns the name that ParseLoss reads.
func (l LossFunction) String() string { return nameOf(LossNames(), uint8(l)) }

// ParseLoss reads one of LossNames. It returns a *NameError for anything else.
func ParseLoss(name string) (LossFunction, error) {
	return parseName[LossFunction]("loss", LossNames(), name)
}

// MarshalText writes the name.
func (l LossFunction) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what ParseLoss does.
func (l *LossFunction) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLoss(string(text))
	return err
}
