package csv

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

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
		expected += " or a name of " + s.sources[0].Name + ": " + few(names) + format.DidYouMean(target, names)
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
			file, line := s.crowdedAt(j)
			return nil, &fault.FormatError{File: file, Line: line, Column: c.name,
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
		return &fault.FormatError{File: s.LastFile, Line: s.LastLine, Column: c.name, Found: "the same value in every row",
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

// Each reads the rows a second time, now knowing what every field is, and has several goroutines visit their values, which are
// the callee's until it returns. Rows are visited in any order, i counts them as they follow one another.
func (s *Sheet) Each(l *Layout, visit func(i int, values []float64) error) error {
	readers := make([]valueReader, s.workers)
	for w := range readers {
		readers[w] = valueReader{sheet: s, layout: l, rows: rows{comma: byte(s.comma)}, values: make([]float64, len(s.columns))}
	}
	chunks := s.chunker()
	err := chunks.each(s.workers, func(worker int, k *chunk) error { return readers[worker].each(k, visit) })
	if err == nil && chunks.index < len(s.before)-1 && s.before[chunks.index] < s.Rows {
		err = fault.Changed(s.sources[0].Name)
	}
	return err
}

// valueReader reads rows as numbers.
type valueReader struct {
	sheet  *Sheet
	layout *Layout
	rows   rows
	values []float64
	source int // of the chunk
}

// each visits the rows of a chunk that the survey counted.
func (d *valueReader) each(k *chunk, visit func(i int, values []float64) error) error {
	s, r := d.sheet, &d.rows
	changed := fault.Changed(s.sources[k.source].Name)
	if k.index+1 >= len(s.before) {
		return changed
	}
	r.reset(k)
	d.source = k.source
	first, last := s.before[k.index], s.before[k.index+1]
	if k.first && s.header {
		_, _ = r.next() // an error comes again
	}
	for i := first; i < last; i++ {
		more, err := r.next()
		if !more || err != nil || r.fields != len(s.columns) {
			return changed
		}
		if err := d.read(); err != nil {
			return err
		}
		if err := visit(i, d.values); err != nil {
			return err
		}
	}
	return nil
}

// read stores the values of the row.
func (d *valueReader) read() error {
	s, l, r := d.sheet, d.layout, &d.rows
	for j, kind := range r.kinds[:r.fields] {
		k, known := 0, true
		switch code := l.code[j]; {
		case code != nil:
			k, known = code[string(r.field(j))]
			d.values[j] = float64(k)
		case kind != word:
			d.values[j] = r.values[j]
		default:
			field := string(r.field(j))
			if d.values[j], known = parseNumber(field); !known {
				return &fault.FormatError{File: s.sources[d.source].Name, Line: r.lineOf(j), Column: s.columns[j].name, Found: fault.Quote(field), Expected: expectedNumber(field)}
			}
		}
		if j == l.target && l.number != nil {
			k, known = l.number[d.values[j]]
			d.values[j] = float64(k)
		}
		if !known {
			return fault.Changed(s.sources[d.source].Name)
		}
	}
	return nil
}
