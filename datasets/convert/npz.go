package convert

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"newtop/datasets/fault"
)

// matrix is arrays of as many rows, side by side.
type matrix []*array

func (m matrix) rows() int { return m[0].rows }

func (m matrix) columns() (n int) {
	for _, a := range m {
		n += a.columns
	}
	return n
}

// write writes the rows.
func (m matrix) write(w io.Writer) error {
	appenders := make([]appendValue, len(m))
	for k, a := range m {
		appenders[k] = a.appender()
	}
	return inOrder(w, spans(m.rows(), blockRows(m.columns())), func(dst []byte, s span) ([]byte, error) {
		raw := make([][]byte, len(m))
		for k, a := range m {
			var err error
			if raw[k], err = a.read(nil, s); err != nil {
				return nil, err
			}
		}
		for i := s.first; i < s.last; i++ {
			for k, a := range m {
				if k > 0 {
					dst = append(dst, ',')
				}
				var ok int
				row := raw[k][(i-s.first)*a.columns*a.size:][:a.columns*a.size]
				if dst, ok = a.appendRow(dst, row, appenders[k]); ok < a.columns {
					return nil, a.odd(i, ok)
				}
			}
			dst = append(dst, '\n')
		}
		return dst, nil
	})
}

// appendRow appends the values of a row and returns how many of them can be written.
func (a *array) appendRow(dst, row []byte, to appendValue) ([]byte, int) {
	if a.kind == 'u' && a.size == 1 && len(row) > 0 { // images, which are many
		for _, v := range row {
			dst = append(append(dst, digits[v]...), ',')
		}
		return dst[:len(dst)-1], a.columns
	}
	for j := 0; j < a.columns; j++ {
		if j > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = to(dst, row[j*a.size:(j+1)*a.size]); !ok {
			return dst, j
		}
	}
	return dst, a.columns
}

// odd says which value can't be written.
func (a *array) odd(i, j int) error {
	at := int64(i)*int64(a.columns) + int64(j)
	if a.fortran {
		at = int64(j)*int64(a.rows) + int64(i)
	}
	e := &fault.FormatError{File: a.file.Name, Offset: a.start + at*int64(a.size), Column: strconv.Itoa(j + 1),
		Found: fmt.Sprintf("infinity in row %d", i+1), Expected: "finite numbers; nan is a missing value"}
	if a.kind == 'U' || a.kind == 'S' {
		e.Found, e.Expected = fmt.Sprintf("bytes that are no text in row %d", i+1), "words in UTF-8"
	}
	return e
}

// openNPY opens a table of one array.
func openNPY(f File) (part, error) {
	a, err := readArray(f)
	if err != nil {
		return nil, err
	}
	if len(a.shape) != 2 {
		return nil, f.at(0, fmt.Sprintf("an array of shape %s", a.dims()),
			"two dimensions: rows and columns; the last column is the target unless {Target} names another")
	}
	return &arrays{matrix: matrix{a}}, nil
}

// arrays are the rows of a file, and those to test on if it has others.
type arrays struct {
	names     []string // nil: the columns have none
	matrix    matrix
	tests     *arrays
	temporary []*os.File
}

func (a *arrays) write(w io.Writer) error {
	if a.names != nil {
		if _, err := w.Write(appendNames(nil, a.names)); err != nil {
			return err
		}
	}
	return a.matrix.write(w)
}

func (a *arrays) close() {
	for _, f := range a.temporary {
		Discard(f)
	}
}

// pairs are the names of arrays that belong together, in lower case: inputs, targets, and both for testing.
var pairs = [][4]string{
	{"x_train", "y_train", "x_test", "y_test"},
	{"train_images", "train_labels", "test_images", "test_labels"},
	{"x", "y"}, {"data", "target"}, {"data", "labels"}, {"images", "labels"}, {"features", "labels"},
}

// openNPZ opens arrays by their names.
func openNPZ(f File) (part, error) {
	a := &arrays{}
	return a, a.open(f)
}

