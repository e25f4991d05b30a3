// Package convert turns tables of other formats into CSV text, so that one reader decides what the columns of any table
// are.
//
// Numbers are written with the digits that lead back to the same bits, and words as they are. What a file says of
// itself is checked before memory is taken for it, and every fault is a *fault.FormatError.
package convert

import (
	"fmt"
	"io"

	"newtop/datasets/fault"
)

// Bounds on a table, so that a damaged file is refused instead of filling the memory or the disk.
const (
	maxColumns = 100_000
	maxNumbers = 1 << 28 // rows × columns
)

// File is what is read.
type File struct {
	Name    string // for errors
	Content io.ReaderAt
	Size    int64
}

// Format is the name of a format.
type Format string

// The formats.
const (
	CSV     Format = "CSV" // or any text that is none of the others
	Parquet Format = "Parquet"
	NPY     Format = "NPY"
	NPZ     Format = "NPZ"
)

// Endings are how the names of tables' files end, which may also end in .gz: for what looks for files; what is in them
// tells their format.
var Endings = []string{".csv", ".parquet", ".npy", ".npz"}

// Table is files of one format whose rows follow one another.
type Table struct {
	Format Format
	// Header reports whether each text begins with a row of the columns' names.
	Header bool
	// Texts are what the files become: one for each, or two for one that has rows to test on. Nil for CSV.
	Texts []Text

	parts []part
}

// Text is a CSV text that a file becomes.
type Text struct {
	File int  // which it is
	Test bool // whether the file says that the rows are for testing

	write func(w io.Writer) error
}

// Write writes it.
func (t *Text) Write(w io.Writer) error { return t.write(w) }

// part is a file that is part of a table.
type part interface {
	// write writes the rows as CSV text, behind the names if there are any.
	write(w io.Writer) error
	// close removes what was unpacked.
	close()
}

// Open finds out the format of files from what is in them. For CSV it returns a table whose text the files are
// themselves, and for formats that can't be read a *fault.FormatError. The table is to be closed; the files stay open
// until then.
func Open(files []File) (*Table, error) {
	t := &Table{Format: CSV}
	for i, f := range files {
		format, err := recognize(f)
		if err != nil {
			return nil, err
		}
		if i > 0 && format != t.Format {
			return nil, &fault.FormatError{File: f.Name, Offset: fault.Whole,
				Found:    fmt.Sprintf("a table in %s", format),
				Expected: fmt.Sprintf("%s as %s", t.Format, files[0].Name)}
		}
		t.Format = format
	}
	var err error
	switch t.Format {
	case Parquet:
		err = t.openEach(files, openParquet)
		t.Header = true
	case NPY:
		err = t.openEach(files, openNPY)
	case NPZ:
		err = t.openEach(files, openNPZ)
		t.Header = err == nil && t.parts[0].(*arrays).names != nil
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	for i, p := range t.parts {
		t.Texts = append(t.Texts, Text{i, false, p.write})
		if a, ok := p.(*arrays); ok && a.tests != nil {
			t.Texts = append(t.Texts, Text{i, true, a.tests.write})
		}
	}
	return t, nil
}

func (t *Table) openEach(files []File, open func(File) (part, error)) error {
	for _, f := range files {
		p, err := open(f)
		if p != nil {
			t.parts = append(t.parts, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close removes what was unpacked.
func (t *Table) Close() {
	for _, p := range t.parts {
		p.close()
	}
}

// fits returns an error if a table is too large.
func (f *File) fits(rows, columns int64) error {
	switch {
	case columns > maxColumns:
		return &fault.FormatError{File: f.Name, Offset: fault.Whole, Found: fmt.Sprintf("%d columns", columns),
			Expected: fmt.Sprintf("at most %d", maxColumns)}
	case rows > 0 && columns > maxNumbers/rows:
		return &fault.FormatError{File: f.Name, Offset: fault.Whole,
			Found:    fmt.Sprintf("%d rows of %d columns", rows, columns),
			Expected: fmt.Sprintf("at most %d numbers in all", maxNumbers)}
	}
	return nil
}

// at returns a fault at an offset.
func (f *File) at(offset int64, found, expected string) error {
	return &fault.FormatError{File: f.Name, Offset: offset, Found: found, Expected: expected}
}

// read returns n bytes from an offset on.
func (f *File) read(offset int64, n int) ([]byte, error) {
	if offset < 0 || n < 0 || offset > f.Size || int64(n) > f.Size-offset {
		return nil, f.at(f.Size, "the end of the file", fmt.Sprintf("%d bytes from offset %d on", n, offset))
	}
	b := make([]byte, n)
	return b, f.readTo(b, offset)
}

// readTo reads bytes that the file has.
func (f *File) readTo(b []byte, offset int64) error {
	if n, err := f.Content.ReadAt(b, offset); n < len(b) {
		if err == nil || err == io.EOF {
			return fault.Changed(f.Name)
		}
		return err
	}
	return nil
}
