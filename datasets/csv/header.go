package csv

import (
	"fmt"
	"strconv"

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
func headerOf(first []string, rest [][]string, style numerals) headerEvidence {
	allWords, repeated, fractions := true, false, false
	for j, name := range first {
		var c column
		again := false
		for _, record := range rest {
			if j >= len(record) || isMissing(record[j]) {
				continue
			}
			again = again || record[j] == name
			v, number := style.parseLoosely(record[j])
			switch {
			case number:
				c.numbers++
				fractions = fractions || v != float64(int64(v))
			case readDate(record[j]).orders != 0:
				c.words, c.dates = c.words+1, c.dates+1
			default:
				c.words++
			}
		}
		if _, number := style.parseLoosely(name); !number && !isMissing(name) && readDate(name).orders == 0 &&
			(c.numeric() || c.dated()) {
			return wordsAbove
		}
		_, number := style.parseLoosely(name)
		if j == 0 && name == "" && c.numeric() {
			continue // pandas' index
		}
		repeated = repeated || again || isMissing(name)
		allWords = allWords && c.numbers == 0 && !number
	}
	switch {
	case len(rest) == 0:
		return noHeader
	case countsFrom0(first) && (len(first) > 2 || fractions):
		return countsFromZero
	case allWords && !repeated:
		return wordsAbove
	}
	return noHeader
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

// nameColumns names the columns after the header's fields, or after their numbers. A number that is a name already gives way
// to pandas' name of a column without one.
func (s *Sheet) nameColumns(first []string) error {
	if n := len(first); n < 2 || n > maxColumns {
		return &fault.FormatError{File: s.sources[0].Name, Line: 1, Found: plural(n, "column"),
			Expected: fmt.Sprintf("2 to %d columns parted by commas, semicolons or tabs", maxColumns)}
	}
	seen := make(map[string]bool)
	for j, name := range columnNames(first, s.hasHeader) {
		if seen[name] {
			return &fault.FormatError{File: s.sources[0].Name, Line: 1, Column: name,
				Found: "a second column of that name", Expected: "different names"}
		}
		seen[name] = true
		s.columns = append(s.columns, column{name: name, unnamed: s.hasHeader && first[j] == ""})
	}
	return nil
}

// headerNote says where the columns' names come from.
func (s *Sheet) headerNote() string {
	switch {
	case s.options.Header != "":
		return ""
	case s.evidence == wordsAbove:
		return "the first row names the columns; --header no takes it for data"
	case s.evidence == countsFromZero:
		return fmt.Sprintf("the first row, which counts to %s, names the columns; --header no takes it for data",
			s.firstRecord[len(s.firstRecord)-1])
	}
	return "no row names the columns, which are numbered from 1; --header yes takes the first row for their names"
}

// findColumn returns the index of the column that an option asks for: by its name, or by its number if no other has that for
// its name. "name:" and "place:" before it say which is meant.
func (s *Sheet) findColumn(field, asked string) (int, error) {
	var names []string
	for j := range s.columns {
		if s.hasHeader {
			names = append(names, s.columns[j].name)
		}
	}
	return findColumn(field, asked, names, len(s.columns), s.sources[0].Name)
}

// findColumn is find among columns of such names, nil where they have none.
func findColumn(field, asked string, names []string, columns int, file string) (int, error) {
	j, expected := lookUpColumn(asked, names, columns)
	if j >= 0 {
		return j, nil
	}
	if expected == "" {
		expected = fmt.Sprintf("a column number from 1 to %d", columns)
		if names != nil {
			expected += " or a name of " + file + ": " + listNames(names) + format.DidYouMean(asked, names)
		}
	}
	return 0, &fault.OptionError{Field: field, Value: asked, Expected: expected}
}

