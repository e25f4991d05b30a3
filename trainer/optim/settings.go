package optim

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
)

// Hyperparameter describes one number or choice that a user can set.
type Hyperparameter struct {
	Key     string   // as in --set KEY=VALUE
	Meaning string   // one clause, with the paper's letter where it has one
	Default float64  // for a choice, an index into Choices
	Min     float64  // smallest allowed
	Max     float64  // largest allowed
	Open    bool     // Min itself is not allowed
	OpenMax bool     // Max itself is not allowed
	Integer bool     // whole numbers only
	Choices []string // names; nil for a number
	Source  string   // paper and equation of the default, if it has one
	Late    bool     // older checkpoints do not have it: it was at its default then
}

// Range says in words which values are allowed.
func (h *Hyperparameter) Range() string {
	if h.Choices != nil {
		return strings.Join(h.Choices, " or ")
	}
	kind := "a number"
	if h.Integer {
		kind = "a whole number"
	}
	lower := "≥ "
	if h.Open {
		lower = "> "
	}
	upper := "≤ "
	if h.OpenMax {
		upper = "< "
	}
	switch {
	case math.IsInf(h.Min, -1) && math.IsInf(h.Max, 1):
		return kind
	case math.IsInf(h.Max, 1):
		return kind + " " + lower + h.number(h.Min)
	case math.IsInf(h.Min, -1):
		return kind + " " + upper + h.number(h.Max)
	}
	return kind + " " + lower + h.number(h.Min) + " and " + upper + h.number(h.Max)
}

// Check returns a *SettingError unless v is allowed.
func (h *Hyperparameter) Check(v float64) error {
	ok := v >= h.Min && v <= h.Max && (!h.Open || v > h.Min) && (!h.OpenMax || v < h.Max) &&
		(!h.Integer || v == math.Trunc(v))
	if h.Choices != nil {
		ok = v >= 0 && int(v) < len(h.Choices) && v == math.Trunc(v)
	}
	if !ok {
		return &SettingError{Key: h.Key, Value: h.number(v), Expected: h.Range()}
	}
	return nil
}

// number writes a whole number without an exponent, and any other as Format does.
func (h *Hyperparameter) number(v float64) string {
	if h.Integer {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return Format(v)
}

// Text formats a value of h as Parse reads it.
func (h *Hyperparameter) Text(v float64) string {
	if h.Choices != nil && v >= 0 && int(v) < len(h.Choices) {
		return h.Choices[int(v)]
	}
	return h.number(v)
}

// Parse reads a value of h from text and checks it.
func (h *Hyperparameter) Parse(text string) (float64, error) {
	if h.Choices != nil {
		if i := slices.Index(h.Choices, text); i >= 0 {
			return float64(i), nil
		}
		return 0, &SettingError{Key: h.Key, Value: text, Expected: h.Range() + format.DidYouMean(text, h.Choices)}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, &SettingError{Key: h.Key, Value: text, Expected: h.Range()}
	}
	return v, h.Check(v)
}

// Format writes a number with as many digits as it needs and no more.
func Format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// SettingError says which hyperparameter was given what, and what it takes.
type SettingError struct{ Key, Value, Expected string }

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s = %s: expected %s", e.Key, e.Value, e.Expected)
}

// Settings are the values of a method's hyperparameters. The zero value has none.
type Settings struct {
	parameters []Hyperparameter
	values     []float64
}

// NewSettings returns the defaults.
func NewSettings(parameters []Hyperparameter) *Settings {
	s := &Settings{parameters: parameters, values: make([]float64, len(parameters))}
	for i := range parameters {
		s.values[i] = parameters[i].Default
	}
	return s
}

// ReadSettings returns the settings that texts give by key, as events carry them. A value that is not there, or not
// allowed, is not known: NaN, as a choice empty.
func ReadSettings(parameters []Hyperparameter, texts map[string]string) *Settings {
	s := NewSettings(parameters)
	for i := range parameters {
		v, err := parameters[i].Parse(texts[parameters[i].Key])
		if err != nil {
			v = math.NaN()
		}
		s.values[i] = v
	}
	return s
}

// Clone returns an independent copy.
func (s *Settings) Clone() *Settings {
	return &Settings{parameters: s.parameters, values: slices.Clone(s.values)}
}

// Parameters returns the descriptions, which must not be changed.
func (s *Settings) Parameters() []Hyperparameter { return s.parameters }

func (s *Settings) index(key string) int {
	for i := range s.parameters { // which are too large to be copied before every batch
		if s.parameters[i].Key == key {
			return i
		}
	}
	return -1
}

// Has reports whether the method has the hyperparameter.
func (s *Settings) Has(key string) bool { return s.index(key) >= 0 }

// Get returns the value of a hyperparameter that the method must have.
func (s *Settings) Get(key string) float64 {
	i := s.index(key)
	if i < 0 {
		panic("optim: no hyperparameter " + key)
	}
	return s.values[i]
}

// Choice returns the chosen name of a hyperparameter with choices.
func (s *Settings) Choice(key string) string {
	v := s.Get(key)
	if math.IsNaN(v) {
		return ""
	}
	return s.parameters[s.index(key)].Choices[int(v)]
}

// Set changes a value after checking it. It returns a *SettingError and changes nothing otherwise.
func (s *Settings) Set(key string, v float64) error {
	i := s.index(key)
	if i < 0 {
		return s.unknown(key, Format(v))
	}
	if err := s.parameters[i].Check(v); err != nil {
		return err
	}
	s.values[i] = v
	return nil
}

// SetText is Put for a value in text.
func (s *Settings) SetText(key, text string) error {
	i := s.index(key)
	if i < 0 {
		return s.unknown(key, text)
	}
	v, err := s.parameters[i].Parse(text)
	if err != nil {
		return err
	}
	s.values[i] = v
	return nil
}

func (s *Settings) unknown(key, value string) error {
	keys := make([]string, len(s.parameters))
	for i, h := range s.parameters {
		keys[i] = h.Key
	}
	return &SettingError{Key: key, Value: value, Expected: "one of " + strings.Join(keys, ", ") +
		format.DidYouMean(key, keys)}
}

// MarshalJSON writes an object with numbers, and names for choices.
func (s *Settings) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(s.values))
	for i := range s.values {
		switch v, h := s.values[i], &s.parameters[i]; {
		case h.Choices != nil, math.IsInf(v, 0), math.IsNaN(v):
			m[h.Key] = h.Text(v)
		default:
			m[h.Key] = v
		}
	}
	return json.Marshal(m)
}
