package convert

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"newtop/datasets/fault"
)

// array is an array of numbers or words in the format of numpy.save, see numpy.lib.format. What lies behind the first
// dimension is a row here.
type array struct {
	file    File
	start   int64 // of the values
	shape   []int64
	rows    int
	columns int
	kind    byte // of dtype: f, i, u, b, or U and S for words
	size    int  // bytes of a value
	order   binary.ByteOrder
	fortran bool // columns lie behind one another, not rows
}

const maxHeader = 1 << 20 // bytes; numpy writes some hundred, more only for structures

var (
	descr   = regexp.MustCompile(`'descr'\s*:\s*'([<>=|]?)([A-Za-z])([0-9]*)[^']*'`)
	fortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shape   = regexp.MustCompile(`'shape'\s*:\s*\(([^()]*)\)`)
)

// readArray reads the header of an array.
func readArray(f File) (*array, error) {
	magic, err := f.read(0, min(12, int(f.Size)))
	if err != nil {
		return nil, err
	}
	a := &array{file: f}
	length := 0
	switch {
	case len(magic) < 12:
		return nil, f.at(f.Size, "the end of the file", "the header of an array")
	case magic[6] == 1:
		length, a.start = int(binary.LittleEndian.Uint16(magic[8:])), 10
	case magic[6] == 2, magic[6] == 3:
		length, a.start = int(binary.LittleEndian.Uint32(magic[8:])), 12
	default:
		return nil, f.at(6, fmt.Sprintf("version %d.%d of the format", magic[6], magic[7]), "version 1 to 3")
	}
	if length > maxHeader {
		return nil, f.at(8, fmt.Sprintf("a header of %d bytes", length), fmt.Sprintf("at most %d", maxHeader))
	}
	header, err := f.read(a.start, length)
	if err != nil {
		return nil, err
	}
	if err := a.parse(string(header)); err != nil {
		return nil, err
	}
	a.start += int64(length)
	return a, a.fits()
}

// parse reads the dictionary of a header.
func (a *array) parse(header string) error {
	d, o, s := descr.FindStringSubmatch(header), fortran.FindStringSubmatch(header), shape.FindStringSubmatch(header)
	if d == nil && strings.Contains(header, "'descr': [") {
		return a.file.at(a.start, "a structured array",
			`columns of one type; with Python: pandas.DataFrame(ARRAY).to_csv("table.csv", index=False)`)
	}
	if d == nil || o == nil || s == nil {
		return a.file.at(a.start, fault.Quote(header), "a header with descr, fortran_order and shape")
	}
	a.kind, a.fortran, a.order = d[2][0], o[1] == "True", binary.LittleEndian
	if d[1] == ">" {
		a.order = binary.BigEndian
	}
	a.size, _ = strconv.Atoi(d[3])
	switch kind := d[2] + d[3]; {
	case strings.Contains(" f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ", " "+kind+" "):
	case a.kind == 'S' && a.size > 0 && a.size <= maxHeader:
	case a.kind == 'U' && a.size > 0 && a.size <= maxHeader/4:
		a.size *= 4
	case a.kind == 'O':
		return a.file.at(a.start, "an array of Python objects", "an array of numbers; with Python: ARRAY.astype(float)")
	default:
		return a.file.at(a.start, "an array of type "+d[1]+kind, "numbers of at most 64 bits, truth values or words")
	}
	for part := range strings.SplitSeq(s[1], ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L")
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return a.file.at(a.start, "the shape ("+s[1]+")", "whole numbers ≥ 0")
		}
		a.shape = append(a.shape, n)
	}
	return nil
}

// fits makes sure that the shape is one that can be read, and that there are that many values.
func (a *array) fits() error {
	if len(a.shape) == 0 {
		return a.file.at(0, "a single value", "an array")
	}
	rows, columns := a.shape[0], int64(1)
	for _, n := range a.shape[1:] {
		if n > 0 && columns > maxColumns/n {
			columns = maxColumns + 1
			break
		}
		columns *= n
	}
	if err := a.file.fits(rows, columns); err != nil {
		return err
	}
	if rows > maxNumbers {
		return a.file.fits(rows, maxColumns)
	}
	a.rows, a.columns = int(rows), int(columns)
	if need := rows * columns * int64(a.size); need > a.file.Size-a.start {
		return a.file.at(a.file.Size, "the end of the file", fmt.Sprintf(
			"%d bytes for an array of shape %s", need, a.dims()))
	}
	if a.fortran && len(a.shape) > 2 {
		return a.file.at(0, fmt.Sprintf("an array of shape %s in Fortran order", a.dims()),
			"C order; with Python: numpy.ascontiguousarray(ARRAY)")
	}
	return nil
}

