package csv

import (
	"fmt"

	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Table says how the columns of a CSV file became inputs, so that rows to come can become the same.
type Table struct {
	Fields []Field // all columns but the target, in the file's order
	Target string  // the name of the column to predict
	Place  int     // which column of the file that is, from 1
}

// Field is a column of a table. Words are the categories in the order of their inputs, each 1 where the field is that
// word and 0 elsewhere; nil for a number, which is one input as it is.
type Field struct {
	Name  string // in the header, or the column's number from 1 where there is none
	Words []string
}

// Inputs returns how many inputs the field becomes.
func (f *Field) Inputs() int {
	if f.Words == nil {
		return 1
	}
	return len(f.Words)
}

// code returns which of the field's inputs a word sets; nil for a number.
func (f *Field) code() map[string]int {
	if f.Words == nil {
		return nil
	}
	code := make(map[string]int, len(f.Words))
	for k, word := range f.Words {
		code[word] = k
	}
	return code
}

// expected says what a field takes.
func (f *Field) expected() string {
	if f.Words == nil {
		return "a number"
	}
	words := make([]string, len(f.Words))
	for k, word := range f.Words {
		words[k] = format.Printable(word)
	}
	return "one of " + few(words)
}

// Spread says how the values of a row become its inputs and its target. The value of a column of words or
// classes is the number of the word or class.
type Spread struct {
	Inputs, Outputs int

	target int
	first  []int // of each file column: where it starts among the inputs
	words  []int // of each file column: how many inputs its words are; 0 for numbers and the target
}

// Spread returns that of the table with so many classes, 0 for regression.
func (t *Table) Spread(classes int) Spread {
	p := Spread{Outputs: max(classes, 1), target: t.Place - 1}
	for j := range len(t.Fields) + 1 {
		p.first, p.words = append(p.first, p.Inputs), append(p.words, 0)
		if j == p.target {
			continue
		}
		i := j
		if j > p.target {
			i--
		}
		p.words[j] = len(t.Fields[i].Words)
		p.Inputs += t.Fields[i].Inputs()
	}
	return p
}

// To stores the inputs of a row in dst, which must be zero, and returns its target.
func (p *Spread) To(dst, values []float64) (target float64) {
	for j, v := range values {
		switch {
		case j == p.target:
			target = v
		case p.words[j] > 0:
			dst[p.first[j]+int(v)] = 1
		default:
			dst[p.first[j]] = v
		}
	}
	return target
}

// Kinds returns how many words or classes the values of a file column are numbers of; 0 for numbers.
func (p *Spread) Kinds(j int) int {
	if j == p.target && p.Outputs > 1 {
		return p.Outputs
	}
	return p.words[j]
}

// Coded tells for each input whether it is one category.
func (p *Spread) Coded() []bool {
	coded := make([]bool, p.Inputs)
	for j, words := range p.words {
		for k := range words {
			coded[p.first[j]+k] = true
		}
	}
	return coded
}

// Fits returns a *fault.FormatError if so many rows, the last of which starts on that line, are too much for the memory.
func (p *Spread) Fits(file string, line, rows int) error {
	if int64(p.Inputs+p.Outputs) > maxNumbers/int64(rows) {
		return &fault.FormatError{File: file, Line: line, Expected: fmt.Sprintf("at most %d numbers in all", maxNumbers),
			Found: fmt.Sprintf("%d rows of %d inputs and %d outputs", rows, p.Inputs, p.Outputs)}
	}
	return nil
}
