package lex

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Reading says how the fields of a column are read where that is not plain.
type Reading struct {
	Numerals Numerals
	Missing  []string // marks of a missing value beside the usual ones
	Words    bool     // all fields are words
	Numbers  bool     // all that is no number is missing
	numbers  []float64
	marks    map[string]bool
}

// AddMissing adds marks of a missing value. A number is one in all ways to write it.
func (r *Reading) AddMissing(marks ...string) {
	if r.marks == nil {
		r.marks = make(map[string]bool)
	}
	for _, mark := range marks {
		if r.marks[mark] {
			continue
		}
		r.marks[mark] = true
		r.Missing = append(r.Missing, mark)
		if v, ok := r.Numerals.Parse(mark); ok {
			r.numbers = append(r.numbers, v)
		}
	}
}

// IsMissing reports whether a field says that there is no value.
func (r *Reading) IsMissing(field string) bool {
	if IsMissing(field) || r.marks[field] {
		return true
	}
	if len(r.numbers) == 0 && !r.Numbers {
		return false
	}
	v, number := r.Numerals.ParseLoosely(field)
	for _, mark := range r.numbers {
		if number && v == mark {
			return true
		}
	}
	return r.Numbers && !number
}

// read returns what a field is like, which was read in the usual way.
func (r *Reading) read(field []byte, k kind, v float64) (kind, float64) {
	text := string(field)
	switch {
	case r.IsMissing(text):
		return KindMissing, math.NaN()
	case r.Words:
		return KindText, 0
	case k != KindWord && r.Numerals.Usual():
		return k, v
	}
	v, ok := r.Numerals.Parse(text)
	if !ok {
		return KindText, 0
	}
	return kindNumber, v
}

// clearlyMissing are words for no value that are hardly classes of a target; other words for it may be, as "None" is
// beside "Some".
var (
	clearlyMissing = []string{"n.a.", "n.a", "n.d.", "n/d", "nd", "n.v.", "k.a.", "missing", "not available",
		"not applicable", "not reported", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "-nan(ind)", "0000-00-00"}
	otherwiseMissing = []string{"none", "unknown", "unk", "tbd", "tba", "pending", "nil", "void", "blank", "empty"}
)

// IsNone reports whether a word is Python's for no value, or a class.
func IsNone(field string) bool { return strings.EqualFold(field, "none") }

// LooksMissing reports whether a word among numbers says that there is no value. A plus or signs of a currency are a
// grade.
func LooksMissing(field string) bool {
	other := func(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSymbol(r) && r != ' ' }
	if !strings.ContainsFunc(field, other) {
		return !IsGrade(field)
	}
	return ClearlyMissing(field) || slices.Contains(otherwiseMissing, strings.ToLower(field))
}

// IsGrade reports whether a word has a plus or a sign of a currency, as $$ has.
func IsGrade(field string) bool {
	return strings.ContainsFunc(field, func(r rune) bool { return r == '+' || unicode.Is(unicode.Sc, r) })
}

// ClearlyMissing reports whether a word says that there is no value even where words may be classes.
func ClearlyMissing(field string) bool {
	return len(field) == 2 && field[0] == '.' || // of Stata and SAS
		slices.Contains(clearlyMissing, strings.ToLower(field))
}
