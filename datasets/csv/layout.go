package csv

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Bounds on a CSV file, so that a wrong file is refused instead of filling the memory.
const (
	maxNumbers    = 1 << 28 // rows × inputs and outputs, categories coded: 2 GiB
	maxColumns    = 100_000
	maxCategories = 1000 // different words in one column
)

// Whole numbers in the target column are classes if they have at most classValues different values and
// each of them is there classRows times on average; otherwise they are numbers.
const (
	classValues = 20
	classRows   = 5
)

// Layout says which column of a file goes where.
type Layout struct {
	Table
	Spread
	Classes []string // nil for regression
	Columns []Column // of the file

	code   []map[string]int // of each file column: the number of a word, or of a class; nil for numbers
	number map[float64]int  // of a class, where the target's are numbers
}

// Column says what the values of a column are: numbers, each of which is exact in Width bytes (1 for whole numbers from 0 to
// 255, 4 for single precision, else 8), or in 2 bytes the numbers of so many Kinds of words or classes.
type Column struct{ Width, Kinds int }

// Layout decides where every column goes. target is the name of the column to predict in the header, or its number from 1;
// empty: the last. It returns a *fault.OptionError where there is no such column.
func (s *Sheet) Layout(target string) (*Layout, error) {
	place, err := s.find(target)
	if err != nil {
		return nil, err
	}
	return s.plan(place)
}

// find returns the index of the column that was asked for by name or by number.
func (s *Sheet) find(target string) (int, error) {
	if target == "" {
		return len(s.columns) - 1, nil
	}
	for j := range s.columns {
		if s.header && s.columns[j].name == target {
			return j, nil
		}
	}
	if n, err := strconv.Atoi(target); err == nil && n >= 1 && n <= len(s.columns) {
		return n - 1, nil
	}
	expected := fmt.Sprintf("a column number from 1 to %d", len(s.columns))
	if s.header {
		var names []string
		for i := range s.columns {
			names = append(names, s.columns[i].name)
		}
		expected += " or a name of " + s.file + ": " + few(names)
	}
	return 0, &fault.OptionError{Field: "target", Value: target, Expected: expected}
}

// plan lays out the inputs and decides whether the target is a class or a number.
func (s *Sheet) plan(target int) (*Layout, error) {
	l := &Layout{code: make([]map[string]int, len(s.columns)), Columns: make([]Column, len(s.columns))}
	l.Target, l.Place = s.columns[target].name, target+1
	for j := range s.columns {
		c := &s.columns[j]
		if c.crowded && !c.numeric() {
			return nil, &fault.FormatError{File: s.file, Line: c.crowdedLine, Column: c.name,
				Found: fmt.Sprintf("more than %d different words", maxCategories), Expected: "numbers, or fewer categories"}
		}
		if l.Columns[j].Width = c.width; j == target {
			continue
		}
		f := Field{Name: c.name}
		if !c.numeric() {
			f.Words = slices.Sorted(maps.Keys(c.values))
			l.code[j] = f.code()
			l.Columns[j] = Column{2, len(f.Words)}
		}
		l.Fields = append(l.Fields, f)
	}
	if err := l.planTarget(s, target); err != nil {
		return nil, err
	}
	if l.Classes != nil {
		l.Columns[target] = Column{2, len(l.Classes)}
	}
	l.Spread = l.Table.Spread(len(l.Classes))
	return l, nil
}

func (l *Layout) planTarget(s *Sheet, target int) error {
	c := &s.columns[target]
	if len(c.values) == 1 && !c.crowded {
		return &fault.FormatError{File: s.file, Line: s.LastLine, Column: c.name, Found: "the same value in every row",
			Expected: "a target with at least two different values"}
	}
	if !c.numeric() {
		words := Field{Words: slices.Sorted(maps.Keys(c.values))}
		l.code[target] = words.code()
		for _, word := range words.Words {
			l.Classes = append(l.Classes, format.Printable(word))
		}
		return nil
	}
	values := c.wholeNumbers()
	if len(values) == 0 || s.Rows < classRows*len(values) {
		return nil
	}
	l.number = make(map[float64]int)
	for k, v := range values {
		l.number[v] = k
		l.Classes = append(l.Classes, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return nil
}

// wholeNumbers returns the different values of a numeric column, ascending, or nothing if there are too
// many for classes or not all are whole.
func (c *column) wholeNumbers() []float64 {
	seen := make(map[float64]bool)
	if c.crowded || c.words > 0 {
		return nil
	}
	for text := range c.values {
		v, ok := parseNumber(text)
		if !ok || v != math.Trunc(v) {
			return nil
		}
		seen[v+0] = true
	}
	if len(seen) > classValues {
		return nil
	}
	return slices.SortedFunc(maps.Keys(seen), cmp.Compare[float64])
}

// Each reads the rows a second time, now knowing what every field is, and visits their values, which are
// the callee's until it returns.
func (s *Sheet) Each(l *Layout, visit func(i int, values []float64) error) error {
	numeric := make([]bool, len(s.columns))
	for j := range s.columns {
		numeric[j] = s.columns[j].numeric()
	}
	values := make([]float64, len(s.columns))
	r := s.reader()
	for i := -s.headerRows(); i < s.Rows; i++ {
		record, err := r.Read()
		if err != nil {
			return s.changed(err)
		}
		if i < 0 {
			continue
		}
		for j, field := range record {
			field, known := strings.TrimSpace(field), true
			if numeric[j] {
				if values[j], known = parseNumber(field); !known {
					line, _ := r.FieldPos(j)
					return &fault.FormatError{File: s.file, Line: line, Column: s.columns[j].name, Found: fault.Quote(field), Expected: expectedNumber(field)}
				}
			}
			k := 0
			if l.code[j] != nil {
				k, known = l.code[j][field]
				values[j] = float64(k)
			} else if j == l.target && l.number != nil {
				k, known = l.number[values[j]]
				values[j] = float64(k)
			}
			if !known {
				return s.changed(nil)
			}
		}
		if err := visit(i, values); err != nil {
			return err
		}
	}
	return nil
}

// changed is err where the file system refused, and else says that the file was not the same when it was read again.
func (s *Sheet) changed(err error) error {
	if fault.IsPathError(err) {
		return err
	}
	return fault.Changed(s.file)
}
