package lex

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numerals says how numbers are written. The zero value is the usual way: a decimal point, and nothing between
// thousands.
type Numerals struct {
	comma     bool // decimals are parted by a comma
	thousands string
	dressed   bool   // as undress reads them: with a unit, in parentheses, with a sign behind
	unit      string // of dressed numbers, before or behind them; empty: none
}

// NewNumerals returns the way of writing numbers with a decimal mark, "," or anything else for a point, and a mark of
// thousands.
func NewNumerals(decimal, thousands string) Numerals {
	return Numerals{comma: decimal == ",", thousands: thousands}
}

// Usual reports whether numbers have a decimal point and no mark of thousands.
func (n Numerals) Usual() bool { return n == Numerals{} }

// Dressed returns the same way of writing numbers with a unit, empty for none.
func (n Numerals) Dressed(unit string) Numerals {
	n.dressed, n.unit = true, unit
	return n
}

// String writes a number in this way, as "1,234.5 kg". ParseNumerals reads it.
func (n Numerals) String() string {
	point := "."
	if n.comma {
		point = ","
	}
	text := "1" + n.thousands + "234" + point + "5"
	switch {
	case n.clock():
		return "12:34:56"[:2+3*len(n.unit)]
	case n.unit == "":
		return text
	case isCurrency(n.unit) && !strings.ContainsAny(n.unit, "0123456789"):
		return n.unit + text
	case isCurrency(n.unit), unicode.IsLetter([]rune(n.unit)[0]):
		return text + " " + n.unit
	}
	return text + n.unit
}

// ParseNumerals returns the dressed way of writing numbers that String wrote.
func ParseNumerals(text string) (n Numerals, ok bool) {
	if parts := strings.Count(text, ":"); parts > 0 && parts < 3 {
		n = n.Dressed("::"[:parts])
		return n, n.String() == text
	}
	before, rest, _ := strings.Cut(text, "1")
	thousands, rest, _ := strings.Cut(rest, "234")
	if rest == "" {
		return n, false
	}
	point, unit, ok := strings.Cut(rest, "5")
	n = NewNumerals(point, thousands).Dressed(strings.TrimSpace(before + unit))
	return n, ok && n.String() == text
}

// OtherStyles are those that words are tried in, so that numbers don't pass for words: with a decimal point and with a
// decimal comma, and with each mark of thousands. The same text may be read in the first that part decimals and
// thousands by the comma.
var OtherStyles = []Numerals{
	{thousands: ","}, {comma: true, thousands: "."}, {thousands: " "}, {thousands: "'"}, {comma: true, thousands: " "},
	{comma: true, thousands: "'"},
}

// Currency reports whether the unit is one of money.
func (n Numerals) Currency() bool { return isCurrency(n.unit) }

// exponents are those of ten that words behind a number stand for.
var exponents = map[string]string{
	"%": "e-2", "‰": "e-3", "k": "e3", "thousand": "e3", "lakh": "e5", "m": "e6", "mn": "e6", "mio": "e6", "mio.": "e6",
	"million": "e6", "crore": "e7", "cr": "e7", "b": "e9", "bn": "e9", "mrd": "e9", "mrd.": "e9", "billion": "e9",
	"trillion": "e12",
}

// Scales reports whether a unit tells how large a number is, so that one without it is another: 1.1K beside 442.
func Scales(unit string) bool { return exponents[unit] != "" }

// CommaDecimal reports whether decimals are parted by a comma.
func (n Numerals) CommaDecimal() bool { return n.comma }

