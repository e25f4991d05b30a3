package models

import (
	"fmt"
	"slices"
	"strings"
)

// Loss is what a network's outputs are measured by, for one row.
type Loss uint8

// The losses.
const (
	// SquaredError is ½‖u − t‖².
	SquaredError Loss = iota
	// CrossEntropy is −Σ t log u after softmax, and −Σ t log u + (1−t) log(1−u) after sigmoid, where
	// every output is a class of its own. Targets are probabilities; 0·log 0 is 0.
	CrossEntropy
)

var losses = [...]string{SquaredError: "mse", CrossEntropy: "xent"}

// String returns the name that ParseLoss reads.
func (l Loss) String() string { return nameOf(losses[:], uint8(l)) }

// ParseLoss reads "mse" or "xent". It returns a *NameError for anything else.
func ParseLoss(name string) (Loss, error) {
	i, err := parseName("loss", losses[:], name)
	return Loss(i), err
}

// MarshalText writes the name.
func (l Loss) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what ParseLoss does.
func (l *Loss) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLoss(string(text))
	return err
}

// Skip says which connections a chain has beside those between neighbours.
type Skip uint8

// The kinds of skips.
const (
	SkipNone   Skip = iota
	SkipDirect      // inputs to outputs
	SkipAll         // every layer to all later ones
)

var skips = [...]string{SkipNone: "none", SkipDirect: "direct", SkipAll: "all"}

// String returns the name that ParseSkip reads.
func (s Skip) String() string { return nameOf(skips[:], uint8(s)) }

// ParseSkip reads "none", "direct" or "all". It returns a *NameError for anything else.
func ParseSkip(name string) (Skip, error) {
	i, err := parseName("skip", skips[:], name)
	return Skip(i), err
}

// MarshalText writes the name.
func (s Skip) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSkip does.
func (s *Skip) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSkip(string(text))
	return err
}

// NameError says that a name is none of those that can be chosen.
type NameError struct{ Kind, Name, Expected string }

func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q: expected %s", e.Kind, e.Name, e.Expected)
}

func nameOf(names []string, i uint8) string {
	if int(i) >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseName(kind string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	last := len(names) - 1
	return 0, &NameError{Kind: kind, Name: name,
		Expected: strings.Join(names[:last], ", ") + " or " + names[last]}
}
