package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// A rows file has the rows of a CSV file in the order in which they are split, so that any range of them can
// be read by its offset, and what Load must know beside them. Numbers are little-endian.
//
//	16 bytes     rowsMagic
//	rows         one after another, all of the same length: the columns as in the CSV file
//	description  a rowsHeader as JSON
//	8 bytes      the length of the description
//	32 bytes     its SHA-256
const (
	rowsMagic   = "newtop rows 1\n\x00\x00"
	rowsTrailer = 8 + sha256.Size
)

// rowsHeader describes a rows file.
type rowsHeader struct {
	Source  rowsSource
	Sum     string // SHA-256 of the CSV file, in hexadecimal
	Rows    int
	Test    int // of these, the last
	Line    int // of the CSV file, on which its last row starts
	Target  int // which column is to be predicted, from 0
	Columns []rowsColumn
	Classes []string // nil for regression
	Inputs  Scaling
	Targets Scaling // for regression
}

// rowsSource tells one version of a CSV file from another.
type rowsSource struct {
	Size     int64
	Modified int64  // nanoseconds since 1970
	Ends     string // SHA-256 of its first and last bytes, in hexadecimal
}

// rowsColumn is a column of a rows file. Its values have 1 byte for whole numbers, 2 for the number of a word
// or class, 4 or 8 for a floating-point number. Words is nil for numbers and for the target.
type rowsColumn struct {
	Name  string
	Width int
	Words []string
}

// narrowest returns the bytes in which a number is exact to the bit: 1 for whole numbers from 0 to 255, 4 for
// single precision, else 8.
func narrowest(v float64) int {
	switch {
	case v >= 0 && v <= math.MaxUint8 && v == math.Trunc(v) && !math.Signbit(v):
		return 1
	case float64(float32(v)) == v:
		return 4
	}
	return 8
}

const wordWidth = 2

// rowsFile is a rows file that is open. Its errors are *FormatError, of the file itself, where it is damaged.
type rowsFile struct {
	file string
	src  io.ReaderAt
	rowsHeader
	spread
	width int // bytes of a row
}

// describe returns the header of the rows of a CSV file, without scalings.
func describe(s *sheet, l *layout, test int) *rowsHeader {
	h := &rowsHeader{Rows: s.rows, Test: test, Line: s.lastLine, Target: l.target, Classes: l.classes}
	for j := range s.columns {
		c := rowsColumn{Name: s.columns[j].name, Width: s.columns[j].width}
		if l.code[j] != nil {
			c.Width, c.Words = wordWidth, make([]string, len(l.code[j]))
			for word, k := range l.code[j] {
				c.Words[k] = word
			}
		} else if j == l.target && l.classes != nil {
			c.Width = wordWidth
		}
		h.Columns = append(h.Columns, c)
	}
	return h
}

// newRowsFile lays out the rows that a sound header describes.
func newRowsFile(file string, src io.ReaderAt, h *rowsHeader) *rowsFile {
	f := &rowsFile{file: file, src: src, rowsHeader: *h, spread: spread{target: h.Target, outputs: max(len(h.Classes), 1)}}
	for j := range h.Columns {
		f.add(len(h.Columns[j].Words), j == h.Target)
		f.width += h.Columns[j].Width
	}
	return f
}

