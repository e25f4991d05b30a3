// Package rowcache keeps the rows of numbers that a text becomes in a file of fixed-length rows, so that any range of
// them can be read by its offset. The text is converted when a range is first asked for, and again when it was changed.
package rowcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"newtop/datasets/fault"
)

// A rows file, all numbers little-endian:
//
//	16 bytes     magic
//	rows         one after another, all of the same length
//	description  a header as JSON
//	8 bytes      the length of the description
//	32 bytes     its SHA-256
const (
	magic   = "newtop rows 4\n\x00\x00"
	trailer = 8 + sha256.Size
)

// header describes a rows file.
type header struct {
	Sources []version
	Sum     string // of the texts, in hexadecimal
	Rows    int
	Columns []Column
	About   json.RawMessage // what else its users must know
}

// Column says how the values of a column are stored: in 2 bytes if they are numbers from 0 to Kinds−1, else in Width
// bytes, 1 for whole numbers from 0 to 255, 4 or 8 for floating-point numbers, which are NaN where they are Missing.
type Column struct {
	Width, Kinds int
	Missing      bool
}

// File is a rows file that is open. Where it is damaged, its errors are *fault.FormatError of the Path.
type File struct {
	Path string
	header
	file  io.ReaderAt
	width int // bytes of a row
}

// Close closes a file that Open opened.
func (f *File) Close() error { return f.file.(io.Closer).Close() }

// Remove removes a file that is damaged, so that Open makes another.
func (f *File) Remove() error { return os.Remove(f.Path) }

// About decodes what the conversion said of the rows.
func (f *File) About(v any) error {
	if err := json.Unmarshal(f.header.About, v); err != nil {
		return f.Damaged("a description that is none")
	}
	return nil
}

// Damaged returns an error that says what was found at the end of the rows.
func (f *File) Damaged(found string) error {
	return &fault.FormatError{File: f.Path, Offset: f.offset(f.Rows), Found: found,
		Expected: "a description of the rows"}
}

// newFile lays out rows, or reports that there can be none of such columns.
func newFile(path string, file io.ReaderAt, h header) (*File, bool) {
	f := &File{Path: path, file: file, header: h}
	for _, c := range h.Columns {
		if c.Kinds < 0 || c.Kinds > math.MaxUint16 || (c.Kinds > 0) != (c.Width == 2) || c.Width != 1 && c.Width != 2 &&
			c.Width != 4 && c.Width != 8 ||
			c.Missing && c.Width < 4 {
			return nil, false
		}
		f.width += c.Width
	}
	return f, f.width > 0 && h.Rows > 0
}

// Read reads the description of a rows file of so many bytes and holds it to the file.
func Read(path string, file io.ReaderAt, size int64) (*File, error) {
	damaged := func(offset int64, found string) error {
		return &fault.FormatError{File: path, Offset: offset, Found: found, Expected: "a file of rows"}
	}
	const ends = int64(len(magic) + trailer)
	if size < ends {
		return nil, damaged(size, "the end of the file")
	}
	start, tail := make([]byte, len(magic)), make([]byte, trailer)
	if _, err := file.ReadAt(start, 0); err != nil {
		return nil, fault.Torn(path, 0, "a file of rows", err)
	}
	if _, err := file.ReadAt(tail, size-trailer); err != nil && err != io.EOF {
		return nil, fault.Torn(path, size-trailer, "a file of rows", err)
	}
	length := binary.LittleEndian.Uint64(tail)
	if string(start) != magic || length > uint64(size-ends) {
		return nil, damaged(0, fmt.Sprintf("%s and a description of %d bytes", fault.Quote(string(start)), length))
	}
	at := size - trailer - int64(length)
	text := make([]byte, length)
	if _, err := file.ReadAt(text, at); err != nil {
		return nil, fault.Torn(path, at, "a description", err)
	}
	var h header
	if sum := sha256.Sum256(text); !bytes.Equal(sum[:], tail[8:]) || json.Unmarshal(text, &h) != nil {
		return nil, damaged(at, "a description with another checksum, or none")
	}
	f, ok := newFile(path, file, h)
	if data := at - int64(len(magic)); !ok || data/int64(f.width) != int64(f.Rows) || data%int64(f.width) != 0 {
		return nil, damaged(at, fmt.Sprintf("%d bytes of rows", data))
	}
	return f, nil
}

// seal writes what follows the rows and has all of it reach the disk.
func (f *File) seal(out *os.File) error {
	text, err := json.Marshal(&f.header)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	text = binary.LittleEndian.AppendUint64(text, uint64(len(text)))
	if _, err := out.WriteAt(append(text, sum[:]...), f.offset(f.Rows)); err != nil {
		return err
	}
	return out.Sync()
}

// offset returns where a row begins.
func (f *File) offset(row int) int64 { return int64(len(magic)) + int64(row)*int64(f.width) }

// encode stores the values of a row in dst, which has its width.
func (f *File) encode(dst []byte, values []float64) {
	for j, v := range values {
		width := f.Columns[j].Width
		switch width {
		case 1:
			dst[0] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(dst, uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
		case 8:
			binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
		}
		dst = dst[width:]
	}
}

// decode stores the values of the columns from first on in dst and reports whether all of them can be.
func (f *File) decode(dst []float64, src []byte, first int) bool {
	for j, c := range f.Columns[first:][:len(dst)] {
		switch c.Width {
		case 1:
			dst[j] = float64(src[0])
		case 2:
			k := int(binary.LittleEndian.Uint16(src))
			if k >= c.Kinds {
				return false
			}
			dst[j] = float64(k)
		case 4:
			dst[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
		case 8:
			dst[j] = math.Float64frombits(binary.LittleEndian.Uint64(src))
		}
		if math.IsNaN(dst[j]) && !c.Missing || math.IsInf(dst[j], 0) {
			return false
		}
		src = src[c.Width:]
	}
	return true
}

// Each reads the rows [first, last) and visits their values, which are the callee's until it returns.
func (f *File) Each(first, last int, visit func(i int, values []float64)) error {
	return f.EachOf(first, last, 0, len(f.Columns), visit)
}

// EachOf is Each with the values of the columns [left, right) alone.
func (f *File) EachOf(first, last, left, right int, visit func(i int, values []float64)) error {
	const most = 1 << 18
	values := make([]float64, right-left)
	before := 0 // bytes of a row
	for _, c := range f.Columns[:left] {
		before += c.Width
	}
	buffer := make([]byte, f.width*min(max(most/f.width, 1), max(last-first, 1)))
	for i := first; i < last; {
		part := buffer[:min(len(buffer), (last-i)*f.width)]
		if n, err := f.file.ReadAt(part, f.offset(i)); n < len(part) {
			return fault.Torn(f.Path, f.offset(i)+int64(n), "rows of numbers", err)
		}
		for ; len(part) > 0; part = part[f.width:] {
			if !f.decode(values, part[before:], left) {
				return &fault.FormatError{File: f.Path, Offset: f.offset(i), Found: "a value that can't be",
					Expected: "one of the text's"}
			}
			visit(i, values)
			i++
		}
	}
	return nil
}
