package csv

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// missing reports whether a field says that there is no value.
func missing(field string) bool {
	switch strings.ToLower(field) {
	case "", "?", "na", "n/a", "nan", "null", "#n/a":
		return true
	}
	return false
}

// numberLike reports whether a field is meant as a number, one that parseNumber refuses included: one
// too great, infinity, or one with a decimal comma.
func numberLike(field string) bool {
	_, ok := likeNumber(field)
	return ok
}

// likeNumber returns the number that a field is meant as.
func likeNumber(field string) (v float64, ok bool) {
	// Most words are told by their first letter, without an error being made for each.
	if field == "" || !strings.ContainsRune("+-.,0123456789iInN", rune(field[0])) {
		return 0, false
	}
	v, err := strconv.ParseFloat(field, 64)
	if errors.Is(err, strconv.ErrSyntax) && strings.Count(field, ",") == 1 {
		v, err = strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
	}
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// greatest bounds the numbers that are read, so that means and deviations stay finite.
const greatest = 1e300

// parseNumber reads a finite number.
func parseNumber(field string) (float64, bool) {
	v, err := strconv.ParseFloat(field, 64)
	return v, err == nil && math.Abs(v) <= greatest
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// expectedNumber says what is wrong with a field that is no number, where it can be said.
func expectedNumber(field string) string {
	switch {
	case strings.Contains(field, ","):
		return "a number with a decimal point"
	case numberLike(field):
		return fmt.Sprintf("a number between -%g and %g", greatest, greatest)
	}
	return "a number"
}

// narrowest returns the bytes in which a number is exact to the bit: 1 for whole numbers from 0 to 255, 4 for
// single precision, else 8.
func narrowest(v float64) int {
	switch {
	case v >= 0 && v <= math.MaxUint8 && v == math.Trunc(v) && !math.Signbit(v):
		return 1
	case float64(float32(v)) == v:
		return 4
	}
	return 8
}

// few lists names, the first of them if there are many.
func few(names []string) string {
	if len(names) > 20 {
		return strings.Join(names[:20], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
