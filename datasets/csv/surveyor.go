package csv

import (
	"io"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"newtop/datasets/fault"
)

// surveyor has a sheet filled in by several surveys, which look at a chunk each at a time.
type surveyor struct {
	sheet   *Sheet
	limit   int
	chunks  *chunker
	crowded []atomic.Bool // of each column: whether there are too many different fields

	mu    sync.Mutex // of what follows
	ends  []chunkEnd // of each chunk
	zero  found      // the first zero byte
	other found      // the first other byte that is not UTF-8
	fault found      // the first other fault
	until atomic.Int64
}

// chunkEnd is how many rows a chunk has, and where the last one starts.
type chunkEnd struct{ rows, source, line int }

// found is an error and the index of its chunk.
type found struct {
	index int
	err   error
}

// tally is what one of several surveys has seen of the columns.
type tally struct {
	of      *surveyor
	base    *tally // that was done before, whose fields need not be kept again; nil for the first
	rows    rows
	seen    int // rows
	columns []columnTally
	small   [][4]uint64 // of each column: which numbers from 0 to 255 there are
}

type columnTally struct {
	words, width, distinct int
	values                 map[string]struct{} // but the small numbers
}

// run surveys the chunks, or checks only that they are text. Some rows are looked at before several go on, so that columns of
// many different numbers are known to be such, which are not collected then.
func (v *surveyor) run(checkOnly bool) error {
	v.until.Store(1 << 62)
	if checkOnly {
		v.until.Store(-1)
	}
	s := v.sheet
	v.crowded = make([]atomic.Bool, len(s.columns))
	base := v.newTally(nil)
	var err error
	for n := 0; n < 64 && (base.seen <= maxCategories || s.workers == 1) || v.limit > 0; n++ {
		var k *chunk
		if k, err = v.chunks.next(); err != nil {
			break
		}
		if err = base.survey(k); err != nil {
			break
		}
		v.chunks.free(k)
	}
	tallies := []*tally{base}
	if err == nil {
		for range s.workers {
			tallies = append(tallies, v.newTally(base))
		}
		err = v.chunks.each(s.workers, func(worker int, k *chunk) error { return tallies[1+worker].survey(k) })
	}
	if err == io.EOF {
		err = nil
	}
	if err := v.verdict(err); err != nil {
		return err
	}
	v.finish(tallies)
	return nil
}

func (v *surveyor) newTally(base *tally) *tally {
	columns := len(v.sheet.columns)
	t := &tally{of: v, base: base, rows: rows{comma: byte(v.sheet.comma)}, columns: make([]columnTally, columns), small: make([][4]uint64, columns)}
	if base != nil {
		copy(t.small, base.small)
		for j := range t.columns {
			t.columns[j].distinct = base.columns[j].distinct
		}
	}
	return t
}

// verdict returns the fault that counts, err where there is none before it.
func (v *surveyor) verdict(err error) error {
	switch {
	case err != nil && !isFormat(err):
		return err
	case v.zero.err != nil:
		return v.zero.err
	case v.other.err != nil:
		return v.other.err
	case v.fault.err != nil:
		return v.fault.err
	}
	return err
}

// finish puts together what the surveys have seen.
func (v *surveyor) finish(tallies []*tally) {
	s := v.sheet
	s.before = make([]int, len(v.ends)+1)
	for i, end := range v.ends {
		s.Rows += end.rows
		s.before[i+1] = s.Rows
		if end.rows > 0 {
			s.LastFile, s.LastLine = s.sources[end.source].Name, end.line
		}
	}
	for j := range s.columns {
		c := &s.columns[j]
		var small [4]uint64
		c.values = make(map[string]struct{})
		for _, t := range tallies {
			of := &t.columns[j]
			c.words += of.words
			c.width = max(c.width, of.width)
			maps.Copy(c.values, of.values)
			for i, b := range t.small[j] {
				small[i] |= b
			}
		}
		c.numbers = s.Rows - c.words
		for i, b := range small {
			for ; b != 0; b &= b - 1 {
				c.values[strconv.Itoa(64*i+bits.TrailingZeros64(b))] = struct{}{}
			}
		}
		if c.crowded = v.crowded[j].Load() || len(c.values) > maxCategories; c.crowded {
			c.values = nil
		}
	}
}

