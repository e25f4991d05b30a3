// Package survey describes data sets: what their columns hold, what becomes of them, and which of them alone tell the
// target.
package survey

import (
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"newtop/datasets"
	"newtop/datasets/csv"
	"newtop/datasets/csv/schema"
	"newtop/internal/routine"
)

// Survey is what is told of a data set.
type Survey struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Train      int    `json:"training_rows"`
	Validation int    `json:"validation_rows"`
	Test       int    `json:"test_rows"`
	Repeated   int    `json:"repeated_rows"`  // rows whose inputs and target are those of a row before
	Seen       int    `json:"test_rows_seen"` // test rows that are so
	// rows that medians, histograms, counts of different values and leaks are of
	Sampled  int      `json:"sampled_rows"`
	Scaling  string   `json:"scaling"`            // of the inputs
	Inputs   int      `json:"inputs"`             // of a network
	Outputs  int      `json:"outputs"`            // of a network
	Classes  []Word   `json:"classes,omitempty"`  // in how many rows each is; nil for regression
	Features []string `json:"features,omitempty"` // what gates of a mixture may look at
	Columns  []Column `json:"columns"`            // in the order of the file
	Notes    []string `json:"notes"`              // what the reader decided
	targets  []float64
	rows     []int // that are sampled, of all
}

