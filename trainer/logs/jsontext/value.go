package jsontext

import (
	"fmt"
	"strings"

	"newtop/trainer/logs"
)

// What a JSON text is made of, besides float64, string, bool and nil.
type (
	// Object is what stands between braces, in the order in which it is written.
	Object []Member
	// Member is a key with its value.
	Member struct {
		Key   string
		Value any
	}
	// List is what stands between brackets, as it is written.
	List []byte
)

// Get returns the value of a key, nil if there is none.
func (o Object) Get(key string) any {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Items returns the texts of a list's items.
func (l List) Items() (items [][]byte) {
	s := New(l)
	s.At = 1
	for more := !s.Next(']'); more; more, _ = s.More(']') {
		s.Space()
		start := s.At
		if !s.Skip(0) {
			break
		}
		items = append(items, l[start:s.At])
	}
	return items
}

// Decode reads a text that is one value. Its error says in which line what was expected; torn: the text may not be
// written to its end.
func Decode(text []byte) (v any, torn bool, err error) {
	s := New(text)
	v, ok := s.decode(0)
	if !ok || !s.End() {
		return nil, s.Torn(), s.expected("JSON")
	}
	return v, false, nil
}

// Flatten returns the numbers, strings and booleans of a JSON object, the keys of nested objects joined by "/". A list
// is the string that it is written as.
func Flatten(text []byte) (map[string]any, error) {
	s := New(text)
	root, ok := s.decode(0)
	members, isObject := root.(Object)
	if !ok || !isObject || !s.End() {
		return nil, s.expected("a JSON object")
	}
	out := make(map[string]any)
	members.Flatten("", out)
	return out, nil
}

// Flatten puts the members into a map, under their keys behind a prefix.
func (o Object) Flatten(prefix string, out map[string]any) {
	for _, m := range o {
		switch v := m.Value.(type) {
		case Object:
			v.Flatten(prefix+m.Key+"/", out)
		case List:
			out[prefix+m.Key] = strings.Join(strings.Fields(string(v)), " ")
		case string:
			out[prefix+m.Key] = logs.Clean(v)
		case nil:
		default:
			out[prefix+m.Key] = v
		}
	}
}

// Numbers calls f with the numbers of an object, those of objects in it under a/b. What is not finite may be a string.
// Objects with _type, as tables and pictures, have no numbers.
func (o Object) Numbers(prefix string, f func(key string, v float64)) {
	if o.Get("_type") != nil {
		return
	}
	for _, m := range o {
		switch v := m.Value.(type) {
		case float64:
			f(prefix+m.Key, v)
		case string:
			if v == "NaN" || v == "Infinity" || v == "-Infinity" {
				n, _ := logs.ParseNumber([]byte(v))
				f(prefix+m.Key, n)
			}
		case Object:
			v.Numbers(prefix+m.Key+"/", f)
		}
	}
}

func (s *Scanner) decode(depth int) (any, bool) {
	switch c := s.Peek(); c {
	case '"':
		raw, ok := s.Quoted()
		return Unquote(raw), ok
	case '{':
		return s.decodeObject(depth)
	case '[':
		start := s.At
		ok := s.Skip(depth)
		return List(s.Text[start:s.At]), ok
	case 't', 'f', 'n':
		ok := s.Word()
		if !ok || c == 'n' {
			return nil, ok
		}
		return c == 't', true
	}
	v, ok := s.Number()
	return v, ok
}

func (s *Scanner) decodeObject(depth int) (any, bool) {
	s.At++
	o := Object{}
	for more := !s.Next('}'); more; {
		raw, ok := s.Key()
		if !ok || depth >= maxDepth {
			return nil, false
		}
		v, ok := s.decode(depth + 1)
		if !ok {
			return nil, false
		}
		o = append(o, Member{logs.Clean(Unquote(raw)), v})
		if more, ok = s.More('}'); !ok {
			return nil, false
		}
	}
	return o, true
}

// expected says what should have been where the scanner stands.
func (s *Scanner) expected(what string) error {
	line, at := 1, min(s.At, len(s.Text))
	for _, c := range s.Text[:at] {
		if c == '\n' {
			line++
		}
	}
	if s.Torn() {
		return fmt.Errorf("line %d: expected %s, found its beginning only", line, what)
	}
	return fmt.Errorf("line %d: expected %s, found %q", line, what, s.Text[at:min(at+20, len(s.Text))])
}
