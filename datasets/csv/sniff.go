package csv

import (
	"bufio"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"newtop/datasets/fault"
)

// boundedReader is a reader that ends in an error after so many bytes.
type boundedReader struct {
	io.Reader
	remaining int
}

var errRowTooLong = errors.New("a row is too long")

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errRowTooLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// recordReader reads the records from the start, each with as many fields as the first.
type recordReader struct {
	*stdcsv.Reader
	source   boundedReader
	maxBytes int
}

// Read is that of csv.Reader.
func (r *recordReader) Read() ([]string, error) {
	r.source.remaining = r.maxBytes
	return r.Reader.Read()
}

func newRecordReader(text io.Reader, comma rune) *recordReader {
	r := &recordReader{source: boundedReader{Reader: text}, maxBytes: MaxRow}
	r.Reader = newParser(bufio.NewReaderSize(&r.source, 1<<16), comma)
	return r
}

func newParser(text io.Reader, comma rune) *stdcsv.Reader {
	r := stdcsv.NewReader(text)
	r.Comma = comma
	r.ReuseRecord = true
	// A tab is white space itself: empty fields would be skipped as leading space.
	r.TrimLeadingSpace = comma != '\t'
	return r
}

// sniffDelimiter returns the delimiter and the first records of a text, which open opens. It chooses the one that gives more
// than one column and the same number of them in most lines, then the one that leaves more numbers.
func sniffDelimiter(open func() io.Reader, style numerals) (comma rune, best [][]string) {
	comma = ','
	var bestSame, bestNumbers float64
	for _, candidate := range []rune{',', ';', '\t'} {
		sample := firstRecords(newRecordReader(open(), candidate))
		if len(sample) == 0 {
			continue
		}
		same, numbers := grade(sample, style)
		if best == nil || same > bestSame || same == bestSame && (numbers > bestNumbers ||
			numbers == bestNumbers && len(sample[0]) > len(best[0])) {
			comma, best, bestSame, bestNumbers = candidate, sample, same, numbers
		}
	}
	return comma, best
}

// firstRecords returns the first hundred records, or as many as there are before a fault.
func firstRecords(r *recordReader) (records [][]string) {
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
func grade(records [][]string, style numerals) (same, numbers float64) {
	fields := 0
	for _, record := range records {
		fields += len(record)
		if len(record) == len(records[0]) && len(record) > 1 {
			same++
		}
		for _, field := range record {
			if _, ok := style.parseLoosely(field); ok {
				numbers++
			}
		}
	}
	return same / float64(max(len(records), 1)), numbers / float64(max(fields, 1))
}

// rowError turns an error of the CSV reader at a row into a FormatError. The row starts on that line.
func rowError(file string, line int, err error) error {
	if err == io.EOF {
		return &fault.FormatError{File: file, Line: 1, Found: "an empty file", Expected: "rows of values"}
	}
	if err == errRowTooLong {
		return &fault.FormatError{File: file, Line: line, Found: fmt.Sprintf("more than %d bytes in a row", MaxRow),
			Expected: "rows of values"}
	}
	parse, ok := errors.AsType[*stdcsv.ParseError](err)
	if !ok {
		return err
	}
	e := &fault.FormatError{File: file, Line: parse.Line}
	switch {
	case errors.Is(err, stdcsv.ErrQuote), errors.Is(err, stdcsv.ErrBareQuote):
		e.Found, e.Expected = "a quote in the wrong place", `quotes around a whole field, and "" for one inside`
	default:
		e.Found, e.Expected = parse.Err.Error(), "comma-separated values as in RFC 4180"
	}
	return e
}

// raggedRowError says that a row has not as many fields as the first.
func raggedRowError(file string, line, fields, columns int) error {
	return &fault.FormatError{File: file, Line: line, Found: plural(fields, "field"),
		Expected: strconv.Itoa(columns) + " as in the first line"}
}

func isFormatError(err error) bool {
	_, ok := errors.AsType[*fault.FormatError](err)
	return ok
}
