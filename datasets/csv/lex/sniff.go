package lex

import (
	"bufio"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"newtop/datasets/fault"
	"newtop/internal/format"
)

// BoundedReader is a reader that ends in an error after that many bytes.
type BoundedReader struct {
	io.Reader
	Remaining int
}

// ErrRowTooLong is what a BoundedReader ends with.
var ErrRowTooLong = errors.New("a row is too long")

func (b *BoundedReader) Read(p []byte) (int, error) {
	if b.Remaining <= 0 {
		return 0, ErrRowTooLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.Remaining)])
	b.Remaining -= n
	return n, err
}

// RecordReader reads the records from the start, each with as many fields as the first.
type RecordReader struct {
	*stdcsv.Reader
	Source   BoundedReader
	MaxBytes int
}

// Read is that of csv.Reader.
func (r *RecordReader) Read() ([]string, error) {
	r.Source.Remaining = r.MaxBytes
	return r.Reader.Read()
}

// NewRecordReader returns a reader of the records of a text with a separator.
func NewRecordReader(text io.Reader, comma rune) *RecordReader {
	r := &RecordReader{Source: BoundedReader{Reader: text}, MaxBytes: MaxRow}
	r.Reader = NewParser(bufio.NewReaderSize(&r.Source, 1<<16), comma)
	return r
}

// NewParser returns the standard library's parser with the settings that tables are read with.
func NewParser(text io.Reader, comma rune) *stdcsv.Reader {
	r := stdcsv.NewReader(text)
	r.Comma = comma
	r.ReuseRecord = true
	// A tab is white space itself: empty fields would be skipped as leading space.
	r.TrimLeadingSpace = comma != '\t'
	return r
}

// SniffDelimiter returns the delimiter and the first records of a text, which open opens. It chooses the one that gives
// more than one column and the same number of them in most lines, then the one that leaves more numbers.
// given, if it is not empty, is the delimiter.
func SniffDelimiter(open func() io.Reader, style Numerals, given string) (comma rune, best [][]string) {
	comma = ','
	var bestSame, bestNumbers float64
	candidates := []rune{',', ';', '\t', '|'}
	if given != "" {
		candidates = []rune(given)[:1]
		comma = candidates[0]
	}
	for _, candidate := range candidates {
		sample := firstRecords(NewRecordReader(open(), candidate))
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
func firstRecords(r *RecordReader) (records [][]string) {
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
func grade(records [][]string, style Numerals) (same, numbers float64) {
	fields := 0
	for _, record := range records {
		fields += len(record)
		if len(record) == len(records[0]) && len(record) > 1 {
			same++
		}
		for _, field := range record {
			if _, ok := style.ParseLoosely(field); ok || Likely(field) {
				numbers++
			}
		}
	}
	return same / float64(max(len(records), 1)), numbers / float64(max(fields, 1))
}

// RowError turns an error of the CSV reader at a row into a FormatError. The row starts on that line.
func RowError(file string, line int, err error) error {
	if err == io.EOF {
		return &fault.FormatError{File: file, Line: 1, Found: "an empty file", Expected: "rows of values"}
	}
	if err == ErrRowTooLong {
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

// RaggedRowError says that a row has not as many fields as the first.
func RaggedRowError(file string, line, fields, columns int) error {
	return &fault.FormatError{File: file, Line: line, Found: format.Counted(fields, "field"),
		Expected: strconv.Itoa(columns) + " as in the first line"}
}

// IsFormatError reports whether an error says what is wrong in a table, and not that it could not be read.
func IsFormatError(err error) bool {
	_, ok := errors.AsType[*fault.FormatError](err)
	return ok
}
