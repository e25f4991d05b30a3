package csv

import (
	"cmp"
	"maps"
	"slices"

	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
)

// Fact is what a survey found in a column, whether it becomes inputs or not.
type Fact struct {
	Name    string
	Kind    string // one of Field's that are no decision, Numbers, Categories or Empty
	Missing int    // rows without a value
	// Distinct is how many different values there are, an estimate of more words than are distinguished; 0 for more
	// numbers than are distinguished.
	Distinct int
	Words    []WordCount // of categories and booleans: the most frequent words, those first
	Reason   string      // what speaks against the column; empty: nothing, it is used
}

// The kinds of columns that Field has no name for.
const (
	Numbers    = "number"
	Categories = "category"
	Empty      = "empty"
)

// WordCount is a word and in how many rows to train on it is.
type WordCount struct {
	Word string
	Rows int
}

// maxFrequent is how many words a Fact has.
const maxFrequent = 20

// factsOf returns what was found in the columns, of which some are left out.
func factsOf(columns []sheet.Column, target int, reasons []reason) []Fact {
	all := make([]Fact, len(columns))
	for j := range all {
		c := &columns[j]
		f := Fact{Name: c.Name, Kind: Numbers, Missing: c.Missing, Distinct: c.Distinct}
		switch {
		case c.ValueCount() == 0:
			f.Kind = Empty
		case c.Numeric() && c.TooManyNumbers:
			f.Distinct = 0
		case c.Numeric():
		case c.Boolean():
			f.Kind = schema.Boolean
		case c.Dated() && c.Timed > 0:
			f.Kind = schema.Time
		case c.Dated():
			f.Kind = schema.Date
		default:
			f.Kind = Categories
		}
		if f.Kind == schema.Boolean || f.Kind == Categories {
			f.Words = frequent(c.Counts)
		}
		if r := reasons[j]; j != target && r != used {
			f.Reason = descriptions[r]
		}
		all[j] = f
	}
	return all
}

// frequent returns the most frequent words.
func frequent(counts map[string]int) []WordCount {
	words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	list := make([]WordCount, min(len(words), maxFrequent))
	for i := range list {
		list[i] = WordCount{words[i], counts[words[i]]}
	}
	return list
}
