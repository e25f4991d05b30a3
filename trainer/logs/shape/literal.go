package shape

import (
	"bytes"
	"math"
	"strconv"
)

// fields calls give with the keys and scalars of what follows an open bracket: 'key': value or key=value. Keys within
// an object have the outer key and / before them. It returns how much it read.
func fields(s []byte, outer string, depth int, give func(key string, v any)) int {
	i := 0
	for i < len(s) {
		if c := s[i]; c == '}' || c == ')' {
			return i + 1
		} else if c != '\'' && c != '"' && c != '_' && !letter(c) {
			i++
			continue
		}
		key, n := text(s[i:])
		i += n
		for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
			i++
		}
		if c := at(s, i); c != ':' && c != '=' {
			continue
		}
		for i++; i < len(s) && (s[i] == ' ' || s[i] == '\t'); i++ {
		}
		if outer != "" {
			key = outer + "/" + key
		}
		if at(s, i) == '{' && depth < 8 {
			i += 1 + fields(s[i+1:], key, depth+1, give)
			continue
		}
		v, n := scalar(s[i:])
		if i += n; v != nil && key != "" {
			give(key, v)
		}
	}
	return i
}

// text reads a string or a bare word, and returns its length in s.
func text(s []byte) (string, int) {
	if c := at(s, 0); c != '\'' && c != '"' {
		i := 0
		for i < len(s) && (letter(s[i]) || digit(s[i]) || s[i] >= 0x80 || bytes.IndexByte([]byte("_.-+"), s[i]) >= 0) {
			i++
		}
		return string(s[:i]), max(i, 1)
	}
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == s[0] {
			return string(s[1:i]), i + 1
		}
	}
	return "", len(s)
}

// scalar reads a value, and returns its length; the value is nil if it is a list or None.
func scalar(s []byte) (any, int) {
	switch c := at(s, 0); c {
	case 0, '}', ')', ',':
		return nil, 0
	case '[', '(', '{':
		depth, i := 0, 0
		for ; i < len(s); i++ {
			if s[i] == '[' || s[i] == '(' || s[i] == '{' {
				depth++
			} else if s[i] == ']' || s[i] == ')' || s[i] == '}' {
				if depth--; depth == 0 {
					return nil, i + 1
				}
			}
		}
		return nil, i
	case '\'', '"':
		v, n := text(s)
		return v, n
	}
	w, n := text(s)
	switch w {
	case "True", "true":
		return true, n
	case "False", "false":
		return false, n
	case "None", "null", "":
		return nil, n
	}
	if x, err := strconv.ParseFloat(w, 64); err == nil || math.IsInf(x, 0) {
		return x, n
	}
	if at(s, n) == '(' { // tensor(0.3, device='cuda:0')
		v, _ := scalar(s[n+1:])
		_, m := scalar(s[n:])
		if _, ok := v.(float64); !ok {
			v = nil
		}
		return v, n + m
	}
	return w, n
}
