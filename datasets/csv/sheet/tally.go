package sheet

import (
	"bytes"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"newtop/datasets/csv/lex"
)

// tally is what one of several surveys has seen of the columns.
type tally struct {
	of              *surveyor
	base            *tally // that was done before, whose numbers need not be kept again; nil for the first
	rows            lex.Rows
	seen            int  // rows
	test            bool // whether the rows of the chunk are for testing
	columns         []columnTally
	bytes           [][4]uint64 // of each column: which numbers from 0 to 255 there are
	countingColumns []int       // the columns that count the rows of the chunk so far
	firstNumber     []float64   // of each column, if it is one of these: its first number in the chunk
}

type columnTally struct {
	words, missing, trainMissing int
	distinct                     int
	values                       map[string]struct{} // numbers, but the small ones
	counts                       map[string]*wordTally
	sketch                       *sketch // of words where they are too many, and of what is called an identifier
	fractions                    bool    // whether there are any
	ungrouped                    bool    // whether there are points that part no thousands
	leadingZeros                 int
	minWidth, maxWidth           int32 // of numbers, in bytes
	dates, timed                 int
	orders                       [len(lex.DateOrders)]int
	dress                        map[string]*Dress // of each unit
}

// Dress counts words that are numbers with the same unit.
type Dress struct {
	In      []int // how many are in each of the styles
	Unclear int   // how many may have thousands or decimals behind the comma
	Coded   int   // how many look like codes
}

// maxUnits is how many units are counted.
const maxUnits = 16

// wordTally is a word, in how many rows to train on it is, and the date that it is.
type wordTally struct {
	rows   int
	date   lex.Date
	styles uint8 // a bit for each of the sheet's styles that it is a number in
	unit   string
	// unclear is that the comma may be before thousands or decimals
	unclear, coded bool
}

