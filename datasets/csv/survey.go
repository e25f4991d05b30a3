// Package csv reads tables of numbers and words as rows of numbers: it finds out what the columns of a file are, lays them out as
// inputs and a target, and reads rows to come in the same way.
package csv

import (
	"bufio"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Sheet is what a first pass over a CSV file finds out. The text may be longer than the memory.
type Sheet struct {
	file     string
	src      io.ReaderAt
	from, to int64 // of src: where the text is
	longest  int   // bytes of a row; 0 for any number
	comma    rune
	header   bool
	columns  []column
	Rows     int // without the header
	LastLine int // the line on which the last row starts
}

// column is what the fields of a column are like, the header left out.
type column struct {
	name        string
	numbers     int                 // fields that are written like a number
	words       int                 // other fields
	width       int                 // bytes in which each number is exact, see narrowest; 0 without numbers
	values      map[string]struct{} // the different fields, until there are too many
	crowded     bool                // whether there were
	crowdedLine int
}

// numeric reports whether nine in ten fields are numbers, or all but one: in a short table, too, a stray
// word is a slip and not a category.
func (c *column) numeric() bool {
	return c.numbers > 0 && 9*c.words <= c.numbers || c.numbers > 1 && c.words == 1
}

func (c *column) see(field string, line int) {
	if v, ok := likeNumber(field); ok {
		c.numbers++
		c.width = max(c.width, narrowest(v))
	} else {
		c.words++
	}
	if c.crowded {
		return
	}
	if _, ok := c.values[field]; ok {
		return
	}
	if len(c.values) == maxCategories {
		c.crowded, c.crowdedLine = true, line
		return
	}
	c.values[strings.Clone(field)] = struct{}{}
}

// Survey finds out what the columns of the first limit rows (0: of all) hold in a text of so many bytes, of
// which no row has more than longest bytes (0: any number).
func Survey(file string, src io.ReaderAt, size int64, longest, limit int) (*Sheet, error) {
	from, err := checkText(file, io.NewSectionReader(src, 0, size))
	if err != nil {
		return nil, err
	}
	s := &Sheet{file: file, src: src, from: from, to: size, longest: longest, comma: ','}
	sample := s.sniff()
	if len(sample) == 0 {
		_, err := s.reader().Read()
		return nil, s.fault(err, 0)
	}
	s.header = isHeader(sample[0], sample[1:])
	if err := s.name(sample[0]); err != nil {
		return nil, err
	}
	r := s.reader()
	for i := -s.headerRows(); limit == 0 || i < limit; i++ {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, s.fault(err, len(record))
		}
		if i < 0 {
			continue
		}
		for j, field := range record {
			line, _ := r.FieldPos(j)
			field = strings.TrimSpace(field)
			if missing(field) {
				return nil, &fault.FormatError{File: file, Line: line, Column: s.columns[j].name,
					Found: "a missing value (" + fault.Quote(field) + ")", Expected: "a number or a category"}
			}
			s.columns[j].see(field, line)
		}
		s.Rows++
		s.LastLine, _ = r.FieldPos(0)
	}
	if s.Rows < 2 {
		return nil, &fault.FormatError{File: file, Line: max(s.LastLine, 1), Found: plural(s.Rows, "row"), Expected: "at least 2"}
	}
	return s, nil
}

// bounded is a reader that ends in an error after so many bytes.
type bounded struct {
	io.Reader
	left int
}

