package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds on a CSV file, so that a wrong file is refused instead of filling the memory.
const (
	maxCSVBytes   = 1 << 30 // of text
	maxCSVNumbers = 1 << 28 // rows × inputs and outputs, categories coded: 2 GiB
	maxColumns    = 100_000
	maxCategories = 1000 // different words in one column
)

// Whole numbers in the target column are classes if they have at most classValues different values and
// each of them is there classRows times on average; otherwise they are numbers.
const (
	classValues = 20
	classRows   = 5
)

// loadCSV reads a table of numbers and categories, one row a line.
//
// The delimiter (comma, semicolon or tab) is told from the first lines, the header from a word in the
// first line above a column of numbers; a table of words alone has a header if nothing in its first line
// comes again below. A column is numeric if nine in ten of its fields are, or all but one; a word in it is
// then an error. Other columns are categories: as inputs, one column of 0 and 1 for each in sorted order,
// as target, classes. Numeric inputs and regression targets are standardized. Missing values are refused.
func loadCSV(path string, o Options) (*Dataset, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCSVBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxCSVBytes {
		return nil, &FormatError{File: path, Offset: maxCSVBytes, Found: "more text", Expected: fmt.Sprintf("at most %d bytes", maxCSVBytes)}
	}
	return readCSV(path, text, o)
}

func readCSV(file string, text []byte, o Options) (*Dataset, error) {
	s, err := survey(file, bytes.NewReader(text), int64(len(text)), 0, o.Rows)
	if err != nil {
		return nil, err
	}
	layout, test, err := s.layout(&o)
	if err != nil {
		return nil, err
	}
	if err := layout.fits(file, s.lastLine, s.rows); err != nil {
		return nil, err
	}
	t, err := s.fill(layout, shuffle(s.rows, o.Seed))
	if err != nil {
		return nil, err
	}
	d := tableSet(file, layout.info(s), layout.classes, s.rows-test, test)
	d.Train, d.Test = t.tail(test)
	if d.Classes == nil {
		d.finishTarget(standard(d.Train.Targets, nil))
	}
	d.finish(standard(d.Train.Inputs, layout.coded()))
	return d, nil
}

// tableSet describes a CSV file that was split; its rows and scalings are still missing.
func tableSet(file string, info *TableInfo, classes []string, train, test int) *Dataset {
	d := &Dataset{Name: filepath.Base(file), Classes: classes, Table: info}
	for _, f := range info.Fields {
		if f.Words == nil {
			d.InputNames = append(d.InputNames, f.Name)
		}
		for _, word := range f.Words {
			d.InputNames = append(d.InputNames, f.Name+"="+printable(word))
		}
	}
	what := fmt.Sprintf("%q to predict", info.Target)
	if classes != nil {
		what = fmt.Sprintf("%q with %d classes to tell apart", info.Target, len(classes))
	} else {
		d.TargetNames = []string{info.Target}
	}
	d.Title = fmt.Sprintf("%s: %s, %d rows to train on, %d drawn to test on", d.Name, what, train, test)
	return d
}

// finishTarget scales the targets of both splits.
func (d *Dataset) finishTarget(s Scaling) {
	d.TargetScaling = s
	s.apply(d.Train.Targets)
	s.apply(d.Test.Targets)
}

// layout decides where every column goes, and how many rows are for testing.
func (s *sheet) layout(o *Options) (l *layout, test int, err error) {
	target, err := s.find(o.Target)
	if err != nil {
		return nil, 0, err
	}
	if l, err = s.plan(target); err != nil {
		return nil, 0, err
	}
	test, err = o.testRows(s.rows, max(s.rows/5, 1))
	return l, test, err
}

// find returns the index of the column that was asked for by name or by number.
func (s *sheet) find(target string) (int, error) {
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
	return 0, &OptionError{Option: "target", Value: target, Expected: expected}
}

// layout says which column of the file goes where.
type layout struct {
	spread
	classes []string         // nil for regression
	class   map[string]int   // of a field of the target column, for words
	number  map[float64]int  // the same for numbers
	code    []map[string]int // of each file column: which of its input columns a word sets; nil for numbers
}

// spread says how the values of a row become its inputs and its target. The value of a column of words or
// classes is the number of the word or class.
type spread struct {
	target  int
	first   []int // of each file column: where it starts among the inputs
	words   []int // of each file column: how many inputs its words are; 0 for numbers and the target
	inputs  int
	outputs int
}

// add says what the next column is.
func (p *spread) add(words int, target bool) {
	p.first = append(p.first, p.inputs)
	if target {
		words = 0
	} else {
		p.inputs += max(words, 1)
	}
	p.words = append(p.words, words)
}