// Normalize returns, in buf, a number as strconv reads it: digits, a decimal point, an exponent. Thousands are parted
// everywhere or nowhere, in India hundreds of thousands too. Anything else is no number.
func (n Numerals) Normalize(buf, field []byte) ([]byte, bool) {
	buf = buf[:0]
	if n.dressed {
		number, unit, ok := undress(string(field))
		if !ok || unit != n.unit && (unit != "" || Scales(n.unit) || n.clock()) {
			return nil, false
		}
		field = exponent(number)
	}
	if len(field) > 0 && (field[0] == '-' || field[0] == '+') {
		buf, field = append(buf, field[0]), field[1:]
	}
	digits := leadingDigits(field)
	buf, field = append(buf, field[:digits]...), field[digits:]
	if n.thousands != "" && digits >= 1 && digits <= 3 && strings.HasPrefix(string(field), n.thousands) {
		if buf[len(buf)-digits] == '0' {
			return nil, false
		}
		var ok bool
		if buf, field, ok = joinGroups(buf, field, n.thousands, digits); !ok {
			return nil, false
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

// joinGroups appends the digits of the groups that a mark parts, of three digits each, or of two but for the last.
func joinGroups(buf, field []byte, mark string, leading int) (digits, rest []byte, ok bool) {
	size := 3
	for first := true; bytes.HasPrefix(field, []byte(mark)); first = false {
		group := field[len(mark):]
		n := leadingDigits(group)
		if first && n == 2 && leading <= 2 && mark == "," {
			size = 2
		}
		if n != size && (n != 3 || !first && bytes.HasPrefix(group[3:], []byte(mark))) || size == 2 && n == 2 &&
			!bytes.HasPrefix(group[2:], []byte(mark)) {
			return nil, nil, false
		}
		buf, field = append(buf, group[:n]...), group[n:]
	}
	return buf, field, true
}

func leadingDigits(field []byte) int {
	for i, c := range field {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(field)
}

// currencies are those that stand before numbers without a sign of their own.
var currencies = strings.Fields("usd eur gbp chf jpy cny inr rs rs. aud cad nzd sek nok dkk kr kr. pln czk huf brl " +
	"rub zar mxn krw try sgd hkd")

func isCurrency(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) ||
		slices.Contains(currencies, strings.ToLower(text))
}

// plain writes spaces, signs and apostrophes of print as those of a keyboard.
var plain = strings.NewReplacer("\u00a0", " ", "\u2009", " ", "\u202f", " ", "\u2212", "-", "\u2019", "'")

// undress takes a number out of what it is written in, such as "$1,234.50", "(12.30)", "12.30-", "6.45 %", "1.2D+03" or
// "18.2 kmpl", and returns it with its sign, and its unit in small letters. A letter before a number is a code, and not
// a unit, unless it is that of a currency; rs500 is a variant of a gene.
func undress(field string) (number, unit string, ok bool) {
	const longest = 48
	if len(field) > longest || !strings.ContainsAny(field, "0123456789") {
		return "", "", false
	}
	s := strings.TrimSpace(plain.Replace(field))
	if number, unit, ok = clock(s); ok {
		return number, unit, true
	}
	sign := ""
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		sign, s = "-", strings.TrimSpace(s[1:len(s)-1])
	}
	takeSign := func() bool {
		if s != "" && (s[0] == '-' || s[0] == '+') {
			if sign != "" {
				return false
			}
			sign, s = s[:1], strings.TrimSpace(s[1:])
		}
		return true
	}
	if !takeSign() {
		return "", "", false
	}
	start := strings.IndexAny(s, "0123456789")
	if start > 0 && (s[start-1] == '.' && start != len("rs.") || s[start-1] == ',') {
		start--
	}
	unit, s = strings.TrimSpace(s[:start]), s[start:]
	if before, found := strings.CutSuffix(unit, "("); found && sign == "" && strings.HasSuffix(s, ")") { // $(12.30)
		unit, s, sign = strings.TrimSpace(before), s[:len(s)-1], "-"
	}
	for _, c := range "-+" { // behind the currency
		if before, found := strings.CutSuffix(unit, string(c)); found && sign == "" {
			unit, sign = strings.TrimSpace(before), string(c)
		}
	}
	if code := unit == "rs" && len(unit) == start; unit != "" && (code || !isCurrency(unit)) {
		return "", "", false
	}
	end := numberEnd(s)
	number, s = s[:end], strings.Trim(s[end:], " *") // behind it: a footnote
	if s == "-" || strings.HasPrefix(s, "- ") {
		if sign != "" || len(number) == 1 { // 3- is a grade
			return "", "", false
		}
		sign, s = "-", strings.TrimSpace(s[1:])
	}
	scale, money, _ := strings.Cut(strings.ToLower(s), " ")
	if e := exponents[scale]; e > "e0" && isCurrency(unit+money) && !strings.ContainsAny(number, "dDeE") {
		number, s = number+e, money // $1.5M stands beside $900K
	}
	if s != "" && (unit != "" || !startsUnit(s)) || len(s) == 1 && strings.Contains("eEdD", s) { // 42E is a code
		return "", "", false
	}
	if unit += s; len(unit) > 3 && strings.HasSuffix(unit, "s") {
		unit = unit[:len(unit)-1] // years
	}
	return sign + number, strings.ToLower(unit), true
}

// clock reports whether numbers are written as a time, of two parts with the unit : and of three with ::, as in one
// column nobody knows what 9:15 beside 10:15:30 is.
func (n Numerals) clock() bool { return strings.HasPrefix(n.unit, ":") }

// clock returns how many of its last part a text such as 9:47 or 1:02:33.5 is.
func clock(text string) (number, unit string, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return "", "", false
	}
	sum := 0.0
	for i, part := range parts {
		whole, decimals, _ := strings.Cut(part, ".")
		digits := leadingDigits([]byte(whole))
		if digits < len(whole) || i == 0 && (digits < 1 || digits > 3) || i > 0 && (digits != 2 || whole > "59") ||
			leadingDigits([]byte(decimals)) < len(decimals) || i < len(parts)-1 && len(whole) < len(part) {
			return "", "", false
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return "", "", false
		}
		sum = 60*sum + v
	}
	return strconv.FormatFloat(sum, 'f', -1, 64), "::"[:len(parts)-1], true
}

// numberEnd returns where the number ends that a text begins with: digits, and what parts them.
func numberEnd(s string) int {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	i := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case digit(i), c == '.' || c == ',':
		case (c == ' ' || c == '\'') && digit(i+1):
		case c == 'e' || c == 'E' || (c == 'd' || c == 'D') && strings.ContainsAny(s[:i], ".,"):
			j := i + 1
			if j < len(s) && (s[j] == '-' || s[j] == '+') {
				j++
			}
			if !digit(j) {
				return i
			}
			for i = j; digit(i); i++ {
			}
			return i
		default:
			return i
		}
	}
	return i
}