func (v *surveyor) newTally(base *tally) *tally {
	columns := len(v.sheet.Columns)
	t := &tally{of: v, base: base, rows: v.sheet.NewRows(), columns: make([]columnTally, columns),
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

// surveyChunk looks at a chunk. Its error ends the survey; other faults are kept, since a byte that is no text counts
// before them.
func (t *tally) surveyChunk(k *lex.Chunk) error {
	v := t.of
	file := v.sheet.Sources[k.Source].Name
	zero, other := lex.FindBadBytes(k.Text)
	var end chunkEnd
	var err error
	if int64(k.Index) <= v.lastChunk.Load() {
		end, err = t.countRows(k)
	}
	if k.Oversized {
		err = lex.RowError(file, k.Line, lex.ErrRowTooLong)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if zero != nil {
		v.zero.keepFirst(k.Index, lex.NotTextError(file, k.Line+zero.Line, 0))
	}
	if other != nil {
		v.other.keepFirst(k.Index, lex.NotTextError(file, k.Line+other.Line, other.Byte))
	}
	if err != nil {
		v.fault.keepFirst(k.Index, err)
		v.lastChunk.Store(min(v.lastChunk.Load(), int64(k.Index)))
	}
	v.ends = slices.Grow(v.ends, max(k.Index+1-len(v.ends), 0))[:max(k.Index+1, len(v.ends))]
	v.ends[k.Index] = end
	if k.Oversized {
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
func (t *tally) countRows(k *lex.Chunk) (end chunkEnd, err error) {
	s := t.of.sheet
	file := s.Sources[k.Source].Name
	r := &t.rows
	end.source, t.test = k.Source, s.Sources[k.Source].Test
	r.Reset(k)
	t.countingColumns = t.countingColumns[:0]
	for j := range s.Columns {
		if !t.of.notCounting[j].Load() {
			t.countingColumns = append(t.countingColumns, j)
		}
	}
	for i := 0; t.of.limit == 0 || t.seen < t.of.limit || t.test; i++ {
		more, err := r.Next()
		if err != nil {
			return end, lex.RowError(file, r.Line, err)
		}
		if !more && i == 0 && k.First {
			return end, lex.RowError(file, 1, io.EOF)
		}
		if !more {
			break
		}
		if i == 0 && k.First && s.HasHeader {
			if err := s.checkHeader(file, r); err != nil {
				return end, err
			}
			continue
		}
		if r.Fields != len(s.Columns) {
			return end, lex.RaggedRowError(file, r.Line, r.Fields, len(s.Columns))
		}
		t.addRow()
		if len(t.countingColumns) > 0 {
			t.trackCounting(end.rows)
		}
		t.seen++
		end.rows++
		end.line = r.Line
	}
	for _, j := range t.countingColumns {
		end.countingRuns = append(end.countingRuns, countingRun{j, t.firstNumber[j]})
	}
	return end, nil
}

// addRow looks at the fields of the row.
func (t *tally) addRow() {
	r := &t.rows
	for j, k := range r.Kinds[:r.Fields] {
		if k == lex.KindMissing {
			t.addMissing(j)
			continue
		}
		if k == lex.KindText {
			if w, ok := t.columns[j].counts[string(r.Field(j))]; ok {
				t.countWord(&t.columns[j], w)
			} else {
				t.addWord(j, r.Field(j))
			}
			continue
		}
		if k == lex.KindByte {
			v := uint8(r.Values[j])
			if b := &t.bytes[j][v/64]; *b&(1<<(v%64)) == 0 {
				*b |= 1 << (v % 64)
				t.countDistinct(j)
				t.columns[j].measure(r.Field(j), false)
			}
			continue
		}
		c, field := &t.columns[j], r.Field(j)
		if k == lex.KindWord && !(r.Numerals.Usual() && lex.LooksDecimal(field)) {
			if w, ok := c.counts[string(field)]; ok {
				t.countWord(c, w)
				continue
			}
			if lex.IsMissing(field) {
				t.addMissing(j)
				continue
			}
			if _, number := r.Numerals.ParseLoosely(string(field)); !number {
				t.addWord(j, field)
				continue
			}
		}
		v := r.Values[j]
		c.measure(field, k == lex.KindWord && bytes.IndexByte(field, '.') >= 0 || v != math.Trunc(v))
		t.addNumber(j, field)
	}
	for _, j := range t.of.ids {
		c, field := &t.columns[j], r.Field(j)
		if r.Kinds[j].Number() || r.Kinds[j] == lex.KindWord && lex.LooksDecimal(field) {
			c.sketch.add(field)
			c.fractions = c.fractions || bytes.ContainsAny(field, ".,eE")
		}
	}
}

// addMissing counts a field without a value.
func (t *tally) addMissing(j int) {
	c := &t.columns[j]
	c.missing++
	if !t.test {
		c.trainMissing++
	}
}

// measure looks at how a number is written.
func (c *columnTally) measure(field []byte, fraction bool) {
	width := int32(len(field))
	if c.maxWidth == 0 {
		c.minWidth = width
	}
	c.minWidth, c.maxWidth = min(c.minWidth, width), max(c.maxWidth, width)
	c.fractions = c.fractions || fraction
	if !c.ungrouped {
		i := bytes.LastIndexByte(field, '.')
		c.ungrouped = i >= 0 && (len(field)-i-1 != 3 || i < 1 || i > 4 || bytes.TrimLeft(field, "+-")[0] == '0')
	}
	if field[0] == '0' && len(field) > 1 && !bytes.ContainsAny(field, ".,eExX") {
		c.leadingZeros++
	}
}

// trackCounting finds out which columns count row i of the chunk.
func (t *tally) trackCounting(i int) {
	r, live := &t.rows, t.countingColumns[:0]
	for _, j := range t.countingColumns {
		v := r.Values[j]
		if i == 0 {
			t.firstNumber[j] = v
		}
		if !r.Kinds[j].Number() || v != math.Trunc(v) || v != t.firstNumber[j]+float64(i) {
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
	w := &wordTally{date: lex.ReadDate(string(field))}
	w.unit, w.styles = lex.Styles(string(field), t.of.sheet.styles)
	w.coded = w.styles != 0 && lex.LooksCoded(string(field))
	w.unclear = len(t.of.sheet.styles) > 1 && w.styles&3 == 3 && bytes.IndexByte(field, ',') >= 0
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
	if len(c.counts) > MaxWords {
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
	if w.styles != 0 {
		c.countDress(w, len(t.of.sheet.styles))
	}
	if w.date.Orders == 0 {
		return
	}
	c.dates++
	if w.date.Timed {
		c.timed++
	}
	for i, o := range lex.DateOrders {
		if w.date.Orders&o != 0 {
			c.orders[i]++
		}
	}
}

// countDress counts a word that is a number.
func (c *columnTally) countDress(w *wordTally, styles int) {
	d := c.dress[w.unit]
	if d == nil {
		if len(c.dress) == maxUnits {
			return
		}
		if c.dress == nil {
			c.dress = make(map[string]*Dress)
		}
		d = &Dress{In: make([]int, styles)}
		c.dress[w.unit] = d
	}
	for i := range d.In {
		d.In[i] += int(w.styles >> i & 1)
	}
	if w.unclear {
		d.Unclear++
	}
	if w.coded {
		d.Coded++
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
