package sheet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// joinDress adds what a tally has seen of numbers in other styles.
func (c *Column) joinDress(of *columnTally) {
	for unit, d := range of.dress {
		sum := c.Dress[unit]
		if sum == nil {
			sum = &Dress{In: make([]int, len(d.In))}
			c.Dress[unit] = sum
		}
		for i, n := range d.In {
			sum.In[i] += n
		}
		sum.Unclear, sum.Coded = sum.Unclear+d.Unclear, sum.Coded+d.Coded
	}
	c.LeadingZeros += of.leadingZeros
	c.grouped = c.grouped && !of.ungrouped
	switch {
	case of.maxWidth == 0:
	case c.width[1] == 0:
		c.width = [2]int32{of.minWidth, of.maxWidth}
	default:
		c.width = [2]int32{min(c.width[0], of.minWidth), max(c.width[1], of.maxWidth)}
	}
}

// readOptions takes what the options say of how columns are read.
func readOptions(s *Sheet) error {
	s.forced = make([]bool, len(s.Columns))
	for _, text := range s.Options.NA {
		name, marks, one := strings.Cut(text, "=")
		if !one {
			for j := range s.Columns {
				s.reading(j).AddMissing(strings.Split(text, "|")...)
			}
			continue
		}
		j, err := s.FindColumn("NA", name)
		if err != nil {
			return err
		}
		s.reading(j).AddMissing(strings.Split(marks, "|")...)
	}
	for _, name := range s.Options.Category {
		j, err := s.FindColumn("category", name)
		if err != nil {
			return err
		}
		s.reading(j).Words = true
	}
	for _, name := range s.Options.Number {
		j, err := s.FindColumn("number", name)
		if err != nil {
			return err
		}
		if s.isRead(j) && s.Readings[j].Words {
			return &fault.OptionError{Field: "number", Value: name, Expected: "a column that is no category"}
		}
		s.forced[j] = true
	}
	return nil
}

// vote decides how columns are read in which values are numbers in another way than the usual, or marks of a missing
// value are among numbers, or numbers are codes. It reports whether something was decided: the columns are then
// surveyed again.
func vote(s *Sheet) (again bool) {
	var commas, points bool // whether a column tells which of them decimals are parted by
	for j := range s.Columns {
		switch c := &s.Columns[j]; {
		case s.isRead(j) && s.Readings[j].Numerals != s.Numerals:
			commas = commas || s.Readings[j].Numerals.CommaDecimal()
			points = points || !s.Readings[j].Numerals.CommaDecimal() && !c.Whole
		case c.coded():
		default:
			unit, style, dressed := c.mostDressed()
			clear := dressed && c.Dress[unit].Unclear < c.Dress[unit].In[style] &&
				Mostly(c.Dress[unit].In[style]+c.Numbers, c.Words-c.Dress[unit].In[style])
			commas = commas || clear && s.styles[style].CommaDecimal()
			points = points || !c.grouped && !c.Whole && !(dressed && s.styles[style].CommaDecimal())
		}
	}
	for j := range s.Columns {
		again = voteColumn(s, j, commas, points) || again
	}
	return again
}

// mostDressed returns the style and the unit of most words that are numbers. A unit counts if it is behind most of the
// column's numbers, and /2 if it is no fraction beside others.
func (c *Column) mostDressed() (unit string, style int, ok bool) {
	most := 0
	units := slices.Sorted(maps.Keys(c.Dress))
	fraction := func(u string) bool { return strings.HasPrefix(u, "/") }
	if i := slices.IndexFunc(units, fraction); i >= 0 && slices.ContainsFunc(units[i+1:], fraction) {
		return "", 0, false
	}
	for _, u := range units {
		for i, n := range c.Dress[u].In {
			if n > most && (u == "" || n >= c.Numbers) {
				most, unit, style = n, u, i
			}
		}
	}
	return unit, style, most > 0
}

// coded reports whether a column's numbers are codes: some have a zero before them and all do or have one width, or all
// are in parentheses, so that these are no minus, or in groups of three digits.
func (c *Column) coded() bool {
	if d := c.Dress[""]; d != nil && d.Coded > 0 {
		return c.Numbers == 0 && d.Coded == slices.Max(d.In) && Mostly(d.Coded, c.Words-d.Coded)
	}
	return c.LeadingZeros > 0 && (c.width[0] == c.width[1] || c.LeadingZeros == c.Numbers) && c.Whole && c.Words == 0
}

