package datasets

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"newtop/datasets/fault"
)

const (
	letterFile = "letter-recognition.data"
	letterRows = 20000
	letterTest = 4000
)

// loadUCILetter reads the UCI letter recognition data of Frey & Slate. Rows 1–16000 train, as in their
// paper and everywhere since.
func loadUCILetter(o Options) (*Dataset, error) {
	dirs, err := searchDirs("letter", o.Dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		path, ok := locate(dir, letterFile)
		if !ok {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readUCILetter(f, path, o)
	}
	return nil, &NotFoundError{Name: "letter", Files: []string{letterFile}, Searched: dirs}
}

// readUCILetter reads the text four times instead of having it in memory: three times for the scaling, and once more
// for the labels where there are rows to decide by.
func readUCILetter(text io.ReadSeeker, file string, o Options) (*Dataset, error) {
	rows := letterRows
	if o.Rows > 0 && o.Rows < rows {
		rows = o.Rows
	}
	test, err := o.testRows(rows, max(rows*letterTest/letterRows, 1))
	if err != nil {
		return nil, err
	}
	to, err := arrangeLetter(&o, text, file, rows, test)
	if err != nil {
		return nil, err
	}
	scaling, err := fitStandard(to.Sizes[Train], attributes, nil, 1, func(_, _ int, visit func(row []float64)) error {
		return eachLetter(text, file, func(i int, row []float64, _ int) {
			if i >= rows {
				return
			}
			if part, _ := to.to(i); part == Train {
				visit(row)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: "letter", Classes: characters('A', 26), InputNames: slices.Clone(attributeNames),
		Title: "UCI letter recognition: " + to.Sizes.text("")}
	for part, n := range to.Sizes {
		*d.Split(Part(part)) = newSplit(n, attributes)
	}
	err = eachLetter(text, file, func(i int, row []float64, label int) {
		if i >= rows {
			return
		}
		part, i := to.to(i)
		s := d.Split(part)
		s.Inputs.SetRow(i, row)
		s.Labels[i] = label
	})
	if err != nil {
		return nil, err
	}
	d.finish(scaling)
	return d, nil
}

// arrangeLetter says which rows of the text are what.
func arrangeLetter(o *Options, text io.ReadSeeker, file string, rows, test int) (order, error) {
	labels := make([]int, letterRows)
	if o.Validation != "" || o.Folds > 0 {
		if err := eachLetter(text, file, func(i int, _ []float64, label int) { labels[i] = label }); err != nil {
			return order{}, err
		}
	}
	return o.arrange(rows, test, nil, func(i int) int { return labels[i] })
}

// eachLetter reads the text from its start and visits its 20000 rows in order. A row is the callee's
// until it returns.
func eachLetter(text io.ReadSeeker, file string, visit func(i int, row []float64, label int)) error {
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewScanner(text)
	row, label, rows := make([]float64, attributes), 0, 0
	for ; lines.Scan(); rows++ {
		if rows == letterRows {
			return &fault.FormatError{File: file, Line: rows + 1, Found: "another line",
				Expected: "the end of the file after 20000 letters"}
		}
		if err := readLetter(lines.Bytes(), row, &label); err != nil {
			err.File, err.Line = file, rows+1
			return err
		}
		visit(rows, row, label)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, rows+1, err)
	}
	if rows < letterRows {
		return &fault.FormatError{File: file, Line: rows + 1, Found: "the end of the file", Expected: "20000 lines"}
	}
	return nil
}

// readLetter reads a capital and 16 whole numbers from 0 to 15, parted by commas.
func readLetter(line []byte, dst []float64, label *int) *fault.FormatError {
	letter, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\r'}), []byte{','})
	if len(letter) != 1 || letter[0] < 'A' || letter[0] > 'Z' {
		return &fault.FormatError{Column: "lettr", Found: fault.Quote(string(letter)), Expected: "a letter from A to Z"}
	}
	*label = int(letter[0] - 'A')
	for j := range dst {
		field, after, more := bytes.Cut(rest, []byte{','})
		v := 0
		for _, c := range field {
			if c < '0' || c > '9' || v > 15 {
				v = 16
				break
			}
			v = 10*v + int(c-'0')
		}
		if len(field) == 0 || v > 15 {
			return &fault.FormatError{Column: attributeNames[j], Found: fault.Quote(string(field)),
				Expected: "a whole number from 0 to 15"}
		}
		if more != (j < len(dst)-1) {
			return &fault.FormatError{Column: attributeNames[j], Found: fault.Quote(string(line)),
				Expected: "a letter and 16 numbers"}
		}
		dst[j], rest = float64(v), after
	}
	return nil
}
