// Package lex cuts CSV texts into chunks, rows and fields, and reads single fields: numbers, dates, truth values.
package lex

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"math"
	"unicode"
)

// kind is what a field is like at first sight.
type kind uint8

const (
	KindWord    kind = iota // anything; also a number that is written in another way
	kindNumber              // a decimal number of at most 15 digits
	KindByte                // a whole number from 0 to 255 without a sign or leading zeros
	KindText                // a word, whatever it looks like, as the column's Reading says
	KindMissing             // no value, as the column's Reading says
)

// Number reports whether it is one.
func (k kind) Number() bool { return k == kindNumber || k == KindByte }

// Rows goes through the rows of a chunk. They are what encoding/csv makes of them, fields without the white space
// around them.
type Rows struct {
	Comma    byte
	Numerals Numerals
	Readings []*Reading // of each column, nil for those that are read in the usual way
	quotes   bool
	text     []byte // what is left
	nextLine int    // the line on which that starts

	Line   int // on which the row starts
	Fields int
	src    []byte // that holds the fields
	from   []int32
	to     []int32
	Kinds  []kind
	Values []float64 // of fields that are not a word
	Buffer []byte    // room for a number in the usual style
	quoted quoted
}

// Reset makes the rows those of a chunk.
func (r *Rows) Reset(k *Chunk) { r.text, r.nextLine, r.quotes = k.Text, k.Line, k.quotes }

// Next goes to the next row and reports whether there is one. Its error is a *csv.ParseError.
func (r *Rows) Next() (bool, error) {
	more, err := r.advance()
	if more && err == nil {
		for j, reading := range r.Readings {
			if reading != nil && j < r.Fields {
				r.Kinds[j], r.Values[j] = reading.read(r.Field(j), r.Kinds[j], r.Values[j])
			}
		}
	}
	return more, err
}

// advance goes to the next row in the usual way.
func (r *Rows) advance() (bool, error) {
	for len(r.text) > 0 {
		line, rest := r.text, []byte(nil)
		if i := bytes.IndexByte(r.text, '\n'); i >= 0 {
			line, rest = r.text[:i], r.text[i+1:]
		}
		r.Line = r.nextLine
		quotes := r.quotes && bytes.IndexByte(line, '"') >= 0
		if line = bytes.TrimSuffix(line, []byte{'\r'}); quotes && !r.split(line, true) {
			return true, r.readQuoted()
		}
		r.text = rest
		r.nextLine++
		if quotes {
			return true, nil
		}
		if len(line) > 0 {
			r.split(line, false)
			return true, nil
		}
	}
	return false, nil
}

// split cuts a line into fields. The most frequent ones are numbers of few digits. It reports whether it could: of
// fields with quotes it knows those that have one before and one behind, and none within.
func (r *Rows) split(line []byte, quotes bool) bool {
	r.src, r.Fields, r.quoted.lines = line, 0, r.quoted.lines[:0]
	for i := 0; ; i++ {
		from, whole := i, uint64(0)
		for i < len(line) && line[i]-'0' <= 9 {
			whole = whole*10 + uint64(line[i]-'0')
			i++
		}
		if digits := i - from; digits-1 < exactDigits && digits > 0 && (i == len(line) || line[i] == r.Comma) {
			k := kindNumber
			if whole <= math.MaxUint8 && (line[from] != '0' || digits == 1) {
				k = KindByte
			}
			r.addParsed(from, i, k, float64(whole))
		} else {
			end := len(line)
			if quotes && from < len(line) && line[from] == '"' {
				from++
				n := bytes.IndexByte(line[from:], '"')
				if end = from + n; n < 0 || end+1 < len(line) && line[end+1] != r.Comma {
					return false
				}
				i = end + 1
			} else {
				if n := bytes.IndexByte(line[from:], r.Comma); n >= 0 {
					end = from + n
				}
				if i = end; quotes && bytes.IndexByte(line[from:end], '"') >= 0 {
					return false
				}
			}
			r.addField(from, end)
		}
		if i == len(line) {
			return true
		}
	}
}

