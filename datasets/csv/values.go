package csv

import (
	"fmt"
	"math"
	"sync"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
	"newtop/datasets/csv/sheet"
	"newtop/datasets/fault"
)

// Each reads the rows a second time, now knowing what every field is, and has several goroutines visit their values,
// which are the callee's until it returns. Rows are visited in any order, i counts them as they follow one another.
func (l *Layout) Each(visit func(i int, values []float64) error) error {
	readers := make([]valueReader, l.sheet.Workers)
	for w := range readers {
		readers[w] = valueReader{layout: l, rows: l.sheet.NewRows(), values: make([]float64, len(l.gaps))}
	}
	return l.sheet.EachChunk(func(worker int, k *lex.Chunk) error { return readers[worker].each(k, visit) })
}

// countComplete counts the rows that are not left out.
func (l *Layout) countComplete() error {
	s := l.sheet
	all := make([]lex.Rows, s.Workers)
	for w := range all {
		all[w] = s.NewRows()
	}
	counts := make([]int, len(s.RowsBefore))
	err := s.EachChunk(func(worker int, k *lex.Chunk) error {
		r := &all[worker]
		return s.EachRow(k, r, func() error {
			if l.isComplete(r) {
				counts[k.Index+1]++
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
func (l *Layout) isComplete(r *lex.Rows) bool {
	for j := range l.roles {
		if l.roles[j].Required && (r.Kinds[j] == lex.KindMissing ||
			r.Kinds[j] == lex.KindWord && lex.IsMissing(r.Field(j))) {
			return false
		}
	}
	return true
}

// countNumbers counts in how many rows to train on each number of some columns is, which a survey doesn't. counts are
// of each column.
func countNumbers(s *sheet.Sheet, columns []int, counts map[int]map[string]int) error {
	all := make([]lex.Rows, s.Workers)
	for w := range all {
		all[w] = s.NewRows()
	}
	for _, j := range columns {
		for text := range s.Columns[j].Values {
			counts[j][text] = 0
		}
	}
	var mu sync.Mutex
	return s.EachChunk(func(worker int, k *lex.Chunk) error {
		r := &all[worker]
		mu.Lock()
		defer mu.Unlock()
		return s.EachRow(k, r, func() error {
			for _, j := range columns {
				if _, known := s.Columns[j].Values[string(r.Field(j))]; known && !s.Sources[k.Source].Test {
					counts[j][string(r.Field(j))]++
				}
			}
			return nil
		})
	})
}

// valueReader reads rows as numbers.
type valueReader struct {
	layout *Layout
	rows   lex.Rows
	values []float64
	source int // of the chunk
}

// each visits the rows of a chunk that are not left out.
func (d *valueReader) each(k *lex.Chunk, visit func(i int, values []float64) error) error {
	l := d.layout
	d.source = k.Source
	i := l.rowsBefore[k.Index]
	return d.layout.sheet.EachRow(k, &d.rows, func() error {
		if l.dropsRows && !l.isComplete(&d.rows) {
			return nil
		}
		if i == l.rowsBefore[k.Index+1] {
			return fault.Changed(d.layout.sheet.Sources[d.source].Name)
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
	for j, kind := range r.Kinds[:r.Fields] {
		role := &l.roles[j]
		if !role.Used {
			continue
		}
		v, known := r.Values[j], true
		switch {
		case kind == lex.KindMissing && role.Field != nil && role.Code == nil && role.Field.Fill != nil:
			v = math.NaN()
		case kind == lex.KindMissing && role.Field != nil && role.Code != nil:
			v = float64(role.Field.MissingCode())
		case role.Code != nil:
			k, ok := role.Code[string(r.Field(j))]
			if !ok {
				k, known = role.OtherCode(r.Field(j))
			}
			v = float64(k)
		case kind.Number() && (role.Field == nil || role.Field.Kind == ""):
		default:
			var expected string
			if v, expected = d.number(j, role, string(r.Field(j))); expected != "" {
				return &fault.FormatError{File: d.layout.sheet.Sources[d.source].Name, Line: r.LineOf(j),
					Column: d.layout.sheet.Columns[j].Name,
					Found:  fault.Quote(string(r.Field(j))), Expected: expected}
			}
		}
		if j == l.TargetColumn-1 && l.number != nil {
			var k int
			k, known = l.number[v]
			v = float64(k)
		}
		if !known {
			return fault.Changed(d.layout.sheet.Sources[d.source].Name)
		}
		d.values[n] = v
		n++
	}
	return nil
}

// number reads a field that is no word, NaN where it is missing, or says what was expected.
func (d *valueReader) number(j int, r *schema.Role, field string) (v float64, expected string) {
	if r.Field == nil {
		r = &schema.Role{Field: new(schema.Field)}
	}
	numerals := d.layout.sheet.Given(j).Numerals
	v, ok := r.Field.Parse(field, numerals, r.Order)
	switch {
	case ok:
		return v, ""
	case lex.IsMissing(field) && r.Field.Fill != nil:
		return math.NaN(), ""
	}
	name := d.layout.sheet.Columns[j].Name
	expected, key, why := r.Field.Expectation(), "na."+name+"="+field, "if it stands for none"
	if r.Field.Kind == "" {
		expected = numerals.Expectation(field)
		if _, number := numerals.ParseLoosely(field); !number {
			key, why = "number="+name, "to take all others for missing, or category= for words"
		}
	}
	return 0, fmt.Sprintf("%s, or --table %s %s", expected, shellWord(key), why)
}
