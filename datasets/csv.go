package datasets

import (
	"fmt"
	"os"

	"newtop/datasets/csv"
	"newtop/internal/format"
)

// loadCSV reads a table of numbers and categories, one row a line, from one file or from several that have the same header.
// Files may be packed by gzip.
//
// The delimiter (comma, semicolon or tab) is told from the first lines, the header from a word in the
// first line above a column of numbers; a table of words alone has a header if nothing in its first line
// comes again below. A column is numeric if nine in ten of its fields are, or all but one; a word in it is
// then an error. Other columns are categories: as inputs, one column of 0 and 1 for each in sorted order,
// as target, classes. Numeric inputs and regression targets are standardized. Missing values are refused.
//
// The text is read twice, piece by piece, and by as many goroutines as there are processors. None of what comes out
// depends on them.
func loadCSV(f *csvFiles, o Options) (*Dataset, error) {
	var all texts
	defer all.close()
	for _, path := range f.paths {
		text, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer text.Close()
		info, err := text.Stat()
		if err != nil {
			return nil, err
		}
		if err := all.add(path, text, info.Size()); err != nil {
			return nil, err
		}
	}
	return readCSV(f, all.sources, o)
}

func readCSV(f *csvFiles, sources []csv.Source, o Options) (*Dataset, error) {
	s, l, test, err := surveyCSV(sources, &o)
	if err != nil {
		return nil, err
	}
	if err := l.Fits(s.LastFile, s.LastLine, s.Rows); err != nil {
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
	d := f.set(&l.Table, l.Classes, s.Rows-test, test)
	d.divide(t, Sizes{Train: s.Rows - test, Test: test})
	if d.Classes == nil {
		d.finishTarget(standard(d.Train.Targets, nil))
	}
	d.finish(standard(d.Train.Inputs, l.Coded()))
	return d, nil
}

// surveyCSV reads texts once and decides where their columns go, and how many rows are for testing.
func surveyCSV(sources []csv.Source, o *Options) (s *csv.Sheet, l *csv.Layout, test int, err error) {
	if s, err = csv.Survey(sources, o.Rows); err != nil {
		return nil, nil, 0, err
	}
	if l, err = s.Layout(o.Target); err != nil {
		return nil, nil, 0, err
	}
	test, err = o.testRows(s.Rows, fifth(s.Rows))
	return s, l, test, err
}

// set describes a table that was split; its rows and scalings are still missing.
func (f *csvFiles) set(info *csv.Table, classes []string, train, test int) *Dataset {
	d := &Dataset{Name: f.name(), Classes: classes, Table: info}
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
	files := ""
	if n := len(f.paths); n > 1 {
		files = fmt.Sprintf(", from %d files", n)
	}
	d.Title = fmt.Sprintf("%s: %s, %d rows to train on, %d drawn to test on%s", d.Name, what, train, test, files)
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
