package datasets

import (
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

	"gonum.org/v1/gonum/mat"
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
	s, err := survey(file, text, o.Rows)
	if err != nil {
		return nil, err
	}
	target, err := s.find(o.Target)
	if err != nil {
		return nil, err
	}
	layout, err := s.plan(target)
	if err != nil {
		return nil, err
	}
	test, err := o.testRows(s.rows, max(s.rows/5, 1))
	if err != nil {
		return nil, err
	}
	t, err := s.fill(layout, shuffle(s.rows, o.Seed))
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: filepath.Base(file), Classes: layout.classes, InputNames: layout.names, Table: layout.info(s)}
	d.Train, d.Test = t.tail(test)
	what := fmt.Sprintf("%q to predict", s.columns[target].name)
	if layout.classes != nil {
		what = fmt.Sprintf("%q with %d classes to tell apart", s.columns[target].name, len(layout.classes))
	} else {
		d.TargetNames = []string{s.columns[target].name}
		d.TargetScaling = standard(d.Train.Targets, nil)
		d.TargetScaling.apply(d.Train.Targets)
		d.TargetScaling.apply(d.Test.Targets)
	}
	d.Title = fmt.Sprintf("%s: %s, %d rows to train on, %d drawn to test on", d.Name, what, s.rows-test, test)
	d.finish(standard(d.Train.Inputs, layout.coded))
	return d, nil
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
	target  int
	classes []string         // nil for regression
	class   map[string]int   // of a field of the target column, for words
	number  map[float64]int  // the same for numbers
	first   []int            // of each file column: where it starts among the inputs
	code    []map[string]int // of each file column: which of its input columns a word sets; nil for numbers
	names   []string         // of the inputs
	coded   []bool           // of the inputs: whether it is one category
}

// plan lays out the inputs and decides whether the target is a class or a number.
func (s *sheet) plan(target int) (*layout, error) {
	l := &layout{target: target, first: make([]int, len(s.columns)), code: make([]map[string]int, len(s.columns))}
	for j := range s.columns {
		c := &s.columns[j]
		l.first[j] = len(l.names)
		switch {
		case j != target && c.numeric():
			l.names = append(l.names, c.name)
			l.coded = append(l.coded, false)
		case c.crowded && !c.numeric():
			return nil, &FormatError{File: s.file, Line: c.crowdedLine, Column: c.name,
				Found: fmt.Sprintf("more than %d different words", maxCategories), Expected: "numbers, or fewer categories"}
		case j != target:
			l.code[j] = make(map[string]int)
			for k, word := range slices.Sorted(maps.Keys(c.values)) {
				l.code[j][word] = k
				l.names = append(l.names, c.name+"="+printable(word))
				l.coded = append(l.coded, true)
			}
		}
	}
	if err := l.planTarget(s); err != nil {
		return nil, err
	}
	outputs := max(len(l.classes), 1)
	if int64(s.rows)*int64(len(l.names)+outputs) > maxCSVNumbers {
		return nil, &FormatError{File: s.file, Line: s.lastLine, Expected: fmt.Sprintf("at most %d numbers in all", maxCSVNumbers),
			Found: fmt.Sprintf("%d rows of %d inputs and %d outputs", s.rows, len(l.names), outputs)}
	}
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
	t := &table{inputs: mat.NewDense(s.rows, len(l.names), nil)}
	if l.classes != nil {
		t.labels = make([]int, s.rows)
	} else {
		t.targets = mat.NewDense(s.rows, 1, nil)
	}
	numeric := make([]bool, len(s.columns))
	for j := range s.columns {
		numeric[j] = s.columns[j].numeric()
	}
	r := s.reader()
	for i := -s.headerRows(); i < s.rows; i++ {
		record, err := r.Read()
		if err != nil {
			return nil, err
		}
		if i < 0 {
			continue
		}
		to := place[i]
		for j, field := range record {
			c, field := &s.columns[j], strings.TrimSpace(field)
			var v float64
			if numeric[j] {
				var ok bool
				if v, ok = parseNumber(field); !ok {
					line, _ := r.FieldPos(j)
					return nil, &FormatError{File: s.file, Line: line, Column: c.name, Found: quote(field), Expected: expectedNumber(field)}
				}
			}
			switch {
			case j != l.target && l.code[j] == nil:
				t.inputs.Set(to, l.first[j], v)
			case j != l.target:
				t.inputs.Set(to, l.first[j]+l.code[j][field], 1)
			case l.class != nil:
				t.labels[to] = l.class[field]
			case l.number != nil:
				t.labels[to] = l.number[v]
			default:
				t.targets.Set(to, 0, v)
			}
		}
	}
	return t, nil
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
