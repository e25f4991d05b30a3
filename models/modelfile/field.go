package modelfile

import (
	"fmt"
	"slices"
)

// The kinds of fields beside words and numbers, as datasets/csv names them.
const (
	kindLeftOut    = "left out"
	kindBoolean    = "boolean"
	kindDate       = "date"
	kindTime       = "time"
	kindStatistics = "statistics"
)

// mostWords bounds the words of a field.
const mostWords = 100_000

// Inputs returns how many inputs the field becomes, or an error where its parts don't fit each other.
func (f *Field) Inputs() (int, error) {
	if len(f.Words) > mostWords {
		return 0, fmt.Errorf("table column %.40q of %d words: expected at most %d", f.Name, len(f.Words), mostWords)
	}
	if slices.ContainsFunc(slices.Concat(f.Fill, f.Means), func(v float64) bool { return !finite(v) }) {
		return 0, fmt.Errorf("table column %.40q has a number that is not finite", f.Name)
	}
	n, numbers := 1, true
	switch rows := len(f.Words) + 2; {
	case f.Kind == kindLeftOut:
		return 0, nil
	case f.Kind == kindStatistics:
		// A row for each word, one for all others and one for missing values.
		if n, numbers = len(f.Means)/rows, false; n == 0 || len(f.Means)%rows != 0 {
			return 0, fmt.Errorf("table column %.40q has %d statistics: expected as many for each of %d words, for others and for missing values",
				f.Name, len(f.Means), len(f.Words))
		}
	case f.Kind == kindDate, f.Kind == kindTime:
		if n = 3; f.Kind == kindTime {
			n = 4
		}
	case f.Kind == kindBoolean, f.Kind == "" && f.Words == nil:
	case f.Kind == "":
		if n, numbers = len(f.Words), false; f.Other {
			n++
		}
	default:
		return 0, fmt.Errorf("table column %.40q is of the kind %.40q: expected one that this newtop knows", f.Name, f.Kind)
	}
	if numbers && len(f.Fill) != n && f.Fill != nil {
		return 0, fmt.Errorf("table column %.40q has %d numbers for missing values: expected %d", f.Name, len(f.Fill), n)
	}
	if f.Missing {
		n++
	}
	return n, nil
}
