// Package jsonscan goes through a JSON text value by value, for readers of millions of lines of which they know the
// shape. Its methods pass over what they find, or report that something else stands there.
package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Scanner goes through a text.
type Scanner struct {
	Text []byte
	At   int
}

// Space passes over blanks.
func (s *Scanner) Space() {
	for s.At < len(s.Text) {
		switch s.Text[s.At] {
		case ' ', '\t', '\r', '\n':
			s.At++
		default:
			return
		}
	}
}

// Peek passes over blanks and returns the next character, 0 at the end of the text.
func (s *Scanner) Peek() byte {
	s.Space()
	if s.At == len(s.Text) {
		return 0
	}
	return s.Text[s.At]
}

// Next passes over blanks and the character, if that is there.
func (s *Scanner) Next(c byte) bool {
	s.Space()
	if s.At < len(s.Text) && s.Text[s.At] == c {
		s.At++
		return true
	}
	return false
}

// End reports whether there are only blanks left.
func (s *Scanner) End() bool {
	s.Space()
	return s.At == len(s.Text)
}

// Word passes over a string without escapes and returns it without quotes, or nil.
func (s *Scanner) Word() []byte {
	if !s.Next('"') {
		return nil
	}
	start, plain := s.At, true
	for ; s.At < len(s.Text); s.At++ {
		switch c := s.Text[s.At]; {
		case c == '"':
			s.At++
			word := s.Text[start : s.At-1]
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

// Quoted passes over a string and returns what is between its quotes, escapes as they are.
func (s *Scanner) Quoted() (raw []byte, ok bool) {
	if s.Peek() != '"' {
		return nil, false
	}
	if raw = s.Value(); raw == nil {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// Value passes over a value and returns its text, or nil if it has no end. How words and numbers are written, and what
// stands between brackets, is not looked at.
func (s *Scanner) Value() []byte {
	s.Space()
	n := valueLength(s.Text[s.At:])
	if n == 0 {
		return nil
	}
	s.At += n
	return s.Text[s.At-n : s.At]
}

// valueLength returns how long the value is with which the text begins, 0 if there is none.
func valueLength(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case quoted && c == '"':
			quoted = false
			if depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return i
		}
	}
	if depth > 0 || quoted {
		return 0
	}
	return len(b)
}

// Number passes over a number of JSON's grammar and returns its text, which is empty if there is none, and whether it
// is written as an integer.
func (s *Scanner) Number() (text []byte, integer bool) {
	s.Space()
	n, integer := NumberLength(s.Text[s.At:])
	s.At += n
	return s.Text[s.At-n : s.At], integer
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

// Literal passes over the word, if it is there.
func (s *Scanner) Literal(word string) bool {
	s.Space()
	if !bytes.HasPrefix(s.Text[s.At:], []byte(word)) {
		return false
	}
	s.At += len(word)
	return true
}

// Int passes over an integer and stores it.
func (s *Scanner) Int(i *int) bool {
	text, integer := s.Number()
	v, err := strconv.Atoi(string(text))
	*i = v
	return integer && err == nil
}

// Bool passes over true or false and stores it.
func (s *Scanner) Bool(b *bool) bool {
	*b = s.Literal("true")
	return *b || s.Literal("false")
}

// String passes over a string without escapes and stores it.
func (s *Scanner) String(text *string) bool {
	word := s.Word()
	*text = string(word)
	return word != nil
}
