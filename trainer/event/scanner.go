package event

import (
	"strconv"

	"newtop/internal/jsonscan"
)

// scanner goes through the text of one object.
type scanner struct{ jsonscan.Scanner }

// end reports whether the object and the line end here.
func (s *scanner) end() bool { return s.Next('}') && s.End() }

// key passes over a key and its colon and returns it, or nil for one of other characters than a-z, 0-9 and _:
// encoding/json takes keys that differ in the case of letters for the same.
func (s *scanner) key() []byte {
	key := s.Word()
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return nil
		}
	}
	if !s.Next(':') {
		return nil
	}
	return key
}

func (s *scanner) float(f *Float) bool {
	switch c := s.Peek(); {
	case c <= '9' && c != '"':
		text, _ := s.Number()
		v, err := strconv.ParseFloat(string(text), 64)
		*f = Float(v)
		return err == nil
	case s.Literal("null"):
		*f = Absent
	case s.Literal("NaN"), s.Literal(`"NaN"`):
		*f = NotFinite
	default:
		return false
	}
	return true
}

func (s *scanner) floats(out *[]Float) bool {
	if *out != nil || !s.Next('[') {
		return false
	}
	*out = []Float{}
	if s.Next(']') {
		return true
	}
	for {
		var f Float
		if !s.float(&f) {
			return false
		}
		*out = append(*out, f)
		if !s.Next(',') {
			return s.Next(']')
		}
	}
}

// pass passes over the value of a key that the event does not have.
func (s *scanner) pass(key []byte) bool {
	if len(key) == 0 || string(key) == "type" {
		return false
	}
	if s.Peek() == '"' {
		return s.Word() != nil
	}
	if s.Literal("null") || s.Literal("true") || s.Literal("false") || s.Literal("NaN") {
		return true
	}
	text, _ := s.Number()
	return len(text) > 0
}
