package models

import "newtop/models/internal/pass"

// LossFunction is what a network's outputs are measured by, for one row: the number of a loss in package pass, whose methods
// compute with it.
type LossFunction uint8

// The losses.
const (
	// SquaredError is ½‖u − t‖².
	SquaredError LossFunction = iota
	// CrossEntropy is −Σ t log u after softmax, and −Σ t log u + (1−t) log(1−u) after sigmoid, where
	// every output is a class of its own. Targets are probabilities; 0·log 0 is 0.
	CrossEntropy
)

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
