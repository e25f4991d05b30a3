package event

import (
	"bytes"

	"strconv"
	"unicode/utf8"
)

// scanner goes through the text of one object.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next passes over space and the character, if that is there.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// end reports whether the object and the line end here.
func (s *scanner) end() bool {
	if !s.next('}') {
		return false
	}
	s.space()
	return s.at == len(s.text)
}

// key passes over a key and its colon and returns it, or nil for one of other characters than a-z, 0-9 and _:
// encoding/json takes keys that differ in the case of letters for the same.
func (s *scanner) key() []byte {
	key := s.word()
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return nil
		}
	}
	if !s.next(':') {
		return nil
	}
	return key
}

// word passes over a string without escapes and returns it without quotes, or nil.
func (s *scanner) word() []byte {
	if !s.next('"') {
		return nil
	}
	start, plain := s.at, true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			word := s.text[start : s.at-1]
			if !plain && !utf8.Valid(word) {
				return nil
			}
			return word
		case c < ' ' || c == '\\':
			return nil
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return nil
}

// number passes over a number of JSON's grammar and returns its text and whether it is written as an integer.
func (s *scanner) number() (text []byte, integer bool) {
	s.space()
	n, integer := NumberLength(s.text[s.at:])
	text = s.text[s.at : s.at+n]
	s.at += n
	return text, integer
}

// NumberLength returns how many bytes at the beginning of a text are a number of JSON's grammar, which is not all that
// strconv reads, 0 for none, and whether it is written as an integer.
func NumberLength(t []byte) (n int, integer bool) {
	digits := func() bool {
		start := n
		for n < len(t) && t[n] >= '0' && t[n] <= '9' {
			n++
		}
		return n > start
	}
	one := func(a, b byte) bool {
		if n < len(t) && (t[n] == a || t[n] == b) {
			n++
			return true
		}
		return false
	}
	one('-', '-')
	start := n
	if !digits() || t[start] == '0' && n > start+1 {
		return 0, false
	}
	integer = true
	if one('.', '.') {
		integer = false
		if !digits() {
			return 0, false
		}
	}
	if one('e', 'E') {
		integer = false
		one('+', '-')
		if !digits() {
			return 0, false
		}
	}
	return n, integer
}

// literal passes over the word, if it is there.
func (s *scanner) literal(word string) bool {
	s.space()
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

func (s *scanner) float(f *Float) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] > '9' || s.at < len(s.text) && s.text[s.at] == '"' {
		return s.special(f)
	}
	text, _ := s.number()
	v, err := strconv.ParseFloat(string(text), 64)
	*f = Float(v)
	return err == nil
}

// special reads what stands for a number that is absent or not finite.
func (s *scanner) special(f *Float) bool {
	switch {
	case s.literal("null"):
		*f = Absent
	case s.literal("NaN"), s.literal(`"NaN"`):
		*f = NotFinite
	default:
		return false
	}
	return true
}

func (s *scanner) int(i *int) bool {
	text, integer := s.number()
	v, err := strconv.Atoi(string(text))
	*i = v
	return integer && err == nil
}

func (s *scanner) bool(b *bool) bool {
	*b = s.literal("true")
	return *b || s.literal("false")
}

func (s *scanner) string(text *string) bool {
	word := s.word()
	*text = string(word)
	return word != nil
}

func (s *scanner) floats(out *[]Float) bool {
	if *out != nil || !s.next('[') {
		return false
	}
	*out = []Float{}
	if s.next(']') {
		return true
	}
	for {
		var f Float
		if !s.float(&f) {
			return false
		}
		*out = append(*out, f)
		if !s.next(',') {
			return s.next(']')
		}
	}
}

// pass passes over the value of a key that the event does not have.
func (s *scanner) pass(key []byte) bool {
	if len(key) == 0 || string(key) == "type" {
		return false
	}
	s.space()
	if s.at < len(s.text) && s.text[s.at] == '"' {
		return s.word() != nil
	}
	if s.literal("null") || s.literal("true") || s.literal("false") || s.literal("NaN") {
		return true
	}
	text, _ := s.number()
	return len(text) > 0
}
