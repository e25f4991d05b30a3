package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// The kinds of fields beside words and numbers, as datasets/csv names them.
const (
	kindLeftOut    = "left out"
	kindBoolean    = "boolean"
	kindDate       = "date"
	kindTime       = "time"
	kindStatistics = "statistics"
)

// maxCategories bounds the words of a field.
const maxCategories = 100_000

// Inputs returns how many inputs the field becomes.
func (f *Field) Inputs() int {
	n := f.numbers() + f.categories()
	if f.Missing {
		n++
	}
	return n
}

// numbers returns how many of the inputs are numbers.
func (f *Field) numbers() int {
	switch {
	case f.Kind == kindDate && strings.Count(f.Order, "-") == 1: // a month
		return 2
	case f.Kind == kindDate:
		return 3
	case f.Kind == kindTime:
		return 4
	case f.Kind == kindStatistics:
		return len(f.Means) / (len(f.Words) + 2)
	case f.Kind == kindBoolean, f.Kind == "" && f.Words == nil:
		return 1
	}
	return 0
}

// categories returns how many of the inputs are 1 for a word and else 0.
func (f *Field) categories() int {
	switch {
	case f.Kind != "" || f.Words == nil:
		return 0
	case f.Other:
		return len(f.Words) + 1
	}
	return len(f.Words)
}

// check returns an error where the parts of the field don't fit each other.
func (f *Field) check() error {
	invalid := func(found, expected string) error {
		return fmt.Errorf("table column %.40q: %s: expected %s", f.Name, found, expected)
	}
	numbers := f.numbers()
	switch {
	case !slices.Contains([]string{"", kindLeftOut, kindBoolean, kindDate, kindTime, kindStatistics}, f.Kind):
		return invalid(fmt.Sprintf("kind %.40q", f.Kind), "one that this newtop knows")
	case len(f.Words)+len(f.Rare) > maxCategories:
		return invalid(fmt.Sprintf("%d words", len(f.Words)+len(f.Rare)), fmt.Sprintf("at most %d", maxCategories))
	case slices.ContainsFunc(slices.Concat(f.Fill, f.Means, f.Range), func(v float64) bool { return !finite(v) }):
		return invalid("a number that is not finite", "finite numbers")
	case f.Kind != kindStatistics && f.Means != nil, f.Kind == kindStatistics &&
		(numbers == 0 || len(f.Means) != numbers*(len(f.Words)+2)):
		// A row for each word, one for all others and one for missing values.
		return invalid(fmt.Sprintf("%d statistics of %d words", len(f.Means), len(f.Words)),
			"as many for each, for other words and for missing values")
	case f.Fill != nil && (len(f.Fill) != numbers || f.Kind == kindStatistics):
		return invalid(fmt.Sprintf("%d numbers for missing values", len(f.Fill)), fmt.Sprintf("%d", numbers))
	case f.Range != nil && (len(f.Range) != 2 || f.Range[0] > f.Range[1]):
		return invalid(fmt.Sprintf("the range %v", f.Range), "two numbers, the least first")
	case f.Kind == kindLeftOut && f.Missing:
		return invalid("an input of a column that is left out", "none")
	}
	return nil
}
