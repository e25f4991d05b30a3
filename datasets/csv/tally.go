package csv

import (
	"bytes"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// tally is what one of several surveys has seen of the columns.
type tally struct {
	of              *surveyor
	base            *tally // that was done before, whose numbers need not be kept again; nil for the first
	rows            rows
	seen            int  // rows
	test            bool // whether the rows of the chunk are for testing
	columns         []columnTally
	bytes           [][4]uint64 // of each column: which numbers from 0 to 255 there are
	countingColumns []int       // the columns that count the rows of the chunk so far
	firstNumber     []float64   // of each column, if it is one of these: its first number in the chunk
}

type columnTally struct {
	words, missing, trainMissing int
	width, distinct              int
	values                       map[string]struct{} // numbers, but the small ones
	counts                       map[string]*wordTally
	sketch                       *sketch // of words where they are too many, and of what is called an identifier
	fractions                    bool    // whether what is called an identifier has any
	dates, timed                 int
	orders                       [monthFirst + 1]int
	styles                       [len(otherStyles)]int
}

// wordTally is a word, in how many rows to train on it is, and the date that it is.
type wordTally struct {
	rows   int
	date   date
	styles uint8 // a bit for each of otherStyles that it is a number in
}

func (v *surveyor) newTally(base *tally) *tally {
	columns := len(v.sheet.columns)
	t := &tally{of: v, base: base, rows: v.sheet.newRows(), columns: make([]columnTally, columns),
		bytes:           make([][4]uint64, columns),
		countingColumns: make([]int, 0, columns), firstNumber: make([]float64, columns)}
	if base != nil {
		copy(t.bytes, base.bytes)
		for j := range t.columns {
			t.columns[j].distinct = base.columns[j].distinct
		}
	}
	for _, j := range v.ids {
		t.columns[j].sketch = new(sketch)
	}
	return t
}

// addBytesTo adds the small numbers of a column to values.
func (t *tally) addBytesTo(j int, values map[string]struct{}) {
	for i, b := range t.bytes[j] {
		for ; b != 0; b &= b - 1 {
			values[strconv.Itoa(64*i+bits.TrailingZeros64(b))] = struct{}{}
		}
	}
}

// surveyChunk looks at a chunk. Its error ends the survey; other faults are kept, since a byte that is no text counts before
// them.
func (t *tally) surveyChunk(k *chunk) error {
	v := t.of
	file := v.sheet.sources[k.source].Name
	zero, other := findBadBytes(k.text)
	var end chunkEnd
	var err error
	if int64(k.index) <= v.lastChunk.Load() {
		end, err = t.countRows(k)
	}
	if k.oversized {
		err = rowError(file, k.line, errRowTooLong)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if zero != nil {
		v.zero.keepFirst(k.index, notTextError(file, k.line+zero.line, 0))
	}
	if other != nil {
		v.other.keepFirst(k.index, notTextError(file, k.line+other.line, other.byte))
	}
	if err != nil {
		v.fault.keepFirst(k.index, err)
		v.lastChunk.Store(min(v.lastChunk.Load(), int64(k.index)))
	}
	v.ends = slices.Grow(v.ends, max(k.index+1-len(v.ends), 0))[:max(k.index+1, len(v.ends))]
	v.ends[k.index] = end
	if k.oversized {
		return err
	}
	return nil
}

func (f *found) keepFirst(index int, err error) {
	if f.err == nil || index < f.index {
		*f = found{index, err}
	}
}

// countRows goes through the rows of a chunk.
func (t *tally) countRows(k *chunk) (end chunkEnd, err error) {
	s := t.of.sheet
	file := s.sources[k.source].Name
	r := &t.rows
	end.source, t.test = k.source, s.sources[k.source].Test
	r.reset(k)
	t.countingColumns = t.countingColumns[:0]
	for j := range s.columns {
		if !t.of.notCounting[j].Load() {
			t.countingColumns = append(t.countingColumns, j)
		}
	}
	for i := 0; t.of.limit == 0 || t.seen < t.of.limit || t.test; i++ {
		more, err := r.next()
		if err != nil {
			return end, rowError(file, r.line, err)
		}
		if !more && i == 0 && k.first {
			return end, rowError(file, 1, io.EOF)
		}
		if !more {
			break
		}
		if i == 0 && k.first && s.hasHeader {
			if err := s.checkHeader(file, r); err != nil {
				return end, err
			}
			continue
		}
		if r.fields != len(s.columns) {
			return end, raggedRowError(file, r.line, r.fields, len(s.columns))
		}
		t.addRow()
		if len(t.countingColumns) > 0 {
			t.trackCounting(end.rows)
		}
		t.seen++
		end.rows++
		end.line = r.line
	}
	for _, j := range t.countingColumns {
		end.countingRuns = append(end.countingRuns, countingRun{j, t.firstNumber[j]})
	}
	return end, nil
}

// addRow looks at the fields of the row.
func (t *tally) addRow() {
	r := &t.rows
	for j, k := range r.kinds[:r.fields] {
		if k == kindByte {
			v := uint8(r.values[j])
			if b := &t.bytes[j][v/64]; *b&(1<<(v%64)) == 0 {
				*b |= 1 << (v % 64)
				c := &t.columns[j]
				c.width = max(c.width, 1)
				t.countDistinct(j)
			}
			continue
		}
		c, field, v := &t.columns[j], r.field(j), r.values[j]
		if k == kindWord {
			if c.width == 8 && r.numerals.usual() && looksDecimal(field) {
				t.addNumber(j, field)
				continue
			}
			if w, ok := c.counts[string(field)]; ok {
				t.countWord(c, w)
				continue
			}
			if isMissing(field) {
				c.missing++
				if !t.test {
					c.trainMissing++
				}
				continue
			}
			var number bool
			if v, number = r.numerals.parseLoosely(string(field)); !number {
				t.addWord(j, field)
				continue
			}
		}
		c.width = max(c.width, narrowest(v))
		t.addNumber(j, field)
	}
	for _, j := range t.of.ids {
		c, field := &t.columns[j], r.field(j)
		if r.kinds[j] != kindWord || looksDecimal(field) {
			c.sketch.add(field)
			c.fractions = c.fractions || bytes.ContainsAny(field, ".,eE")
		}
	}
}

// trackCounting finds out which columns count row i of the chunk.
func (t *tally) trackCounting(i int) {
	r, live := &t.rows, t.countingColumns[:0]
	for _, j := range t.countingColumns {
		v := r.values[j]
		if i == 0 {
			t.firstNumber[j] = v
		}
		if r.kinds[j] == kindWord || v != math.Trunc(v) || v != t.firstNumber[j]+float64(i) {
			t.of.notCounting[j].Store(true)
			continue
		}
		live = append(live, j)
	}
	t.countingColumns = live
}

// addNumber keeps a number that was not seen before.
func (t *tally) addNumber(j int, field []byte) {
	c := &t.columns[j]
	if t.of.tooManyNumbers[j].Load() {
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
	t.countDistinct(j)
}

// countDistinct counts a different number.
func (t *tally) countDistinct(j int) {
	c := &t.columns[j]
	if c.distinct++; c.distinct > maxNumbers {
		t.of.tooManyNumbers[j].Store(true)
		c.values = nil
	}
}

// addWord keeps a word that was not seen before.
func (t *tally) addWord(j int, field []byte) {
	c := &t.columns[j]
	w := &wordTally{date: readDate(string(field))}
	if field[0] >= '0' && field[0] <= '9' || field[0] == '-' {
		for i, style := range otherStyles {
			if plain, ok := style.normalize(t.rows.buffer, field); ok && looksDecimal(plain) {
				w.styles |= 1 << i
			}
		}
	}
	if t.of.tooManyWords[j].Load() {
		c.moveToSketch()
		c.sketch.add(field)
		t.countWord(c, w)
		return
	}
	if c.counts == nil {
		c.counts = make(map[string]*wordTally)
	}
	t.countWord(c, w)
	c.counts[string(field)] = w
	if len(c.counts) > maxWords {
		t.of.tooManyWords[j].Store(true)
		c.moveToSketch()
	}
}

// countWord counts a word.
func (t *tally) countWord(c *columnTally, w *wordTally) {
	c.words++
	if !t.test {
		w.rows++
	}
	for i := range otherStyles {
		c.styles[i] += int(w.styles >> i & 1)
	}
	if w.date.orders == 0 {
		return
	}
	c.dates++
	if w.date.timed {
		c.timed++
	}
	for _, o := range []dateOrder{yearFirst, dayFirst, monthFirst} {
		if w.date.orders&o != 0 {
			c.orders[o]++
		}
	}
}

// moveToSketch leaves the words, which are too many, to the sketch.
func (c *columnTally) moveToSketch() {
	if c.sketch == nil {
		c.sketch = new(sketch)
	}
	for text := range c.counts {
		c.sketch.add([]byte(text))
	}
	c.counts = nil
}