// survey looks at a chunk. Its error ends the survey; other faults are kept, since a byte that is no text counts before them.
func (t *tally) survey(k *chunk) error {
	v := t.of
	file := v.sheet.sources[k.source].Name
	zero, other := badBytes(k.text)
	var end chunkEnd
	var err error
	if int64(k.index) <= v.until.Load() {
		end, err = t.countRows(k)
	}
	if k.endless {
		err = rowFault(file, k.line, errLongRow)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if zero != nil {
		v.zero.keep(k.index, notText(file, k.line+zero.line, 0))
	}
	if other != nil {
		v.other.keep(k.index, notText(file, k.line+other.line, other.byte))
	}
	if err != nil {
		v.fault.keep(k.index, err)
		v.until.Store(min(v.until.Load(), int64(k.index)))
	}
	v.ends = slices.Grow(v.ends, max(k.index+1-len(v.ends), 0))[:max(k.index+1, len(v.ends))]
	v.ends[k.index] = end
	if k.endless {
		return err
	}
	return nil
}

func (f *found) keep(index int, err error) {
	if f.err == nil || index < f.index {
		*f = found{index, err}
	}
}

// countRows goes through the rows of a chunk.
func (t *tally) countRows(k *chunk) (end chunkEnd, err error) {
	s := t.of.sheet
	file := s.sources[k.source].Name
	r := &t.rows
	end.source = k.source
	r.reset(k)
	for i := 0; t.of.limit == 0 || t.seen < t.of.limit; i++ {
		more, err := r.next()
		if err != nil {
			return end, rowFault(file, r.line, err)
		}
		if !more && i == 0 && k.first {
			return end, rowFault(file, 1, io.EOF)
		}
		if !more {
			break
		}
		if i == 0 && k.first && s.header {
			if err := s.checkHeader(file, r); err != nil {
				return end, err
			}
			continue
		}
		if r.fields != len(s.columns) {
			return end, raggedRow(file, r.line, r.fields, len(s.columns))
		}
		if err := t.see(file); err != nil {
			return end, err
		}
		t.seen++
		end.rows++
		end.line = r.line
	}
	return end, nil
}

// see looks at the fields of the row.
func (t *tally) see(file string) error {
	r := &t.rows
	for j, k := range r.kinds[:r.fields] {
		if k == small {
			v := uint8(r.values[j])
			if b := &t.small[j][v/64]; *b&(1<<(v%64)) == 0 {
				*b |= 1 << (v % 64)
				c := &t.columns[j]
				c.width = max(c.width, 1)
				t.another(j)
			}
			continue
		}
		c, field, v, number := &t.columns[j], r.field(j), r.values[j], true
		if k == word && c.width == 8 && decimalForm(field) {
			t.note(j, field)
			continue
		}
		if k == word {
			if missing(field) {
				return &fault.FormatError{File: file, Line: r.lineOf(j), Column: t.of.sheet.columns[j].name,
					Found: "a missing value (" + fault.Quote(string(field)) + ")", Expected: "a number or a category"}
			}
			v, number = likeNumber(string(field))
		}
		if number {
			c.width = max(c.width, narrowest(v))
		} else {
			c.words++
		}
		t.note(j, field)
	}
	return nil
}

// note keeps a field that was not seen before.
func (t *tally) note(j int, field []byte) {
	c := &t.columns[j]
	if t.of.crowded[j].Load() {
		c.values = nil
		return
	}
	if t.base != nil {
		if _, ok := t.base.columns[j].values[string(field)]; ok {
			return
		}
	}
	if _, ok := c.values[string(field)]; ok {
		return
	}
	if c.values == nil {
		c.values = make(map[string]struct{})
	}
	c.values[string(field)] = struct{}{}
	t.another(j)
}

// another counts a different field.
func (t *tally) another(j int) {
	c := &t.columns[j]
	if c.distinct++; c.distinct > maxCategories {
		t.of.crowded[j].Store(true)
		c.values = nil
	}
}
