package csv

import (
	"math"
	"sync"

	"newtop/datasets/fault"
)

// Each reads the rows a second time, now knowing what every field is, and has several goroutines visit their values,
// which are the callee's until it returns. Rows are visited in any order, i counts them as they follow one another.
func (s *Sheet) Each(l *Layout, visit func(i int, values []float64) error) error {
	readers := make([]valueReader, s.workers)
	for w := range readers {
		readers[w] = valueReader{sheet: s, layout: l, rows: s.newRows(), values: make([]float64, len(l.Columns))}
	}
	return s.again(func(worker int, k *chunk) error { return readers[worker].each(k, visit) })
}

// again has the chunks of a survey worked on once more, by several goroutines.
func (s *Sheet) again(work func(worker int, k *chunk) error) error {
	chunks := s.chunker()
	err := chunks.each(s.workers, func(worker int, k *chunk) error {
		if k.index+1 >= len(s.before) {
			return fault.Changed(s.sources[k.source].Name)
		}
		return work(worker, k)
	})
	if err == nil && chunks.index < len(s.before)-1 && s.before[chunks.index] < s.Rows {
		err = fault.Changed(s.sources[0].Name)
	}
	return err
}

// walk visits the rows of a chunk that the survey counted.
func (s *Sheet) walk(k *chunk, r *rows, visit func() error) error {
	r.reset(k)
	if k.first && s.header {
		_, _ = r.next() // an error comes again
	}
	for range s.before[k.index+1] - s.before[k.index] {
		more, err := r.next()
		if !more || err != nil || r.fields != len(s.columns) {
			return fault.Changed(s.sources[k.source].Name)
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return nil
}

// complete counts the rows that are not left out.
func (s *Sheet) complete(l *Layout) error {
	all := make([]rows, s.workers)
	for w := range all {
		all[w] = s.newRows()
	}
	counts := make([]int, len(s.before))
	err := s.again(func(worker int, k *chunk) error {
		r := &all[worker]
		return s.walk(k, r, func() error {
			if l.whole(r) {
				counts[k.index+1]++
			}
			return nil
		})
	})
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	l.before, l.Rows = counts, counts[len(counts)-1]
	return err
}

// whole reports whether a row has all values without which it is left out.
func (l *Layout) whole(r *rows) bool {
	for j := range l.roles {
		if l.roles[j].needed && r.kinds[j] == word && missing(r.field(j)) {
			return false
		}
	}
	return true
}

// testRows returns how many of the rows before each chunk are those of sources for testing.
func (s *Sheet) testRows(before []int) (n int) {
	for i, source := range s.source {
		if s.sources[source].Test {
			n += before[i+1] - before[i]
		}
	}
	return n
}

// countNumbers counts in how many rows to train on each number of some columns is, which a survey doesn't.
func (s *Sheet) countNumbers(columns []int, counts map[int]map[string]int) error {
	all := make([]rows, s.workers)
	for w := range all {
		all[w] = s.newRows()
	}
	for _, j := range columns {
		for text := range s.columns[j].values {
			counts[j][text] = 0
		}
	}
	var mu sync.Mutex
	return s.again(func(worker int, k *chunk) error {
		r := &all[worker]
		mu.Lock()
		defer mu.Unlock()
		return s.walk(k, r, func() error {
			for _, j := range columns {
				if _, known := s.columns[j].values[string(r.field(j))]; known && !s.sources[k.source].Test {
					counts[j][string(r.field(j))]++
				}
			}
			return nil
		})
	})
}

// valueReader reads rows as numbers.
type valueReader struct {
	sheet  *Sheet
	layout *Layout
	rows   rows
	values []float64
	source int // of the chunk
}

// each visits the rows of a chunk that are not left out.
func (d *valueReader) each(k *chunk, visit func(i int, values []float64) error) error {
	l := d.layout
	d.source = k.source
	i := l.before[k.index]
	return d.sheet.walk(k, &d.rows, func() error {
		if l.gaps && !l.whole(&d.rows) {
			return nil
		}
		if i == l.before[k.index+1] {
			return fault.Changed(d.sheet.sources[d.source].Name)
		}
		if err := d.read(); err != nil {
			return err
		}
		i++
		return visit(i-1, d.values)
	})
}

// read stores the values of the row.
func (d *valueReader) read() error {
	l, r := d.layout, &d.rows
	n := 0
	for j, kind := range r.kinds[:r.fields] {
		role := &l.roles[j]
		if !role.used {
			continue
		}
		v, known := r.values[j], true
		switch {
		case role.code != nil:
			k, ok := role.code[string(r.field(j))]
			if !ok {
				k, known = role.otherwise(r.field(j))
			}
			v = float64(k)
		case kind != word && (role.field == nil || role.field.Kind == ""):
		default:
			var expected string
			if v, expected = d.number(role, string(r.field(j))); expected != "" {
				return &fault.FormatError{File: d.sheet.sources[d.source].Name, Line: r.lineOf(j),
					Column: d.sheet.columns[j].name,
					Found:  fault.Quote(string(r.field(j))), Expected: expected}
			}
		}
		if j == l.Place-1 && l.number != nil {
			var k int
			k, known = l.number[v]
			v = float64(k)
		}
		if !known {
			return fault.Changed(d.sheet.sources[d.source].Name)
		}
		d.values[n] = v
		n++
	}
	return nil
}

// otherwise returns the number of a field that is none of the words that have one; the target has no others.
func (r *role) otherwise(field []byte) (code int, known bool) {
	switch {
	case r.field == nil:
		return 0, false
	case missing(field):
		return r.field.missingCode(), true
	}
	return r.field.otherCode(), true
}

// number reads a field that is no word, NaN where it is missing, or says what was expected.
func (d *valueReader) number(r *role, field string) (v float64, expected string) {
	if r.field == nil {
		r = &role{field: new(Field)}
	}
	v, ok := r.field.parse(field, d.sheet.style, r.order)
	switch {
	case ok:
		return v, ""
	case missing(field) && r.field.Fill != nil:
		return math.NaN(), ""
	case r.field.Kind == "":
		return 0, d.sheet.style.expected(field)
	}
	return 0, r.field.expected()
}

// parse reads the value of a field that is no word.
func (f *Field) parse(field string, style numerals, o order) (v float64, ok bool) {
	switch f.Kind {
	case Boolean:
		pair, is := truth(field)
		if is {
			v = 1
		}
		return v, pair >= 0
	case Date, Time:
		return parseDate(field, o)
	}
	return style.parse(field)
}