// openRows reads the header of a rows file of so many bytes and compares it with the file.
func openRows(file string, src io.ReaderAt, size int64) (*rowsFile, error) {
	fault := func(offset int64, found, expected string) error {
		return &FormatError{File: file, Offset: offset, Found: found, Expected: expected}
	}
	if size < int64(len(rowsMagic)+rowsTrailer) {
		return nil, fault(size, "the end of the file", "a file of rows")
	}
	var ends [len(rowsMagic) + rowsTrailer]byte
	if _, err := src.ReadAt(ends[:len(rowsMagic)], 0); err != nil {
		return nil, torn(file, 0, "a file of rows", err)
	}
	if magic := ends[:len(rowsMagic)]; string(magic) != rowsMagic {
		return nil, fault(0, quote(string(magic)), quote(rowsMagic))
	}
	trailer := ends[len(rowsMagic):]
	if _, err := src.ReadAt(trailer, size-rowsTrailer); err != nil && err != io.EOF {
		return nil, torn(file, size-rowsTrailer, "the end of a file of rows", err)
	}
	length := binary.LittleEndian.Uint64(trailer)
	if length > uint64(size)-uint64(len(ends)) {
		return nil, fault(size-rowsTrailer, fmt.Sprintf("a description of %d bytes", length), fmt.Sprintf("at most %d", size-int64(len(ends))))
	}
	at := size - rowsTrailer - int64(length)
	text := make([]byte, length)
	if _, err := src.ReadAt(text, at); err != nil {
		return nil, torn(file, at, "a description", err)
	}
	if sum := sha256.Sum256(text); !bytes.Equal(sum[:], trailer[8:]) {
		return nil, fault(at, "a description with another checksum", "that at the end of the file")
	}
	h := new(rowsHeader)
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fault(at, "a description that is none", "JSON")
	}
	if what := h.fault(); what != "" {
		return nil, fault(at, "a description with wrong "+what, "one of rows")
	}
	f := newRowsFile(file, src, h)
	if what := f.scalingFault(); what != "" {
		return nil, fault(at, "a description with wrong "+what, "one of rows")
	}
	if data := at - int64(len(rowsMagic)); data/int64(f.width) != int64(f.Rows) || data%int64(f.width) != 0 {
		return nil, fault(at, fmt.Sprintf("%d bytes of data", data), fmt.Sprintf("%d rows of %d", f.Rows, f.width))
	}
	return f, nil
}

// fault says what is wrong with a header; nothing if it is sound.
func (h *rowsHeader) fault() string {
	switch {
	case h.Rows < 2 || h.Test < 1 || h.Test >= h.Rows:
		return "numbers of rows"
	case len(h.Columns) < 2 || len(h.Columns) > maxColumns || h.Target < 0 || h.Target >= len(h.Columns):
		return "columns"
	case h.Classes != nil && (len(h.Classes) < 2 || len(h.Classes) > maxCategories):
		return "classes"
	}
	for j, c := range h.Columns {
		words := c.Words != nil
		if words && (j == h.Target || len(c.Words) == 0 || len(c.Words) > maxCategories) {
			return "words"
		}
		if coded := words || j == h.Target && h.Classes != nil; coded != (c.Width == wordWidth) || !coded && c.Width != 1 && c.Width != 4 && c.Width != 8 {
			return "widths"
		}
	}
	return ""
}

func (f *rowsFile) scalingFault() string {
	if !f.Inputs.sound(f.inputs) || f.Classes == nil && !f.Targets.sound(1) {
		return "scalings"
	}
	return ""
}

// sound reports whether s is a scaling of so many columns by which can be divided.
func (s *Scaling) sound(columns int) bool {
	if s.Kind != ScaledStandard || len(s.Offset) != columns || len(s.Scale) != columns || len(s.Constant) > columns {
		return false
	}
	for _, v := range s.Scale {
		if !(v > 0) {
			return false
		}
	}
	for i, j := range s.Constant {
		if j < 0 || j >= columns || i > 0 && j <= s.Constant[i-1] {
			return false
		}
	}
	return true
}

// info describes the columns.
func (h *rowsHeader) info() *TableInfo {
	t := &TableInfo{Target: h.Columns[h.Target].Name, Place: h.Target + 1}
	for j, c := range h.Columns {
		if j != h.Target {
			t.Fields = append(t.Fields, Field{Name: c.Name, Words: c.Words})
		}
	}
	return t
}

// offset returns where a row begins.
func (f *rowsFile) offset(row int) int64 { return int64(len(rowsMagic)) + int64(row)*int64(f.width) }

