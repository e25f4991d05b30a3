// Package survey describes tables: what their columns hold, what becomes of them, and which of them alone tell the target.
package survey

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Survey is what is told of a table.
type Survey struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Rows    int      `json:"rows"`
	Repeats int      `json:"repeated_rows"` // rows that are the same as one before
	Split   Split    `json:"split"`
	Target  string   `json:"target"`
	Classes []Word   `json:"classes,omitempty"` // nil for regression
	Inputs  int      `json:"inputs"`            // of the network
	Outputs int      `json:"outputs"`
	Columns []Column `json:"columns"`
	// Sampled is how many rows, drawn from all, medians, histograms and leaks are of; 0: of all.
	Sampled int      `json:"sampled_rows,omitempty"`
	Notes   []string `json:"notes"` // what the reader decided
}

// Split is how many rows are for what. Without counts those without a target, and others that are not used.
type Split struct {
	Train      int `json:"train"`
	Validation int `json:"validation"`
	Test       int `json:"test"`
	Without    int `json:"left_out"`
}

// Type is what the values of a column are.
type Type string

// The types.
const (
	Number     Type = "number"
	Whole      Type = "whole number"
	Category   Type = "category"
	Boolean    Type = "boolean"
	Date       Type = "date"
	Text       Type = "text"
	Identifier Type = "identifier"
	Constant   Type = "constant"
	Empty      Type = "empty"
)

// Role is what a column is used as.
type Role string

// The roles.
const (
	Input   Role = "input"
	Target  Role = "target"
	LeftOut Role = "left out"
)

