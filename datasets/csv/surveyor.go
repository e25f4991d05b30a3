package csv

import (
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// surveyor has a sheet filled in by several surveys, which look at a chunk each at a time.
type surveyor struct {
	sheet          *Sheet
	limit          int
	chunks         *chunker
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

// run surveys the chunks, or checks only that they are text. Some rows are looked at before several go on, so that
// columns of many different numbers are known to be such, which are not collected then.
func (v *surveyor) run(checkOnly bool) error {
	v.lastChunk.Store(1 << 62)
	if checkOnly {
		v.lastChunk.Store(-1)
	}
	s := v.sheet
	v.notCounting, v.tooManyNumbers, v.tooManyWords = make([]atomic.Bool, len(s.columns)), make([]atomic.Bool, len(s.columns)), make(
		[]atomic.Bool, len(s.columns))
	for j := range s.columns {
		if s.columns[j].namedLikeIdentifier() {
			v.ids = append(v.ids, j)
		}
	}
	base := v.newTally(nil)
	var err error
	for n := 0; n < 64 && (base.seen <= maxNumbers || s.workers == 1) || v.limit > 0; n++ {
		var k *chunk
		if k, err = v.chunks.next(); err != nil {
			break
		}
		if err = base.surveyChunk(k); err != nil {
			break
		}
		v.chunks.release(k)
	}
	tallies := []*tally{base}
	if err == nil {
		for range s.workers {
			tallies = append(tallies, v.newTally(base))
		}
		err = v.chunks.each(s.workers, func(worker int, k *chunk) error { return tallies[1+worker].surveyChunk(k) })
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
	case err != nil && !isFormatError(err):
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
	s.rowsBefore = make([]int, len(v.ends)+1)
	for i, end := range v.ends {
		s.Rows += end.rows
		s.rowsBefore[i+1] = s.Rows
		s.chunkSource = append(s.chunkSource, end.source)
		if end.rows > 0 {
			s.LastFile, s.LastLine = s.sources[end.source].Name, end.line
		}
	}
	for j := range s.columns {
		v.joinColumn(j, tallies)
	}
	v.findCountingColumns()
}

// joinColumn puts together what the surveys have seen of a column.
func (v *surveyor) joinColumn(j int, tallies []*tally) {
	c := &v.sheet.columns[j]
	var distinct *sketch
	c.values, c.counts, c.orders, c.whole = make(map[string]struct{}), make(map[string]int), make(map[dateOrder]int), true
	for _, t := range tallies {
		of := &t.columns[j]
		c.words, c.missing, c.trainMissing = c.words+of.words, c.missing+of.missing, c.trainMissing+of.trainMissing
		c.width = max(c.width, of.width)
		c.whole = c.whole && !of.fractions
		c.dates, c.timed = c.dates+of.dates, c.timed+of.timed
		for _, o := range []dateOrder{yearFirst, dayFirst, monthFirst} {
			c.orders[o] += of.orders[o]
		}
		for i, n := range of.styles {
			c.styles[i] += n
		}
		maps.Copy(c.values, of.values)
		t.addBytesTo(j, c.values)
		for text, w := range of.counts {
			c.counts[text] += w.rows
		}
		if of.sketch != nil {
			if distinct == nil {
				distinct = new(sketch)
			}
			distinct.join(of.sketch)
		}
	}
	c.numbers = v.sheet.Rows - c.words - c.missing
	c.tooManyNumbers = v.tooManyNumbers[j].Load() || len(c.values) > maxNumbers
	c.tooManyWords = v.tooManyWords[j].Load() || len(c.counts) > maxWords
	c.distinct = len(c.values) + len(c.counts)
	if c.tooManyWords || slices.Contains(v.ids, j) && c.tooManyNumbers {
		if distinct == nil {
			distinct = new(sketch)
		}
		for text := range c.counts {
			distinct.add([]byte(text))
		}
		c.distinct = distinct.count()
	}
	if c.tooManyNumbers {
		c.values = nil
	}
	if c.tooManyWords {
		c.counts = nil
	}
}

// findCountingColumns finds out which columns count the rows of each source, one after the other.
func (v *surveyor) findCountingColumns() {
	s := v.sheet
	next, alive := make(map[int]float64), make(map[int]bool)
	for j := range s.columns {
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
				s.columns[r.column].firstNumber = r.first
			case source == end.source && r.first != next[r.column]:
				alive[r.column] = false
			}
			next[r.column] = r.first + float64(end.rows)
		}
		source = end.source
	}
	for j := range s.columns {
		s.columns[j].countsRows = alive[j] && s.Rows > 1
	}
}