// encode stores the values of a row in dst, which has its width.
func (f *rowsFile) encode(dst []byte, values []float64) {
	for j, v := range values {
		switch width := f.Columns[j].Width; width {
		case 1:
			dst[0] = byte(v)
		case wordWidth:
			binary.LittleEndian.PutUint16(dst, uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
		case 8:
			binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
		}
		dst = dst[f.Columns[j].Width:]
	}
}

// decode stores the values of a row in dst and returns the column of the first that can't be; −1 if all are
// sound.
func (f *rowsFile) decode(dst []float64, src []byte) (fault int) {
	for j := range dst {
		c := &f.Columns[j]
		switch c.Width {
		case 1:
			dst[j] = float64(src[0])
		case wordWidth:
			k, kinds := int(binary.LittleEndian.Uint16(src)), len(c.Words)
			if j == f.Target {
				kinds = len(f.Classes)
			}
			if k >= kinds {
				return j
			}
			dst[j] = float64(k)
		case 4:
			dst[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
		case 8:
			dst[j] = math.Float64frombits(binary.LittleEndian.Uint64(src))
		}
		if !(math.Abs(dst[j]) <= greatest) {
			return j
		}
		src = src[c.Width:]
	}
	return -1
}

// each reads a range of the rows and visits their values, which are the callee's until it returns.
func (f *rowsFile) each(r Range, visit func(i int, values []float64)) error {
	const most = 1 << 18
	values := make([]float64, len(f.Columns))
	buffer := make([]byte, f.width*min(max(most/f.width, 1), max(r.Rows(), 1)))
	for i := r.First; i < r.Last; {
		part := buffer[:min(len(buffer), (r.Last-i)*f.width)]
		if n, err := f.src.ReadAt(part, f.offset(i)); n < len(part) {
			return torn(f.file, f.offset(i)+int64(n), "rows of numbers", err)
		}
		for ; len(part) > 0; part = part[f.width:] {
			if j := f.decode(values, part); j >= 0 {
				return &FormatError{File: f.file, Offset: f.offset(i), Column: f.Columns[j].Name, Found: "a value that can't be", Expected: "one of the CSV file's"}
			}
			visit(i, values)
			i++
		}
	}
	return nil
}

// fit fits the scalings to the rows to train on.
func (f *rowsFile) fit() error {
	inputs, keep := f.inputs, f.coded()
	all := inputs // columns
	if f.Classes == nil {
		all, keep = inputs+1, append(keep, false)
	}
	row := make([]float64, all)
	s, err := fitStandard(f.Rows-f.Test, all, keep, func(visit func(row []float64)) error {
		return f.each(Range{0, f.Rows - f.Test}, func(_ int, values []float64) {
			clear(row)
			target := f.to(row, values)
			if f.Classes == nil {
				row[inputs] = target
			}
			visit(row)
		})
	})
	if err != nil {
		return err
	}
	f.Inputs, f.Targets = s.cut(inputs)
	return nil
}

// cut parts the scaling of the first columns from that of the others.
func (s *Scaling) cut(columns int) (first, others Scaling) {
	first = Scaling{Kind: s.Kind, Offset: s.Offset[:columns], Scale: s.Scale[:columns]}
	others = Scaling{Kind: s.Kind, Offset: s.Offset[columns:], Scale: s.Scale[columns:]}
	for _, j := range s.Constant {
		if j < columns {
			first.Constant = append(first.Constant, j)
		} else {
			others.Constant = append(others.Constant, j-columns)
		}
	}
	return first, others
}

// dataset returns what is kept of the rows as a set; path is the CSV file.
func (f *rowsFile) dataset(path string, k Keep) (*Dataset, error) {
	all := f.Rows - f.Test
	train, exam := k.rows(all, f.Test)
	if err := f.fits(path, f.Line, train.Rows()+exam.Rows()); err != nil {
		return nil, err
	}
	d := tableSet(path, f.info(), f.Classes, all, f.Test)
	var err error
	if d.Train, err = f.split(train); err != nil {
		return nil, err
	}
	if d.Test, err = f.split(Range{all + exam.First, all + exam.Last}); err != nil {
		return nil, err
	}
	d.Train.place(train, all)
	d.Test.place(exam, f.Test)
	if d.Classes == nil {
		d.finishTarget(f.Targets)
	}
	d.finish(f.Inputs)
	return d, nil
}

// split reads a range of the rows as they are.
func (f *rowsFile) split(r Range) (Split, error) {
	t := newTable(r.Rows(), &f.spread, f.Classes != nil)
	err := f.each(r, func(i int, values []float64) { t.set(i-r.First, &f.spread, values) })
	return Split{Inputs: t.inputs, Targets: t.targets, Labels: t.labels}, err
}
