package logs

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseNumber reads a number as programs print it: 12, -0.5, .5, 1e-3, 1,234.5 and 93%, which is 93; and what is not
// finite: nan, inf and infinity in any case, with or without a sign. A number that is too large is infinite. Blanks
// around it do not matter. It is false for everything else, also for what Missing knows. Finite numbers cost no
// allocation.
func ParseNumber(text []byte) (v float64, ok bool) {
	if v, ok = parseShort(text); ok {
		return v, true
	}
	text = bytes.TrimSpace(text)
	if n := len(text); n > 1 && text[n-1] == '%' {
		text = text[:n-1]
	}
	digits, commas := false, false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c == ',':
			commas = true
		case c != '+' && c != '-' && c != '.' && (c != 'e' && c != 'E' || !digits):
			if i > 1 { // nan and inf begin with a letter or a sign
				return 0, false
			}
			return parseWord(text)
		}
	}
	if !digits {
		return 0, false
	}
	if commas {
		if text = withoutCommas(text); text == nil {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil || math.IsInf(v, 0)
}

// powers are those of ten that are exact.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseShort reads up to 19 digits. Where they are below 2⁵³, and at most 22 of them stand behind the point or up to
// the exponent, both are exact, and so their quotient or product is rounded once (Clinger 1990, How to read floating
// point numbers accurately, §4). Else they are divided as whole numbers.
func parseShort(text []byte) (float64, bool) {
	i, mantissa, count, power := 0, uint64(0), 0, 0
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		i++
	}
	start, point := i, -1
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		mantissa = mantissa*10 + uint64(c-'0')
		count++
	}
	if count == 0 || count > 19 {
		return 0, false
	}
	if point >= 0 {
		power = point + 1 - i
	}
	if i < len(text) {
		e, ok := exponent(text[i:])
		if !ok || i == start {
			return 0, false
		}
		power += e
	}
	v := float64(mantissa)
	switch {
	case power < -22 || power > 22 || mantissa >= 1<<53 && (power < -19 || power > 0):
		return 0, false
	case mantissa >= 1<<53 && power < 0:
		v = quotient(mantissa, uint64(powers[-power]))
	case power < 0:
		v /= powers[-power]
	default:
		v *= powers[power]
	}
	if negative {
		v = -v
	}
	return v, true
}

// quotient is m/d, rounded once.
func quotient(m, d uint64) float64 {
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m, d = m<<up, d<<down
	q, rest := bits.Div64(m>>1, m<<63, d) // 2⁶³m/d, of 63 bits at least
	if rest != 0 {
		q |= 1 // far behind the bits that stay, where it is more than nothing
	}
	return math.Ldexp(float64(q), down-up-63)
}

// exponent reads an exponent of one or two digits with its e.
func exponent(text []byte) (e int, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := len(text) > 0 && text[0] == '-'
	if len(text) > 0 && (negative || text[0] == '+') {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 2 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = e*10 + int(c-'0')
	}
	if negative {
		e = -e
	}
	return e, true
}

// parseWord reads what stands for a number that is not finite.
func parseWord(text []byte) (float64, bool) {
	sign, word := 1, text
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	if len(word) < len("nan") || len(word) > len("infinity") {
		return 0, false
	}
	switch {
	case bytes.EqualFold(word, []byte("nan")):
		return math.NaN(), true
	case bytes.EqualFold(word, []byte("inf")), bytes.EqualFold(word, []byte("infinity")):
		return math.Inf(sign), true
	}
	return 0, false
}

// withoutCommas removes the commas between groups of three digits. It returns nil if they stand elsewhere.
func withoutCommas(text []byte) []byte {
	out := make([]byte, 0, len(text))
	whole, rest := text, []byte(nil)
	if i := bytes.IndexAny(text, ".eE"); i >= 0 {
		whole, rest = text[:i], text[i:]
	}
	for i, group := range bytes.Split(whole, []byte(",")) {
		first := bytes.TrimLeft(group, "+-")
		if i == 0 && (len(first) == 0 || len(first) > 3) || i > 0 && len(group) != 3 {
			return nil
		}
		out = append(out, group...)
	}
	return append(out, rest...)
}

// Missing reports whether a cell or a word says that there is no value: empty, NA, N/A, null, none, or dashes.
func Missing(text []byte) bool {
	text = bytes.TrimSpace(text)
	switch len(text) {
	case 0:
		return true
	case 1:
		return text[0] == '-'
	case 2:
		return text[0] == 'N' && text[1] == 'A' || text[0] == '-' && text[1] == '-'
	case 3:
		return string(text) == "N/A"
	case 4:
		return bytes.EqualFold(text, []byte("null")) || bytes.EqualFold(text, []byte("none"))
	}
	return false
}

// ParseTime reads a date with a time of day, as 2006-01-02 15:04:05, with T or a blank between them, with or without a
// fraction and a zone, and returns the seconds since 1970. Where no zone is told it is in the one that is given.
func ParseTime(text []byte, zone *time.Location) (seconds float64, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) < len("2006-01-02 15:04:05") || text[4] != '-' || text[7] != '-' || text[13] != ':' {
		return 0, false
	}
	layout := "2006-01-02T15:04:05"
	if text[10] == ' ' {
		layout = "2006-01-02 15:04:05"
	}
	value := string(text)
	t, err := time.ParseInLocation(layout, value, zone)
	if err != nil {
		if t, err = time.Parse(layout+"Z07:00", value); err != nil {
			return 0, false
		}
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9, true
}

// Clean makes a line of what a program printed: what is left of it on a terminal after carriage returns and backspaces,
// without escape sequences, control characters and bytes that are no UTF-8.
func Clean(text string) string {
	text = strings.TrimRight(text, "\r\n")
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:]
	}
	dirty := strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' || c >= 0x7f && c < 0xa0 ||
			c == utf8.RuneError
	})
	if !dirty {
		return text
	}
	b := make([]byte, 0, len(text))
	for len(text) > 0 {
		if n := escape(text); n > 0 {
			text = text[n:]
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch {
		case c == '\t':
			b = append(b, ' ')
		case c == '\b': // what was written last is written over
			_, n := utf8.DecodeLastRune(b)
			b = b[:len(b)-n]
		case c < ' ' || c >= 0x7f && c < 0xa0 || c == utf8.RuneError && n == 1:
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return string(b)
}

// escape returns the length of the escape sequence that a text begins with (ECMA-48 §5.4, §5.6), or 0.
func escape(text string) int {
	if len(text) < 2 || text[0] != '\x1b' {
		return 0
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= '@' && text[i] <= '~' {
				return i + 1
			}
		}
		return len(text)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' || text[i] == '\\' && text[i-1] == '\x1b' {
				return i + 1
			}
		}
		return len(text)
	}
	return 2
}
