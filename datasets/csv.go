package datasets

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"newtop/datasets/csv"
	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// loadCSV reads a table of numbers, categories, dates and booleans, one row a line, from one file or from several that
// have the same header. Files may be packed by gzip. docs/training.md says what becomes of the columns; what is decided
// is in the set's Notes.
//
// The text is read twice, piece by piece, and by as many goroutines as there are processors; and once or twice more
// where rows are left out or words are mixed with numbers. None of what comes out depends on them.
func loadCSV(f *csvFiles, o Options) (*Dataset, error) {
	var all texts
	defer all.close()
	for i, path := range f.paths {
		text, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer text.Close()
		info, err := text.Stat()
		if err != nil {
			return nil, err
		}
		if err := all.add(path, text, info.Size(), i >= f.trains); err != nil {
			return nil, err
		}
	}
	var err error
	if f.tested, err = all.convert(&o); err != nil {
		return nil, err
	}
	d, err := readCSV(f, all.sources, o)
	if err != nil {
		return nil, all.attribute(err)
	}
	d.Notes = slices.Concat(all.notes, d.Notes)
	return d, nil
}

func readCSV(f *csvFiles, sources []lex.Source, o Options) (*Dataset, error) {
	s, l, test, err := f.survey(sources, &o)
	if err != nil {
		return nil, err
	}
	if err := l.Fits(s.LastFile, s.LastLine, l.Rows); err != nil {
		return nil, err
	}
	positions, t := f.shuffle(l, o.Seed), newTable(l.Rows, &l.Encoding, l.Classes != nil)
	err = l.Each(func(i int, values []float64) error {
		t.set(positions[i], &l.Encoding, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var label func(i int) int
	if t.labels != nil {
		label = func(i int) int { return t.labels[i] }
	}
	to, err := o.arrange(l.Rows, test, nil, label)
	if err != nil {
		return nil, err
	}
	if to.positions != nil {
		t.move(to.positions)
	}
	suspects := t.suspects(l, to.Sizes[Train])
	scaling := t.complete(l, to.Sizes[Train])
	d := f.set(&l.Table, l.Classes, to.Sizes, l.Notes)
	d.Facts, d.Notes = l.Facts, append(d.Notes, suspects...)
	d.divide(t, to.Sizes)
	if d.Classes == nil {
		d.finishTarget(standard(d.Train.Targets, nil))
	}
	d.finish(scaling)
	noteConstant(d)
	return d, nil
}

// noteConstant says which inputs of a table tell nothing apart.
func noteConstant(d *Dataset) {
	var names []string
	for _, j := range d.InputScaling.Constant {
		names = append(names, d.InputNames[j])
	}
	switch n := len(names); {
	case n > 5:
		d.Notes = append(d.Notes, fmt.Sprintf("%s and %d others: one value in all training rows",
			strings.Join(names[:5], ", "), n-5))
	case n > 0:
		d.Notes = append(d.Notes, strings.Join(names, ", ")+": one value in all training rows")
	}
}

// survey reads texts once and decides where their columns go, and how many rows are for testing.
func (f *csvFiles) survey(sources []lex.Source, o *Options) (s *sheet.Sheet, l *csv.Layout, test int, err error) {
	columns := o.Columns
	columns.Target = o.Target
	if s, err = sheet.Survey(sources, o.Rows, &columns); err != nil {
		return nil, nil, 0, err
	}
	if l, err = csv.Plan(s, o.Target); err != nil {
		return nil, nil, 0, err
	}
	if test, err = f.tests(l, o); err == nil {
		_, err = o.validationRows(l.Rows - test)
	}
	return s, l, test, err
}

// tests returns how many rows are for testing.
func (f *csvFiles) tests(l *csv.Layout, o *Options) (int, error) {
	if f.trains == len(f.paths) && !f.tested {
		return o.testRows(l.Rows, fifth(l.Rows))
	}
	if l.Tests > 0 && l.Tests < l.Rows {
		return l.Tests, nil
	}
	file := f.paths[0]
	if l.Tests == 0 && !f.tested {
		file = f.paths[f.trains]
	}
	return 0, &fault.FormatError{File: file, Line: 1, Found: "no rows that are not left out", Expected: "at least 1"}
}

// shuffle returns where each row goes, so that the last ones are drawn by seed from all, or are those of the files for
// testing.
func (f *csvFiles) shuffle(l *csv.Layout, seed uint64) (positions []int) {
	positions = shuffle(l.Rows-l.Tests, seed)
	for i := l.Rows - l.Tests; i < l.Rows; i++ {
		positions = append(positions, i)
	}
	return positions
}

// complete computes what the training rows alone tell, the first of that many, puts it into all rows, and returns the
// scaling.
func (t *table) complete(l *csv.Layout, train int) Scaling {
	cross := l.NewCrossFit()
	if cross.Needed() {
		for i := range train {
			cross.Add(i, t.inputs.RawRowView(i), t.target(i))
		}
		cross.Finish()
		for i := range t.rows() {
			l.AddStatistics(t.inputs.RawRowView(i), trainingRow(i, train))
		}
	}
	t.findRanges(l, train)
	scaling := standardOf(rowsOf(t.inputs, 0, train), l.Coded(), l.MayBeMissing())
	l.SetFill(scaling.Offset)
	if l.Missing == lex.MissingMedian {
		l.SetFill(t.medians(l, train))
	}
	if l.NeedsCompletion() {
		for i := range t.rows() {
			l.FillMissing(t.inputs.RawRowView(i))
		}
	}
	return scaling
}

// findRanges finds those of columns of numbers and dates in the first rows of that many.
func (t *table) findRanges(l *csv.Layout, train int) {
	first := 0
	for i := range l.Fields {
		f := &l.Fields[i]
		if f.HasRange() {
			low, high := math.Inf(1), math.Inf(-1)
			for i := range train {
				if v := t.inputs.At(i, first); !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
			if low <= high {
				f.Range = []float64{low, high}
			}
		}
		first += f.Inputs()
	}
}

// suspects says of columns of numbers which values may stand for missing ones, in the first rows of that many.
func (t *table) suspects(l *csv.Layout, train int) (notes []string) {
	tell := func(name string, value func(i int) float64) {
		for _, sign := range []float64{1, -1} {
			least, next, most, rows := math.Inf(1), math.Inf(1), math.Inf(-1), 0
			for i := range train {
				switch v := sign * value(i); {
				case math.IsNaN(v):
					continue
				case v < least:
					next, least, rows = least, v, 1
				case v == least:
					rows++
				default:
					next = min(next, v)
				}
				most = max(most, sign*value(i))
			}
			if 100*rows > train && rows > 1 && next < most && standsOut(least, next, most) {
				low, high := min(sign*next, sign*most), max(sign*next, sign*most)
				text := strconv.FormatFloat(sign*least, 'g', -1, 64)
				notes = append(notes, fmt.Sprintf("%s: %s in %s is far outside the rest, %g … %g: if it stands for "+
					"missing values, --table %s takes it for that", name, text, format.Counted(rows, "row"), low,
					high, format.Quote("na."+name+"="+text)))
			}
		}
	}
	first := 0
	for i := range l.Fields {
		f := &l.Fields[i]
		if j := first; f.Kind == "" && f.Words == nil {
			tell(f.Name, func(i int) float64 { return t.inputs.At(i, j) })
		}
		first += f.Inputs()
	}
	if t.targets != nil {
		tell(l.Target, func(i int) float64 { return t.targets.At(i, 0) })
	}
	return notes
}

// standsOut reports whether the least of some numbers looks as if it were none: it is as far from the next as that from
// the greatest, and is written in the same digit throughout, 7, 8 or 9, or is much farther.
func standsOut(least, next, most float64) bool {
	digits := strings.Trim(strconv.FormatFloat(math.Abs(least), 'f', -1, 64), "-")
	same := len(digits) > 1 && digits[0] >= '7' && strings.Trim(digits, digits[:1]+".") == ""
	distance := (next - least) / (most - next)
	return same && distance > 1 || math.Abs(least) >= 1e9 && distance > 10
}

// trainingRow returns the number of row i among the training rows, −1 for another.
func trainingRow(i, train int) int {
	if i < train {
		return i
	}
	return -1
}

// medians returns those of the inputs, of the first rows.
func (t *table) medians(l *csv.Layout, train int) []float64 {
	all := make([]float64, l.Inputs)
	for j, coded := range l.Coded() {
		if coded {
			continue
		}
		values := make([]float64, train)
		for i := range values {
			values[i] = t.inputs.At(i, j)
		}
		all[j] = median(values)
	}
	return all
}

// median returns the median of the numbers among values, 0 for none. It reorders them.
func median(values []float64) float64 {
	values = slices.DeleteFunc(values, math.IsNaN)
	slices.Sort(values)
	n := len(values)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2
}

// set describes a table that was split; its rows and scalings are still missing.
func (f *csvFiles) set(info *schema.Table, classes []string, sizes Sizes, notes []string) *Dataset {
	d := &Dataset{Name: f.name(), Classes: classes, Table: info, Notes: notes}
	for i := range info.Fields {
		d.InputNames = append(d.InputNames, info.Fields[i].InputNames(info.Target, classes)...)
	}
	what := fmt.Sprintf("%q to predict", info.Target)
	if classes != nil {
		what = fmt.Sprintf("%q with %d classes to tell apart", info.Target, len(classes))
	} else {
		d.TargetNames = []string{info.Target}
	}
	files, drawn := "", "test rows"
	if f.trains > 1 {
		files = fmt.Sprintf(", from %d files", f.trains)
	}
	switch {
	case f.tested:
		drawn = "test rows, as the file says"
	case f.trains < len(f.paths):
		drawn = "test rows of " + trainOn(f.paths[f.trains:]...).name()
	}
	decide := ""
	if n := sizes[Validation]; n > 0 {
		decide = fmt.Sprintf(", %d validation rows", n)
	}
	d.Title = fmt.Sprintf("%s: %s, %d training rows%s, %d %s%s", d.Name, what, sizes[Train], decide, sizes[Test],
		drawn, files)
	return d
}

// newTable returns a table of zeros.
func newTable(rows int, p *schema.Encoding, classes bool) *table {
	t := &table{inputs: newDense(rows, p.Inputs)}
	if classes {
		t.labels = make([]int, rows)
	} else {
		t.targets = newDense(rows, 1)
	}
	return t
}

// set stores the values of a row.
func (t *table) set(i int, p *schema.Encoding, values []float64) {
	target := p.Encode(t.inputs.RawRowView(i), values)
	if t.labels != nil {
		t.labels[i] = int(target)
	} else {
		t.targets.Set(i, 0, target)
	}
}

// target returns the class or the number to predict of a row.
func (t *table) target(i int) float64 {
	if t.labels != nil {
		return float64(t.labels[i])
	}
	return t.targets.At(i, 0)
}

// move puts row i in positions[i], without a copy of the table.
func (t *table) move(positions []int) {
	moved := make([]bool, len(positions))
	spare := make([]float64, t.inputs.RawMatrix().Cols)
	for start := range positions {
		for i := positions[start]; !moved[i]; i = positions[i] {
			if moved[i] = true; i != start {
				t.swap(i, start, spare)
			}
		}
	}
}

// swap exchanges two rows.
func (t *table) swap(i, j int, spare []float64) {
	a, b := t.inputs.RawRowView(i), t.inputs.RawRowView(j)
	copy(spare, a)
	copy(a, b)
	copy(b, spare)
	if t.labels != nil {
		t.labels[i], t.labels[j] = t.labels[j], t.labels[i]
		return
	}
	v, w := t.targets.At(i, 0), t.targets.At(j, 0)
	t.targets.Set(i, 0, w)
	t.targets.Set(j, 0, v)
}
