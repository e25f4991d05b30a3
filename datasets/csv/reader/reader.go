// Package reader reads rows that were not trained on as the inputs that a table says.
package reader

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Reader reads rows that were not trained on, one at a time: the text may be longer than the memory.
type Reader struct {
	file     string
	text     *bufio.Reader
	csv      lex.RecordReader
	table    *schema.Table
	numerals lex.Numerals
	roles    []schema.Role // of each field
	first    []int         // of each field: where it starts among the inputs
	inputs   int
	names    []string // of the file's columns
	fieldOf  []int    // of the file's columns: which field it is; -1 for none
	target   int      // its column; -1 without one
	targets  lex.Reading
	pending  []string // the first row, if it is none of names and was not returned yet
	passing  []int    // columns that are no inputs and not the target
	unused   []string // their fields in the row that was returned last
	line     int      // on which the row begins that was returned last
	row      int      // its number, from 1
	notes    readNotes
}

// sniffed is how much of a text is looked at to find the delimiter, as far as it is there.
const sniffed = 1 << 16

// New returns a reader of a CSV text with the columns of t, whose target may be there or not, but must be
// if it is needed. Columns are found by their names if the first line has any of them, and else by their places: a
// target is then the column with the number that t has for its name, or the one at t's Place if there is one more than
// fields. Names may differ in case, and columns of other names are passed over; Notes says so. A missing column, or
// one too many without names, is an error. The delimiter is reported as for a file that is trained on. file is for
// errors, which are *fault.FormatError, and *fault.OptionError for a target that is not there.
func New(r io.Reader, file string, t *schema.Table, needed bool) (*Reader, error) {
	d := &Reader{file: file, csv: lex.RecordReader{Source: lex.BoundedReader{Reader: r, Remaining: lex.MaxRow},
		MaxBytes: lex.MaxRow}, table: t,
		numerals: lex.NewNumerals(t.Decimal, t.Thousands), target: -1}
	for i := range t.Fields {
		f := &t.Fields[i]
		d.roles = append(d.roles, schema.Role{Field: f, Code: f.WordCodes(), Order: lex.ParseDateOrder(f.Order),
			Reading: f.Reading(d.numerals)})
		d.first = append(d.first, d.inputs)
		d.inputs += f.Inputs()
	}
	targets := schema.Field{NA: t.TargetNA, Numerals: t.TargetNumerals, Numbers: t.TargetNumbers}
	d.targets = targets.Reading(d.numerals)
	d.notes.fields = make([]columnCounts, len(t.Fields))
	if err := d.open(); err != nil {
		return nil, err
	}
	first, err := d.record()
	if err == io.EOF {
		return nil, &fault.FormatError{File: file, Line: 1, Found: "an empty file", Expected: "rows of values"}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case d.hasHeader(first, t):
		err = d.byName(first, t, needed)
	case t.Header == "yes" && d.hasOtherNames(first):
		err = &fault.FormatError{File: file, Line: d.line,
			Found:    "none of the model's columns among " + lex.ListNames(first),
			Expected: lex.ListNames(d.wanted()) + ", or rows without names in this order"}
	default:
		d.notes.positional = t.Header == "yes"
		d.pending = slices.Clone(first)
		err = d.byPosition(len(first), t, needed)
	}
	if err != nil {
		return nil, err
	}
	for j, i := range d.fieldOf {
		if j != d.target && (i < 0 || t.Fields[i].Inputs() == 0) {
			d.passing = append(d.passing, j)
		}
	}
	return d, nil
}

// open drops a byte order mark and sets up the CSV reader with the delimiter that the beginning shows.
func (d *Reader) open() error {
	d.text = bufio.NewReaderSize(&d.csv.Source, sniffed)
	sample, err := d.firstLine()
	if err != nil {
		return err
	}
	mark, err := lex.ByteOrderMark(d.file, sample)
	if err != nil {
		return err
	}
	if _, err := d.text.Discard(mark); err != nil {
		return err
	}
	sample = sample[mark:]
	if end := bytes.LastIndexByte(sample, '\n'); end >= 0 {
		sample = sample[:end+1]
	}
	comma, _ := lex.SniffDelimiter(func() io.Reader { return bytes.NewReader(sample) }, d.numerals,
		d.table.Separator)
	d.csv.Reader = lex.NewParser(d.text, comma) // which takes the buffer for its own
	return nil
}

