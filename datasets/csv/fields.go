package csv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// reason is why a column is left out.
type reason uint8

const (
	used reason = iota
	dropped
	empty
	constant
	numbering
	identifier
	distinctWords
	manyWords
)

// planFields decides what becomes of every column but the target.
func (p *plan) planFields() error {
	s := p.sheet
	p.fields = make([]schema.Field, len(s.Columns))
	reasons := make([]reason, len(s.Columns))
	inputs := 0
	for j := range s.Columns {
		if j == p.target {
			continue
		}
		if reasons[j] = p.reasonAgainst(j); reasons[j] == used {
			inputs++
		}
		if err := p.otherStyle(j); err != nil && !p.drop[j] {
			return err
		}
	}
	if inputs == 0 && !p.keepSome(reasons) {
		return p.columnError(p.target, "no other column to predict it from",
			"at least one that is not left out as a name or as empty; {Keep} COLUMN keeps one")
	}
	for j := range s.Columns {
		if j == p.target {
			continue
		}
		p.fields[j] = schema.Field{Name: s.Columns[j].Name, Kind: schema.LeftOut}
		if reasons[j] != used {
			continue
		}
		if err := p.planField(j); err != nil {
			return err
		}
	}
	p.noteLeftOut(reasons)
	if err := p.planWords(); err != nil {
		return err
	}
	p.assemble()
	p.noteFields()
	p.Facts = factsOf(p.sheet.Columns, p.target, reasons)
	return nil
}

// otherStyle returns an error for a column of numbers that are written in several ways, or in one that may mean two
// things.
func (p *plan) otherStyle(j int) error {
	c := &p.sheet.Columns[j]
	bare := c.Dress[""]
	if c.Numeric() || c.Dated() || bare == nil || p.sheet.Given(j).Words {
		return nil
	}
	n := slices.Max(bare.In)
	if !sheet.Mostly(n+c.Numbers, c.Words-n) {
		return nil
	}
	found := "numbers that are written in several ways"
	for _, word := range slices.Sorted(maps.Keys(c.Counts)) {
		if unit, in := lex.Styles(word, lex.OtherStyles); unit == "" && in != 0 {
			found = "numbers such as " + fault.Quote(word)
			break
		}
	}
	expected := "--table thousands=,"
	if bare.Unclear < n {
		expected = "one way to write them, or --table " + shellWord("number="+c.Name) + " to take others for missing"
	} else if len(p.sheet.Columns) > 0 {
		expected += " or --table decimal=, to say what the comma parts"
	}
	if j != p.target {
		expected += ", or {Drop} " + shellWord(c.Name)
	}
	return p.columnError(j, found, expected)
}

// reasonAgainst returns why a column is no input.
func (p *plan) reasonAgainst(j int) reason {
	s := p.sheet
	c := &s.Columns[j]
	kind := c.Numeric() || c.Dated() || c.Boolean()
	tooMany := !kind && (c.TooManyWords || c.TooManyNumbers)
	switch keep, named := p.keep[j], s.HasHeader && c.NamedLikeIdentifier(); {
	case p.drop[j]:
		return dropped
	case c.ValueCount() == 0:
		return empty
	case keep:
		return used
	case c.Distinct == 1 && !c.TooManyNumbers && c.Missing == 0:
		return constant
	case c.Numbers == s.Rows && c.CountsRows && c.StartsLikeRowNumbers(s) &&
		(named || !s.HasHeader && s.Rows >= manyRows):
		return numbering
	case named && c.Words == 0 && c.Whole && c.ValueCount() >= manyRows && 10*c.Distinct >= 9*c.ValueCount():
		return identifier
	case tooMany && (c.TooManyNumbers || 2*c.Distinct > c.ValueCount()), !kind && c.ValueCount() >= manyRows &&
		2*c.Distinct > c.ValueCount():
		return distinctWords
	case tooMany:
		return manyWords
	}
	return used
}

// keepSome keeps columns that looked useless where there are no others, and reports whether there are any.
func (p *plan) keepSome(reasons []reason) bool {
	for _, group := range [][]reason{{numbering, identifier}, {constant}} {
		some := false
		for j, r := range reasons {
			c := &p.sheet.Columns[j]
			if j == p.target || !slices.Contains(group, r) {
				continue
			}
			reasons[j], some = used, true
			p.notes.Add("%s: kept although it %s, as there is no other input", c.Name, descriptions[r])
		}
		if some {
			return true
		}
	}
	return false
}

// descriptions say what speaks against a column.
var descriptions = [...]string{dropped: "is dropped as asked", empty: "has no values",
	constant: "has one value in all rows", numbering: "numbers the rows",
	identifier: "tells rows apart: nearly all its numbers differ", distinctWords: "has another word in most rows",
	manyWords: "has more than " + format.Count(sheet.MaxWords) + " different words"}

// noteLeftOut says which columns are left out and why.
func (p *plan) noteLeftOut(reasons []reason) {
	for r := empty; r <= manyWords; r++ { // what is dropped is not told
		var names []string
		for j := range reasons {
			if reasons[j] == r && j != p.target {
				names = append(names, p.sheet.Columns[j].Name)
			}
		}
		p.notes.AddGroup(names, func(column string) string {
			line := column + ": left out, it " + descriptions[r]
			if r != empty && r != manyWords {
				line += "; --table keep=" + shellWord(column) + " keeps it"
			}
			return line
		})
	}
}

