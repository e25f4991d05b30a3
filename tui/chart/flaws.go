package chart

import (
	"math"

	"newtop/trainer/event"
	"newtop/tui/style"
)

// flaws say where a curve is broken off, and by what.
type flaws uint8

const (
	gap   flaws = 1 << iota // nothing was told, and nothing is to be joined across
	above                   // NaN or +Inf was told
	below                   // −Inf was told

	broken = above | below
)

// flawsOf are those of a value.
func flawsOf(y float64) flaws {
	switch v := event.Float(y); {
	case v.Finite():
		return 0
	case v.Absent():
		return gap
	case v < 0:
		return below
	}
	return above
}

// value is one that has the flaws.
func (f flaws) value() float64 {
	switch {
	case f&above != 0:
		return float64(event.NotFinite)
	case f&below != 0:
		return math.Inf(-1)
	}
	return float64(event.Absent)
}

// Last returns the newest finite value, NaN if there is none.
func (s *Series) Last() float64 {
	if s.finite == 0 {
		return math.NaN()
	}
	return s.before[1]
}

// Before returns the finite value before the newest one, NaN if there is none.
func (s *Series) Before() float64 {
	if s.finite < 2 {
		return math.NaN()
	}
	return s.before[0]
}

// Broken reports whether the newest value that was told is not finite.
func (s *Series) Broken() bool { return s.newest != 0 }

// Now writes the newest finite value, and a × behind it where one came since that is not finite; nothing where nothing
// was told.
func (s *Series) Now(ink style.Token, text func(float64) string) (parts []style.Part) {
	if !s.Empty() {
		parts = append(parts, ink.Of(text(s.Last())))
	}
	if s.Broken() {
		sign := "×"
		if len(parts) > 0 {
			sign = " ×"
		}
		parts = append(parts, style.NotFinite.Of(sign))
	}
	return parts
}

// Untold reports whether no value was told, be it finite or not.
func (s *Series) Untold() bool { return s.Empty() && !s.Broken() }
