package trackio

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"newtop/internal/jsonscan"
	"newtop/trainer/logs"
)

// deepest is how deep objects may lie in one another.
const deepest = 32

// nonFinite are the numbers that JSON does not have, as trackio writes them, and as Python's json module does.
var nonFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// scanner reads the JSON object of a row: only its numbers count. It is faster than encoding/json, keeps the order of
// the keys, and takes NaN and Infinity, as words too.
type scanner struct {
	jsonscan.Scanner
	keys map[string]string // by how they stand in the text; those of the object itself
}

// maxKeys bounds the keys that are kept.
const maxKeys = 1 << 16

// row puts the object's numbers into a row, those of objects in it under a/b. Objects with _type, as tables and
// pictures, are no numbers. It reports whether the text is an object.
func (s *scanner) row(text, prefix string, to *logs.Row) bool {
	s.Scanner = jsonscan.Scanner{Text: []byte(text)}
	return s.object(prefix, to, 0) && s.End()
}

func (s *scanner) object(prefix string, to *logs.Row, depth int) bool {
	if !s.Next('{') || depth > deepest {
		return false
	}
	if s.Next('}') {
		return true
	}
	started := len(to.Values)
	media := false
	for {
		raw, ok := s.Quoted()
		if !ok || !s.Next(':') {
			return false
		}
		if media = media || string(raw) == "_type" && depth > 0; media {
			to.Values = to.Values[:started]
		}
		if !s.value(s.key(prefix, raw), to, depth, media) {
			return false
		}
		if s.Next('}') {
			return true
		}
		if !s.Next(',') {
			return false
		}
	}
}

// value reads a value, and puts it into the row if it is a number and not skipped.
func (s *scanner) value(key string, to *logs.Row, depth int, skip bool) bool {
	var v float64
	switch s.Peek() {
	case '{':
		retained := *to
		ok := s.object(key+"/", to, depth+1)
		if skip {
			*to = retained
		}
		return ok
	case '[':
		return s.Value() != nil
	case '"':
		word, ok := s.Quoted()
		if v, skip = nonFinite[string(word)], skip || !isNonFinite(string(word)); !ok {
			return false
		}
	default:
		switch word := string(s.Value()); {
		case word == "null", word == "true", word == "false":
			return true
		case isNonFinite(word):
			v = nonFinite[word]
		default:
			var err error
			if v, err = strconv.ParseFloat(word, 64); err != nil && !math.IsInf(v, 0) ||
				strings.ContainsAny(word, "xX_nN") {
				return false
			}
		}
	}
	if !skip {
		to.Set(key, v)
	}
	return true
}

func isNonFinite(word string) bool {
	_, ok := nonFinite[word]
	return ok
}

// key returns the key that stands in the text so, with what is before it.
func (s *scanner) key(prefix string, raw []byte) string {
	if key, ok := s.keys[string(raw)]; ok && prefix == "" {
		return key
	}
	key := string(raw)
	if strings.IndexByte(key, '\\') >= 0 && json.Unmarshal([]byte(`"`+key+`"`), &key) != nil {
		key = string(raw)
	}
	if key = prefix + key; prefix != "" || len(s.keys) >= maxKeys {
		return key
	}
	if s.keys == nil {
		s.keys = map[string]string{}
	}
	s.keys[string(raw)] = key
	return key
}

// config returns the settings in the JSON object of a run: numbers, texts and truths, those of objects in it under a/b.
func config(text string) map[string]any {
	var object map[string]any
	if json.Unmarshal(bytes.TrimSpace([]byte(text)), &object) != nil {
		return nil
	}
	settings := map[string]any{}
	flatten(settings, "", object)
	return settings
}

func flatten(to map[string]any, prefix string, object map[string]any) {
	for key, v := range object {
		if strings.HasPrefix(key, "_") {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			flatten(to, prefix+key+"/", v)
		case float64, string, bool:
			to[prefix+key] = v
		}
	}
}
