package datasets

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"newtop/datasets/csv"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// maxCSVBytes bounds the text of a CSV file that is read whole, so that a wrong file is refused instead of filling the memory.
const maxCSVBytes = 1 << 30

// loadCSV reads a table of numbers and categories, one row a line.
//
// The delimiter (comma, semicolon or tab) is told from the first lines, the header from a word in the
// first line above a column of numbers; a table of words alone has a header if nothing in its first line
// comes again below. A column is numeric if nine in ten of its fields are, or all but one; a word in it is
// then an error. Other columns are categories: as inputs, one column of 0 and 1 for each in sorted order,
// as target, classes. Numeric inputs and regression targets are standardized. Missing values are refused.
func loadCSV(path string, o Options) (*Dataset, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCSVBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxCSVBytes {
		return nil, &fault.FormatError{File: path, Offset: maxCSVBytes, Found: "more text", Expected: fmt.Sprintf("at most %d bytes", maxCSVBytes)}
	}
	return readCSV(path, text, o)
}

func readCSV(file string, text []byte, o Options) (*Dataset, error) {
	s, l, test, err := surveyCSV(file, bytes.NewReader(text), int64(len(text)), 0, &o)
	if err != nil {
		return nil, err
	}
	if err := l.Fits(file, s.LastLine, s.Rows); err != nil {
		return nil, err
	}
	place, t := shuffle(s.Rows, o.Seed), newTable(s.Rows, &l.Spread, l.Classes != nil)
	err = s.Each(l, func(i int, values []float64) error {
		t.set(place[i], &l.Spread, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := tableSet(file, &l.Table, l.Classes, s.Rows-test, test)
	d.Train, d.Test = t.tail(test)
	if d.Classes == nil {
		d.finishTarget(standard(d.Train.Targets, nil))
	}
	d.finish(standard(d.Train.Inputs, l.Coded()))
	return d, nil
}

// surveyCSV reads a text once and decides where its columns go, and how many rows are for testing. No row may have more than
// longest bytes, 0 for any number.
func surveyCSV(file string, text io.ReaderAt, size int64, longest int, o *Options) (s *csv.Sheet, l *csv.Layout, test int, err error) {
	if s, err = csv.Survey(file, text, size, longest, o.Rows); err != nil {
		return nil, nil, 0, err
	}
	if l, err = s.Layout(o.Target); err != nil {
		return nil, nil, 0, err
	}
	test, err = o.testRows(s.Rows, fifth(s.Rows))
	return s, l, test, err
}

// tableSet describes a CSV file that was split; its rows and scalings are still missing.
func tableSet(file string, info *csv.Table, classes []string, train, test int) *Dataset {
	d := &Dataset{Name: filepath.Base(file), Classes: classes, Table: info}
	for _, f := range info.Fields {
		if f.Words == nil {
			d.InputNames = append(d.InputNames, f.Name)
		}
		for _, word := range f.Words {
			d.InputNames = append(d.InputNames, f.Name+"="+format.Printable(word))
		}
	}
	what := fmt.Sprintf("%q to predict", info.Target)
	if classes != nil {
		what = fmt.Sprintf("%q with %d classes to tell apart", info.Target, len(classes))
	} else {
		d.TargetNames = []string{info.Target}
	}
	d.Title = fmt.Sprintf("%s: %s, %d rows to train on, %d drawn to test on", d.Name, what, train, test)
	return d
}

// newTable returns a table of zeros.
func newTable(rows int, p *csv.Spread, classes bool) *table {
	t := &table{inputs: newDense(rows, p.Inputs)}
	if classes {
		t.labels = make([]int, rows)
	} else {
		t.targets = newDense(rows, 1)
	}
	return t
}

// set stores the values of a row.
func (t *table) set(i int, p *csv.Spread, values []float64) {
	target := p.To(t.inputs.RawRowView(i), values)
	if t.labels != nil {
		t.labels[i] = int(target)
	} else {
		t.targets.Set(i, 0, target)
	}
}