// Column is what is told of a column.
type Column struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // Whole, or as the reader says
	Target  bool     `json:"target,omitempty"`
	Inputs  []string `json:"inputs"`             // what it becomes
	LeftOut string   `json:"left_out,omitempty"` // why it is no input

	Missing  int  `json:"missing"`
	Distinct int  `json:"distinct"`
	AtLeast  bool `json:"distinct_at_least,omitempty"` // there may be more

	Min      *float64 `json:"min,omitempty"` // of dates: of years
	Median   *float64 `json:"median,omitempty"`
	Mean     *float64 `json:"mean,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Frequent []Word   `json:"frequent,omitempty"` // words, the most frequent first
	// rows in equal parts of the range, or with each of the frequent words
	Histogram []int `json:"histogram,omitempty"`
	// Alone is how well the column by itself tells the target of rows that the rule was not fitted to: the share of the
	// variance that it explains, or of the errors of guessing the most frequent class that it saves. Nil where that is
	// not known.
	Alone *float64 `json:"alone,omitempty"`
	Leak  bool     `json:"leak,omitempty"` // it tells so much that it may have been made from the target
	at    int      // its first input
}

// Word is a word and in how many rows it is.
type Word struct {
	Word string `json:"word"`
	Rows int    `json:"rows"`
}

// Whole is the type of numbers without fractions.
const Whole = "whole"

const (
	leak = 0.9 // what a column tells alone to be a leak

	Bars = 10 // parts of a histogram at most
)

// Of describes a data set.
func Of(d *datasets.Dataset) *Survey {
	s := &Survey{Name: d.Name, Title: d.Title, Train: d.Train.Rows(), Validation: d.Validation.Rows(),
		Test: d.Test.Rows(), Scaling: string(d.InputScaling.Kind),
		Inputs: d.Inputs(), Outputs: d.Outputs(), Notes: append([]string{}, d.Notes...)}
	for _, f := range d.Features {
		s.Features = append(s.Features, f.Name)
	}
	s.sample(d)
	s.repeats(d)
	for _, name := range d.Classes {
		s.Classes = append(s.Classes, Word{Word: name})
	}
	for part := range datasets.Part(datasets.Parts) {
		for _, label := range d.Split(part).Labels {
			s.Classes[label].Rows++
		}
	}
	s.list(d)
	s.measure(d)
	return s
}

// sample picks evenly some of the rows, and their targets.
func (s *Survey) sample(d *datasets.Dataset) {
	all := s.Train + s.Validation + s.Test
	for i := range min(all, maxRows) {
		s.rows = append(s.rows, i*all/min(all, maxRows))
	}
	s.Sampled = len(s.rows)
	if d.Outputs() == 1 || d.Classes != nil {
		s.targets = make([]float64, len(s.rows))
		for i, row := range s.rows {
			split, at := s.find(d, row)
			if d.Classes != nil {
				s.targets[i] = float64(split.Labels[at])
			} else {
				s.targets[i] = split.Targets.At(at, 0)
			}
		}
	}
}

// find returns where one of all rows is.
func (s *Survey) find(d *datasets.Dataset, row int) (split *datasets.Split, at int) {
	for part := range datasets.Part(datasets.Parts) {
		split = d.Split(part)
		if row < split.Rows() {
			break
		}
		row -= split.Rows()
	}
	return split, row
}

// repeats counts rows that are there again.
func (s *Survey) repeats(d *datasets.Dataset) {
	seed, seen := maphash.MakeSeed(), make(map[uint64]bool, s.Train)
	for part := range datasets.Part(datasets.Parts) {
		split := d.Split(part)
		for i := range split.Rows() {
			var h maphash.Hash
			h.SetSeed(seed)
			for _, v := range split.Inputs.RawRowView(i) {
				maphash.WriteComparable(&h, v)
			}
			for _, v := range split.Targets.RawRowView(i) {
				maphash.WriteComparable(&h, v)
			}
			sum := h.Sum64()
			if seen[sum] {
				s.Repeated++
				if part == datasets.Test {
					s.Seen++
				}
			}
			seen[sum] = true
		}
	}
}

// list names the columns: those of the file, or else the inputs and targets themselves.
func (s *Survey) list(d *datasets.Dataset) {
	if d.Facts == nil {
		for j, name := range d.InputNames {
			s.Columns = append(s.Columns, Column{Name: name, Type: csv.Numbers, Inputs: []string{name}, at: j})
		}
		for j, name := range d.TargetNames {
			if d.Classes == nil {
				s.Columns = append(s.Columns, Column{Name: name, Type: csv.Numbers, Target: true, at: j})
			}
		}
		return
	}
	fields, at := d.Table.Fields, 0
	for j, f := range d.Facts {
		c := Column{Name: f.Name, Type: f.Kind, Missing: f.Missing, Distinct: f.Distinct, LeftOut: f.Reason, at: at}
		for i, w := range f.Words {
			c.Frequent = append(c.Frequent, Word(w))
			if i < Bars {
				c.Histogram = append(c.Histogram, w.Rows)
			}
		}
		if c.Target = j == d.Table.TargetColumn-1; c.Target {
			c.at = 0
		} else {
			c.Inputs = fields[0].InputNames(d.Table.Target, d.Classes)
			at += len(c.Inputs)
			fields = fields[1:]
		}
		s.Columns = append(s.Columns, c)
	}
}

// measure looks at the values of the columns, several at a time.
func (s *Survey) measure(d *datasets.Dataset) {
	var all sync.WaitGroup
	next := make(chan *Column)
	for range runtime.GOMAXPROCS(0) {
		all.Go(routine.Guard(func() {
			for c := range next {
				s.complete(d, c)
			}
		}))
	}
	for j := range s.Columns {
		next <- &s.Columns[j]
	}
	close(next)
	all.Wait()
}

// complete adds to a column what the rows tell of it.
func (s *Survey) complete(d *datasets.Dataset, c *Column) {
	switch {
	case c.Target && d.Classes != nil:
		if c.Frequent == nil { // numbers that are classes
			for _, w := range s.Classes[:min(len(s.Classes), Bars)] {
				c.Histogram = append(c.Histogram, w.Rows)
			}
		}
		return
	case c.LeftOut != "":
		return
	}
	numbers := c.Type == csv.Numbers || c.Type == schema.Date || c.Type == schema.Time
	if numbers {
		s.describe(d, c)
	}
	if c.Target || s.targets == nil {
		return
	}
	values := make([]float64, len(s.rows))
	if numbers && len(c.Inputs) <= 2 {
		for i, row := range s.rows {
			values[i] = s.value(d, c, row)
		}
	} else {
		s.coded(d, c, values)
	}
	if c.Alone = alone(values, s.targets, len(s.Classes)); c.Alone != nil {
		c.Leak = *c.Alone >= leak
	}
}

// value returns a number of a row as it is in the file, NaN where it is missing and another input tells so.
func (s *Survey) value(d *datasets.Dataset, c *Column, row int) float64 {
	split, i := s.find(d, row)
	values, scaling, j := split.Inputs, &d.InputScaling, c.at
	if c.Target {
		values, scaling = split.Targets, &d.TargetScaling
	} else if last := c.at + len(c.Inputs) - 1; c.Missing > 0 && last > c.at &&
		d.InputNames[last] == c.Name+" missing" && values.At(i, last)*scaling.Scale[last]+scaling.Offset[last] > 0.5 {
		return math.NaN()
	}
	return rounded(values.At(i, j)*scaling.Scale[j] + scaling.Offset[j])
}

// rounded takes away what scaling and its inverse add to a number.
func rounded(v float64) float64 {
	if near := math.Round(v); math.Abs(v-near) <= 1e-9*max(1, math.Abs(v)) {
		return near + 0 // no −0
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return v
}

// coded numbers the different inputs that a column becomes.
func (s *Survey) coded(d *datasets.Dataset, c *Column, values []float64) {
	seed, codes := maphash.MakeSeed(), make(map[uint64]float64)
	for k, row := range s.rows {
		split, i := s.find(d, row)
		var h maphash.Hash
		h.SetSeed(seed)
		for _, v := range split.Inputs.RawRowView(i)[c.at : c.at+len(c.Inputs)] {
			maphash.WriteComparable(&h, v)
		}
		code, known := codes[h.Sum64()]
		if !known {
			code = float64(len(codes))
			codes[h.Sum64()] = code
		}
		values[k] = code
	}
}

// describe says where the numbers of a column lie.
func (s *Survey) describe(d *datasets.Dataset, c *Column) {
	n, mean, whole := 0, 0.0, true
	low, high := math.Inf(1), math.Inf(-1)
	for row := range s.Train + s.Validation + s.Test {
		v := s.value(d, c, row)
		if v != v {
			continue
		}
		n++
		mean += (v - mean) / float64(n)
		low, high, whole = min(low, v), max(high, v), whole && v == math.Trunc(v)
	}
	if n == 0 {
		return
	}
	if whole && c.Type == csv.Numbers {
		c.Type = Whole
	}
	values := make([]float64, 0, len(s.rows))
	for _, row := range s.rows {
		if v := s.value(d, c, row); v == v {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	if c.Distinct == 0 {
		c.Distinct, c.AtLeast = len(slices.Compact(slices.Clone(values))), len(s.rows) < s.Train+s.Validation+s.Test
	}
	median := math.NaN()
	if m := len(values); m > 0 {
		median = rounded(values[(m-1)/2]/2 + values[m/2]/2)
		c.Median = &median
	}
	mean = rounded(mean)
	c.Min, c.Mean, c.Max, c.Histogram = &low, &mean, &high, histogram(values, low, high, whole)
}

// histogram counts values in equal parts of their range, one for each whole number if they are few.
func histogram(values []float64, low, high float64, whole bool) []int {
	n := Bars
	few := whole && high-low < Bars
	width := high/2 - low/2 // halves, whose difference is finite
	switch {
	case !(width > 0):
		n = 1
	case few:
		n = int(high-low) + 1
	}
	h := make([]int, n)
	for _, v := range values {
		switch {
		case n == 1:
			h[0]++
		case few:
			h[int(v-low)]++
		default:
			h[min(int((v/2-low/2)/width*float64(n)), n-1)]++
		}
	}
	return h
}