// Column is what is told of a column. Of what is known before its values are seen, a caller of Gather fills in all above Differ.
type Column struct {
	Name    string   `json:"name"`
	Type    Type     `json:"type"` // Whole where Gather finds no fraction in a Number
	Role    Role     `json:"role"`
	Becomes string   `json:"becomes"` // the inputs, or why it is left out
	Inputs  int      `json:"inputs"`
	Words   []string `json:"-"` // that the numbers of words and classes stand for; nil for numbers

	Differ  int  `json:"distinct"` // different values, as the caller counted them or, for numbers, Gather did
	Least   bool `json:"distinct_at_least,omitempty"`
	Missing int  `json:"missing"`

	Min       *float64 `json:"min,omitempty"` // of dates in seconds from 1970
	Median    *float64 `json:"median,omitempty"`
	Mean      *float64 `json:"mean,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Frequent  []Word   `json:"frequent,omitempty"`  // words, the most frequent first
	Histogram []int    `json:"histogram,omitempty"` // of numbers: of equal parts of their range, or of each; else of Frequent
	// Alone is how well the column alone tells the target of rows that the rule was not fitted to: the share of the variance that it
	// explains, or of the errors of guessing the most frequent class that it saves. Nil where that is not known.
	Alone *float64 `json:"alone,omitempty"`
	Leak  Leak     `json:"leak,omitempty"`
}

// Leak says whether a column tells so much of the target that it may have been made from it.
type Leak string

// The degrees.
const (
	Suspect Leak = "suspect" // it tells mostAlone
	Likely  Leak = "likely"  // it tells nearly everything
)

const (
	suspectAlone = 0.9
	likelyAlone  = 0.98
)

// Word is a word and in how many rows it is.
type Word struct {
	Word string `json:"word"`
	Rows int    `json:"rows"`
}

// bars is how many parts a histogram has at most.
const bars = 10

// mostSampled bounds the values that are kept: 256 MiB.
const mostSampled = 1 << 25

// Gatherer goes through the values of a table.
type Gatherer struct {
	columns []Column
	rows    int
	counts  [][]*columnCounts // of each worker: of each column
	chunks  []chunkSums
	hashes  []uint64  // of each row
	place   []int32   // of each row: which of the sampled ones it is, or -1
	sample  []float64 // values of the sampled rows, column by column
	sampled int
	target  int
}

// columnCounts are how often each of a few values is there.
type columnCounts struct {
	small [256]int // numbers 0, 1, … 255
	words []int
}

// chunkSums are what is added up over some rows, apart from other rows so that the sums don't depend on the threads.
type chunkSums struct{ columns []sums }

type sums struct {
	n, mean  float64
	min, max float64
	fraction bool
}

// NewGatherer returns one for so many rows, in chunks that are each visited by one of some workers. Which column is the target
// is told by its role.
func NewGatherer(columns []Column, rows, chunks, workers int) *Gatherer {
	g := &Gatherer{columns: columns, rows: rows, counts: make([][]*columnCounts, workers), chunks: make([]chunkSums, chunks), hashes: make([]uint64, rows),
		place: make([]int32, rows)}
	g.target = slices.IndexFunc(columns, func(c Column) bool { return c.Role == Target })
	for w := range g.counts {
		g.counts[w] = make([]*columnCounts, len(columns))
		for j := range columns {
			g.counts[w][j] = &columnCounts{words: make([]int, len(columns[j].Words))}
		}
	}
	g.draw(max(mostSampled/max(len(columns), 1), 10_000))
	return g
}

// draw picks about so many rows: those whose number, mixed, is low.
func (g *Gatherer) draw(most int) {
	share := uint64(math.MaxUint64)
	if g.rows > most {
		share = math.MaxUint64 / uint64(g.rows) * uint64(most)
	}
	for i := range g.place {
		g.place[i] = -1
		if mixed(uint64(i)) <= share {
			g.place[i] = int32(g.sampled)
			g.sampled++
		}
	}
	g.sample = make([]float64, g.sampled*len(g.columns))
}

// mixed returns a number all of whose bits depend on all bits of i, see S. Vigna, "splitmix64".
func mixed(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

// Add adds a row: its number, a value for each column, NaN for a missing one and the number of a word, and what tells it from other rows.
// Each worker has one goroutine at a time, and each chunk one worker, which adds its rows in order.
func (g *Gatherer) Add(worker, chunk, row int, values []float64, hash uint64) {
	g.hashes[row] = hash
	s := &g.chunks[chunk]
	if s.columns == nil {
		s.columns = make([]sums, len(values))
	}
	place := int(g.place[row])
	for j, v := range values {
		if place >= 0 {
			g.sample[j*g.sampled+place] = v
		}
		if v != v {
			continue
		}
		c := g.counts[worker][j]
		if len(c.words) > 0 {
			c.words[int(v)]++
			continue
		}
		s.columns[j].add(v)
		if v >= 0 && v <= math.MaxUint8 && v == math.Trunc(v) {
			c.small[int(v)]++
		}
	}
}

func (s *sums) add(v float64) {
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.n++
	s.mean += (v - s.mean) / s.n
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.fraction = s.fraction || v != math.Trunc(v)
}

func (s *sums) join(o *sums) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = *o
		return
	}
	s.n += o.n
	s.mean += (o.mean - s.mean) * (o.n / s.n)
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.fraction = s.fraction || o.fraction
}

// Finish returns the columns with all that is known of them, and how many rows come again. It is called once.
func (g *Gatherer) Finish() (columns []Column, repeats, sampled int) {
	var all sync.WaitGroup
	next := make(chan int)
	for range len(g.counts) {
		all.Go(func() {
			for j := range next {
				g.finish(j)
			}
		})
	}
	for j := range g.columns {
		next <- j
	}
	close(next)
	all.Wait()
	slices.Sort(g.hashes)
	for i := 1; i < len(g.hashes); i++ {
		if g.hashes[i] == g.hashes[i-1] {
			repeats++
		}
	}
	if g.sampled < g.rows {
		sampled = g.sampled
	}
	return g.columns, repeats, sampled
}

// values returns the sampled values of a column.
func (g *Gatherer) values(j int) []float64 { return g.sample[j*g.sampled : (j+1)*g.sampled] }

// finish completes a column.
func (g *Gatherer) finish(j int) {
	c := &g.columns[j]
	if c.Words != nil {
		g.finishWords(j)
	} else if c.Type != Text && c.Type != Empty {
		g.finishNumbers(j)
	}
	if g.target >= 0 && j != g.target && c.Role == Input && c.Type != Constant {
		c.Alone = alone(g.values(j), g.values(g.target), g.columns[g.target].Words)
		switch {
		case c.Alone == nil:
		case *c.Alone >= likelyAlone:
			c.Leak = Likely
		case *c.Alone >= suspectAlone:
			c.Leak = Suspect
		}
	}
}

// mostFrequent is how many words are told.
const mostFrequent = 20

func (g *Gatherer) finishWords(j int) {
	c := &g.columns[j]
	for k, word := range c.Words {
		rows := 0
		for w := range g.counts {
			rows += g.counts[w][j].words[k]
		}
		if rows > 0 {
			c.Frequent = append(c.Frequent, Word{word, rows})
		}
	}
	c.Differ = len(c.Frequent)
	slices.SortStableFunc(c.Frequent, func(a, b Word) int { return cmp.Compare(b.Rows, a.Rows) })
	c.Frequent = c.Frequent[:min(len(c.Frequent), mostFrequent)]
	for _, w := range c.Frequent[:min(len(c.Frequent), bars)] {
		c.Histogram = append(c.Histogram, w.Rows)
	}
}

func (g *Gatherer) finishNumbers(j int) {
	c := &g.columns[j]
	var all sums
	for i := range g.chunks {
		if g.chunks[i].columns != nil {
			all.join(&g.chunks[i].columns[j])
		}
	}
	if all.n == 0 {
		return
	}
	if c.Type == Number && !all.fraction {
		c.Type = Whole
	}
	var small [256]int
	low := 0
	for w := range g.counts {
		for k, n := range g.counts[w][j].small {
			small[k] += n
			low += n
		}
	}
	var median float64
	if low == int(all.n) { // so that all are known
		median = smallMedian(&small, low)
		c.Histogram, c.Differ, c.Least = smallHistogram(&small)
	} else {
		sorted := slices.Clone(g.values(j))
		sorted = slices.DeleteFunc(sorted, math.IsNaN)
		slices.Sort(sorted)
		median = middle(sorted)
		c.Differ, c.Least = differ(sorted), g.sampled < g.rows
		c.Histogram = histogram(sorted, all.min, all.max, c.Type == Whole)
	}
	c.Min, c.Median, c.Mean, c.Max = &all.min, &median, &all.mean, &all.max
}

// smallMedian returns the median of n counted numbers.
func smallMedian(small *[256]int, n int) float64 {
	at := func(i int) float64 {
		for k, count := range small {
			if i -= count; i < 0 {
				return float64(k)
			}
		}
		panic("survey: fewer values than were counted")
	}
	return (at((n-1)/2) + at(n/2)) / 2
}

// middle returns the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

func differ(sorted []float64) (n int) {
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			n++
		}
	}
	return n
}

// smallHistogram returns how many values there are in equal parts of their range.
func smallHistogram(small *[256]int) (h []int, differ int, least bool) {
	lowest, highest := -1, 0
	for k, n := range small {
		if n > 0 {
			differ++
			highest = k
			if lowest < 0 {
				lowest = k
			}
		}
	}
	h = make([]int, parts(float64(lowest), float64(highest), true))
	for k, n := range small {
		if n > 0 {
			h[part(float64(k), float64(lowest), float64(highest), len(h), true)] += n
		}
	}
	return h, differ, false
}

func histogram(values []float64, lowest, highest float64, whole bool) []int {
	h := make([]int, parts(lowest, highest, whole))
	for _, v := range values {
		h[part(v, lowest, highest, len(h), whole)]++
	}
	return h
}

// parts returns how many parts a range has: one for each whole number, if they are few.
func parts(lowest, highest float64, whole bool) int {
	switch {
	case lowest == highest:
		return 1
	case whole && highest-lowest < bars:
		return int(highest-lowest) + 1
	}
	return bars
}

// part returns the part of a range that a value is in.
func part(v, lowest, highest float64, n int, whole bool) int {
	if whole && highest-lowest < float64(n) {
		return int(v - lowest)
	}
	return min(int((v/2-lowest/2)/(highest/2-lowest/2)*float64(n)), n-1) // halves, whose difference is finite
}