// firstLine returns what is there of the text, and waits until that is a line or as much as is looked at. It stays to
// be read.
func (d *Reader) firstLine() ([]byte, error) {
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
func (d *Reader) record() ([]string, error) {
	record, err := d.csv.Read()
	if err == io.EOF {
		return nil, err
	}
	if errors.Is(err, stdcsv.ErrFieldCount) {
		line, _ := d.csv.FieldPos(0)
		return nil, lex.RaggedRowError(d.file, line, len(record), d.csv.FieldsPerRecord)
	}
	if err != nil {
		return nil, lex.RowError(d.file, d.line+1, err)
	}
	d.line, _ = d.csv.FieldPos(0)
	for j, field := range record {
		if strings.IndexByte(field, 0) >= 0 || !utf8.ValidString(field) {
			return nil, d.fault(j, fault.Quote(field), "text in UTF-8")
		}
		record[j] = strings.TrimSpace(field)
	}
	return record, nil
}

// fault returns an error in a column of the row that was read last.
func (d *Reader) fault(column int, found, expected string) error {
	name := strconv.Itoa(column + 1)
	if column < len(d.names) {
		name = d.names[column]
	}
	line, _ := d.csv.FieldPos(column)
	return &fault.FormatError{File: d.file, Line: line, Column: name, Found: found, Expected: expected}
}

// Inputs returns how many numbers a row becomes.
func (d *Reader) Inputs() int { return d.inputs }

// Target returns the name of the target's column, empty if there is none.
func (d *Reader) Target() string {
	if d.target < 0 {
		return ""
	}
	return d.names[d.target]
}

// Unused returns the names of the columns that are neither inputs nor the target.
func (d *Reader) Unused() (names []string) {
	for _, j := range d.passing {
		names = append(names, d.names[j])
	}
	return names
}

// UnusedFields returns the fields of these columns, fit to be shown, in the row that Read returned last.
func (d *Reader) UnusedFields() []string { return d.unused }

// Line returns the line on which the row begins that Read returned last.
func (d *Reader) Line() int { return d.line }

// Waiting reports whether the next row has still to come in.
func (d *Reader) Waiting() bool { return d.text.Buffered() == 0 }

// Row returns the number of the row, from 1, that Read returned last.
func (d *Reader) Row() int { return d.row }

// Number reads a number as the table writes it.
func (d *Reader) Number(text string) (float64, bool) { return d.targets.Numerals.Parse(text) }

// Read stores the next row's inputs, raw, in dst, and returns the target's field, fit to be shown, or nothing where it
// is missing. Rows with missing values are passed over where the table says so. At the end it returns io.EOF.
func (d *Reader) Read(dst []float64) (target string, err error) {
	if len(dst) != d.inputs {
		panic("csv: Reader.Read into a row of another length")
	}
	for {
		record := d.pending
		d.pending = nil
		if record == nil {
			if record, err = d.record(); err != nil {
				return "", err
			}
		}
		d.row++
		if d.table.Missing == lex.MissingDrop && d.hasMissing(record) {
			d.notes.rows++
			continue
		}
		return d.storeRow(dst, record)
	}
}

// hasMissing reports whether an input's value is missing.
func (d *Reader) hasMissing(record []string) bool {
	for j, field := range record {
		if i := d.fieldOf[j]; i >= 0 && d.roles[i].Field.Inputs() > 0 && d.roles[i].Reading.IsMissing(field) {
			return true
		}
	}
	return false
}

// storeRow stores the inputs of a row.
func (d *Reader) storeRow(dst []float64, record []string) (target string, err error) {
	clear(dst)
	d.unused = make([]string, len(d.passing)) // those of earlier rows are the caller's
	for k, j := range d.passing {
		d.unused[k] = format.Printable(record[j])
	}
	for j, field := range record {
		i := d.fieldOf[j]
		if i < 0 {
			if j == d.target && !d.targets.IsMissing(field) {
				target = format.Printable(field)
			}
			continue
		}
		r := &d.roles[i]
		own := dst[d.first[i]:][:r.Field.Inputs()]
		if len(own) == 0 {
			continue
		}
		store := d.storeNumber
		if r.Code != nil {
			store = d.storeWord
		}
		if found, expected := store(own, i, field); found != "" {
			return "", d.fault(j, found, expected)
		}
	}
	return target, nil
}

// storeWord stores the inputs of a word, or says what is wrong with it.
func (d *Reader) storeWord(own []float64, i int, field string) (found, expected string) {
	r := &d.roles[i]
	f := r.Field
	k, ok := r.Code[field]
	missing := r.Reading.IsMissing(field) || f.Missing && lex.IsNone(field)
	switch {
	case ok:
	case missing && d.table.Missing == "":
		return missingValue(field), f.Expectation()
	case missing:
		if k = f.MissingCode(); !f.Missing && f.Kind != schema.Statistics {
			d.notes.fields[i].missing++
		}
	case d.table.Missing == "":
		return fault.Quote(field) + ", which was not trained on", f.Expectation()
	default:
		k = f.OtherCode()
		if _, rare := slices.BinarySearch(f.Rare, field); !rare {
			d.notes.fields[i].addWord(field)
		}
	}
	switch {
	case f.Kind == schema.Statistics:
		copy(own, f.Means[k*len(own):])
	case k < f.NoInputCode():
		own[k] = 1
	}
	return "", ""
}

// storeNumber stores the inputs of a number, a date or a boolean, or says what is wrong with it.
func (d *Reader) storeNumber(own []float64, i int, field string) (found, expected string) {
	r := &d.roles[i]
	f := r.Field
	numbers := own[:f.NumberInputs()]
	v, ok := f.Parse(field, r.Reading.Numerals, r.Order)
	if missing := r.Reading.IsMissing(field); missing || !ok && f.Fill != nil && lex.LooksMissing(field) {
		if f.Fill == nil {
			return missingValue(field), f.Expectation()
		}
		copy(numbers, f.Fill)
		if f.Missing {
			own[len(own)-1] = 1
		}
		if !f.Missing || !missing {
			d.notes.fields[i].missing++
		}
		return "", ""
	}
	switch {
	case !ok && f.Kind == "":
		return fault.Quote(field), r.Reading.Numerals.Expectation(field)
	case !ok:
		return fault.Quote(field), f.Expectation()
	case len(numbers) > 1:
		lex.WriteDateParts(numbers, v)
	default:
		numbers[0] = v
	}
	d.notes.fields[i].addNumber(f.Range, numbers[0])
	return "", ""
}

func missingValue(field string) string { return "a missing value (" + fault.Quote(field) + ")" }
