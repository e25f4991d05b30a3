package models

import (
	"fmt"
	"slices"
	"strings"

	"newtop/internal/format"
)

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
	return parseName[Skip]("skip", skips[:], name)
}

// MarshalText writes the name.
func (s Skip) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSkip does.
func (s *Skip) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSkip(string(text))
	return err
}

// NameError says that a value of a field, such as "activation" or "init", is not one of the names that can be chosen.
type NameError struct{ Field, Value, Expected string }

func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q: expected %s", e.Field, e.Value, e.Expected)
}

func nameOf(names []string, i uint8) string {
	if int(i) >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseName[T ~uint8](field string, names []string, name string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	last := len(names) - 1
	return 0, &NameError{Field: field, Value: name, Expected: strings.Join(names[:last], ", ") + " or " + names[last] +
		format.DidYouMean(name, names)}
}
