package datasets

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"newtop/datasets/csv"
	"newtop/datasets/fault"
	"newtop/datasets/rowcache"
)

// csvRows are the rows of a CSV file in the order in which they are split, with what Load must know beside them.
type csvRows struct {
	*rowcache.File
	csv.Spread
	csvAbout
}

type csvAbout struct {
	Table   csv.Table
	Classes []string // nil for regression
	Test    int      // of the rows, the last
	Line    int      // of the CSV file, on which its last row starts
	Scaling struct {
		Inputs, Targets Scaling // Targets for regression
	}
}

// loadRange reads a range of the rows of a CSV file, which is converted to a rows file when that is first
// asked for, and again when it was changed. The rows file goes into rows below CacheDir, or, where nothing
// can be written there, into .newtop beside the CSV file.
//
// The conversion reads the text three times, puts the rows in order chunk by chunk, and reads them three times more, for
// the scalings, all but the order on all processors. It needs memory for 12 bytes a row, for two chunks, and for the different
// words.
func loadRange(files *csvFiles, o Options) (*Dataset, error) {
	var dirs []string
	if cache, err := CacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "rows"))
	}
	dirs = append(dirs, filepath.Join(filepath.Dir(files.paths[0]), ".newtop"))
	// One file for each way to split the rows; other processors may round otherwise, see fitStandard.
	key := fmt.Sprintf("%q %q %d %d %s", o.Target, o.Test, o.Seed, o.Rows, runtime.GOARCH)
	for again := false; ; again = true {
		f, err := rowcache.Open(files.paths, key, dirs, func(texts []rowcache.Text, rows *rowcache.Writer) (any, error) {
			return convertCSV(texts, &o, rows)
		})
		if err != nil {
			return nil, err
		}
		d, err := files.rangeOf(f, o.Keep)
		f.Close()
		if e, ok := errors.AsType[*fault.FormatError](err); !ok || e.File != f.Path || again || f.Remove() != nil {
			return d, err
		}
	}
}

// convertCSV stores the rows of CSV files in rows, in the order in which they are split.
func convertCSV(files []rowcache.Text, o *Options, rows *rowcache.Writer) (any, error) {
	var all texts
	defer all.close()
	for _, t := range files {
		if err := all.add(t.Path, t.File, t.Size); err != nil {
			return nil, err
		}
	}
	s, l, test, err := surveyCSV(all.sources, o)
	if err != nil {
		return nil, err
	}
	columns := make([]rowcache.Column, len(l.Columns))
	for j, c := range l.Columns {
		columns[j] = rowcache.Column(c)
	}
	if err := rows.Begin(s.Rows, columns); err != nil {
		return nil, err
	}
	place := shuffle(s.Rows, o.Seed)
	if err := s.Each(l, func(i int, values []float64) error { return rows.Put(place[i], values) }); err != nil {
		return nil, err
	}
	if err := rows.Order(); err != nil {
		return nil, err
	}
	r := csvRows{File: rows.File, Spread: l.Spread, csvAbout: csvAbout{Table: l.Table, Classes: l.Classes, Test: test, Line: s.LastLine}}
	return &r.csvAbout, r.fit()
}

// fit fits the scalings to the rows to train on, column by column of the file: what is not a number has none.
func (r *csvRows) fit() error {
	rows, columns := r.Rows-r.Test, len(r.Columns)
	s, err := fitStandard(rows, columns, nil, stripes(rows, columns), func(first, last int, visit func(row []float64)) error {
		return r.EachOf(0, rows, first, last, func(_ int, values []float64) { visit(values) })
	})
	if err != nil {
		return err
	}
	inputs, target := unscaled(r.Inputs), unscaled(1)
	inputs.Kind, target.Kind = ScaledStandard, ScaledStandard
	input := 0
	for j := range columns {
		to, at := &inputs, input
		if j == r.Table.Place-1 {
			to, at = &target, 0
		} else {
			input += max(r.Kinds(j), 1)
		}
		if r.Kinds(j) > 0 {
			continue
		}
		to.Offset[at], to.Scale[at] = s.Offset[j], s.Scale[j]
		if slices.Contains(s.Constant, j) {
			to.Constant = append(to.Constant, at)
		}
	}
	r.Scaling.Inputs = inputs
	if r.Classes == nil {
		r.Scaling.Targets = target
	}
	return nil
}

// rangeOf returns what is kept of the rows of the files as a set.
func (files *csvFiles) rangeOf(f *rowcache.File, k Keep) (*Dataset, error) {
	r := csvRows{File: f}
	if err := f.About(&r.csvAbout); err != nil {
		return nil, err
	}
	if r.Spread = r.Table.Spread(len(r.Classes)); !r.sound() {
		return nil, f.Damaged("a description of other rows")
	}
	all := r.Rows - r.Test
	kept := k.rows(Sizes{Train: all, Test: r.Test})
	if err := r.Fits(files.paths[len(files.paths)-1], r.Line, kept.Rows()); err != nil {
		return nil, err
	}
	d := files.set(&r.Table, r.Classes, all, r.Test)
	first := 0
	for part, n := range (Sizes{Train: all, Test: r.Test}) {
		s, of := d.Split(Part(part)), kept[part]
		var err error
		if *s, err = r.split(Range{first + of.First, first + of.Last}); err != nil {
			return nil, err
		}
		s.place(of, n)
		first += n
	}
	if d.Classes == nil {
		d.finishTarget(r.Scaling.Targets)
	}
	d.finish(r.Scaling.Inputs)
	return d, nil
}

// sound reports whether the description is one of rows such as the file has.
func (r *csvRows) sound() bool {
	if r.Test < 1 || r.Test >= r.Rows || len(r.Columns) != len(r.Table.Fields)+1 || r.Table.Place < 1 || r.Table.Place > len(r.Columns) ||
		!r.Scaling.Inputs.sound(r.Inputs) || r.Classes == nil && !r.Scaling.Targets.sound(1) {
		return false
	}
	for j, c := range r.Columns {
		if c.Kinds != r.Kinds(j) {
			return false
		}
	}
	return true
}

// sound reports whether s is a scaling of so many columns by which can be divided.
func (s *Scaling) sound(columns int) bool {
	return s.Kind == ScaledStandard && len(s.Offset) == columns && len(s.Scale) == columns &&
		!slices.ContainsFunc(s.Scale, func(v float64) bool { return !(v > 0) })
}

// split reads a range of the rows as they are.
func (r *csvRows) split(of Range) (Split, error) {
	t := newTable(of.Rows(), &r.Spread, r.Classes != nil)
	err := r.Each(of.First, of.Last, func(i int, values []float64) { t.set(i-of.First, &r.Spread, values) })
	return Split{Inputs: t.inputs, Targets: t.targets, Labels: t.labels}, err
}