var errLongRow = errors.New("a row is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRow
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// records reads the records from the start, each with as many fields as the first.
type records struct {
	*stdcsv.Reader
	source  bounded
	longest int
}

// Read is that of csv.Reader.
func (r *records) Read() ([]string, error) {
	r.source.left = r.longest
	return r.Reader.Read()
}

func (s *Sheet) reader() *records {
	r := &records{source: bounded{Reader: io.NewSectionReader(s.src, s.from, s.to-s.from)}, longest: s.longest}
	if r.longest == 0 {
		r.longest = math.MaxInt
	}
	r.Reader = parser(bufio.NewReaderSize(&r.source, 1<<16), s.comma)
	return r
}

func parser(text io.Reader, comma rune) *stdcsv.Reader {
	r := stdcsv.NewReader(text)
	r.Comma = comma
	r.ReuseRecord = true
	// A tab is white space itself: empty fields would be skipped as leading space.
	r.TrimLeadingSpace = comma != '\t'
	return r
}

func (s *Sheet) headerRows() int {
	if s.header {
		return 1
	}
	return 0
}

// sniff sets the delimiter and returns the first records. It chooses the one that gives more than one
// column and the same number of them in most lines, then the one that leaves more numbers.
func (s *Sheet) sniff() [][]string {
	var best [][]string
	var bestSame, bestNumbers float64
	for _, comma := range []rune{',', ';', '\t'} {
		candidate := *s
		candidate.comma = comma
		sample := candidate.sample()
		if len(sample) == 0 {
			continue
		}
		same, numbers := grade(sample)
		if best == nil || same > bestSame || same == bestSame && (numbers > bestNumbers ||
			numbers == bestNumbers && len(sample[0]) > len(best[0])) {
			s.comma, best, bestSame, bestNumbers = comma, sample, same, numbers
		}
	}
	return best
}

// sample returns the first hundred records, or as many as there are before a fault.
func (s *Sheet) sample() (records [][]string) {
	r := s.reader()
	r.ReuseRecord = false
	r.FieldsPerRecord = -1
	for len(records) < 100 {
		record, err := r.Read()
		if err != nil {
			break
		}
		for j := range record {
			record[j] = strings.TrimSpace(record[j])
		}
		records = append(records, record)
	}
	return records
}

// grade returns the fraction of the records that have as many fields as the first, 0 if that is one, and
// the fraction of all fields that are numbers.
func grade(records [][]string) (same, numbers float64) {
	fields := 0
	for _, record := range records {
		fields += len(record)
		if len(record) == len(records[0]) && len(record) > 1 {
			same++
		}
		for _, field := range record {
			if numberLike(field) {
				numbers++
			}
		}
	}
	return same / float64(max(len(records), 1)), numbers / float64(max(fields, 1))
}

// isHeader reports whether the first record names the columns: some column has a word there and numbers
// below, or there are no numbers at all and nothing in the first record comes again.
func isHeader(first []string, rest [][]string) bool {
	allWords, repeated := true, false
	for j, name := range first {
		var c column
		c.values = make(map[string]struct{})
		for _, record := range rest {
			if j < len(record) && !missing(record[j]) {
				c.see(record[j], 0)
			}
		}
		if c.numeric() && !numberLike(name) && !missing(name) {
			return true
		}
		_, again := c.values[name]
		repeated = repeated || again || missing(name)
		allWords = allWords && c.numbers == 0 && !numberLike(name)
	}
	return allWords && !repeated && len(rest) > 0
}

// name names the columns after the header's fields, or after their numbers.
func (s *Sheet) name(first []string) error {
	if n := len(first); n < 2 || n > maxColumns {
		return &fault.FormatError{File: s.file, Line: 1, Found: plural(n, "column"),
			Expected: fmt.Sprintf("2 to %d columns parted by commas, semicolons or tabs", maxColumns)}
	}
	seen := make(map[string]bool)
	for j, field := range first {
		name := strconv.Itoa(j + 1)
		if s.header && field != "" {
			name = format.Printable(field)
		}
		if seen[name] {
			return &fault.FormatError{File: s.file, Line: 1, Column: name, Found: "a second column of that name", Expected: "different names"}
		}
		seen[name] = true
		s.columns = append(s.columns, column{name: name, values: make(map[string]struct{})})
	}
	return nil
}

// fault turns an error of the CSV reader into a FormatError; fields is how many the faulty record had.
func (s *Sheet) fault(err error, fields int) error {
	if err == io.EOF {
		return &fault.FormatError{File: s.file, Line: 1, Found: "an empty file", Expected: "rows of values"}
	}
	if err == errLongRow {
		return &fault.FormatError{File: s.file, Line: s.LastLine + 1, Found: fmt.Sprintf("more than %d bytes in a row", s.longest), Expected: "rows of values"}
	}
	parse, ok := errors.AsType[*stdcsv.ParseError](err)
	if !ok {
		return err
	}
	e := &fault.FormatError{File: s.file, Line: parse.Line}
	switch {
	case errors.Is(err, stdcsv.ErrFieldCount):
		e.Found, e.Expected = plural(fields, "field"), strconv.Itoa(len(s.columns))+" as in the first line"
	case errors.Is(err, stdcsv.ErrQuote), errors.Is(err, stdcsv.ErrBareQuote):
		e.Found, e.Expected = "a quote in the wrong place", `quotes around a whole field, and "" for one inside`
	default:
		e.Found, e.Expected = parse.Err.Error(), "comma-separated values as in RFC 4180"
	}
	return e
}