// voteColumn decides how a column is read, and reports whether it did.
func voteColumn(s *Sheet, j int, commas, points bool) bool {
	c, forced := &s.Columns[j], s.forced[j]
	read := s.isRead(j)
	switch {
	case read && (s.Readings[j].Words || s.Readings[j].Numbers):
		return false
	case forced:
	case c.Boolean():
		return false
	case c.coded():
		note(s, j, "words, as numbers written like 01067, (748) or 555 123 456 are codes", "number",
			"takes it for numbers")
		s.reading(j).Words = true
		return true
	}
	if nones, boolean := c.besideNone(); boolean && !forced && !isTarget(s, j) {
		s.reading(j).AddMissing(nones...)
		return true
	}
	dated := c.Dates > c.Numbers && !forced
	if !dated && (!read || s.Readings[j].Numerals == s.Numerals) {
		if numerals, ok := voteNumerals(s, j, commas, points); ok {
			note(s, j, "numbers are read as "+numerals.String(), "category",
				"takes them for words")
			r := s.reading(j)
			r.Numerals, r.Numbers = numerals, forced
			return true
		}
	}
	if forced {
		s.reading(j).Numbers = true
		return true
	}
	kind, values, is := "numbers", c.Numbers, func(string) bool { return false }
	if dated {
		kind, values, is = "dates", c.Dates, func(word string) bool { return lex.ReadDate(word).Orders != 0 }
	}
	marks, ok := c.marks(values, is)
	if len(marks) == 0 || !ok {
		return false
	}
	if k := slices.IndexFunc(marks, c.classWord); k >= 0 && isTarget(s, j) {
		note(s, j, fmt.Sprintf("%q is a class beside the numbers", marks[k]), "number", "takes it for missing")
		s.reading(j).Words = true
		return true
	}
	var told []string
	for _, mark := range marks {
		told = append(told, fmt.Sprintf("%q %s", mark, format.Counted(c.Counts[mark], "time")))
	}
	note(s, j, fmt.Sprintf("%s of %s values are %s, %s: missing", format.Count(values), format.Count(c.ValueCount()),
		kind, strings.Join(told, ", ")), "category", "takes them for words")
	s.reading(j).AddMissing(marks...)
	return true
}

// voteNumerals returns how a column's numbers are written, if not in the usual way.
func voteNumerals(s *Sheet, j int, commas, points bool) (n lex.Numerals, ok bool) {
	c := &s.Columns[j]
	unit, style, dressed := c.mostDressed()
	if !dressed {
		// As 1.234 where another column has 1.234,5.
		ok = len(s.styles) > 1 && s.comma != ',' && commas && !points && c.grouped && !c.Whole
		return s.styles[min(1, len(s.styles)-1)], ok
	}
	n = s.styles[style].Dressed(unit)
	d := c.Dress[unit]
	if d.Unclear == d.In[style] {
		switch {
		case n.Currency(), points && !commas:
		case commas && !points:
			n = s.styles[1].Dressed(unit)
		default:
			return n, false
		}
	}
	if c.grouped || c.Whole || !n.CommaDecimal() || s.forced[j] {
		number := func(word string) bool { _, ok := n.ParseLoosely(word); return ok }
		numbers := d.In[style]
		if !lex.Scales(unit) {
			if bare := c.Dress[""]; unit != "" && bare != nil {
				numbers += bare.In[style]
			}
			numbers += c.Numbers
		}
		_, ok = c.marks(numbers, number)
	}
	return n, ok || s.forced[j]
}

// Among numbers, a word that is in at most half as many rows, or fewMarks different ones in a ninth, may be marks of a
// missing value that nobody knows, if there are that many different numbers.
const (
	fewMarks    = 2
	manyNumbers = 8
)

// marks returns the marks of a missing value among the words of a column, some of which are numbers, and reports
// whether the column is one of numbers.
func (c *Column) marks(numbers int, number func(word string) bool) (marks []string, ok bool) {
	var unknown []string
	known, rows, others := 0, 0, 0
	for _, word := range slices.Sorted(maps.Keys(c.Counts)) {
		switch n := c.Counts[word]; {
		case number(word):
		case lex.LooksMissing(word) && (word != "-" || c.Counts["+"] == 0):
			marks = append(marks, word)
			known += n
		case strings.ContainsAny(word, "0123456789") || lex.IsGrade(word):
			others += n
		default:
			unknown = append(unknown, word)
			rows += n
		}
	}
	if c.TooManyWords {
		others = max(c.Words+c.Numbers-numbers, 0)
	}
	many := c.TooManyNumbers || c.Distinct-len(marks)-len(unknown) >= manyNumbers
	switch {
	case numbers == 0:
		return nil, false
	case others == 0 && (len(unknown) <= 1 && 2*rows <= numbers || len(unknown) <= fewMarks && 9*rows <= numbers) &&
		(many || rows <= 1 && numbers > manyNumbers):
		return append(marks, unknown...), true
	case others+rows == 0:
		return marks, true
	}
	return marks, Mostly(numbers, others+rows)
}

// isTarget reports whether a column is the one to predict.
func isTarget(s *Sheet, j int) bool {
	if s.Options.Target == "" {
		return j == len(s.Columns)-1
	}
	target, err := s.FindColumn("target", s.Options.Target)
	return err == nil && target == j
}

// classWord reports whether a word, which may say that there is no value, is a class of a target: several rows have it,
// and the numbers beside it are classes too.
func (c *Column) classWord(word string) bool {
	return c.Counts[word] > 1 && !lex.ClearlyMissing(word) && !c.TooManyNumbers && c.Whole &&
		len(c.Values) <= classValues && c.Numbers >= ClassRows*len(c.Values)
}

// Vote is what was decided of a column, a line about it under its name or another.
type Vote struct {
	Column string
	About  func(column string) string
}

// note keeps what was decided of a column, and the key that decides otherwise. Inlined it makes voteColumn twice as
// large.
//
//go:noinline
func note(s *Sheet, j int, what, key, does string) {
	about := func(column string) string {
		return fmt.Sprintf("%s: %s; --table %s %s", column, what, format.Quote(key+"="+column), does)
	}
	s.Votes = append(s.Votes, Vote{s.Columns[j].Name, about})
}
