// Package csv reads tables of numbers and words as rows of numbers: it decides which columns of a surveyed table are
// inputs and which one is the target, and reads the rows by that plan. Below it, lex cuts texts into rows and fields,
// sheet finds out what the columns hold, schema describes what they become, and reader reads rows to come in the same
// way.
package csv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// maxClasses bounds the different words in the target column.
const maxClasses = 1000

// manyRows is how many values a column must have at least for their differences to count.
const manyRows = 20

// Layout says which column of a file goes where.
type Layout struct {
	schema.Table
	schema.Encoding
	Classes     []string // nil for regression
	Notes       []string // what was decided, a line each
	Facts       []Fact   // what was found in each column of the file
	Rows, Tests int      // rows that are not left out, and how many of them, the last, are those of sources for testing

	sheet      *sheet.Sheet
	roles      []schema.Role   // of each file column
	gaps       []bool          // of each value of a row: whether it may be missing
	number     map[float64]int // of a class, where the target's are numbers
	rowsBefore []int           // rows before each chunk
	dropsRows  bool            // whether rows are left out
}

// Plan decides where every column of a sheet goes. target is the name of the column to predict in the header, or its
// number from 1; empty: the last. It returns a *fault.OptionError where there is no such column.
func Plan(s *sheet.Sheet, target string) (*Layout, error) {
	p := plan{Layout: &Layout{sheet: s}}
	if err := p.chooseColumns(target); err != nil {
		return nil, err
	}
	p.Decimal, p.Thousands, p.Missing = s.Options.Decimal, s.Options.Thousands, cmp.Or(
		s.Options.Missing, lex.MissingIndicator)
	if p.Header = "no"; s.HasHeader {
		p.Header = "yes"
	}
	if note := s.HeaderNote(); note != "" {
		p.notes.Add("%s", note)
	}
	p.noteVotes()
	if err := p.planTarget(target == ""); err != nil {
		return nil, err
	}
	if err := p.planFields(); err != nil {
		return nil, err
	}
	if err := p.planRows(); err != nil {
		return nil, err
	}
	p.Encoding = p.Table.Encoding(len(p.Classes), p.gaps)
	p.Layout.Notes = p.notes.Lines
	return p.Layout, nil
}

// noteVotes says how columns are read that are not read in the usual way.
func (p *plan) noteVotes() {
	groups, about := make(map[string][]string), make(map[string]func(string) string)
	var order []string
	for _, v := range p.sheet.Votes {
		line := v.About("COLUMN")
		if groups[line] == nil {
			order = append(order, line)
			about[line] = v.About
		}
		groups[line] = append(groups[line], v.Column)
	}
	for _, line := range order {
		p.notes.AddGroup(groups[line], about[line])
	}
}

// plan is a layout in the making.
type plan struct {
	*Layout
	notes  schema.Notes
	target int          // file column
	drop   map[int]bool // file columns
	keep   map[int]bool
	fields []schema.Field // of each file column, the target's empty
	counts map[int]map[string]int
}

