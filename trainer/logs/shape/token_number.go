package shape

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"newtop/trainer/logs"
)

func startsNumber(s []byte, i int) bool {
	c := s[i]
	if c == '+' || c == '-' {
		if c == '-' && i > 0 && (letter(s[i-1]) || digit(s[i-1])) {
			return false
		}
		i++
		c = at(s, i)
		if notFinite(s[i:]) > 0 {
			return true
		}
	}
	return digit(c) || c == '.' && digit(at(s, i+1))
}

// notFinite returns the length of nan, inf or infinity in any case, with brackets as nan(ind), or 0.
func notFinite(s []byte) int {
	if len(s) < 3 || s[0]|0x20 != 'n' && s[0]|0x20 != 'i' {
		return 0
	}
	n := 3
	switch {
	case bytes.EqualFold(s[:3], []byte("nan")):
		if at(s, 3) == '(' {
			if end := bytes.IndexByte(s[:min(len(s), 24)], ')'); end > 0 {
				n = end + 1
			}
		}
	case !bytes.EqualFold(s[:3], []byte("inf")):
		return 0
	case len(s) >= 8 && bytes.EqualFold(s[:8], []byte("infinity")):
		n = 8
	}
	c, next := at(s, n), at(s, n+1)
	if letter(c) || digit(c) || c == '_' || c == '/' || c == '-' && (letter(next) || digit(next)) {
		return 0
	}
	return n
}

// number reads the number at t.a, with what is attached to it.
func (c *scanner) number(t *token, s []byte) {
	t.kind = number
	i := t.a
	if s[i] == '+' || s[i] == '-' {
		t.signed = s[i] == '+'
		i++
	}
	if n := notFinite(s[i:]); n > 0 {
		t.b = i + n
		t.end = t.b
		return
	}
	first := i
	for digit(at(s, i)) {
		i++
	}
	t.whole = true
	if at(s, i) == ',' && i > first {
		i = c.afterComma(t, s, first, i)
	}
	if b := at(s, i); b == '.' && !t.comma && (digit(at(s, i+1)) || !letter(at(s, i+1))) {
		if at(s, i+1) == '#' && letter(at(s, i+2)) { // 1.#QNAN of Microsoft's library
			for i += 2; letter(at(s, i)) || digit(at(s, i)); i++ {
			}
			t.whole, t.b, t.end = false, i, i
			return
		}
		if digit(at(s, i+1)) {
			c.points++
		}
		t.whole = false
		for i++; digit(at(s, i)); i++ {
		}
	}
	if b := at(s, i) | 0x20; b == 'e' || b == 'd' || b == 'f' && !t.whole { // Fortran's, Julia's
		j := i + 1
		if b := at(s, j); b == '+' || b == '-' {
			j++
		}
		if digit(at(s, j)) {
			t.whole = false
			for i = j; digit(at(s, i)); i++ {
			}
		}
	}
	t.b, t.end = i, i
	t.tail(s)
}

// afterComma reads what follows the comma at i of a number: groups of three digits, or a fraction where that is how the
// log writes them. It returns where the number goes on.
func (c *scanner) afterComma(t *token, s []byte, first, i int) int {
	end := i + 1
	for digit(at(s, end)) {
		end++
	}
	if end == i+1 {
		return i
	}
	next := at(s, end)
	if (end-i-1 != 3 || s[first] == '0') && next != ',' && next != ']' && next != '.' {
		c.commas++
		if c.comma {
			t.comma, t.whole = true, false
			return end
		}
	}
	if c.comma && next != ',' && next != ']' {
		t.comma, t.whole = true, false
		return end
	}
	if i-first > 3 {
		return i
	}
	for at(s, i) == ',' && thousand(s[i+1:]) {
		i += 4
	}
	return i
}

// thousand reports whether exactly three digits follow.
func thousand(s []byte) bool {
	return len(s) >= 3 && digit(s[0]) && digit(s[1]) && digit(s[2]) && !digit(at(s, 3))
}

// tail reads what is attached to a number: a per cent sign, a unit, or what shows that it is none.
func (t *token) tail(s []byte) {
	i := t.b
	switch c := at(s, i); {
	case c == '%':
		t.percent = true
		t.b++
	case c == '.' && digit(at(s, i+1)), c == ':' && digit(at(s, i+1)) && digit(at(s, i+2)),
		c == '-' && (digit(at(s, i+1)) || letter(at(s, i+1))), c == '_', c == '@', c == '\\':
		if end := rangeEnd(s, i); c == '-' && end > 0 { // 101-200batch is 200batch
			t.a, t.end, t.b = i+1, end, end
			t.tail(s)
			return
		}
		for i < len(s) && s[i] > ' ' && bytes.IndexByte([]byte(",])|<"), s[i]) < 0 {
			i++
		}
		t.kind, t.b = junk, i
	case letter(c) || c >= utf8.RuneSelf && unicodeLetter(s[i:]):
		for i < len(s) && (letter(s[i]) || s[i] >= utf8.RuneSelf || digit(s[i]) ||
			bytes.IndexByte([]byte("/_.-"), s[i]) >= 0 && (letter(at(s, i+1)) || digit(at(s, i+1)))) {
			i++
		}
		t.b = i
	}
}

// rangeEnd returns where the last number of a range ends that goes on with the - at i and has a unit, or 0.
func rangeEnd(s []byte, i int) int {
	end := i + 1
	for digit(at(s, end)) {
		end++
	}
	if end > i+1 && letter(at(s, end)) {
		return end
	}
	return 0
}

// value is the number that a token says.
func (t *token) value(s []byte) float64 {
	text := s[t.a:t.end]
	if !t.comma {
		if v, ok := logs.ParseNumber(text); ok {
			return v
		}
	}
	negative := text[0] == '-'
	switch text := bytes.ToLower(text); {
	case bytes.Contains(text, []byte("#inf")):
		if negative {
			return math.Inf(-1)
		}
		return math.Inf(1)
	case bytes.Contains(text, []byte("#")), bytes.Contains(text, []byte("nan")):
		return math.NaN()
	default:
		for i, c := range text {
			switch c {
			case 'd', 'f':
				text[i] = 'e'
			case ',':
				text[i] = '.'
			}
		}
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil && !math.IsInf(v, 0) {
			return math.NaN()
		}
		return v
	}
}

// count is the number that a token says as a place, where 2K is 2000.
func (t *token) count(s []byte) float64 {
	v := t.value(s)
	if u := t.unit(s); len(u) == 1 {
		switch u[0] {
		case 'k', 'K':
			v *= 1e3
		case 'M':
			v *= 1e6
		}
	}
	return v
}
