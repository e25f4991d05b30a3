package lex

import (
	"math"
	"slices"
	"strings"
)

// IsMissing reports whether a field says that there is no value.
func IsMissing[T string | []byte](field T) bool {
	if len(field) > len("#unknown!") || len(field) > 4 && field[0] != '#' && field[0] != '(' && field[0] != '<' &&
		field[0] != '[' {
		return false
	}
	switch strings.ToLower(string(field)) {
	case "", "?", "na", "n/a", "nan", "-nan", "nat", "null", "<na>", "#n/a", "#na",
		`\n`, "(null)", "<null>", "[null]", // of databases
		"#div/0!", "#ref!", "#value!", "#name?", "#num!", "#null!", "#field!", "#unknown!", "#calc!": // of spreadsheets
		return true
	}
	return false
}

// truths are words for true, each before that for false, and the same in short.
var truths = [][4]string{{"true", "false", "t", "f"}, {"yes", "no", "y", "n"}}

// ParseTruth returns which of the pairs of truths a word is of, -1 for none, and what it says. A final dot, as UCI's
// adult.test has it, does not count.
func ParseTruth(field string) (pair int, is bool) {
	if len(field) > len("false.") {
		return -1, false
	}
	word := strings.ToLower(strings.TrimSuffix(field, "."))
	pair = slices.IndexFunc(truths, func(p [4]string) bool { return slices.Contains(p[:], word) })
	return pair, pair >= 0 && (truths[pair][0] == word || truths[pair][2] == word)
}

// SameTruth reports whether two words say the same of yes or no.
func SameTruth(a, b string) bool {
	pair, is := ParseTruth(a)
	other, same := ParseTruth(b)
	return pair >= 0 && pair == other && is == same
}

// exactDigits is how many decimal digits a whole number has at most that is surely exact in floating point.
const exactDigits = 15

var powers = [exactDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
	1e15}

// decimal reads a number of at most 15 digits, with a sign or not, and with a decimal point or not, to the bits that
// strconv.ParseFloat gives: both the digits and the power of ten are exact, and so is their quotient but for one
// rounding. Any other field is a word to it.
func decimal(field []byte) (float64, kind) {
	rest := field
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	whole, digits, point := uint64(0), 0, -1
	for i, c := range rest {
		switch {
		case c-'0' <= 9 && digits < exactDigits:
			whole = whole*10 + uint64(c-'0')
			digits++
		case c == '.' && point < 0:
			point = i
		default:
			return 0, KindWord
		}
	}
	if digits == 0 {
		return 0, KindWord
	}
	v := float64(whole)
	if point >= 0 {
		v /= powers[digits-point]
	}
	if field[0] == '-' {
		v = -v
	}
	if digits == len(field) && whole <= math.MaxUint8 && (field[0] != '0' || digits == 1) {
		return v, KindByte
	}
	return v, kindNumber
}

// LooksDecimal reports whether a field is surely written like a number: digits, with a sign, a decimal point and an
// exponent or not.
func LooksDecimal(field []byte) bool {
	digits, point, exponent := 0, false, false
	for i, c := range field {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '.' && !point && !exponent:
			point = true
		case (c == 'e' || c == 'E') && digits > 0 && !exponent:
			exponent, digits = true, 0
		case (c == '-' || c == '+') && (i == 0 || field[i-1] == 'e' || field[i-1] == 'E'):
		default:
			return false
		}
	}
	return digits > 0
}

// ListNames lists names, the first of them if there are many.
func ListNames(names []string) string {
	if len(names) > 20 {
		return strings.Join(names[:20], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
