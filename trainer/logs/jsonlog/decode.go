package jsonlog

import (
	"fmt"

	"newtop/trainer/logs"
)

// What a JSON document is made of, besides float64, string, bool and nil.
type (
	object []member // in the order in which it is written
	member struct {
		key   string
		value any
	}
	list struct {
		items []any
		text  []byte // as it is written
	}
)

// get returns the value of a key, nil if there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// decode reads a value.
func (s *scanner) decode(depth int) (any, bool) {
	switch c := s.peek(); c {
	case '"':
		raw, ok := s.quoted()
		return unquote(raw), ok
	case '{':
		return s.decodeObject(depth)
	case '[':
		return s.decodeList(depth)
	case 't', 'f', 'n':
		ok := s.word()
		if !ok || c == 'n' {
			return nil, ok
		}
		return c == 't', true
	}
	v, ok := s.number()
	return v, ok
}

func (s *scanner) decodeObject(depth int) (any, bool) {
	s.at++
	if s.next('}') {
		return object{}, true
	}
	o := make(object, 0, s.members)
	for depth < maxDepth {
		raw, ok := s.key()
		if !ok {
			return nil, false
		}
		v, ok := s.decode(depth + 1)
		if !ok {
			return nil, false
		}
		o = append(o, member{s.name(raw), v})
		if more, ok := s.more('}'); !more {
			s.members = min(len(o), 64)
			return o, ok
		}
	}
	return nil, false
}

// name returns the string of a key, the same for the same key.
func (s *scanner) name(raw []byte) string {
	if key, ok := s.names[string(raw)]; ok {
		return key
	}
	key := logs.Clean(unquote(raw))
	if s.names == nil {
		s.names = make(map[string]string)
	}
	s.names[string(raw)] = key
	return key
}

func (s *scanner) decodeList(depth int) (any, bool) {
	var l list
	start := s.at
	s.at++
	if s.next(']') {
		l.text = s.text[start:s.at]
		return l, true
	}
	for depth < maxDepth {
		v, ok := s.decode(depth + 1)
		if !ok {
			return nil, false
		}
		l.items = append(l.items, v)
		if more, ok := s.more(']'); !more {
			l.text = s.text[start:s.at]
			return l, ok
		}
	}
	return nil, false
}

// expected says what should have been where the scanner stands.
func (s *scanner) expected(what string) error {
	line, at := 1, min(s.at, len(s.text))
	for _, c := range s.text[:at] {
		if c == '\n' {
			line++
		}
	}
	if s.torn() {
		return fmt.Errorf("line %d: expected %s, found its beginning only", line, what)
	}
	return fmt.Errorf("line %d: expected %s, found %q", line, what, s.text[at:min(at+20, len(s.text))])
}
