// Package schema describes how the columns of a table become inputs and a target, and how the values of a row do.
package schema

import (
	"fmt"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/internal/format"
)

// Table says how the columns of a CSV file became inputs, so that rows to come can become the same.
type Table struct {
	Fields       []Field // all columns but the target, in the file's order
	Target       string  // the name of the column to predict
	TargetColumn int     // which column of the file that is, from 1

	Header    string // whether the first row named the columns: yes or no; empty: nobody knows
	Missing   string // what stands in for missing values; empty: they are refused
	Decimal   string // as in Options
	Thousands string // as in Options

	Separator string // what the rows of a text to be read are parted by; empty: as it looks

	TargetNA       []string // as those of a field
	TargetNumerals string
	TargetNumbers  bool
}

// Field is a column of a table.
type Field struct {
	Name string // in the header, or the column's number from 1 where there is none

	// Kind says what becomes of the column. Empty: its words are an input each, which is 1 where the field is that word
	// and 0 elsewhere, and a number without Words is one input as it is.
	Kind string

	Words   []string // categories, in the order of their inputs; nil for numbers
	Order   string   // of dates: year-month-day, day-month-year or month-day-year
	Other   bool     // whether there is an input for all other words, behind those of the words
	Missing bool     // whether there is an input, the last, that is 1 where the value is missing

	// Fill is what a missing value is taken for in each input that is a number; nil: it is refused there.
	Fill []float64
	// Means are the statistics of the target, for each of Words, for all other words, and for missing values: as many
	// numbers each as the column has inputs.
	Means []float64

	NA       []string // marks of a missing value beside the usual ones
	Numerals string   // how numbers are written, as lex.Numerals has it; empty: as in the table
	Numbers  bool     // whether all that is no number is missing

	// Range is the least and the greatest of the training rows' numbers, or of their years in a date; nil: not known.
	Range []float64
	// Rare are the training rows' words that are not among Words, in order; nil: none, or not known.
	Rare []string
}

// Reading returns how the field is read in a table of which numbers are written in a way.
func (f *Field) Reading(numerals lex.Numerals) lex.Reading {
	if own, ok := lex.ParseNumerals(f.Numerals); ok {
		numerals = own
	}
	r := lex.Reading{Numerals: numerals, Numbers: f.Numbers}
	r.AddMissing(f.NA...)
	return r
}

// The kinds of columns beside words and numbers.
const (
	LeftOut    = "left out"   // no input
	Boolean    = "boolean"    // 1 for true, yes, t, y and 0 for the opposite
	Date       = "date"       // year, month from 1, and, where it has a day, that of the week from 1 for Monday
	Time       = "time"       // the same, and the hour with its fraction
	Statistics = "statistics" // the mean of the target, or the share of each class, where the field is the same word
)

// NumberInputs returns how many inputs of the field are numbers that are scaled.
func (f *Field) NumberInputs() int {
	switch {
	case f.Kind == Date:
		return strings.Count(f.Order, "-") + 1
	case f.Kind == Time:
		return len(lex.DatePartNames)
	case f.Kind == Statistics:
		return len(f.Means) / (len(f.Words) + 2)
	case f.Kind == Boolean, f.Kind == "" && f.Words == nil:
		return 1
	}
	return 0
}

// HasRange reports whether the first of the field's inputs is a number or a year.
func (f *Field) HasRange() bool {
	return f.Kind == Date || f.Kind == Time || f.Kind == "" && f.Words == nil
}

// categoryInputs returns how many inputs of the field are 0 or 1, one for each category.
func (f *Field) categoryInputs() int {
	switch {
	case f.Kind != "" || f.Words == nil:
		return 0
	case f.Other:
		return len(f.Words) + 1
	}
	return len(f.Words)
}

// Inputs returns how many inputs the field becomes.
func (f *Field) Inputs() int {
	n := f.NumberInputs() + f.categoryInputs()
	if f.Missing {
		n++
	}
	return n
}

// InputNames names the inputs. target is the column to predict, of such classes, nil for regression.
func (f *Field) InputNames(target string, classes []string) (names []string) {
	switch {
	case f.Kind == Date || f.Kind == Time:
		for _, part := range lex.DatePartNames[:f.NumberInputs()] {
			names = append(names, f.Name+" "+part)
		}
	case f.Kind == Statistics:
		names = f.statisticsNames(target, classes)
	case f.NumberInputs() > 0:
		names = append(names, f.Name)
	}
	if f.categoryInputs() > 0 {
		for _, word := range f.Words {
			names = append(names, f.Name+"="+format.Printable(word))
		}
	}
	if f.categoryInputs() > 0 && f.Other {
		names = append(names, f.Name+"=other")
	}
	if f.Missing {
		names = append(names, f.Name+" missing")
	}
	return names
}

// statisticsNames names the inputs of statistics, those of each net apart where nets have their own.
func (f *Field) statisticsNames(target string, classes []string) (names []string) {
	if len(classes) == 2 {
		classes = classes[1:]
	}
	for _, class := range classes {
		names = append(names, f.Name+": share of "+class)
	}
	if classes == nil {
		names = append(names, f.Name+": mean "+target)
	}
	for of := len(names); len(names) < f.NumberInputs(); {
		names = append(names, fmt.Sprintf("%s, net %d", names[len(names)%of], len(names)/of+1))
	}
	return names
}

// WordCodes returns the numbers of the words; nil for what has none.
func (f *Field) WordCodes() map[string]int {
	if f.Words == nil {
		return nil
	}
	code := make(map[string]int, len(f.Words))
	for k, word := range f.Words {
		code[word] = k
	}
	return code
}

// OtherCode returns the number of all other words.
func (f *Field) OtherCode() int {
	if f.Other || f.Kind == Statistics {
		return len(f.Words)
	}
	return f.NoInputCode()
}

// MissingCode returns the number of missing values among those of words: a category of their own, or one of the other
// words.
func (f *Field) MissingCode() int {
	switch {
	case f.Kind == Statistics:
		return len(f.Words) + 1
	case f.Missing:
		return f.categoryInputs()
	}
	return f.OtherCode()
}

// CodeCount returns how many numbers there are for words, that of no input included; 0 for what has none.
func (f *Field) CodeCount() int {
	switch {
	case f.Words == nil:
		return 0
	case f.Kind == Statistics:
		return len(f.Words) + 2
	}
	return f.Inputs() + 1
}

// NoInputCode returns the number of words that have no input.
func (f *Field) NoInputCode() int { return f.Inputs() }

// Expectation says what a field takes.
func (f *Field) Expectation() string {
	switch {
	case f.Kind == Boolean:
		return "true or false, yes or no"
	case f.Kind == Date || f.Kind == Time:
		return "a date as " + f.Order
	case f.Words == nil:
		return "a number"
	}
	words := make([]string, len(f.Words))
	for k, word := range f.Words {
		words[k] = format.Printable(word)
	}
	return "one of " + lex.ListNames(words)
}

// Parse reads the value of a field that is no word.
func (f *Field) Parse(field string, style lex.Numerals, o lex.DateOrder) (v float64, ok bool) {
	switch f.Kind {
	case Boolean:
		pair, is := lex.ParseTruth(field)
		if is {
			v = 1
		}
		return v, pair >= 0
	case Date, Time:
		return lex.ParseDate(field, o)
	}
	return style.Parse(field)
}
