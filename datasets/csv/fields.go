package csv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	p.fields = make([]Field, len(s.columns))
	reasons := make([]reason, len(s.columns))
	inputs := 0
	for j := range s.columns {
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
	for j := range s.columns {
		if j == p.target {
			continue
		}
		p.fields[j] = Field{Name: s.columns[j].name, Kind: LeftOut}
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
	p.Facts = p.facts(reasons)
	return nil
}

// otherStyle returns an error for a column of numbers that are written in another way than the options say.
func (p *plan) otherStyle(j int) error {
	c := &p.sheet.columns[j]
	if c.numeric() || c.dated() {
		return nil
	}
	for i, style := range otherStyles {
		// Numbers that are read as they are may be of the style too.
		if n := c.styles[i]; mostly(n+c.numbers, c.words-n) && n > 0 {
			found, expected := "numbers that are written in another way", style.flags
			for _, word := range slices.Sorted(maps.Keys(c.counts)) {
				if _, ok := style.normalize(nil, []byte(word)); ok {
					found = "numbers such as " + fault.Quote(word)
					break
				}
			}
			if j != p.target {
				expected += ", or {Drop} " + shellWord(c.name)
			}
			return p.columnError(j, found, expected)
		}
	}
	return nil
}

// reasonAgainst returns why a column is no input.
func (p *plan) reasonAgainst(j int) reason {
	s := p.sheet
	c := &s.columns[j]
	kind := c.numeric() || c.dated() || c.boolean()
	tooMany := !kind && (c.tooManyWords || c.tooManyNumbers)
	switch keep, named := p.keep[j], s.hasHeader && c.namedLikeIdentifier(); {
	case p.drop[j]:
		return dropped
	case c.valueCount() == 0:
		return empty
	case keep:
		return used
	case c.distinct == 1 && !c.tooManyNumbers && c.missing == 0:
		return constant
	case c.numbers == s.Rows && c.countsRows && c.startsLikeRowNumbers(s) && (named || !s.hasHeader && s.Rows >= manyRows):
		return numbering
	case named && c.words == 0 && c.whole && c.valueCount() >= manyRows && 10*c.distinct >= 9*c.valueCount():
		return identifier
	case tooMany && (c.tooManyNumbers || 2*c.distinct > c.valueCount()), !kind && c.valueCount() >= manyRows &&
		2*c.distinct > c.valueCount():
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
			c := &p.sheet.columns[j]
			if j == p.target || !slices.Contains(group, r) {
				continue
			}
			reasons[j], some = used, true
			p.notes.add("%s: kept although it %s, as there is no other input", c.name, describeReason(r))
		}
		if some {
			return true
		}
	}
	return false
}

// describeReason says what speaks against a column.
func describeReason(r reason) string {
	switch r {
	case dropped:
		return "is dropped as asked"
	case empty:
		return "has no values"
	case constant:
		return "has one value in all rows"
	case numbering:
		return "numbers the rows"
	case identifier:
		return "tells rows apart: nearly all its numbers differ"
	case distinctWords:
		return "has another word in most rows"
	}
	return fmt.Sprintf("has more than %s different words", format.Count(maxWords))
}

// noteLeftOut says which columns are left out and why.
func (p *plan) noteLeftOut(reasons []reason) {
	for r := empty; r <= manyWords; r++ { // what is dropped is not told
		var names []string
		for j := range reasons {
			if reasons[j] == r && j != p.target {
				names = append(names, p.sheet.columns[j].name)
			}
		}
		p.notes.addGroup(names, func(column string) string {
			line := column + ": left out, it " + describeReason(r)
			if r != empty && r != manyWords {
				line += "; --keep " + shellWord(column) + " keeps it"
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
	c, f := &s.columns[j], &p.fields[j]
	f.Kind, p.roles[j].used = "", true
	switch {
	case c.numeric():
	case c.boolean():
		f.Kind = Boolean
	case c.dated():
		o, err := p.order(j)
		if err != nil {
			return err
		}
		f.Kind, f.Order, p.roles[j].order = Date, dateOrderNames[o], o
		if c.timed > 0 {
			f.Kind = Time
		}
	case c.tooManyWords || c.tooManyNumbers:
		return p.columnError(j, fmt.Sprintf("more than %s different words", format.Count(maxWords)), "numbers, or fewer categories")
	default:
		f.Words = []string{}
	}
	if p.sheet.options.Missing == MissingDrop {
		p.roles[j].required = c.missing > 0
		return nil
	}
	n := f.numberInputs()
	if n > 0 {
		f.Fill = make([]float64, n)
	}
	f.Missing = c.trainMissing > 0 && (n == 0 || cmp.Or(s.options.Missing, MissingIndicator) == MissingIndicator)
	return nil
}

// order finds out in which order a column's dates are written.
func (p *plan) order(j int) (dateOrder, error) {
	c := &p.sheet.columns[j]
	rest := c.words + c.numbers
	day, month := c.orders[dayFirst], c.orders[monthFirst]
	switch {
	case mostly(c.orders[yearFirst], rest-c.orders[yearFirst]):
		return yearFirst, nil
	case day > month && mostly(day, rest-day):
		return dayFirst, nil
	case month > day && mostly(month, rest-month):
		return monthFirst, nil
	case day == month && mostly(day, rest-day):
		return 0, p.columnError(j, "dates that can be read with the day or the month first", "dates as 2000-12-31, or {Drop} "+shellWord(c.name))
	}
	return 0, p.columnError(j, "dates in several orders", "one of "+strings.Join(slices.Sorted(maps.Values(dateOrderNames)), ", ")+", or {Drop} "+shellWord(c.name))
}

// assemble lists the fields and the columns of their values.
func (p *plan) assemble() {
	s := p.sheet
	target := p.Columns[0]
	p.Columns, p.Fields = nil, make([]Field, 0, len(s.columns)-1)
	for j := range s.columns {
		if j == p.target {
			p.Columns = append(p.Columns, target)
			continue
		}
		p.Fields = append(p.Fields, p.fields[j])
		f, r, c := &p.Fields[len(p.Fields)-1], &p.roles[j], &s.columns[j]
		if !r.used {
			continue
		}
		r.field, r.code = f, f.wordCodes()
		column := Column{Missing: c.missing > 0 && !r.required}
		switch {
		case f.Words != nil:
			column = Column{Width: 2, Kinds: f.codeCount()}
		case f.Kind == Date || f.Kind == Time:
			column.Width = 8
		case f.Kind == Boolean:
			column.Width = 1
		default:
			column.Width = c.width
		}
		if column.Missing {
			column.Width = max(column.Width, 4)
		}
		p.Columns = append(p.Columns, column)
	}
}
