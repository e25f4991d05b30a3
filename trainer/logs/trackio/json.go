package trackio

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"newtop/trainer/logs"
)

// deepest is how deep objects may lie in one another.
const deepest = 32

// nonFinite are the numbers that JSON does not have, as trackio writes them, and as Python's json module does.
var nonFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// scanner reads the JSON object of a row: only its numbers count. It is faster than encoding/json, keeps the order of
// the keys, and takes NaN and Infinity, as words too.
type scanner struct {
	text string
	at   int
	keys map[string]string // by how they stand in the text; those of the object itself
}

// mostKeys bounds the keys that are kept.
const mostKeys = 1 << 16

// row puts the object's numbers into a row, those of objects in it under a/b. Objects with _type, as tables and
// pictures, are no numbers. It reports whether the text is an object.
func (s *scanner) row(text, prefix string, to *logs.Row) bool {
	s.text, s.at = text, 0
	if !s.object(prefix, to, 0) {
		return false
	}
	s.blanks()
	return s.at == len(s.text)
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// next skips blanks and reports whether the byte is next, which it takes then.
func (s *scanner) next(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) object(prefix string, to *logs.Row, depth int) bool {
	if !s.next('{') || depth > deepest {
		return false
	}
	if s.next('}') {
		return true
	}
	begun := len(to.Values)
	media := false
	for {
		raw, ok := s.string()
		if !ok || !s.next(':') {
			return false
		}
		if media = media || raw == "_type" && depth > 0; media {
			to.Values = to.Values[:begun]
		}
		if !s.value(s.key(prefix, raw), to, depth, media) {
			return false
		}
		if s.next('}') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

// value reads a value, and puts it into the row if it is a number and not skipped.
func (s *scanner) value(key string, to *logs.Row, depth int, skip bool) bool {
	s.blanks()
	if s.at == len(s.text) {
		return false
	}
	var v float64
	switch s.text[s.at] {
	case '{':
		kept := *to
		ok := s.object(key+"/", to, depth+1)
		if skip {
			*to = kept
		}
		return ok
	case '[':
		return s.list(depth)
	case '"':
		word, ok := s.string()
		if v, skip = nonFinite[word], skip || !isNonFinite(word); !ok {
			return false
		}
	default:
		from := s.at
		for s.at < len(s.text) && strings.IndexByte(",]} \t\r\n", s.text[s.at]) < 0 {
			s.at++
		}
		switch word := s.text[from:s.at]; {
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
		to.Put(key, v)
	}
	return true
}

func isNonFinite(word string) bool {
	_, ok := nonFinite[word]
	return ok
}

// list passes over a list.
func (s *scanner) list(depth int) bool {
	var none logs.Row
	if s.at++; depth > deepest {
		return false
	}
	if s.next(']') {
		return true
	}
	for {
		if !s.value("", &none, depth+1, true) {
			return false
		}
		if s.next(']') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

// string returns what stands between quotes, its escapes as they are.
func (s *scanner) string() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return s.text[from : s.at-1], true
		}
	}
	s.at = len(s.text)
	return "", false
}

// key returns the key that stands in the text so, with what is before it. It is no part of the text, which would be
// kept with it.
func (s *scanner) key(prefix, raw string) string {
	if key, ok := s.keys[raw]; ok && prefix == "" {
		return key
	}
	key := raw
	if strings.IndexByte(raw, '\\') >= 0 && json.Unmarshal([]byte(`"`+raw+`"`), &key) != nil {
		key = raw
	}
	if key = prefix + key; prefix != "" || len(s.keys) >= mostKeys {
		return strings.Clone(key)
	}
	if s.keys == nil {
		s.keys = map[string]string{}
	}
	raw, key = strings.Clone(raw), strings.Clone(key)
	s.keys[raw] = key
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
