package csv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/internal/format"
)

// noteFields says what columns become where that is not plain.
func (p *plan) noteFields() {
	for j := range p.sheet.Columns {
		if r := &p.roles[j]; r.Field != nil {
			p.noteKind(r.Field, j)
		}
	}
	p.noteMissing()
}

// noteKind says of a column of dates, booleans or many words what it becomes.
func (p *plan) noteKind(f *schema.Field, j int) {
	c := &p.sheet.Columns[j]
	folded, rows := 0, 0
	for word, n := range p.counts[j] {
		if _, kept := slices.BinarySearch(f.Words, word); !kept {
			folded++
			rows += n
		}
	}
	switch {
	case f.Kind == schema.Boolean:
		p.notes.Add("%s: taken as true or false", f.Name)
	case f.Kind == schema.Date || f.Kind == schema.Time:
		years := ""
		if c.Orders[lex.ShortYear] > 0 {
			years = "; years of two digits are 1969 to 2068"
		}
		p.notes.Add("%s: dates as %s, taken as %s%s", f.Name, f.Order,
			strings.Join(lex.DatePartNames[:f.NumberInputs()], ", "), years)
	case f.Kind == schema.Statistics:
		what := "the mean of " + p.Target
		if p.Classes != nil {
			what = "the shares of the classes"
		}
		rest := ""
		if folded > 0 {
			rest = fmt.Sprintf("; %s that are in one row count as one", format.Count(folded))
		}
		p.notes.Add("%s: %s words, each taken as %s in its training rows%s", f.Name, format.Count(len(f.Words)+folded),
			what, rest)
	case f.Other:
		p.notes.Add("%s: the rare words, %s in %s, are one input, %q", f.Name, format.Count(folded),
			format.Counted(rows, "row"), f.Name+"=other")
	}
	p.noteName(j)
	if f.Words != nil {
		p.noteAlike(j)
	}
	switch {
	case p.keep[j]:
	case c.CountsRows && c.Numbers == p.sheet.Rows:
		p.notes.Add("%s: kept, though it counts the rows; --table drop=%s leaves it out", f.Name, shellWord(f.Name))
	case f.Words != nil && 2*c.Distinct > c.ValueCount():
		p.notes.Add("%s: kept, though it has another word in most rows; --table drop=%s leaves it out", f.Name,
			shellWord(f.Name))
	case c.Unnamed:
		p.notes.Add("%s: kept, though it has no name; --table drop=%s leaves it out", f.Name, shellWord(f.Name))
	case p.sheet.HasHeader && c.NamedLikeIdentifier():
		p.notes.Add("%s: kept, though it is called like an identifier; --table drop=%s leaves it out", f.Name,
			shellWord(f.Name))
	}
	if f.Words == nil {
		return
	}
	truths, said := 0, make(map[bool]bool)
	for text, n := range c.Counts {
		if pair, is := lex.ParseTruth(text); pair >= 0 {
			truths += n
			said[is] = true
		}
	}
	for _, of := range []struct {
		n    int
		what string
	}{{c.Numbers, "numbers"}, {c.Dates, "dates"}, {truths * (len(said) / 2), "true or false"}} {
		if of.n > 0 {
			p.notes.Add("%s: %s of %s values are %s, taken as words like the others", f.Name, format.Count(of.n),
				format.Count(c.ValueCount()), of.what)
		}
	}
}

// noteName says that a column has its own name among its words, as where the header stands in the table again.
func (p *plan) noteName(j int) {
	c := &p.sheet.Columns[j]
	if n := c.Counts[p.sheet.FirstRecord[j]]; p.sheet.HasHeader && n > 0 {
		p.notes.Add("%s: its own name is among its words, in %s: is the header there again?", c.Name,
			format.Counted(n, "row"))
	}
}

// noteAlike warns of words that differ by case, blanks or a final dot alone.
func (p *plan) noteAlike(j int) {
	alike := make(map[string][]string)
	for _, word := range slices.Sorted(maps.Keys(p.sheet.Columns[j].Counts)) {
		folded := strings.ToLower(strings.Join(strings.Fields(strings.TrimSuffix(word, ".")), ""))
		alike[folded] = append(alike[folded], format.Quote(format.Printable(word)))
	}
	maps.DeleteFunc(alike, func(_ string, words []string) bool { return len(words) < 2 })
	if len(alike) == 0 {
		return
	}
	first := alike[slices.Min(slices.Collect(maps.Keys(alike)))]
	more := ""
	if len(alike) > 1 {
		more = fmt.Sprintf(", and %d others", len(alike)-1)
	}
	p.notes.Add("%s: warning: words that differ by case, blanks or a final dot alone are told apart: %s%s",
		p.sheet.Columns[j].Name, strings.Join(first, ", "), more)
}

// noteMissing says what stands in for missing values.
func (p *plan) noteMissing() {
	s := p.sheet
	mode := cmp.Or(s.Options.Missing, lex.MissingIndicator)
	if mode == lex.MissingDrop {
		return
	}
	var groups [4][]string // of numbers, of words with a category, among other words, of none
	counts := make(map[string]int)
	for j := range s.Columns {
		f, c := p.roles[j].Field, &s.Columns[j]
		if f == nil || c.Missing == 0 {
			continue
		}
		counts[f.Name] = c.Missing
		which := 0
		switch {
		case f.Words == nil && !f.Missing && mode == lex.MissingIndicator:
			which = 3
		case f.Words == nil:
		case f.Missing || f.Kind == schema.Statistics:
			which = 1
		default:
			which = 2
		}
		groups[which] = append(groups[which], f.Name)
	}
	for which, names := range groups {
		p.notes.AddGroup(names, func(column string) string {
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
				return column + ": " + many + "replaced by the mean"
			case mode == lex.MissingIndicator:
				return fmt.Sprintf("%s: %sreplaced by the mean and marked by the input %q", column, many,
					column+" missing")
			}
			return fmt.Sprintf("%s: %sreplaced by the %s", column, many, mode)
		})
	}
}
