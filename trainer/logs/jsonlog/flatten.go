package jsonlog

import (
	"strings"

	"newtop/trainer/logs"
)

// Flatten returns the numbers, strings and booleans of a JSON object, the keys of nested objects joined by "/". A list is the
// string that it is written as. NaN and the infinities are read as numbers.
func Flatten(text []byte) (map[string]any, error) {
	s := &scanner{text: text}
	root, ok := s.decode(0)
	members, isObject := root.(object)
	if !ok || !isObject || s.peek() != 0 {
		return nil, s.expected("a JSON object")
	}
	out := make(map[string]any)
	members.flatten("", out)
	return out, nil
}

func (o object) flatten(prefix string, out map[string]any) {
	for _, m := range o {
		switch v := m.value.(type) {
		case object:
			v.flatten(prefix+m.key+"/", out)
		case list:
			out[prefix+m.key] = strings.Join(strings.Fields(string(v.text)), " ")
		case string:
			out[prefix+m.key] = logs.Clean(v)
		case nil:
		default:
			out[prefix+m.key] = v
		}
	}
}
