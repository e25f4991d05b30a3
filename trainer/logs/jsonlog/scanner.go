package jsonlog

import (
	"bytes"
	"encoding/json"

	"newtop/trainer/logs"
)

// scanner goes through a JSON text in which NaN, Infinity and -Infinity are numbers too, as Python's json writes them. It is
// lenient about how numbers are written, and strict about all else that tells where a value ends. Where it fails at the end
// of the text, the text may be torn.
type scanner struct {
	text    []byte
	at      int
	names   map[string]string // of members that were decoded, by how they are written
	members int               // of the newest object: the next one is likely to have as many
}

// maxDepth is how deep objects and lists may nest, as in encoding/json.
const maxDepth = 10000

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

// peek returns the next character after space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// next passes over space and the character, if that is there.
func (s *scanner) next(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// torn reports whether the text ended where more was expected.
func (s *scanner) torn() bool { return s.at >= len(s.text) }

// quoted passes over a string and returns what is between its quotes, escapes as they are.
func (s *scanner) quoted() (raw []byte, ok bool) {
	if !s.next('"') {
		return nil, false
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			raw = s.text[s.at:i]
			s.at = i + 1
			return raw, true
		case c == '\\':
			i++
		case c < ' ':
			s.at = i
			return nil, false
		}
	}
	s.at = len(s.text)
	return nil, false
}

// key passes over the name of a member and its colon.
func (s *scanner) key() (raw []byte, ok bool) {
	raw, ok = s.quoted()
	return raw, ok && s.next(':')
}

// more passes over a comma or the closing bracket.
func (s *scanner) more(closing byte) (more, ok bool) {
	if s.next(',') {
		return true, true
	}
	return false, s.next(closing)
}

// number passes over a number or one of the three words.
func (s *scanner) number() (v float64, ok bool) {
	start := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			break
		}
		s.at++
	}
	if !s.torn() && s.text[s.at] > '9' && !s.literal("NaN") {
		s.literal("Infinity")
	}
	return logs.ParseNumber(s.text[start:s.at])
}

// literal passes over the word, if it is there.
func (s *scanner) literal(word string) bool {
	rest := s.text[s.at:]
	if len(rest) < len(word) {
		if len(rest) > 0 && word[:len(rest)] == string(rest) {
			s.at = len(s.text)
		}
		return false
	}
	if string(rest[:len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

// word passes over true, false or null.
func (s *scanner) word() bool { return s.literal("true") || s.literal("false") || s.literal("null") }

// skip passes over a value.
func (s *scanner) skip(depth int) bool {
	opening := s.peek()
	closing := byte('}')
	switch {
	case opening == '"':
		_, ok := s.quoted()
		return ok
	case opening == 't' || opening == 'f' || opening == 'n':
		return s.word()
	case opening == '[':
		closing = ']'
	case opening != '{':
		_, ok := s.number()
		return ok
	}
	if depth >= maxDepth {
		return false
	}
	s.at++
	if s.next(closing) {
		return true
	}
	for {
		if closing == '}' {
			if _, ok := s.key(); !ok {
				return false
			}
		}
		if !s.skip(depth + 1) {
			return false
		}
		if more, ok := s.more(closing); !more {
			return ok
		}
	}
}

// unquote returns the string that is written so between quotes. What is no UTF-8 is replaced.
func unquote(raw []byte) string {
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