// chooseColumns finds the columns that the options name.
func (p *plan) chooseColumns(target string) error {
	s := p.sheet
	p.target = len(s.Columns) - 1
	var err error
	if target != "" {
		if p.target, err = s.FindColumn("target", target); err != nil {
			return err
		}
	}
	p.Target, p.TargetColumn = s.Columns[p.target].Name, p.target+1
	pick := func(field string, requested []string) (map[int]bool, error) {
		found := make(map[int]bool)
		for _, name := range requested {
			j, err := s.FindColumn(field, name)
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
	if p.drop, err = pick("drop", s.Options.Drop); err != nil {
		return err
	}
	p.keep, err = pick("keep", s.Options.Keep)
	return err
}

// columnError says what is wrong with a column as a whole.
func (p *plan) columnError(j int, found, expected string) error {
	s := p.sheet
	return &fault.FormatError{File: s.LastFile, Line: s.LastLine, Column: s.Columns[j].Name, Found: found,
		Expected: expected}
}

// planTarget decides whether the target is a class or a number.
func (p *plan) planTarget(last bool) error {
	s := p.sheet
	c := &s.Columns[p.target]
	which := c.Name
	if last {
		which += ", the last column,"
	}
	switch n := c.Distinct; {
	case c.ValueCount() == 0:
		return p.columnError(p.target, "no values", "a target with at least two different values")
	case p.otherStyle(p.target) != nil:
		return p.otherStyle(p.target)
	case n == 1 && !c.TooManyNumbers:
		return p.columnError(p.target, "the same value in every row", "a target with at least two different values")
	case c.Numeric():
	case n > maxClasses || c.TooManyNumbers:
		return p.columnError(p.target, fmt.Sprintf("more than %d different words", maxClasses),
			"numbers, or fewer classes")
	case c.ValueCount() >= manyRows && 2*n > c.ValueCount():
		return p.columnError(p.target, fmt.Sprintf("%d different words in %d rows", n, c.ValueCount()),
			"numbers, or classes of several rows each")
	}
	r := schema.Role{Used: true, Required: c.Missing > 0}
	what := "numbers"
	if !c.Numeric() {
		f := schema.Field{Words: slices.Sorted(maps.Keys(c.Texts()))}
		if c.Boolean() {
			f.Words = c.Truths()
		}
		r.Code = f.WordCodes()
		for _, word := range f.Words {
			p.Classes = append(p.Classes, format.Printable(word))
		}
		what = fmt.Sprintf("%d classes", len(p.Classes))
		if c.Boolean() {
			what += p.foldTruths(r.Code, f.Words)
		}
	} else if values := c.ClassNumbers(s.Given(p.target).Numerals); len(values) > 0 &&
		c.ValueCount() >= sheet.ClassRows*len(values) {
		p.number = make(map[float64]int)
		for k, v := range values {
			p.number[v] = k
			p.Classes = append(p.Classes, strconv.FormatFloat(v, 'f', -1, 64))
		}
		what = fmt.Sprintf("%d whole numbers, taken as classes", len(values))
	}
	p.roles = make([]schema.Role, len(s.Columns))
	p.roles[p.target] = r
	given := s.Given(p.target)
	p.TargetNA, p.TargetNumerals, p.TargetNumbers = given.Missing, p.numerals(p.target), given.Numbers
	p.notes.Add("%s is the target: %s", which, what)
	p.noteName(p.target)
	if r.Code != nil && !c.Boolean() {
		p.noteAlike(p.target)
	}
	return nil
}

// foldTruths gives all ways to write yes or no the number of the one that stands for them, and says so.
func (p *plan) foldTruths(code map[string]int, words []string) (note string) {
	for word := range p.sheet.Columns[p.target].Counts {
		for _, of := range words {
			if _, known := code[word]; !known && lex.SameTruth(word, of) {
				code[word] = code[of]
				note = ", however they are written"
			}
		}
	}
	return note
}

// planRows finds out which rows are left out, and where the others stand.
func (p *plan) planRows() error {
	s := p.sheet
	p.rowsBefore, p.Rows = s.RowsBefore, s.Rows
	for _, r := range p.roles {
		p.dropsRows = p.dropsRows || r.Required
	}
	if p.dropsRows {
		if err := p.countComplete(); err != nil {
			return err
		}
	}
	p.Tests = s.CountTestRows(p.rowsBefore)
	if p.Rows < 2 {
		return &fault.FormatError{File: s.LastFile, Line: s.LastLine,
			Found: format.Counted(p.Rows, "row") + " without missing values", Expected: "at least 2"}
	}
	without := s.Columns[p.target].Missing
	if without > 0 {
		p.notes.Add("%s left out", schema.RowsAre(without, "without a target"))
	}
	if others := s.Rows - p.Rows - without; others > 0 {
		p.notes.Add("%s left out; --table missing=mean keeps them", schema.RowsAre(others, "with a missing value"))
	}
	return nil
}
