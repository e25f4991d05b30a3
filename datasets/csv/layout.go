package csv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Whole numbers in the target column are classes if they have at most classValues different values and
// each of them is there classRows times on average; otherwise they are numbers.
const (
	classRows   = 5
	maxClasses  = 1000 // different words in the target column
)

// manyRows is how many values a column must have at least for their differences to count.
const manyRows = 20

// Layout says which column of a file goes where.
type Layout struct {
	Table
	Encoding
	Classes     []string // nil for regression
	Columns     []Column // of the values of a row
	Notes       []string // what was decided, a line each
	Facts       []Fact   // what was found in each column of the file
	Rows, Tests int      // rows that are not left out, and how many of them, the last, are those of sources for testing

	sheet      *Sheet
	roles      []role          // of each file column
	number     map[float64]int // of a class, where the target's are numbers
	rowsBefore []int           // rows before each chunk
	dropsRows  bool            // whether rows are left out
}

// Plan decides where every column of a sheet goes. target is the name of the column to predict in the header, or its number from
// 1; empty: the last. It returns a *fault.OptionError where there is no such column.
func Plan(s *Sheet, target string) (*Layout, error) {
	p := plan{Layout: &Layout{sheet: s}}
	if err := p.chooseColumns(target); err != nil {
		return nil, err
	}
	p.Decimal, p.Thousands, p.Missing = s.options.Decimal, s.options.Thousands, cmp.Or(
		s.options.Missing, MissingIndicator)
	if p.Header = "no"; s.hasHeader {
		p.Header = "yes"
	}
	if note := s.headerNote(); note != "" {
		p.notes.add("%s", note)
	}
	if err := p.planTarget(target == ""); err != nil {
		return nil, err
	}
	if err := p.planFields(); err != nil {
		return nil, err
	}
	if err := p.planRows(); err != nil {
		return nil, err
	}
	p.Encoding = p.Table.Encoding(len(p.Classes), p.Columns, nil)
	p.Layout.Notes = p.notes.lines
	return p.Layout, nil
}

// plan is a layout in the making.
type plan struct {
	*Layout
	notes  notes
	target int          // file column
	drop   map[int]bool // file columns
	keep   map[int]bool
	fields []Field // of each file column, the target's empty
	counts map[int]map[string]int
}

// chooseColumns finds the columns that the options name.
func (p *plan) chooseColumns(target string) error {
	s := p.sheet
	p.target = len(s.columns) - 1
	var err error
	if target != "" {
		if p.target, err = s.findColumn("target", target); err != nil {
			return err
		}
	}
	p.Target, p.Place = s.columns[p.target].name, p.target+1
	pick := func(field string, asked []string) (map[int]bool, error) {
		found := make(map[int]bool)
		for _, name := range asked {
			j, err := s.findColumn(field, name)
			if err != nil {
				return nil, err
			}
			if j == p.target {
				return nil, &fault.OptionError{Field: field, Value: name, Expected: "another column than the target"}
			}
			if p.drop[j] {
				return nil, &fault.OptionError{Field: field, Value: name, Expected: "a column that is not dropped"}
			}
			found[j] = true
		}
		return found, nil
	}
	if p.drop, err = pick("drop", s.options.Drop); err != nil {
		return err
	}
	p.keep, err = pick("keep", s.options.Keep)
	return err
}

// columnError says what is wrong with a column as a whole.
func (p *plan) columnError(j int, found, expected string) error {
	s := p.sheet
	return &fault.FormatError{File: s.LastFile, Line: s.LastLine, Column: s.columns[j].name, Found: found,
		Expected: expected}
}

// planTarget decides whether the target is a class or a number.
func (p *plan) planTarget(last bool) error {
	s := p.sheet
	c := &s.columns[p.target]
	which := c.name
	if last {
		which += ", the last column,"
	}
	switch n := c.distinct; {
	case c.valueCount() == 0:
		return p.columnError(p.target, "no values", "a target with at least two different values")
	case p.otherStyle(p.target) != nil:
		return p.otherStyle(p.target)
	case n == 1 && !c.tooManyNumbers:
		return p.columnError(p.target, "the same value in every row", "a target with at least two different values")
	case c.numeric():
	case n > maxClasses || c.tooManyNumbers:
		return p.columnError(p.target, fmt.Sprintf("more than %d different words", maxClasses), "numbers, or fewer classes")
	case c.valueCount() >= manyRows && 2*n > c.valueCount():
		return p.columnError(p.target, fmt.Sprintf("%d different words in %d rows", n, c.valueCount()),
			"numbers, or classes of several rows each")
	}
	r, column := role{used: true, required: c.missing > 0}, Column{Width: c.width}
	what := "numbers"
	if !c.numeric() {
		f := Field{Words: slices.Sorted(maps.Keys(c.texts()))}
		r.code = f.wordCodes()
		for _, word := range f.Words {
			p.Classes = append(p.Classes, format.Printable(word))
		}
		what = fmt.Sprintf("%d classes", len(p.Classes))
	} else if values := c.classNumbers(s.numerals); len(values) > 0 && c.valueCount() >= classRows*len(values) {
		p.number = make(map[float64]int)
		for k, v := range values {
			p.number[v] = k
			p.Classes = append(p.Classes, strconv.FormatFloat(v, 'f', -1, 64))
		}
		what = fmt.Sprintf("%d whole numbers, taken as classes", len(values))
	}
	if p.Classes != nil {
		column = Column{Width: 2, Kinds: len(p.Classes)}
	}
	p.roles = make([]role, len(s.columns))
	p.roles[p.target] = r
	p.Columns = []Column{column} // the others come around it
	p.notes.add("%s is the target: %s", which, what)
	p.noteName(p.target)
	return nil
}

// planRows finds out which rows are left out, and where the others stand.
func (p *plan) planRows() error {
	s := p.sheet
	p.rowsBefore, p.Rows = s.rowsBefore, s.Rows
	for _, r := range p.roles {
		p.dropsRows = p.dropsRows || r.required
	}
	if p.dropsRows {
		if err := p.countComplete(); err != nil {
			return err
		}
	}
	p.Tests = s.countTestRows(p.rowsBefore)
	if p.Rows < 2 {
		return &fault.FormatError{File: s.LastFile, Line: s.LastLine,
			Found: plural(p.Rows, "row") + " without missing values", Expected: "at least 2"}
	}
	without := s.columns[p.target].missing
	if without > 0 {
		p.notes.add("%s left out", rowsAre(without, "without a target"))
	}
	if others := s.Rows - p.Rows - without; others > 0 {
		p.notes.add("%s left out; --missing mean keeps them", rowsAre(others, "with a missing value"))
	}
	return nil
}