// startsUnit reports whether what stands behind a number may be its unit.
func startsUnit(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("%‰°\"'′″+/", r)
}

// LooksCoded reports whether a number without a unit is written as (748), 555 123 456 or 192.168.100.100.
func LooksCoded(field string) bool {
	return field[0] == '(' || strings.IndexAny(field, " .'") == 3 && strings.Count(field, field[3:4]) > 1
}

// Likely reports whether a field is a number in any style.
func Likely(field string) bool {
	if _, ok := (Numerals{}).ParseLoosely(field); ok {
		return true
	}
	_, in := Styles(field, OtherStyles)
	return in != 0
}

// Styles returns in which of some styles a field is a number, a bit for each, and its unit.
func Styles(field string, styles []Numerals) (unit string, in uint8) {
	number, unit, ok := undress(field)
	if !ok {
		return "", 0
	}
	for i, style := range styles {
		if text, ok := style.Normalize(nil, exponent(number)); ok && LooksDecimal(text) {
			in |= 1 << i
		}
	}
	return unit, in
}

// exponent writes Fortran's exponents as others do.
func exponent(number string) []byte {
	return []byte(strings.Map(func(r rune) rune {
		if r == 'd' || r == 'D' {
			return 'e'
		}
		return r
	}, number))
}

// ParseLoosely returns the number that a field is meant as, one that parse refuses included: one too great, or
// infinity.
func (n Numerals) ParseLoosely(field string) (v float64, ok bool) {
	// Most words are reported by their first letter, without an error being made for each.
	if field == "" || !n.dressed && !strings.ContainsRune("+-.,0123456789iInN", rune(field[0])) {
		return 0, false
	}
	if !n.Usual() {
		text, ok := n.Normalize(nil, []byte(field))
		if !ok {
			return 0, false
		}
		field = string(text)
	}
	v, err := strconv.ParseFloat(field, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// maxNumber bounds the numbers that are read, so that means and deviations stay finite.
const maxNumber = 1e300

// Parse reads a finite number.
func (n Numerals) Parse(field string) (float64, bool) {
	v, ok := n.ParseLoosely(field)
	return v, ok && math.Abs(v) <= maxNumber
}

// Expectation says what is wrong with a field that is no number, where it can be said.
func (n Numerals) Expectation(field string) string {
	if _, like := n.ParseLoosely(field); like {
		return fmt.Sprintf("a number between -%g and %g", maxNumber, maxNumber)
	}
	if !n.Usual() {
		return "a number as " + n.String()
	}
	return "a number"
}