// shellWord is how a column's name is written behind a flag.
func shellWord(name string) string {
	if strings.ContainsAny(name, " \t'\"\\$`*?[](){}<>|&;#!~") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// planField decides what a column that is used becomes, but for the words.
func (p *plan) planField(j int) error {
	s := p.sheet
	c, f := &s.Columns[j], &p.fields[j]
	f.Kind, p.roles[j].Used = "", true
	switch {
	case c.Numeric():
	case c.Boolean():
		f.Kind = schema.Boolean
	case c.Dated():
		o, err := p.order(j)
		if err != nil && c.Orders[lex.ShortYear] > 0 && !c.TooManyWords { // or numbers between strokes
			f.Words = []string{}
			break
		}
		if err != nil {
			return err
		}
		f.Kind, f.Order, p.roles[j].Order = schema.Date, lex.DateOrderNames[o], o
		if c.Timed > 0 {
			f.Kind = schema.Time
		}
	case c.TooManyWords || c.TooManyNumbers:
		return p.columnError(j, fmt.Sprintf("more than %s different words", format.Count(sheet.MaxWords)),
			"numbers, or fewer categories")
	default:
		f.Words = []string{}
	}
	if p.sheet.Options.Missing == lex.MissingDrop {
		p.roles[j].Required = c.Missing > 0
		return nil
	}
	n := f.NumberInputs()
	if n > 0 {
		f.Fill = make([]float64, n)
	}
	indicator := s.Options.Mark || cmp.Or(s.Options.Missing, lex.MissingIndicator) == lex.MissingIndicator
	f.Missing = c.TrainMissing > 0 && (n == 0 || indicator)
	return nil
}

// planWords decides which words of a column are inputs of their own.
func (p *plan) planWords() error {
	s := p.sheet
	p.counts = make(map[int]map[string]int)
	var mixed []int
	for j := range s.Columns {
		if p.fields[j].Words == nil {
			continue
		}
		p.counts[j] = maps.Clone(s.Columns[j].Counts)
		if s.Columns[j].Numbers > 0 {
			mixed = append(mixed, j)
		}
	}
	if mixed != nil {
		if err := countNumbers(s, mixed, p.counts); err != nil {
			return err
		}
	}
	rows := s.Rows - s.CountTestRows(s.RowsBefore)
	for j, counts := range p.counts {
		chooseWords(&p.fields[j], counts, rows, len(p.Classes))
	}
	return nil
}

// order finds out in which order a column's dates are written.
func (p *plan) order(j int) (lex.DateOrder, error) {
	c := &p.sheet.Columns[j]
	rest := c.Words + c.Numbers
	for _, o := range []lex.DateOrder{lex.YearMonth, lex.MonthYear, lex.YearFirst} {
		if sheet.Mostly(c.Orders[o], rest-c.Orders[o]) {
			return o, nil
		}
	}
	day, month := c.Orders[lex.DayFirst], c.Orders[lex.MonthFirst]
	switch {
	case day > month && sheet.Mostly(day, rest-day):
		return lex.DayFirst, nil
	case month > day && sheet.Mostly(month, rest-month):
		return lex.MonthFirst, nil
	case day == month && sheet.Mostly(day, rest-day):
		one, other := c.Orders[lex.OneFirst], c.Orders[lex.OneSecond]
		if (one == day) != (other == day) && c.OfSeveralYears() {
			if one == day {
				return lex.DayFirst, nil
			}
			return lex.MonthFirst, nil
		}
		return 0, p.columnError(j, "dates that can be read with the day or the month first",
			"dates as 2000-12-31, or {Drop} "+shellWord(c.Name))
	}
	return 0, p.columnError(j, "dates in several orders",
		"one of "+strings.Join(slices.Sorted(maps.Values(lex.DateOrderNames)), ", ")+", or {Drop} "+shellWord(c.Name))
}

// numerals returns how a column's numbers are written, empty for as the options say.
func (p *plan) numerals(j int) string {
	if n := p.sheet.Given(j).Numerals; n != p.sheet.Numerals {
		return n.String()
	}
	return ""
}

// assemble lists the fields, and which values of a row may be missing.
func (p *plan) assemble() {
	s := p.sheet
	p.Fields = make([]schema.Field, 0, len(s.Columns)-1)
	for j := range s.Columns {
		if j == p.target {
			p.gaps = append(p.gaps, false)
			continue
		}
		p.Fields = append(p.Fields, p.fields[j])
		f, r := &p.Fields[len(p.Fields)-1], &p.roles[j]
		if reading := s.Given(j); r.Used {
			f.NA, f.Numerals, f.Numbers = reading.Missing, p.numerals(j), reading.Numbers
		}
		if r.Used {
			r.Field, r.Code = f, f.WordCodes()
			p.gaps = append(p.gaps, f.Words == nil && s.Columns[j].Missing > 0 && !r.Required)
		}
	}
}
