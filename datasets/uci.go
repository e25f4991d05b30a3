package datasets

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	letterFile = "letter-recognition.data"
	letterRows = 20000
	letterTest = 4000
)

// loadUCILetter reads the UCI letter recognition data of Frey & Slate. Rows 1–16000 train, as in their
// paper and everywhere since.
func loadUCILetter(o Options) (*Dataset, error) {
	dirs, err := places("letter", o.Dir)
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
	return nil, &NotFoundError{Name: "letter", Files: []string{letterFile}, Looked: dirs}
}

func readUCILetter(r io.Reader, file string, o Options) (*Dataset, error) {
	t := table{inputs: mat.NewDense(letterRows, attributes, nil), labels: make([]int, letterRows)}
	lines := bufio.NewScanner(r)
	rows := 0
	for ; lines.Scan(); rows++ {
		if rows == letterRows {
			return nil, &FormatError{File: file, Line: rows + 1, Found: "another line", Expected: "the end of the file after 20000 letters"}
		}
		if err := readLetter(lines.Bytes(), t.inputs.RawRowView(rows), &t.labels[rows]); err != nil {
			err.File, err.Line = file, rows+1
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, rows+1, err)
	}
	if rows < letterRows {
		return nil, &FormatError{File: file, Line: rows + 1, Found: "the end of the file", Expected: "20000 lines"}
	}
	if o.Rows > 0 && o.Rows < rows {
		rows = o.Rows
		t.inputs, t.labels = rowsOf(t.inputs, 0, rows), t.labels[:rows]
	}
	test, err := o.testRows(rows, max(rows*letterTest/letterRows, 1))
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: "letter", Classes: letterNames(), InputNames: slices.Clone(attributeNames),
		Title: fmt.Sprintf("UCI letter recognition: %d to train on, %d to test on", rows-test, test)}
	d.Train, d.Test = t.tail(test)
	d.finish(standard(d.Train.Inputs, nil))
	return d, nil
}

// readLetter reads a capital and 16 whole numbers from 0 to 15, parted by commas.
func readLetter(line []byte, dst []float64, label *int) *FormatError {
	letter, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\r'}), []byte{','})
	if len(letter) != 1 || letter[0] < 'A' || letter[0] > 'Z' {
		return &FormatError{Column: "lettr", Found: quote(string(letter)), Expected: "a letter from A to Z"}
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
			return &FormatError{Column: attributeNames[j], Found: quote(string(field)), Expected: "a whole number from 0 to 15"}
		}
		if more != (j < len(dst)-1) {
			return &FormatError{Column: attributeNames[j], Found: quote(string(line)), Expected: "a letter and 16 numbers"}
		}
		dst[j], rest = float64(v), after
	}
	return nil
}

// quote shows what was found in a file, shortened so that an error stays one line.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
