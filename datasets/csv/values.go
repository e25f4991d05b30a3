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
	return s.eachChunk(func(worker int, k *chunk) error { return readers[worker].each(k, visit) })
}

// eachChunk has the chunks of a survey worked on once more, by several goroutines.
func (s *Sheet) eachChunk(work func(worker int, k *chunk) error) error {
	chunks := s.chunker()
	err := chunks.each(s.workers, func(worker int, k *chunk) error {
		if k.index+1 >= len(s.rowsBefore) {
			return fault.Changed(s.sources[k.source].Name)
		}
		return work(worker, k)
	})
	if err == nil && chunks.index < len(s.rowsBefore)-1 && s.rowsBefore[chunks.index] < s.Rows {
		err = fault.Changed(s.sources[0].Name)
	}
	return err
}

// eachRow visits the rows of a chunk that the survey counted.
func (s *Sheet) eachRow(k *chunk, r *rows, visit func() error) error {
	r.reset(k)
	if k.first && s.hasHeader {
		_, _ = r.next() // an error comes again
	}
	for range s.rowsBefore[k.index+1] - s.rowsBefore[k.index] {
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
	counts := make([]int, len(s.rowsBefore))
	err := s.eachChunk(func(worker int, k *chunk) error {
		r := &all[worker]
		return s.eachRow(k, r, func() error {
			if l.isComplete(r) {
				counts[k.index+1]++
			}
			return nil
		})
	})
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	l.rowsBefore, l.Rows = counts, counts[len(counts)-1]
	return err
}

// isComplete reports whether a row has all values without which it is left out.
func (l *Layout) isComplete(r *rows) bool {
	for j := range l.roles {
		if l.roles[j].required && r.kinds[j] == kindWord && isMissing(r.field(j)) {
			return false
		}
	}
	return true
}

// countTestRows returns how many of the rows before each chunk are those of sources for testing.
func (s *Sheet) countTestRows(before []int) (n int) {
	for i, source := range s.chunkSource {
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
	return s.eachChunk(func(worker int, k *chunk) error {
		r := &all[worker]
		mu.Lock()
		defer mu.Unlock()
		return s.eachRow(k, r, func() error {
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
	i := l.rowsBefore[k.index]
	return d.sheet.eachRow(k, &d.rows, func() error {
		if l.dropsRows && !l.isComplete(&d.rows) {
			return nil
		}
		if i == l.rowsBefore[k.index+1] {
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
				k, known = role.otherCode(r.field(j))
			}
			v = float64(k)
		case kind != kindWord && (role.field == nil || role.field.Kind == ""):
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

// otherCode returns the number of a field that is none of the words that have one; the target has no others.
func (r *role) otherCode(field []byte) (code int, known bool) {
	switch {
	case r.field == nil:
		return 0, false
	case isMissing(field):
		return r.field.missingCode(), true
	}
	return r.field.otherCode(), true
}

// number reads a field that is no word, NaN where it is missing, or says what was expected.
func (d *valueReader) number(r *role, field string) (v float64, expected string) {
	if r.field == nil {
		r = &role{field: new(Field)}
	}
	v, ok := r.field.parse(field, d.sheet.numerals, r.order)
	switch {
	case ok:
		return v, ""
	case isMissing(field) && r.field.Fill != nil:
		return math.NaN(), ""
	case r.field.Kind == "":
		return 0, d.sheet.numerals.expectation(field)
	}
	return 0, r.field.expectation()
}

// parse reads the value of a field that is no word.
func (f *Field) parse(field string, style numerals, o dateOrder) (v float64, ok bool) {
	switch f.Kind {
	case Boolean:
		pair, is := parseTruth(field)
		if is {
			v = 1
		}
		return v, pair >= 0
	case Date, Time:
		return parseDate(field, o)
	}
	return style.parse(field)
}