// dims returns the shape as numpy prints it.
func (a *array) dims() string {
	var parts []string
	for _, n := range a.shape {
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// read returns the bytes of some rows, row by row, in buf if they fit.
func (a *array) read(buf []byte, s span) ([]byte, error) {
	width := a.columns * a.size
	n := (s.last - s.first) * width
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if !a.fortran || a.columns == 1 {
		return buf, a.file.readTo(buf, a.start+int64(s.first)*int64(width))
	}
	column := make([]byte, (s.last-s.first)*a.size)
	for j := range a.columns {
		if err := a.file.readTo(column, a.start+(int64(j)*int64(a.rows)+int64(s.first))*int64(a.size)); err != nil {
			return nil, err
		}
		for i := range s.last - s.first {
			copy(buf[i*width+j*a.size:], column[i*a.size:(i+1)*a.size])
		}
	}
	return buf, nil
}

// appendValue appends a value, or returns false if it is infinite or no text.
type appendValue func(dst, value []byte) ([]byte, bool)

var digits = func() (d [256]string) {
	for i := range d {
		d[i] = strconv.Itoa(i)
	}
	return d
}()

// appender returns how the values of an array are written.
func (a *array) appender() appendValue {
	o := a.order
	signed := func(v int64, dst []byte) ([]byte, bool) { return strconv.AppendInt(dst, v, 10), true }
	unsigned := func(v uint64, dst []byte) ([]byte, bool) { return strconv.AppendUint(dst, v, 10), true }
	real := func(v float64, dst []byte) ([]byte, bool) { return appendNumber(dst, v), !math.IsInf(v, 0) }
	switch fmt.Sprintf("%c%d", a.kind, a.size) {
	case "u1", "b1":
		return func(dst, b []byte) ([]byte, bool) { return append(dst, digits[b[0]]...), true }
	case "i1":
		return func(dst, b []byte) ([]byte, bool) { return signed(int64(int8(b[0])), dst) }
	case "u2":
		return func(dst, b []byte) ([]byte, bool) { return unsigned(uint64(o.Uint16(b)), dst) }
	case "i2":
		return func(dst, b []byte) ([]byte, bool) { return signed(int64(int16(o.Uint16(b))), dst) }
	case "u4":
		if a.kind == 'u' {
			return func(dst, b []byte) ([]byte, bool) { return unsigned(uint64(o.Uint32(b)), dst) }
		}
	case "i4":
		return func(dst, b []byte) ([]byte, bool) { return signed(int64(int32(o.Uint32(b))), dst) }
	case "u8":
		return func(dst, b []byte) ([]byte, bool) { return unsigned(o.Uint64(b), dst) }
	case "i8":
		return func(dst, b []byte) ([]byte, bool) { return signed(int64(o.Uint64(b)), dst) }
	case "f2":
		return func(dst, b []byte) ([]byte, bool) { return real(float16(o.Uint16(b)), dst) }
	case "f4":
		return func(dst, b []byte) ([]byte, bool) { return real(float64(math.Float32frombits(o.Uint32(b))), dst) }
	case "f8":
		return func(dst, b []byte) ([]byte, bool) { return real(math.Float64frombits(o.Uint64(b)), dst) }
	}
	return a.appendWord
}

// appendWord is appendValue for words: of UTF-32, or of bytes, filled with zeros.
func (a *array) appendWord(dst, value []byte) ([]byte, bool) {
	word := value
	if a.kind == 'U' {
		word = nil
		for i := 0; i < len(value); i += 4 {
			word = append(word, string(rune(min(a.order.Uint32(value[i:]), math.MaxInt32)))...)
		}
	}
	word = []byte(strings.TrimRight(string(word), "\x00"))
	return appendWord(dst, word), isText(word)
}
