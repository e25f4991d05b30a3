package csv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"newtop/internal/format"
)

// noteFields says what columns become where that is not plain.
func (p *plan) noteFields() {
	for j := range p.sheet.columns {
		if r := &p.roles[j]; r.field != nil {
			p.noteKind(r.field, j)
		}
	}
	p.noteMissing()
}

// noteKind says of a column of dates, booleans or many words what it becomes.
func (p *plan) noteKind(f *Field, j int) {
	c := &p.sheet.columns[j]
	folded, rows := 0, 0
	for word, n := range p.counts[j] {
		if _, kept := slices.BinarySearch(f.Words, word); !kept {
			folded++
			rows += n
		}
	}
	switch {
	case f.Kind == Boolean:
		p.notes.add("%s: taken as true or false", f.Name)
	case f.Kind == Date || f.Kind == Time:
		p.notes.add("%s: dates as %s, taken as %s", f.Name, f.Order, strings.Join(datePartNames[:f.numberInputs()], ", "))
	case f.Kind == Statistics:
		what := "the mean of " + p.Target
		if p.Classes != nil {
			what = "the shares of the classes"
		}
		rest := ""
		if folded > 0 {
			rest = fmt.Sprintf("; %s that are in one row count as one", format.Count(folded))
		}
		p.notes.add("%s: %s words, each taken as %s in its training rows%s", f.Name, format.Count(len(f.Words)+folded),
			what, rest)
	case f.Other:
		p.notes.add("%s: the rare words, %s in %s, are one input, %q", f.Name, format.Count(folded),
			format.Counted(rows, "row"), f.Name+"=other")
	}
	p.noteName(j)
	switch {
	case p.keep[j]:
	case c.countsRows && c.numbers == p.sheet.Rows:
		p.notes.add("%s: kept, though it counts the rows; --drop %s leaves it out", f.Name, shellWord(f.Name))
	case f.Words != nil && 2*c.distinct > c.valueCount():
		p.notes.add("%s: kept, though it has another word in most rows; --drop %s leaves it out", f.Name,
			shellWord(f.Name))
	case c.unnamed:
		p.notes.add("%s: kept, though it has no name; --drop %s leaves it out", f.Name, shellWord(f.Name))
	case p.sheet.hasHeader && c.namedLikeIdentifier():
		p.notes.add("%s: kept, though it is called like an identifier; --drop %s leaves it out", f.Name,
			shellWord(f.Name))
	}
	if f.Words == nil {
		return
	}
	truths := 0
	for text, n := range c.counts {
		if pair, _ := parseTruth(text); pair >= 0 {
			truths += n
		}
	}
	for _, of := range []struct {
		n    int
		what string
	}{{c.numbers, "numbers"}, {c.dates, "dates"}, {truths, "true or false"}} {
		if of.n > 0 {
			p.notes.add("%s: %s of %s values are %s, taken as words like the others", f.Name, format.Count(of.n),
				format.Count(c.valueCount()), of.what)
		}
	}
}

// noteName says that a column has its own name among its words, as where the header stands in the table again.
func (p *plan) noteName(j int) {
	c := &p.sheet.columns[j]
	if n := c.counts[p.sheet.firstRecord[j]]; p.sheet.hasHeader && n > 0 {
		p.notes.add("%s: its own name is among its words, in %s: is the header there again?", c.name,
			format.Counted(n, "row"))
	}
}

// noteMissing says what stands in for missing values.
func (p *plan) noteMissing() {
	s := p.sheet
	mode := cmp.Or(s.options.Missing, MissingIndicator)
	if mode == MissingDrop {
		return
	}
	var groups [4][]string // of numbers, of words with a category, among other words, of none
	counts := make(map[string]int)
	for j := range s.columns {
		f, c := p.roles[j].field, &s.columns[j]
		if f == nil || c.missing == 0 {
			continue
		}
		counts[f.Name] = c.missing
		which := 0
		switch {
		case f.Words == nil && !f.Missing && mode == MissingIndicator:
			which = 3
		case f.Words == nil:
		case f.Missing || f.Kind == Statistics:
			which = 1
		default:
			which = 2
		}
		groups[which] = append(groups[which], f.Name)
	}
	for which, names := range groups {
		p.notes.addGroup(names, func(column string) string {
			many := "missing values: "
			if n, ok := counts[column]; ok {
				many = format.Counted(n, "missing value") + ": "
			}
			switch {
			case which == 1:
				return column + ": " + many + "a category of their own"
			case which == 2:
				return column + ": " + many + "no category, as there are none in the training rows"
			case which == 3:
				return column + ": " + many + "the mean stands in"
			case mode == MissingIndicator:
				return fmt.Sprintf("%s: %sthe mean stands in, and the input %q tells", column, many, column+" missing")
			}
			return fmt.Sprintf("%s: %sthe %s stands in", column, many, mode)
		})
	}
}
