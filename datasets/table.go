package datasets

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TableInfo says how the columns of a CSV file became inputs, so that rows to come can become the same.
type TableInfo struct {
	Fields []Field // all columns but the target, in the file's order
	Target string  // the name of the column to predict
	Place  int     // which column of the file that is, from 1
}

// Field is a column of a table. Words are the categories in the order of their inputs, each 1 where the field is that
// word and 0 elsewhere; nil for a number, which is one input as it is.
type Field struct {
	Name  string // in the header, or the column's number from 1 where there is none
	Words []string
}

// Inputs returns how many inputs the field becomes.
func (f *Field) Inputs() int {
	if f.Words == nil {
		return 1
	}
	return len(f.Words)
}

// info describes the table that was laid out.
func (l *layout) info(s *sheet) *TableInfo {
	t := &TableInfo{Target: s.columns[l.target].name, Place: l.target + 1}
	for j := range s.columns {
		if j == l.target {
			continue
		}
		f := Field{Name: s.columns[j].name}
		if l.code[j] != nil {
			f.Words = make([]string, len(l.code[j]))
			for word, k := range l.code[j] {
				f.Words[k] = word
			}
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}

// TableReader reads rows that were not trained on, one at a time: the text may be longer than the memory.
type TableReader struct {
	file   string
	source bounded
	text   *bufio.Reader
	csv    *csv.Reader
	fields []Field
	code   []map[string]int // of each field: which of its inputs a word sets; nil for numbers
	first  []int            // of each field: where it starts among the inputs
	inputs int
	names  []string // of the file's columns
	place  []int    // of the file's columns: which field it is; -1 for the target
	target int      // its column; -1 without one
	waits  []string // the first row, if it is none of names and was not returned yet
	line   int      // on which the row begins that was returned last
}

const (
	sniffed = 1 << 16 // how much of a text is looked at to tell the delimiter, as far as it is there
	maxRow  = 8 << 20 // bytes of a row, 80 for each of the most columns that are trained on
)

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

// NewTableReader returns a reader of a CSV text with the columns of t, whose target may be there or not, but must be
// if it is needed. Columns are found by their names if the first line has any of them, and else by their places: a
// target is then the column with the number that t has for its name, or the one at t's Place if there is one more than
// fields. A column that is neither is an error. The delimiter is told as for a file that is trained on. file is for
// errors, which are *FormatError, and *OptionError for a target that is not there.
func NewTableReader(r io.Reader, file string, t *TableInfo, needed bool) (*TableReader, error) {
	d := &TableReader{file: file, source: bounded{r, maxRow}, fields: t.Fields, target: -1}
	for i := range t.Fields {
		var code map[string]int
		if words := t.Fields[i].Words; words != nil {
			code = make(map[string]int, len(words))
			for k, word := range words {
				code[word] = k
			}
		}
		d.code, d.first = append(d.code, code), append(d.first, d.inputs)
		d.inputs += t.Fields[i].Inputs()
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	first, err := d.record()
	if err == io.EOF {
		return nil, &FormatError{File: file, Line: 1, Found: "an empty file", Expected: "rows of values"}
	}
	if err != nil {
		return nil, err
	}
	if d.header(first, t) {
		err = d.byName(first, t, needed)
	} else {
		d.waits = slices.Clone(first)
		err = d.byPlace(len(first), t, needed)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open drops a byte order mark and sets up the CSV reader with the delimiter that the beginning shows.
func (d *TableReader) open() error {
	d.text = bufio.NewReaderSize(&d.source, sniffed)
	sample, err := d.firstLine()
	if err != nil {
		return err
	}
	if bytes.HasPrefix(sample, []byte{0xff, 0xfe}) || bytes.HasPrefix(sample, []byte{0xfe, 0xff}) {
		return &FormatError{File: d.file, Line: 1, Found: "UTF-16", Expected: "text in UTF-8"}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(sample, mark) {
		if _, err := d.text.Discard(len(mark)); err != nil {
			return err
		}
		sample = sample[len(mark):]
	}
	if end := bytes.LastIndexByte(sample, '\n'); end >= 0 {
		sample = sample[:end+1]
	}
	s := sheet{src: bytes.NewReader(sample), to: int64(len(sample)), comma: ','}
	s.sniff()
	d.csv = csv.NewReader(d.text) // which takes the buffer for its own
	d.csv.Comma = s.comma
	d.csv.ReuseRecord = true
	d.csv.TrimLeadingSpace = s.comma != '\t'
	return nil
}

// firstLine returns what is there of the text, and waits until that is a line or as much as is looked at. It stays to
// be read.
func (d *TableReader) firstLine() ([]byte, error) {
	for {
		_, err := d.text.Peek(d.text.Buffered() + 1)
		sample, _ := d.text.Peek(d.text.Buffered())
		switch {
		case err == io.EOF, err == bufio.ErrBufferFull, bytes.IndexByte(sample, '\n') >= 0:
			return sample, nil
		case err != nil:
			return nil, err
		}
	}
}

// record reads the next row as text.
func (d *TableReader) record() ([]string, error) {
	d.source.left = maxRow
	record, err := d.csv.Read()
	switch {
	case err == io.EOF:
		return nil, err
	case err == errLongRow:
		return nil, &FormatError{File: d.file, Line: d.line + 1, Found: fmt.Sprintf("more than %d bytes in a row", maxRow), Expected: "rows of values"}
	case err != nil:
		s := sheet{file: d.file, columns: make([]column, d.csv.FieldsPerRecord)}
		return nil, s.fault(err, len(record))
	}
	d.line, _ = d.csv.FieldPos(0)
	for j, field := range record {
		if strings.IndexByte(field, 0) >= 0 || !utf8.ValidString(field) {
			return nil, d.fault(j, quote(field), "text in UTF-8")
		}
		record[j] = strings.TrimSpace(field)
	}
	return record, nil
}

// fault returns an error in a column of the row that was read last.
func (d *TableReader) fault(column int, found, expected string) error {
	name := strconv.Itoa(column + 1)
	if column < len(d.names) {
		name = d.names[column]
	}
	line, _ := d.csv.FieldPos(column)
	return &FormatError{File: d.file, Line: line, Column: name, Found: found, Expected: expected}
}

// Inputs returns how many numbers a row becomes.
func (d *TableReader) Inputs() int { return d.inputs }

// Target returns the name of the target's column, empty if there is none.
func (d *TableReader) Target() string {
	if d.target < 0 {
		return ""
	}
	return d.names[d.target]
}

// Line returns the line on which the row begins that Read returned last.
func (d *TableReader) Line() int { return d.line }

// Waiting reports whether the next row has still to come in.
func (d *TableReader) Waiting() bool { return d.text.Buffered() == 0 }

// Read stores the next row's inputs, raw, in dst, and returns the target's field, fit to be shown, or nothing where it
// is missing. At the end it returns io.EOF.
func (d *TableReader) Read(dst []float64) (target string, err error) {
	if len(dst) != d.inputs {
		panic("datasets: TableReader.Read into a row of another length")
	}
	record := d.waits
	d.waits = nil
	if record == nil {
		if record, err = d.record(); err != nil {
			return "", err
		}
	}
	clear(dst)
	for j, field := range record {
		i := d.place[j]
		switch {
		case i < 0 && !missing(field):
			target = printable(field)
		case i < 0:
		case missing(field):
			return "", d.fault(j, "a missing value ("+quote(field)+")", d.fields[i].expected())
		case d.code[i] == nil:
			v, ok := parseNumber(field)
			if !ok {
				return "", d.fault(j, quote(field), expectedNumber(field))
			}
			dst[d.first[i]] = v
		default:
			k, ok := d.code[i][field]
			if !ok {
				return "", d.fault(j, quote(field)+", which was not trained on", d.fields[i].expected())
			}
			dst[d.first[i]+k] = 1
		}
	}
	return target, nil
}

// expected says what a field takes.
func (f *Field) expected() string {
	if f.Words == nil {
		return "a number"
	}
	words := make([]string, len(f.Words))
	for k, word := range f.Words {
		words[k] = printable(word)
	}
	return "one of " + few(words)
}
