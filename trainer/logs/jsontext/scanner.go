// Package jsontext reads JSON as programs write it, with NaN and the infinities of Python.
package jsontext

import (
	"bytes"
	"encoding/json"

	"newtop/internal/jsonscan"
	"newtop/trainer/logs"
)

// Scanner goes through a JSON text in which NaN, Infinity and -Infinity are numbers too, as Python's json writes them.
// It is lenient about how numbers are written, and strict about all else that tells where a value ends. Where it fails
// at the end of the text, the text may be torn.
type Scanner struct{ jsonscan.Scanner }

// New returns a scanner of a text.
func New(text []byte) Scanner { return Scanner{jsonscan.Scanner{Text: text}} }

// maxDepth is how deep objects and lists may nest, as in encoding/json.
const maxDepth = 10000

// Torn reports whether the text ended where more was expected.
func (s *Scanner) Torn() bool { return s.At >= len(s.Text) }

// Quoted passes over a string and returns what is between its quotes, escapes as they are.
func (s *Scanner) Quoted() (raw []byte, ok bool) {
	if !s.Next('"') {
		return nil, false
	}
	for i := s.At; i < len(s.Text); i++ {
		switch c := s.Text[i]; {
		case c == '"':
			raw = s.Text[s.At:i]
			s.At = i + 1
			return raw, true
		case c == '\\':
			i++
		case c < ' ':
			s.At = i
			return nil, false
		}
	}
	s.At = len(s.Text)
	return nil, false
}

// Key passes over the name of a member and its colon.
func (s *Scanner) Key() (raw []byte, ok bool) {
	raw, ok = s.Quoted()
	return raw, ok && s.Next(':')
}

// More passes over a comma or the closing bracket.
func (s *Scanner) More(closing byte) (more, ok bool) {
	if s.Next(',') {
		return true, true
	}
	return false, s.Next(closing)
}

// Number passes over a number or one of the three words.
func (s *Scanner) Number() (v float64, ok bool) {
	start := s.At
	for s.At < len(s.Text) && inNumber[s.Text[s.At]] {
		s.At++
	}
	if !s.Torn() && s.Text[s.At] > '9' && !s.literal("NaN") {
		s.literal("Infinity")
	}
	return logs.ParseNumber(s.Text[start:s.At])
}

// inNumber are the characters of numbers.
var inNumber = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true,
	'8': true, '9': true, '.': true, '-': true, '+': true, 'e': true, 'E': true}

// literal passes over the word, or its beginning where the text ends within it.
func (s *Scanner) literal(word string) bool {
	if rest := s.Text[s.At:]; len(rest) > 0 && len(rest) < len(word) && word[:len(rest)] == string(rest) {
		s.At = len(s.Text)
		return false
	}
	return s.Literal(word)
}

// Word passes over true, false or null.
func (s *Scanner) Word() bool { return s.literal("true") || s.literal("false") || s.literal("null") }

// Skip passes over a value that is nested so deep.
func (s *Scanner) Skip(depth int) bool {
	opening := s.Peek()
	closing := byte('}')
	switch {
	case opening == '"':
		_, ok := s.Quoted()
		return ok
	case opening == 't' || opening == 'f' || opening == 'n':
		return s.Word()
	case opening == '[':
		closing = ']'
	case opening != '{':
		_, ok := s.Number()
		return ok
	}
	if depth >= maxDepth {
		return false
	}
	s.At++
	if s.Next(closing) {
		return true
	}
	for {
		if closing == '}' {
			if _, ok := s.Key(); !ok {
				return false
			}
		}
		if !s.Skip(depth + 1) {
			return false
		}
		if more, ok := s.More(closing); !more {
			return ok
		}
	}
}

// Unquote returns the string that is written so between quotes. What is no UTF-8 is replaced.
func Unquote(raw []byte) string {
	plain := true
	for _, c := range raw {
		plain = plain && c != '\\' && c < 0x80
	}
	if plain {
		return string(raw)
	}
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &text) != nil {
		text = string(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	}
	return text
}

// Whole reports whether a text is one value, and nothing else.
func Whole(text []byte) bool {
	s := New(text)
	return s.Skip(0) && s.End()
}
