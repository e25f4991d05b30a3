package sheet

import (
	"fmt"
	"strconv"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// headerEvidence is what a header was recognized by.
type headerEvidence uint8

const (
	noHeader       headerEvidence = iota
	wordsAbove                    // a word above numbers or dates, or words alone of which none comes again
	countsFromZero                // whole numbers from 0 on, as pandas numbers columns
	requested                     // it was asked for
)

// maxColumns bounds the columns of a file, so that a wrong file is refused.
const maxColumns = 100_000

// headerOf tells by what the first record is known to name the columns: some column has a word there and numbers or
// dates below, or the record counts from 0, or there are no numbers at all, but for an index without a name, and
// nothing in it comes again.
func headerOf(first []string, rest [][]string, style lex.Numerals) headerEvidence {
	allWords, repeated, fractions := true, false, false
	for j, name := range first {
		var c Column
		again := false
		for _, record := range rest {
			if j >= len(record) || lex.IsMissing(record[j]) {
				continue
			}
			again = again || record[j] == name
			v, number := style.ParseLoosely(record[j])
			switch {
			case number, lex.Likely(record[j]):
				c.Numbers++
				fractions = fractions || v != float64(int64(v))
			case lex.ReadDate(record[j]).Orders != 0:
				c.Words, c.Dates = c.Words+1, c.Dates+1
			default:
				c.Words++
			}
		}
		if !lex.Likely(name) && !lex.IsMissing(name) && !lex.IsNone(name) && lex.ReadDate(name).Orders == 0 &&
			(c.Numeric() || c.Dated()) {
			return wordsAbove
		}
		if j == 0 && name == "" && c.Numeric() {
			continue // pandas' index
		}
		repeated = repeated || again || lex.IsMissing(name) || lex.IsNone(name)
		allWords = allWords && c.Numbers == 0 && !lex.Likely(name)
	}
	switch {
	case len(rest) == 0:
		return noHeader
	case countsFrom0(first) && (len(first) > 2 || fractions):
		return countsFromZero
	case (allWords || countsYears(first)) && !repeated:
		return wordsAbove
	}
	return noHeader
}

// countsYears reports whether a record's numbers, three or more, are years one after another, as offices name columns:
// half of those between the first and the last or more, or every fifth or tenth.
func countsYears(record []string) bool {
	first, last, step, n, even := 0, 0, 0, 0, true
	for _, field := range record {
		year, err := strconv.Atoi(field)
		switch {
		case err != nil:
			continue
		case n == 0:
			first = year
		case n > 1 && year-last != step:
			even = false
		}
		if step = year - last; step <= 0 {
			return false
		}
		last = year
		n++
	}
	return n > 2 && first >= 1000 && last <= 9999 && (last-first < 2*n || even && (step == 5 || step == 10))
}

// countsFrom0 reports whether a record counts 0, 1, 2 and so on, behind an empty field or from the start.
func countsFrom0(record []string) bool {
	if record[0] == "" {
		record = record[1:]
	}
	for j, field := range record {
		if field != strconv.Itoa(j) {
			return false
		}
	}
	return len(record) > 0
}

// nameColumns names the columns after the header's fields, or after their numbers. A number that is a name already
// gives way to pandas' name of a column without one.
func (s *Sheet) nameColumns(first []string) error {
	if n := len(first); n < 2 || n > maxColumns {
		return &fault.FormatError{File: s.Sources[0].Name, Line: 1, Found: format.Counted(n, "column"),
			Expected: fmt.Sprintf("2 to %d columns separated by commas, semicolons, tabs or blanks, or as --table "+
				"separator= says", maxColumns)}
	}
	for j, name := range schema.ColumnNames(first, s.HasHeader) {
		s.Columns = append(s.Columns, Column{Name: name, Unnamed: s.HasHeader && first[j] == ""})
		if s.HasHeader && first[j] != "" && name != format.Printable(first[j]) {
			s.Votes = append(s.Votes, Vote{name, func(column string) string {
				return column + ": called so, as another column has the name without the number"
			}})
		}
	}
	return nil
}

// HeaderNote says where the columns' names come from.
func (s *Sheet) HeaderNote() string {
	switch {
	case s.Options.Header != "":
		return ""
	case s.evidence == wordsAbove:
		return "the first row names the columns; --table header=no takes it for data"
	case s.evidence == countsFromZero:
		return fmt.Sprintf("the first row, which counts to %s, names the columns; --table header=no takes it for data",
			s.FirstRecord[len(s.FirstRecord)-1])
	}
	return "no row names the columns, which are numbered from 1; --table header=yes takes the first row for their names"
}

// FindColumn returns the index of the column that an option asks for: by its name, or by its number if no other has
// that for its name. "name:" and "place:" before it say which is meant.
func (s *Sheet) FindColumn(field, asked string) (int, error) {
	var names []string
	for j := range s.Columns {
		if s.HasHeader {
			names = append(names, s.Columns[j].Name)
		}
	}
	return findColumn(field, asked, names, len(s.Columns), s.Sources[0].Name)
}

// findColumn is find among columns of such names, nil where they have none.
func findColumn(field, asked string, names []string, columns int, file string) (int, error) {
	j, expected := schema.LookUpColumn(asked, names, columns)
	if j >= 0 {
		return j, nil
	}
	if expected == "" {
		expected = fmt.Sprintf("a column number from 1 to %d", columns)
		if names != nil {
			expected += " or a name of " + file + ": " + lex.ListNames(names) + format.DidYouMean(asked, names)
		}
	}
	return 0, &fault.OptionError{Field: field, Value: asked, Expected: expected}
}
