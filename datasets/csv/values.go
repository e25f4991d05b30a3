package csv

import (
	"math"
	"sync"

	"newtop/datasets/fault"
)

// Each reads the rows a second time, now knowing what every field is, and has several goroutines visit their values,
// which are the callee's until it returns. Rows are visited in any order, i counts them as they follow one another.
func (l *Layout) Each(visit func(i int, values []float64) error) error {
	readers := make([]valueReader, l.sheet.workers)
	for w := range readers {
		readers[w] = valueReader{layout: l, rows: l.sheet.newRows(), values: make([]float64, len(l.Columns))}
	}
	return l.sheet.eachChunk(func(worker int, k *chunk) error { return readers[worker].each(k, visit) })
}

// countComplete counts the rows that are not left out.
func (l *Layout) countComplete() error {
	s := l.sheet
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

// countNumbers counts in how many rows to train on each number of some columns is, which a survey doesn't.
func (p *plan) countNumbers(columns []int) error {
	s := p.sheet
	all := make([]rows, s.workers)
	for w := range all {
		all[w] = s.newRows()
	}
	for _, j := range columns {
		for text := range s.columns[j].values {
			p.counts[j][text] = 0
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
					p.counts[j][string(r.field(j))]++
				}
			}
			return nil
		})
	})
}

// valueReader reads rows as numbers.
type valueReader struct {
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
	return d.layout.sheet.eachRow(k, &d.rows, func() error {
		if l.dropsRows && !l.isComplete(&d.rows) {
			return nil
		}
		if i == l.rowsBefore[k.index+1] {
			return fault.Changed(d.layout.sheet.sources[d.source].Name)
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
				return &fault.FormatError{File: d.layout.sheet.sources[d.source].Name, Line: r.lineOf(j),
					Column: d.layout.sheet.columns[j].name,
					Found:  fault.Quote(string(r.field(j))), Expected: expected}
			}
		}
		if j == l.Place-1 && l.number != nil {
			var k int
			k, known = l.number[v]
			v = float64(k)
		}
		if !known {
			return fault.Changed(d.layout.sheet.sources[d.source].Name)
		}
		d.values[n] = v
		n++
	}
	return nil
}

// number reads a field that is no word, NaN where it is missing, or says what was expected.
func (d *valueReader) number(r *role, field string) (v float64, expected string) {
	if r.field == nil {
		r = &role{field: new(Field)}
	}
	v, ok := r.field.parse(field, d.layout.sheet.numerals, r.order)
	switch {
	case ok:
		return v, ""
	case isMissing(field) && r.field.Fill != nil:
		return math.NaN(), ""
	case r.field.Kind == "":
		return 0, d.layout.sheet.numerals.expectation(field)
	}
	return 0, r.field.expectation()
}