// to stores the inputs of a row in dst, which must be zero, and returns its target.
func (p *spread) to(dst, values []float64) (target float64) {
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

// coded tells for each input whether it is one category.
func (p *spread) coded() []bool {
	coded := make([]bool, p.inputs)
	for j, words := range p.words {
		for k := range words {
			coded[p.first[j]+k] = true
		}
	}
	return coded
}

// fits returns an error if so many rows, the last of which starts on that line, are too much for the memory.
func (p *spread) fits(file string, line, rows int) error {
	if int64(p.inputs+p.outputs) > maxCSVNumbers/int64(rows) {
		return &FormatError{File: file, Line: line, Expected: fmt.Sprintf("at most %d numbers in all", maxCSVNumbers),
			Found: fmt.Sprintf("%d rows of %d inputs and %d outputs", rows, p.inputs, p.outputs)}
	}
	return nil
}

// plan lays out the inputs and decides whether the target is a class or a number.
func (s *sheet) plan(target int) (*layout, error) {
	l := &layout{code: make([]map[string]int, len(s.columns))}
	l.target = target
	for j := range s.columns {
		c := &s.columns[j]
		switch {
		case j != target && c.numeric():
		case c.crowded && !c.numeric():
			return nil, &FormatError{File: s.file, Line: c.crowdedLine, Column: c.name,
				Found: fmt.Sprintf("more than %d different words", maxCategories), Expected: "numbers, or fewer categories"}
		case j != target:
			l.code[j] = make(map[string]int)
			for k, word := range slices.Sorted(maps.Keys(c.values)) {
				l.code[j][word] = k
			}
		}
		l.add(len(l.code[j]), j == target)
	}
	if err := l.planTarget(s); err != nil {
		return nil, err
	}
	l.outputs = max(len(l.classes), 1)
	return l, nil
}

func (l *layout) planTarget(s *sheet) error {
	c := &s.columns[l.target]
	if len(c.values) == 1 && !c.crowded {
		return &FormatError{File: s.file, Line: s.lastLine, Column: c.name, Found: "the same value in every row",
			Expected: "a target with at least two different values"}
	}
	if !c.numeric() {
		l.class = make(map[string]int)
		for k, word := range slices.Sorted(maps.Keys(c.values)) {
			l.class[word] = k
			l.classes = append(l.classes, printable(word))
		}
		return nil
	}
	values := c.wholeNumbers()
	if len(values) == 0 || s.rows < classRows*len(values) {
		return nil
	}
	l.number = make(map[float64]int)
	for k, v := range values {
		l.number[v] = k
		l.classes = append(l.classes, strconv.FormatFloat(v, 'f', -1, 64))
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

// fill reads the rows a second time, now knowing where every field goes; row i goes to place[i].
func (s *sheet) fill(l *layout, place []int) (*table, error) {
	t := newTable(s.rows, &l.spread, l.classes != nil)
	err := s.each(l, func(i int, values []float64) error {
		t.set(place[i], &l.spread, values)
		return nil
	})
	return t, err
}

// newTable returns a table of zeros.
func newTable(rows int, p *spread, classes bool) *table {
	t := &table{inputs: newDense(rows, p.inputs)}
	if classes {
		t.labels = make([]int, rows)
	} else {
		t.targets = newDense(rows, 1)
	}
	return t
}

// set stores the values of a row.
func (t *table) set(i int, p *spread, values []float64) {
	target := p.to(t.inputs.RawRowView(i), values)
	if t.labels != nil {
		t.labels[i] = int(target)
	} else {
		t.targets.Set(i, 0, target)
	}
}

// each reads the rows a second time, now knowing what every field is, and visits their values, which are
// the callee's until it returns.
func (s *sheet) each(l *layout, visit func(i int, values []float64) error) error {
	numeric := make([]bool, len(s.columns))
	for j := range s.columns {
		numeric[j] = s.columns[j].numeric()
	}
	values := make([]float64, len(s.columns))
	r := s.reader()
	for i := -s.headerRows(); i < s.rows; i++ {
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
					return &FormatError{File: s.file, Line: line, Column: s.columns[j].name, Found: quote(field), Expected: expectedNumber(field)}
				}
			}
			k := 0
			switch {
			case j != l.target && !numeric[j]:
				k, known = l.code[j][field]
				values[j] = float64(k)
			case j == l.target && l.class != nil:
				k, known = l.class[field]
				values[j] = float64(k)
			case j == l.target && l.number != nil:
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

// changed says that a file was not the same when it was read again.
func (s *sheet) changed(err error) error {
	if isPathError(err) {
		return err
	}
	return fmt.Errorf("%s: it was changed while it was read", s.file)
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
