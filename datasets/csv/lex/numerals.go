package lex

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numerals says how numbers are written. The zero value is the usual way: a decimal point, and nothing between
// thousands.
type Numerals struct {
	comma     bool // decimals are parted by a comma
	thousands string
}

// NewNumerals returns the way of writing numbers with a decimal mark, "," or anything else for a point, and a mark of
// thousands.
func NewNumerals(decimal, thousands string) Numerals { return Numerals{decimal == ",", thousands} }

// Usual reports whether numbers have a decimal point and no mark of thousands.
func (n Numerals) Usual() bool { return n == Numerals{} }

// OtherStyles are those that words are tried in, so that numbers don't pass for words.
var OtherStyles = [...]struct {
	Numerals
	Flags string
}{
	{Numerals{true, "."}, "--table decimal=,,thousands=."},
	{Numerals{false, ","}, "--table thousands=,"},
	{Numerals{true, " "}, "--table decimal=, --table thousands=' '"},
	{Numerals{false, " "}, "--table thousands=' '"},
	{Numerals{false, "'"}, `--table thousands="'"`},
}

// Normalize returns, in buf, a number as strconv reads it: digits, a decimal point, an exponent. Thousands are parted
// everywhere or nowhere. Anything else is no number.
func (n Numerals) Normalize(buf, field []byte) ([]byte, bool) {
	buf = buf[:0]
	if len(field) > 0 && (field[0] == '-' || field[0] == '+') {
		buf, field = append(buf, field[0]), field[1:]
	}
	digits := leadingDigits(field)
	buf, field = append(buf, field[:digits]...), field[digits:]
	if n.thousands != "" && digits >= 1 && digits <= 3 {
		for len(field) > 0 && bytes.HasPrefix(field, []byte(n.thousands)) {
			group := field[len(n.thousands):]
			if leadingDigits(group) != 3 {
				return nil, false
			}
			buf, field = append(buf, group[:3]...), group[3:]
		}
	}
	point := byte('.')
	if n.comma {
		point = ','
	}
	if len(field) > 0 && field[0] == point {
		decimals := leadingDigits(field[1:])
		digits += decimals
		buf = append(append(buf, '.'), field[1:1+decimals]...)
		field = field[1+decimals:]
	}
	if digits == 0 || len(field) > 0 && field[0] != 'e' && field[0] != 'E' {
		return nil, false
	}
	return append(buf, field...), true
}

func leadingDigits(field []byte) int {
	for i, c := range field {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(field)
}

// ParseLoosely returns the number that a field is meant as, one that parse refuses included: one too great, infinity,
// or one that is written in another way.
func (n Numerals) ParseLoosely(field string) (v float64, ok bool) {
	// Most words are reported by their first letter, without an error being made for each.
	if field == "" || !strings.ContainsRune("+-.,0123456789iInN", rune(field[0])) {
		return 0, false
	}
	if !n.Usual() {
		if text, ok := n.Normalize(nil, []byte(field)); ok {
			v, err := strconv.ParseFloat(string(text), 64)
			return v, err == nil || errors.Is(err, strconv.ErrRange)
		}
	}
	v, err := strconv.ParseFloat(field, 64)
	if errors.Is(err, strconv.ErrSyntax) && strings.Count(field, ",") == 1 {
		v, err = strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
	}
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// maxNumber bounds the numbers that are read, so that means and deviations stay finite.
const maxNumber = 1e300

// Parse reads a finite number.
func (n Numerals) Parse(field string) (float64, bool) {
	if !n.Usual() {
		text, ok := n.Normalize(nil, []byte(field))
		if !ok {
			return 0, false
		}
		field = string(text)
	}
	v, err := strconv.ParseFloat(field, 64)
	return v, err == nil && math.Abs(v) <= maxNumber
}

// Expectation says what is wrong with a field that is no number, where it can be said.
func (n Numerals) Expectation(field string) string {
	switch _, like := n.ParseLoosely(field); {
	case n.comma && like && strings.Contains(field, "."):
		return "a number with a decimal comma; {Thousands} . if points separate thousands"
	case !n.comma && strings.Contains(field, ","):
		return "a number with a decimal point; {Decimal} , or {Thousands} , says what commas separate"
	case like:
		return fmt.Sprintf("a number between -%g and %g", maxNumber, maxNumber)
	}
	return "a number"
}
