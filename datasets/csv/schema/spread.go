package schema

import (
	"fmt"
	"math"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
)

// maxCells bounds rows × inputs and outputs, so that a wrong file is refused instead of filling the memory: 2 GiB.
const maxCells = 1 << 28

// Encoding says how the values of a row become its inputs and its target. There is a value for each column that is not
// left out, the target among them, in the file's order: a number, NaN where it is missing; 1 or 0 for booleans; the
// seconds from 1970 to a date; the number of a word or a class.
//
// Some inputs can only be known once all training rows are: what stands in for missing values, and statistics of the
// target. Encode leaves NaN and the number of the word there, and AddStatistics and FillMissing put in what belongs
// there.
type Encoding struct {
	Inputs, Outputs int

	cells      []cell
	incomplete []int // the cells that Encode can't complete
}

// cell is a value of a row.
type cell struct {
	field   *Field      // nil for the target
	first   int         // where it starts among the inputs
	numbers int         // how many of its inputs are numbers
	kinds   int         // how many words or classes there are; 0 for numbers
	missing int         // the input that tells of missing numbers, or -1
	folds   [][]float64 // of statistics: Means for the training rows of each part
}

// Encoding returns that of the table with that many classes, 0 for regression. gaps says for each value of a row
// whether it may be missing.
func (t *Table) Encoding(classes int, gaps []bool) Encoding {
	p := Encoding{Outputs: max(classes, 1)}
	for i := range len(t.Fields) + 1 {
		if i == t.TargetColumn-1 {
			p.cells = append(p.cells, cell{kinds: classes, missing: -1})
		}
		if i == len(t.Fields) {
			break
		}
		f := &t.Fields[i]
		if f.Kind == LeftOut {
			continue
		}
		c := cell{field: f, first: p.Inputs, numbers: f.NumberInputs(), kinds: f.CodeCount(), missing: -1}
		if c.numbers > 0 && f.Missing {
			c.missing = c.first + c.numbers
		}
		if f.Kind == Statistics || c.numbers > 0 && gaps[len(p.cells)] {
			p.incomplete = append(p.incomplete, len(p.cells))
		}
		p.cells = append(p.cells, c)
		p.Inputs += f.Inputs()
	}
	return p
}

// Encode stores the inputs of a row in dst, which must be zero, and returns its target.
func (p *Encoding) Encode(dst, values []float64) (target float64) {
	for j, v := range values {
		switch c := &p.cells[j]; {
		case c.field == nil:
			target = v
		case c.numbers == 0:
			if k := int(v); k < c.kinds-1 {
				dst[c.first+k] = 1
			}
		case c.numbers == 1:
			dst[c.first] = v
			c.markMissing(dst, v)
		case c.kinds > 0:
			dst[c.first] = v
		default:
			lex.WriteDateParts(dst[c.first:][:c.numbers], v)
			c.markMissing(dst, v)
		}
	}
	return target
}

// markMissing sets the input that says that a number is missing.
func (c *cell) markMissing(dst []float64, v float64) {
	if c.missing >= 0 && math.IsNaN(v) {
		dst[c.missing] = 1
	}
}

// NeedsCompletion reports whether rows that Encode stored are to be completed.
func (p *Encoding) NeedsCompletion() bool { return len(p.incomplete) > 0 }

// AddStatistics puts the statistics of the target into a row's inputs, once. i counts training rows; -1 for others.
func (p *Encoding) AddStatistics(row []float64, i int) {
	for _, j := range p.incomplete {
		if c := &p.cells[j]; c.field.Kind == Statistics {
			c.statisticsTo(row[c.first:][:c.numbers], int(row[c.first]), i)
		}
	}
}

// FillMissing puts what stands in for missing values into a row's inputs.
func (p *Encoding) FillMissing(row []float64) {
	for _, j := range p.incomplete {
		c := &p.cells[j]
		for k, v := range c.field.Fill {
			if at := &row[c.first+k]; math.IsNaN(*at) {
				*at = v
			}
		}
	}
}

// SetFill says for every input what stands in for missing values, in columns that may have them.
func (p *Encoding) SetFill(values []float64) {
	for j := range p.cells {
		if c := &p.cells[j]; c.field != nil {
			copy(c.field.Fill, values[c.first:])
		}
	}
}

// MayBeMissing tells for each input whether it may be NaN before FillMissing.
func (p *Encoding) MayBeMissing() []bool {
	gaps := make([]bool, p.Inputs)
	for _, j := range p.incomplete {
		c := &p.cells[j]
		for k := range c.field.Fill {
			gaps[c.first+k] = true
		}
	}
	return gaps
}

// statisticsTo stores the statistics of a word in dst.
func (c *cell) statisticsTo(dst []float64, code, i int) {
	means := c.field.Means
	if i >= 0 && c.folds != nil {
		means = c.folds[i%len(c.folds)]
	}
	copy(dst, means[code*c.numbers:][:c.numbers])
}

// Coded tells for each input whether it is 0 or 1 and stays so: one category, or that a value is missing.
func (p *Encoding) Coded() []bool {
	coded := make([]bool, p.Inputs)
	for j := range p.cells {
		if f := p.cells[j].field; f != nil {
			for k := p.cells[j].numbers; k < f.Inputs(); k++ {
				coded[p.cells[j].first+k] = true
			}
		}
	}
	return coded
}

// Fits returns a *fault.FormatError if that many rows, the last of which starts on that line, are too much for the
// memory.
func (p *Encoding) Fits(file string, line, rows int) error {
	if int64(p.Inputs+p.Outputs) > maxCells/int64(rows) {
		return &fault.FormatError{File: file, Line: line, Expected: fmt.Sprintf("at most %d numbers in all", maxCells),
			Found: fmt.Sprintf("%d rows of %d inputs and %d outputs", rows, p.Inputs, p.Outputs)}
	}
	return nil
}
