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
// target. To leaves NaN and the number of the word there, and Statistics and FillIn put in what belongs there.
type Encoding struct {
	Inputs, Outputs int

	cells      []cell
	target     int   // which cell
	incomplete []int // the cells that To can't complete
}

// cell is a value of a row.
type cell struct {
	field   *Field // nil for the target
	first   int    // where it starts among the inputs
	numbers int    // how many of its inputs are numbers
	kinds   int    // how many words or classes there are; 0 for numbers
	missing int    // the input that tells of missing numbers, or -1
	folds   []Means
}

// Means are statistics of the target as Field has them.
type Means []float64

// Encoding returns that of the table with so many classes, 0 for regression. columns are those of a Layout, and folds
// what CrossFit.Finish returned; nil: there are no statistics, or they are not known yet.
func (t *Table) Encoding(classes int, columns []Column, folds [][]Means) Encoding {
	p := Encoding{Outputs: max(classes, 1)}
	next := 0
	for i := range len(t.Fields) + 1 {
		if i == t.Place-1 {
			p.target = len(p.cells)
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
		if f.Kind == Statistics && next < len(folds) {
			c.folds = folds[next]
			next++
		}
		if f.Kind == Statistics || c.numbers > 0 && columns[len(p.cells)].Missing {
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

// Label returns the class of a row.
func (p *Encoding) Label(values []float64) int { return int(values[p.target]) }

// markMissing sets the input that says that a number is missing.
func (c *cell) markMissing(dst []float64, v float64) {
	if c.missing >= 0 && math.IsNaN(v) {
		dst[c.missing] = 1
	}
}

// NeedsCompletion reports whether rows that To stored are to be completed.
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

// MayBeMissing tells for each input whether it may be NaN before FillIn.
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

// Numbers returns how many of the inputs of value j of a row are numbers; 1 for a target that is one.
func (p *Encoding) Numbers(j int) int {
	c := &p.cells[j]
	if c.field == nil && c.kinds == 0 {
		return 1
	}
	return c.numbers
}

// First returns where the inputs of value j of a row start, -1 for the target.
func (p *Encoding) First(j int) int {
	if p.cells[j].field == nil {
		return -1
	}
	return p.cells[j].first
}

// NumbersTo stores the numbers that some values of training row i become, those from first on, in dst.
func (p *Encoding) NumbersTo(dst, values []float64, first, i int) {
	for j, v := range values {
		c := &p.cells[first+j]
		own := dst[:p.Numbers(first+j)]
		dst = dst[len(own):]
		switch {
		case len(own) == 0:
		case c.kinds > 0:
			c.statisticsTo(own, int(v), i)
		case len(own) > 1:
			lex.WriteDateParts(own, v)
		default:
			own[0] = v
		}
	}
}

// statisticsTo stores the statistics of a word in dst.
func (c *cell) statisticsTo(dst []float64, code, i int) {
	means := Means(c.field.Means)
	if i >= 0 && c.folds != nil {
		means = c.folds[i%len(c.folds)]
	}
	copy(dst, means[code*c.numbers:][:c.numbers])
}

// Kinds returns how many words or classes the values of a column that is not left out are numbers of; 0 for numbers.
func (p *Encoding) Kinds(j int) int { return p.cells[j].kinds }

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

// Fits returns a *fault.FormatError if so many rows, the last of which starts on that line, are too much for the
// memory.
func (p *Encoding) Fits(file string, line, rows int) error {
	if int64(p.Inputs+p.Outputs) > maxCells/int64(rows) {
		return &fault.FormatError{File: file, Line: line, Expected: fmt.Sprintf("at most %d numbers in all", maxCells),
			Found: fmt.Sprintf("%d rows of %d inputs and %d outputs", rows, p.Inputs, p.Outputs)}
	}
	return nil
}
