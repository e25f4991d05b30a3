package chart

import (
	"math"

	"newtop/trainer/event"
)

// flaws say where a curve is broken off, and by what.
type flaws uint8

const (
	gap   flaws = 1 << iota // nothing was reported, and nothing is to be joined across
	above                   // NaN or +Inf was reported
	below                   // −Inf was reported

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
