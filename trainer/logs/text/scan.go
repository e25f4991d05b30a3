package text

import (
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	mark   kind = iota // one character that is neither a word's nor a number's
	word               // loss, train-rmse, Acc@1, rewards/chosen
	number             // 1,234 93% 7.5e-3 nan -inf, or with a unit 47s
	junk               // a date, a time, a version, an address
)

// token is a piece of a line.
type token struct {
	kind    kind
	char    byte // of a mark; what is not ASCII is |
	unit    bool // letters stand at the number
	percent bool
	whole   bool // a number without a point and an exponent
	signed  bool // a number with + before it
	gap     int  // blanks before it; a tab counts as 8
	a, b    int  // its place in the line
	v       float64
}

const mostTokens = 512

// scan cuts a line into tokens, the first 512 of them.
func scan(dst []token, s []byte) []token {
	dst = dst[:0]
	gap := 0
	for i := 0; i < len(s) && len(dst) < mostTokens; {
		c := s[i]
		switch {
		case c == ' ':
			gap++
			i++
			continue
		case c == '\t':
			gap += 8
			i++
			continue
		case c == '\'' || c == '"' || c == '`':
			i++
			continue
		}
		t := token{gap: gap, a: i}
		switch {
		case startsNumber(s, i):
			t.number(s)
		case letter(c) || c == '_' || c >= utf8.RuneSelf && unicodeLetter(s[i:]):
			t.word(s)
		case c == '/' || c == '~' || c == '.':
			t.path(s)
		case c >= utf8.RuneSelf:
			_, n := utf8.DecodeRune(s[i:])
			t.char, t.b = '|', i+n
		default:
			t.char, t.b = c, i+1
		}
		gap = 0
		i = t.b
		if t.char == '|' && len(dst) > 0 && dst[len(dst)-1].char == '|' && t.gap == 0 {
			continue // one bar of a progress bar stands for all
		}
		dst = append(dst, t)
	}
	return dst
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func unicodeLetter(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	return unicode.IsLetter(r)
}

// at is the character at i, 0 beyond the end.
func at(s []byte, i int) byte {
	if i >= 0 && i < len(s) {
		return s[i]
	}
	return 0
}

func startsNumber(s []byte, i int) bool {
	c := s[i]
	if c == '+' || c == '-' {
		if c == '-' && i > 0 && (letter(s[i-1]) || digit(s[i-1])) {
			return false
		}
		i++
		c = at(s, i)
		if _, n := word3(s[i:]); n > 0 {
			return true
		}
	}
	return digit(c) || c == '.' && digit(at(s, i+1))
}

// word3 reads nan, inf and infinity in any case, and returns the length.
func word3(s []byte) (float64, int) {
	if len(s) < 3 || s[0]|0x20 != 'n' && s[0]|0x20 != 'i' {
		return 0, 0
	}
	v, n := 0.0, 3
	switch string([]byte{s[0] | 0x20, s[1] | 0x20, s[2] | 0x20}) {
	case "nan":
		v = math.NaN()
	case "inf":
		v = math.Inf(1)
		if len(s) >= 8 && string([]byte{s[3] | 0x20, s[4] | 0x20, s[5] | 0x20, s[6] | 0x20, s[7] | 0x20}) == "inity" {
			n = 8
		}
	default:
		return 0, 0
	}
	if c := at(s, n); letter(c) || digit(c) || c == '_' || c == '/' || c == '-' {
		return 0, 0
	}
	return v, n
}

// number reads the number at t.a, with what is attached to it.
func (t *token) number(s []byte) {
	t.kind = number
	i := t.a
	if s[i] == '+' || s[i] == '-' {
		t.signed = s[i] == '+'
		i++
	}
	if v, n := word3(s[i:]); n > 0 {
		t.v, t.b = v, i+n
		if s[t.a] == '-' {
			t.v = -v
		}
		return
	}
	first := i
	commas := false
	for i < len(s) {
		if digit(s[i]) {
			i++
		} else if s[i] == ',' && i > first && i-first <= 3 && thousand(s[i+1:]) {
			for i < len(s) && s[i] == ',' && thousand(s[i+1:]) {
				i += 4
			}
			commas = true
			break
		} else {
			break
		}
	}
	t.whole = true
	if at(s, i) == '.' && (digit(at(s, i+1)) || !letter(at(s, i+1))) {
		t.whole = false
		for i++; i < len(s) && digit(s[i]); i++ {
		}
	}
	if c := at(s, i); c == 'e' || c == 'E' {
		j := i + 1
		if c := at(s, j); c == '+' || c == '-' {
			j++
		}
		if digit(at(s, j)) {
			t.whole = false
			for i = j; i < len(s) && digit(s[i]); i++ {
			}
		}
	}
	t.v = value(s[t.a:i], commas)
	t.b = i
	t.tail(s)
}

// tail reads what is attached to a number: a per cent sign, a unit, or what shows that it is none.
func (t *token) tail(s []byte) {
	i := t.b
	switch c := at(s, i); {
	case c == '%':
		t.percent = true
		t.b++
	case c == '.' && digit(at(s, i+1)), c == ':' && digit(at(s, i+1)), c == '-' && (digit(at(s, i+1)) || letter(at(s, i+1))),
		c == '_', c == '@', c == '\\', c == '=':
		for i < len(s) && s[i] > ' ' && s[i] != ',' && s[i] != ']' && s[i] != ')' && s[i] != '|' && s[i] != '<' {
			i++
		}
		t.kind, t.b = junk, i
	case letter(c) || c >= utf8.RuneSelf && unicodeLetter(s[i:]):
		for i < len(s) && (letter(s[i]) || s[i] >= utf8.RuneSelf || digit(s[i]) || s[i] == '/' || s[i] == '_' || s[i] == '.' || s[i] == '-') {
			i++
		}
		t.unit, t.b = true, i
	}
}

// thousand reports whether exactly three digits follow.
func thousand(s []byte) bool {
	return len(s) >= 3 && digit(s[0]) && digit(s[1]) && digit(s[2]) && !digit(at(s, 3))
}

// value is the number that the text says; NaN if it is none, infinite if it is too large.
func value(s []byte, commas bool) float64 {
	if commas {
		clean := make([]byte, 0, len(s))
		for _, c := range s {
			if c != ',' {
				clean = append(clean, c)
			}
		}
		s = clean
	}
	v, _ := strconv.ParseFloat(string(s), 64)
	return v
}

// word reads the word at t.a. Within it may stand - . / @ ' and such if a letter or digit follows.
func (t *token) word(s []byte) {
	if v, n := word3(s[t.a:]); n > 0 {
		t.kind, t.v, t.b = number, v, t.a+n
		return
	}
	t.kind = word
	i := t.a
	for i < len(s) {
		c := s[i]
		if letter(c) || digit(c) || c == '_' {
			i++
			continue
		}
		if c >= utf8.RuneSelf && unicodeLetter(s[i:]) {
			_, n := utf8.DecodeRune(s[i:])
			i += n
			continue
		}
		next := at(s, i+1)
		joins := c == '-' || c == '.' || c == '/' || c == '@' || c == '\''
		if !joins || !letter(next) && !digit(next) && next != '_' {
			break
		}
		i++
	}
	t.b = i
	if c := at(s, i); c == '\\' || c == ':' && (at(s, i+1) == '/' || at(s, i+1) == '\\') {
		t.path(s)
	}
}

// path reads what goes on to the next blank: a file's name or an address, of which no part is a number.
func (t *token) path(s []byte) {
	i := t.a
	if next := at(s, i+1); !letter(s[i]) && !letter(next) && next != '.' && next != '/' {
		t.char, t.b = s[i], i+1
		return
	}
	t.kind = junk
	for i < len(s) && s[i] > ' ' && s[i] != ',' {
		i++
	}
	t.b = i
}
