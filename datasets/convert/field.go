package convert

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// appendNumber appends the digits of v that lead back to its bits, few if few do; nothing for NaN, which is a missing
// value.
func appendNumber(dst []byte, v float64) []byte {
	whole := math.Abs(v)
	switch {
	case whole < 1e15 && v == math.Trunc(v) && !(v == 0 && math.Signbit(v)):
		return strconv.AppendInt(dst, int64(v), 10)
	case v != v:
		return dst
	case whole < 1e-5 || whole >= 1e15:
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	return appendDecimal(dst, v)
}

// appendDecimal appends a number that may have few decimals. If v = n/10⁶ after rounding for a whole n < 10¹⁵, then n
// with its point six digits from the end is read as v: both n and 10⁶ are exact, and the quotient is rounded once, as
// the reader rounds.
func appendDecimal(dst []byte, v float64) []byte {
	const places, power = 6, 1e6
	n := math.Round(math.Abs(v) * power)
	if n >= 1e15 || n/power != math.Abs(v) {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	if v < 0 {
		dst = append(dst, '-')
	}
	whole, rest := uint64(n)/power, uint64(n)%power
	dst = append(strconv.AppendUint(dst, whole, 10), '.')
	start := len(dst)
	for range places {
		dst = append(dst, '0')
	}
	for i := start + places - 1; rest > 0; i-- {
		dst[i] += byte(rest % 10)
		rest /= 10
	}
	return bytes.TrimRight(dst, "0")
}

// appendWord appends a word, in quotes where CSV needs them.
func appendWord[T string | []byte](dst []byte, word T) []byte {
	special := len(word) > 0 && (word[0] == ' ' || word[0] == '\t' || word[len(word)-1] == ' ' ||
		word[len(word)-1] == '\t')
	for i := 0; i < len(word) && !special; i++ {
		switch word[i] {
		case ',', ';', '"', '\n', '\r', '\t':
			special = true
		}
	}
	if !special {
		return append(dst, word...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(word); i++ {
		if word[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, word[i])
	}
	return append(dst, '"')
}

// appendNames appends a row of names.
func appendNames(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendWord(dst, name)
	}
	return append(dst, '\n')
}

// isText reports whether bytes are text in UTF-8.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// float16 returns the value of half precision bits.
func float16(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	v := 0.0
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		if v = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if b>>15 != 0 {
		v = -v
	}
	return v
}
