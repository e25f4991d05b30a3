package sheet

import (
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"newtop/datasets/csv/lex"
)

// surveyor has a sheet filled in by several surveys, which look at a chunk each at a time.
type surveyor struct {
	sheet          *Sheet
	limit          int
	chunks         *lex.Chunker
	notCounting    []atomic.Bool // of each column: whether it does not count the rows
	tooManyNumbers []atomic.Bool // of each column: whether there are too many different numbers
	tooManyWords   []atomic.Bool // of each column: whether there are too many different words
	ids            []int         // the columns that are called like identifiers

	mu        sync.Mutex // of what follows
	ends      []chunkEnd // of each chunk
	zero      found      // the first zero byte
	other     found      // the first other byte that is not UTF-8
	fault     found      // the first other fault
	lastChunk atomic.Int64
}

// chunkEnd is how many rows a chunk has, and where the last one starts.
type chunkEnd struct {
	rows, source, line int
	countingRuns       []countingRun
}

// countingRun is that the numbers of a column count the rows of a chunk by one from the first.
type countingRun struct {
	column int
	first  float64
}

// found is an error and the index of its chunk.
type found struct {
	index int
	err   error
}

// run surveys the chunks, or checks only that they are text. Some rows are looked at before several continue, so that
// columns of many different numbers are known to be such, which are not collected then.
func (v *surveyor) run(checkOnly bool) error {
	v.lastChunk.Store(1 << 62)
	if checkOnly {
		v.lastChunk.Store(-1)
	}
	s := v.sheet
	v.notCounting, v.tooManyNumbers, v.tooManyWords = make([]atomic.Bool, len(s.Columns)), make(
		[]atomic.Bool, len(s.Columns)), make(
		[]atomic.Bool, len(s.Columns))
	for j := range s.Columns {
		if s.Columns[j].NamedLikeIdentifier() {
			v.ids = append(v.ids, j)
		}
	}
	base := v.newTally(nil)
	var err error
	for n := 0; n < 64 && (base.seen <= maxNumbers || s.Workers == 1) || v.limit > 0; n++ {
		var k *lex.Chunk
		if k, err = v.chunks.Next(); err != nil {
			break
		}
		if err = base.surveyChunk(k); err != nil {
			break
		}
		v.chunks.Release(k)
	}
	tallies := []*tally{base}
	if err == nil {
		for range s.Workers {
			tallies = append(tallies, v.newTally(base))
		}
		err = v.chunks.Each(s.Workers, func(worker int, k *lex.Chunk) error { return tallies[1+worker].surveyChunk(k) })
	}
	if err == io.EOF {
		err = nil
	}
	if err := v.firstFault(err); err != nil {
		return err
	}
	v.finish(tallies)
	return nil
}

// firstFault returns the fault that counts, err where there is none before it.
func (v *surveyor) firstFault(err error) error {
	switch {
	case err != nil && !lex.IsFormatError(err):
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
	s.Rows, s.chunkSource, s.RowsBefore = 0, nil, make([]int, len(v.ends)+1)
	for i, end := range v.ends {
		s.Rows += end.rows
		s.RowsBefore[i+1] = s.Rows
		s.chunkSource = append(s.chunkSource, end.source)
		if end.rows > 0 {
			s.LastFile, s.LastLine = s.Sources[end.source].Name, end.line
		}
	}
	for j := range s.Columns {
		v.joinColumn(j, tallies)
	}
	v.findCountingColumns()
}

// joinColumn puts together what the surveys have seen of a column.
func (v *surveyor) joinColumn(j int, tallies []*tally) {
	c := &v.sheet.Columns[j]
	*c = Column{Name: c.Name, Unnamed: c.Unnamed, grouped: true}
	var distinct *sketch
	c.Values, c.Counts, c.Orders, c.Whole = make(map[string]struct{}), make(map[string]int), make(
		map[lex.DateOrder]int), true
	c.Dress = make(map[string]*Dress)
	for _, t := range tallies {
		of := &t.columns[j]
		c.Words, c.Missing, c.TrainMissing = c.Words+of.words, c.Missing+of.missing, c.TrainMissing+of.trainMissing
		c.Whole = c.Whole && !of.fractions
		c.Dates, c.Timed = c.Dates+of.dates, c.Timed+of.timed
		for i, o := range lex.DateOrders {
			c.Orders[o] += of.orders[i]
		}
		c.joinDress(of)
		maps.Copy(c.Values, of.values)
		t.addBytesTo(j, c.Values)
		for text, w := range of.counts {
			c.Counts[text] += w.rows
		}
		if of.sketch != nil {
			if distinct == nil {
				distinct = new(sketch)
			}
			distinct.join(of.sketch)
		}
	}
	c.Numbers = v.sheet.Rows - c.Words - c.Missing
	c.TooManyNumbers = v.tooManyNumbers[j].Load() || len(c.Values) > maxNumbers
	c.TooManyWords = v.tooManyWords[j].Load() || len(c.Counts) > MaxWords
	c.Distinct = len(c.Values) + len(c.Counts)
	if c.TooManyWords || slices.Contains(v.ids, j) && c.TooManyNumbers {
		if distinct == nil {
			distinct = new(sketch)
		}
		for text := range c.Counts {
			distinct.add([]byte(text))
		}
		c.Distinct = distinct.count()
	}
	if c.TooManyNumbers {
		c.Values = nil
	}
	if c.TooManyWords {
		c.Counts = nil
	}
}

// findCountingColumns finds out which columns count the rows of each source, one after the other.
func (v *surveyor) findCountingColumns() {
	s := v.sheet
	next, alive := make(map[int]float64), make(map[int]bool)
	for j := range s.Columns {
		alive[j] = !v.notCounting[j].Load()
	}
	source := -1
	for _, end := range v.ends {
		if end.rows == 0 {
			continue
		}
		for _, r := range end.countingRuns {
			switch {
			case source < 0:
				s.Columns[r.column].firstNumber = r.first
			case source == end.source && r.first != next[r.column]:
				alive[r.column] = false
			}
			next[r.column] = r.first + float64(end.rows)
		}
		source = end.source
	}
	for j := range s.Columns {
		s.Columns[j].CountsRows = alive[j] && s.Rows > 1
	}
}