func (a *arrays) open(f File) error {
	z, err := zip.NewReader(f.Content, f.Size)
	if err != nil {
		return f.at(0, "a damaged zip archive ("+err.Error()+")", "one that numpy.savez wrote")
	}
	entries := make(map[string]*zip.File)
	var names []string
	for _, e := range z.File {
		if name, ok := strings.CutSuffix(e.Name, ".npy"); ok {
			names, entries[strings.ToLower(name)] = append(names, name), e
		}
	}
	if len(names) == 1 {
		return a.single(f, entries[strings.ToLower(names[0])])
	}
	for _, p := range pairs {
		if entries[p[0]] == nil || entries[p[1]] == nil {
			continue
		}
		if a.matrix, err = a.pair(f, entries[p[0]], entries[p[1]]); err != nil {
			return err
		}
		a.name(p[1])
		if entries[p[2]] == nil || entries[p[3]] == nil {
			return nil
		}
		a.tests = &arrays{names: a.names}
		a.tests.matrix, err = a.pair(f, entries[p[2]], entries[p[3]])
		return err
	}
	slices.Sort(names)
	return &fault.FormatError{File: f.Name, Offset: fault.Whole,
		Found:    "the arrays " + strings.Join(names[:min(len(names), 20)], ", "),
		Expected: "X and y, x_train and y_train (and x_test and y_test), data and target, or a single one"}
}

// single has the only array be the table.
func (a *arrays) single(f File, e *zip.File) error {
	entry, err := a.unpack(f, e)
	if err != nil {
		return err
	}
	p, err := openNPY(entry)
	if err == nil {
		a.matrix = p.(*arrays).matrix
	}
	return err
}

// pair returns arrays of inputs and targets, side by side. Those to test on have the columns of the others.
func (a *arrays) pair(f File, inputs, targets *zip.File) (m matrix, err error) {
	for _, e := range []*zip.File{inputs, targets} {
		entry, err := a.unpack(f, e)
		if err != nil {
			return nil, err
		}
		array, err := readArray(entry)
		if err != nil {
			return nil, err
		}
		m = append(m, array)
	}
	x, y := m[0], m[1]
	switch {
	case x.rows != y.rows:
		return nil, y.file.at(0, fmt.Sprintf("%d rows", y.rows), fmt.Sprintf("%d as %s", x.rows, x.file.Name))
	case y.columns != 1:
		return nil, y.file.at(0, fmt.Sprintf("an array of shape %s", y.dims()),
			"one target a row, a class as its number or name")
	case a.matrix != nil && a.matrix[0].columns != x.columns:
		return nil, x.file.at(0, fmt.Sprintf("%d columns", x.columns),
			fmt.Sprintf("%d as %s", a.matrix[0].columns, a.matrix[0].file.Name))
	}
	return m, x.file.fits(int64(m.rows()), int64(m.columns()))
}

// name names the inputs after their numbers, and the target after its array.
func (a *arrays) name(target string) {
	for j := range a.matrix[0].columns {
		a.names = append(a.names, "x"+strconv.Itoa(j+1))
	}
	a.names = append(a.names, strings.TrimSuffix(strings.TrimPrefix(target, "train_"), "_train"))
}

// unpack returns an entry as a file: a part of the archive, or unpacked if it is packed.
func (a *arrays) unpack(f File, e *zip.File) (File, error) {
	entry := File{Name: f.Name + "/" + e.Name, Size: int64(e.UncompressedSize64)}
	damaged := func(err error) error {
		return entry.at(0, "damaged data ("+err.Error()+")", "an array that numpy.savez wrote")
	}
	if e.UncompressedSize64 > 8*maxNumbers+maxHeader {
		return entry, entry.at(0, fmt.Sprintf("%d bytes", e.UncompressedSize64),
			fmt.Sprintf("at most %d", 8*maxNumbers+maxHeader))
	}
	offset, err := e.DataOffset()
	if err != nil {
		return entry, damaged(err)
	}
	if e.Method == zip.Store {
		if offset > f.Size || entry.Size > f.Size-offset {
			return entry, f.at(f.Size, "the end of the file", fmt.Sprintf("%d bytes of %s", entry.Size, e.Name))
		}
		entry.Content = io.NewSectionReader(f.Content, offset, entry.Size)
		return entry, nil
	}
	packed, err := e.Open()
	if err != nil {
		return entry, damaged(err)
	}
	defer packed.Close()
	file, err := Temporary()
	if err != nil {
		return entry, err
	}
	a.temporary = append(a.temporary, file)
	// which reads to the end, where the checksum is compared
	n, err := io.Copy(file, io.LimitReader(packed, entry.Size+1))
	switch {
	case err != nil && fault.IsPathError(err):
		return entry, err
	case err != nil:
		return entry, damaged(err)
	case n != entry.Size:
		return entry, entry.at(n, "the end of the array", fmt.Sprintf("%d bytes", entry.Size))
	}
	entry.Content = file
	return entry, nil
}
