package event

import (
	"encoding/json"
	"math"
	"strconv"
)

// Float is a float64 with three states: a finite number; Absent, which was not reported or a method does not have; and
// a value that was computed or written and is not finite. JSON writes the first as a number, Absent as null, and the
// last as "NaN", "Infinity" or "-Infinity", and reads them back.
type Float float64

// Absent stands for a quantity that is not there. It is math.NaN(), whose bits no computation has: a NaN that a
// computation made is another one, and is not finite.
var Absent = Float(math.NaN())

// NotFinite stands for a NaN that was computed or written.
var NotFinite = Float(math.Float64frombits(math.Float64bits(math.NaN()) + 1))

// Absent reports whether the number was not reported.
func (f Float) Absent() bool {
	return math.Float64bits(float64(f)) == math.Float64bits(float64(Absent))
}

// IsZero lets omitzero leave out what is absent, and nothing else.
func (f Float) IsZero() bool { return f.Absent() }

// Finite reports whether there is a number to draw.
func (f Float) Finite() bool { return f-f == 0 }

// NonFinite reports whether a value was reported that is not finite.
func (f Float) NonFinite() bool { return !f.Finite() && !f.Absent() }

// ValueOf makes a Float of a value that was computed or written, which is never Absent.
func ValueOf(v float64) Float {
	if v != v {
		return NotFinite
	}
	return Float(v)
}

// Times returns the number multiplied by a finite factor; what is not finite stays as it is.
func (f Float) Times(factor float64) Float {
	if !f.Finite() {
		return f
	}
	return f * Float(factor)
}

// MarshalJSON writes a number with as many digits as it needs, null, or the word for what is not finite.
func (f Float) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case f.Finite():
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	case f.Absent():
		return []byte("null"), nil
	case v > 0:
		return []byte(`"Infinity"`), nil
	case v < 0:
		return []byte(`"-Infinity"`), nil
	}
	return []byte(`"NaN"`), nil
}

// UnmarshalJSON reads a number, null, or a word that MarshalJSON writes.
func (f *Float) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null":
		*f = Absent
	case `"NaN"`:
		*f = NotFinite
	case `"Infinity"`:
		*f = Float(math.Inf(1))
	case `"-Infinity"`:
		*f = Float(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(f))
	}
	return nil
}

// Floats converts a slice.
func Floats(v []float64) []Float {
	if v == nil {
		return nil
	}
	f := make([]Float, len(v))
	for i := range v {
		f[i] = Float(v[i])
	}
	return f
}