// addField adds a field of any kind.
func (r *Rows) addField(from, to int) {
	field := r.src[from:to]
	if len(field) > 0 && (mayBeSpace(field[0]) || mayBeSpace(field[len(field)-1])) {
		field = bytes.TrimLeftFunc(field, unicode.IsSpace)
		from = to - len(field)
		field = bytes.TrimRightFunc(field, unicode.IsSpace)
		to = from + len(field)
	}
	if !r.Numerals.Usual() {
		var ok bool
		if r.Buffer, ok = r.Numerals.Normalize(r.Buffer, field); !ok {
			r.addParsed(from, to, KindWord, 0)
			return
		}
		field = r.Buffer
	}
	v, k := decimal(field)
	r.addParsed(from, to, k, v)
}

// mayBeSpace reports whether a byte may be of white space.
func mayBeSpace(b byte) bool { return b <= ' ' || b >= 0x80 }

func (r *Rows) addParsed(from, to int, k kind, v float64) {
	if r.Fields == len(r.Kinds) {
		r.from, r.to, r.Kinds, r.Values = append(r.from, 0), append(r.to, 0), append(r.Kinds, 0), append(r.Values, 0)
	}
	j := r.Fields
	r.from[j], r.to[j], r.Kinds[j], r.Values[j] = int32(from), int32(to), k, v
	r.Fields++
}

// Field returns the text of a field, which is overwritten by the next row.
func (r *Rows) Field(j int) []byte { return r.src[r.from[j]:r.to[j]] }

// LineOf returns the line on which a field of the row starts.
func (r *Rows) LineOf(j int) int {
	if len(r.quoted.lines) > 0 {
		return r.Line + r.quoted.lines[j]
	}
	return r.Line
}

// quoted reads rows that have quotes.
type quoted struct {
	text   bytes.Reader
	buffer *bufio.Reader
	csv    *stdcsv.Reader
	read   int    // lines
	src    []byte // that holds the fields
	ends   []int
	lines  []int // on which fields start, from 0; none where the row has no quotes
}

// readQuoted reads a row up to the first end of a line outside quotes.
func (r *Rows) readQuoted() error {
	end, quotes := 0, 0
	for more := true; more; {
		n := bytes.IndexByte(r.text[end:], '\n') + 1
		if n == 0 {
			n = len(r.text) - end
		}
		quotes += bytes.Count(r.text[end:end+n], []byte{'"'})
		end += n
		more = quotes%2 == 1 && end < len(r.text)
	}
	text := r.text[:end]
	r.text = r.text[end:]
	r.nextLine += bytes.Count(text, []byte{'\n'})
	q := &r.quoted
	if err := q.readRow(text, rune(r.Comma)); err != nil {
		if parse, ok := errors.AsType[*stdcsv.ParseError](err); ok {
			parse.Line += r.Line
		}
		return err
	}
	r.src, r.Fields = q.src, 0
	from := 0
	for _, to := range q.ends {
		r.addField(from, to)
		from = to
	}
	return nil
}

// readRow stores the fields of a row. The line of its error counts from 0.
func (q *quoted) readRow(text []byte, comma rune) error {
	q.text.Reset(text)
	if q.csv == nil {
		q.buffer = bufio.NewReaderSize(&q.text, 1<<16)
		q.csv, q.read = NewParser(q.buffer, comma), 0
		q.csv.FieldsPerRecord = -1
	}
	q.buffer.Reset(&q.text)
	fields, err := q.csv.Read()
	if err != nil {
		if parse, ok := errors.AsType[*stdcsv.ParseError](err); ok {
			parse.Line -= q.read + 1
		}
		q.csv = nil // which has come to an end
		return err
	}
	q.src, q.ends, q.lines = q.src[:0], q.ends[:0], q.lines[:0]
	for j, field := range fields {
		q.src = append(q.src, field...)
		line, _ := q.csv.FieldPos(j)
		q.ends, q.lines = append(q.ends, len(q.src)), append(q.lines, line-q.read-1)
	}
	if q.read += bytes.Count(text, []byte{'\n'}); text[len(text)-1] != '\n' {
		q.read++
	}
	return nil
}
