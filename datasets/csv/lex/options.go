package lex

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"newtop/datasets/fault"
)

// Options says how a table is read and what becomes of its columns. The zero value is what suits most tables.
type Options struct {
	Header    string   // whether the first row names the columns: yes or no; empty: as it looks
	Missing   string   // what stands in for missing values: indicator, mean, median, or drop the row; empty: indicator
	Decimal   string   // decimal separator, a point or a comma; empty: a point
	Thousands string   // thousands separator; empty: none
	Drop      []string // columns to leave out, by name or number from 1
	Keep      []string // columns not to leave out, whatever they look like
	// NA are marks of a missing value, parted by |, of all columns, or behind the name or number of one and "=".
	NA       []string
	Category []string // columns of which every value is a word
	Number   []string // columns of which every value is a number, or missing
	Target   string   // the column to predict, by name or number from 1, for its words may be classes; empty: the last
	Mark     bool     // whether each column with missing values has an input that says where, whatever stands in

	// Encoding, Separator, Comment and Skip say how the text is written; empty: as it looks. Package form reads them.
	Encoding  string // a name such as latin1
	Separator string // what fields are parted by, a text, blanks or fixed
	Comment   string // what lines begin with that are none of the table, or none
	Skip      string // lines before the table, and behind a slash those behind it
}

// What stands in for missing values.
const (
	MissingIndicator = "indicator" // the mean, and an input that is 1 where a value is missing
	MissingMean      = "mean"
	MissingMedian    = "median"
	MissingDrop      = "drop" // nothing: the row is left out
)

// Check returns a *fault.OptionError for what can't be.
func (o *Options) Check() error {
	for _, c := range []struct {
		field, value, expected string
		ok                     bool
	}{
		{"header", o.Header, "yes or no", slices.Contains([]string{"", "yes", "no"}, o.Header)},
		{"missing", o.Missing, "indicator, mean, median or drop",
			slices.Contains([]string{"", MissingIndicator, MissingMean, MissingMedian, MissingDrop}, o.Missing)},
		{"decimal", o.Decimal, "a point or a comma", slices.Contains([]string{"", ".", ","}, o.Decimal)},
		{"thousands", o.Thousands, "a character that is no digit, letter, sign or quote, and not the decimal separator",
			o.separates()},
	} {
		if !c.ok {
			return &fault.OptionError{Field: c.field, Value: c.value, Expected: c.expected}
		}
	}
	return nil
}

// separates reports whether thousands can be parted by what is given.
func (o *Options) separates() bool {
	if o.Thousands == "" {
		return true
	}
	r, n := utf8.DecodeRuneInString(o.Thousands)
	bad := r == utf8.RuneError || unicode.IsDigit(r) || unicode.IsLetter(r) || unicode.IsControl(r) ||
		slices.Contains([]rune{'+', '-', '"', ';'}, r)
	point := "."
	if o.Decimal != "" {
		point = o.Decimal
	}
	return n == len(o.Thousands) && !bad && o.Thousands != point
}

// Numerals returns how numbers are written.
func (o *Options) Numerals() Numerals { return NewNumerals(o.Decimal, o.Thousands) }
