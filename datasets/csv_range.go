package datasets

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"newtop/datasets/csv"
	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
	"newtop/datasets/rowcache"
)

// csvRows are the rows of a CSV file in the order in which they are split, with what Load must know beside them.
type csvRows struct {
	*rowcache.File
	schema.Encoding
	csvAbout
}

type csvAbout struct {
	Table   schema.Table
	Classes []string         // nil for regression
	Folds   [][]schema.Means // statistics for the training rows
	Sizes   Sizes
	Tested  bool // whether the files say which rows are for testing
	Line    int  // of the CSV file, on which its last row starts
	Notes   []string
	Facts   []csv.Fact
	Scaling struct {
		Inputs, Targets Scaling // Targets for regression
	}
}

// loadRange reads a range of the rows of a CSV file, which is converted to a rows file when that is first
// asked for, and again when it was changed. The rows file goes into rows below CacheDir, or, where nothing
// can be written there, into .newtop beside the CSV file.
//
// The conversion reads the text three times, or four times where rows to decide by are drawn by class, puts the rows in
// order chunk by chunk, and reads them three to five times more, for the statistics and the scalings, all but the order
// on all processors. It needs memory for 28 bytes a row, for two chunks, and for the different words.
func loadRange(files *csvFiles, o Options) (*Dataset, error) {
	var dirs []string
	if cache, err := CacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "rows"))
	}
	dirs = append(dirs, filepath.Join(filepath.Dir(files.paths[0]), ".newtop"))
	// One file for each way to split the rows; other processors may round otherwise, see fitStandard.
	key := fmt.Sprintf("%q %q %q %d %d %+q %d %d %s", o.Target, o.Test, o.Validation, o.Folds, o.Fold, o.Columns,
		o.Seed, o.Rows, runtime.GOARCH)
	for again := false; ; again = true {
		f, err := rowcache.Open(files.paths, key, dirs, func(
			texts []rowcache.Text, rows *rowcache.Writer) (any, error) {
			return files.convert(texts, &o, rows)
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

// convert stores the rows of a table's files in rows, in the order in which they are split.
func (files *csvFiles) convert(open []rowcache.Text, o *Options, rows *rowcache.Writer) (about any, err error) {
	var all texts
	defer all.close()
	defer func() { err = all.place(err) }()
	for i, t := range open {
		if err := all.add(t.Path, t.File, t.Size, i >= files.trains); err != nil {
			return nil, err
		}
	}
	if files.tested, err = all.convert(o); err != nil {
		return nil, err
	}
	s, l, test, err := files.survey(all.sources, o)
	if err != nil {
		return nil, err
	}
	columns := make([]rowcache.Column, len(l.Columns))
	for j, c := range l.Columns {
		columns[j] = rowcache.Column(c)
	}
	if err := rows.Begin(l.Rows, columns); err != nil {
		return nil, err
	}
	label, err := labels(s, l, l.Rows-test, o)
	if err != nil {
		return nil, err
	}
	to, err := o.arrange(l.Rows, test, files.shuffle(l, o.Seed), label)
	if err != nil {
		return nil, err
	}
	if err := l.Each(func(i int, values []float64) error { return rows.Put(to.place[i], values) }); err != nil {
		return nil, err
	}
	if err := rows.Order(); err != nil {
		return nil, err
	}
	known := csvAbout{Tested: files.tested, Table: l.Table, Classes: l.Classes, Sizes: to.Sizes, Line: s.LastLine,
		Notes: l.Notes, Facts: l.Facts}
	r := csvRows{File: rows.File, csvAbout: known}
	r.spread()
	return &r.csvAbout, r.fit()
}

// labels reads the classes of rows, if rows to decide by are drawn by them from n; nil: they are not.
func labels(s *sheet.Sheet, l *csv.Layout, n int, o *Options) (label func(i int) int, err error) {
	if decide, err := o.validationRows(n); err != nil || l.Classes == nil || decide == 0 && o.Folds == 0 {
		return nil, err
	}
	classes := make([]int, l.Rows)
	err = l.Each(func(i int, values []float64) error {
		classes[i] = l.Label(values)
		return nil
	})
	return func(i int) int { return classes[i] }, err
}

// spread finds out how the values of rows become inputs.
func (r *csvRows) spread() {
	columns := make([]schema.Column, len(r.Columns))
	for j, c := range r.Columns {
		columns[j] = schema.Column(c)
	}
	r.Encoding = r.Table.Encoding(len(r.Classes), columns, r.Folds)
}

// fit fits the statistics and the scalings to the rows to train on.
func (r *csvRows) fit() error {
	train := r.Sizes[Train]
	cross, row := r.NewCrossFit(), make([]float64, r.Inputs)
	if cross.Needed() {
		err := r.Each(0, train, func(i int, values []float64) {
			clear(row)
			cross.Add(i, row, r.Encode(row, values))
		})
		if err != nil {
			return err
		}
		r.Folds = cross.Finish()
	}
	if err := r.fitScalings(train); err != nil {
		return err
	}
	r.SetFill(r.Scaling.Inputs.Offset)
	if r.Table.Missing != lex.MissingMedian {
		return nil
	}
	medians, err := r.medians(train)
	if err == nil {
		r.SetFill(medians)
	}
	return err
}

// fitScalings fits the scalings of the numbers that values become: words have none.
func (r *csvRows) fitScalings(train int) error {
	f := fit{rows: train, widths: make([]int, len(r.Columns))}
	all := 0
	for j, c := range r.Columns {
		f.widths[j] = r.Numbers(j)
		all += f.widths[j]
		for range f.widths[j] {
			f.gaps = append(f.gaps, c.Missing)
		}
	}
	f.each = func(first, last int, visit func(row []float64)) error {
		numbers := 0
		for _, n := range f.widths[first:last] {
			numbers += n
		}
		row := make([]float64, numbers)
		return r.EachOf(0, train, first, last, func(i int, values []float64) {
			r.NumbersTo(row, values, first, i)
			visit(row)
		})
	}
	s, err := f.standard(stripes(train, all))
	if err != nil {
		return err
	}
	inputs, target := unscaled(r.Inputs), unscaled(1)
	inputs.Kind, target.Kind = ScaledStandard, ScaledStandard
	k := 0
	for j, width := range f.widths {
		to, at := &inputs, r.First(j)
		if at < 0 {
			to, at = &target, 0
		}
		for n := range width {
			to.Offset[at+n], to.Scale[at+n] = s.Offset[k], s.Scale[k]
			if slices.Contains(s.Constant, k) {
				to.Constant = append(to.Constant, at+n)
			}
			k++
		}
	}
	r.Scaling.Inputs = inputs
	if r.Classes == nil {
		r.Scaling.Targets = target
	}
	return nil
}

// medians returns those of the numbers among the inputs, one value of the rows after the other.
func (r *csvRows) medians(train int) ([]float64, error) {
	all := make([]float64, r.Inputs)
	for j := range r.Columns {
		width, first := r.Numbers(j), r.First(j)
		if first < 0 || width == 0 {
			continue
		}
		numbers, row := make([][]float64, width), make([]float64, width)
		err := r.EachOf(0, train, j, j+1, func(i int, values []float64) {
			r.NumbersTo(row, values, j, i)
			for k, v := range row {
				numbers[k] = append(numbers[k], v)
			}
		})
		if err != nil {
			return nil, err
		}
		for k, values := range numbers {
			all[first+k] = median(values)
		}
	}
	return all, nil
}

// rangeOf returns what is kept of the rows of the files as a set.
func (files *csvFiles) rangeOf(f *rowcache.File, k Keep) (*Dataset, error) {
	r := csvRows{File: f}
	if err := f.About(&r.csvAbout); err != nil {
		return nil, err
	}
	if !r.sound() {
		return nil, f.Damaged("a description of other rows")
	}
	kept := k.rows(r.Sizes)
	if err := r.Fits(files.paths[len(files.paths)-1], r.Line, kept.Rows()); err != nil {
		return nil, err
	}
	files.tested = r.Tested
	d := files.set(&r.Table, r.Classes, r.Sizes, r.Notes)
	d.Facts = r.Facts
	first := 0
	for part, n := range r.Sizes {
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
	d.noteConstant()
	return d, nil
}

// sound reports whether the description is one of rows such as the file has, and finds out how they become inputs.
func (r *csvRows) sound() bool {
	rows := 0
	for _, n := range r.Sizes {
		if n < 0 {
			return false
		}
		rows += n
	}
	if rows != r.Rows || r.Sizes[Train] < 1 || r.Table.Check() != nil || !r.Table.SoundFolds(r.Folds) ||
		r.Table.Cells() != len(r.Columns) {
		return false
	}
	r.spread()
	if !r.Scaling.Inputs.sound(r.Inputs) || r.Classes == nil && !r.Scaling.Targets.sound(1) {
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
	t := newTable(of.Rows(), &r.Encoding, r.Classes != nil)
	err := r.Each(of.First, of.Last, func(i int, values []float64) {
		t.set(i-of.First, &r.Encoding, values)
		if r.NeedsCompletion() {
			row := t.inputs.RawRowView(i - of.First)
			r.AddStatistics(row, trainingRow(i, r.Sizes[Train]))
			r.FillMissing(row)
		}
	})
	return Split{Inputs: t.inputs, Targets: t.targets, Labels: t.labels}, err
}
