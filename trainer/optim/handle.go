package optim

import (
	"math"
	"slices"
)

// Number, Count and Choice are hyperparameters as methods read them, by variable and not by key: a number, a whole
// number and one of several names. Of returns the value among settings of a method that has it, and panics on others.
type (
	Number Hyperparameter
	Count  Hyperparameter
	Choice Hyperparameter
)

// Handle is a *Number, a *Count or a *Choice.
type Handle interface{ describe() Hyperparameter }

// Parameters describes what a method reads, for its Info.
func Parameters(all ...Handle) []Hyperparameter {
	out := make([]Hyperparameter, len(all))
	for i, h := range all {
		out[i] = h.describe()
	}
	return out
}

func (n *Number) describe() Hyperparameter { return Hyperparameter(*n) }

// Of is NaN where the value is not known.
func (n *Number) Of(s *Settings) float64 { return s.Get(n.Key) }

// Starting returns the hyperparameter of a method with another default.
func (n *Number) Starting(at float64, source string) *Number {
	other := *n
	other.Default, other.Source = at, source
	return &other
}

// Follow puts what a method made of a value that it read earlier, unless that was set by hand meanwhile.
func (n *Number) Follow(s *Settings, read, next float64) {
	if n.Of(s) != read {
		return
	}
	if err := s.Set(n.Key, next); err != nil {
		panic("optim: " + err.Error())
	}
}

func (c *Count) describe() Hyperparameter {
	h := Hyperparameter(*c)
	h.Integer = true
	return h
}

// Of is 0 where the value is not known.
func (c *Count) Of(s *Settings) int {
	v := s.Get(c.Key)
	if math.IsNaN(v) {
		return 0
	}
	return int(v)
}

// Starting returns the hyperparameter of a method with another default.
func (c *Count) Starting(at int) *Count {
	other := *c
	other.Default = float64(at)
	return &other
}

// In reports whether settings have it.
func (c *Count) In(s *Settings) bool { return s.Has(c.Key) }

func (c *Choice) describe() Hyperparameter { return Hyperparameter(*c) }

// Starting returns the hyperparameter of a method with another default, one of its choices.
func (c *Choice) Starting(at string) *Choice {
	other := *c
	other.Default = float64(slices.Index(c.Choices, at))
	return &other
}

// Of is empty where the value is not known.
func (c *Choice) Of(s *Settings) string { return s.Choice(c.Key) }
