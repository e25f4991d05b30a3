package schema

// Statistics of the target for each word of a column, which stand for the word. A word of n training rows with the mean
// t has
//
//	(n t + m p)/(n + m)
//
// where p is the mean of all training rows and m = smoothing of these are added, so that rare words are near the mean:
// D. Micci-Barreca, "A Preprocessing Scheme for High-Cardinality Categorical Attributes", 2001. For classes t is the
// share of each class.
//
// A training row's own target must not be among its inputs. So the training rows are cut into crossFolds parts, and the
// rows of each have the statistics of the others. Rows that are not trained on have those of all training rows.
const (
	smoothing  = 10
	crossFolds = 5
)

// CrossFit gathers the statistics of the target that a table's columns become.
type CrossFit struct {
	encoding *Encoding
	cells    []crossCell // of the columns of statistics
}

type crossCell struct {
	cell  *cell
	rows  [crossFolds][]float64 // of each word
	means [crossFolds][]float64 // of each word, one for each input
}

// NewCrossFit returns one without rows.
func (p *Encoding) NewCrossFit() *CrossFit {
	f := &CrossFit{encoding: p}
	for _, j := range p.incomplete {
		if c := &p.cells[j]; c.field.Kind == Statistics {
			x := crossCell{cell: c}
			for k := range crossFolds {
				x.rows[k], x.means[k] = make([]float64, c.kinds), make([]float64, c.kinds*c.numbers)
			}
			f.cells = append(f.cells, x)
		}
	}
	return f
}

// Needed reports whether there are such columns.
func (f *CrossFit) Needed() bool { return len(f.cells) > 0 }

// Add counts training row i, which Encode stored, with its target. Rows must come in order.
func (f *CrossFit) Add(i int, row []float64, target float64) {
	for j := range f.cells {
		x := &f.cells[j]
		fold, c := i%crossFolds, x.cell
		code := int(row[c.first])
		x.rows[fold][code]++
		for k, mean := range x.means[fold][code*c.numbers:][:c.numbers] {
			x.means[fold][code*c.numbers+k] += (f.value(c, k, target) - mean) / x.rows[fold][code]
		}
	}
}

// value returns what output k of a column's statistics is the mean of.
func (f *CrossFit) value(c *cell, k int, target float64) float64 {
	switch {
	case f.encoding.Outputs == 1:
		return target
	case c.numbers == 1:
		k = 1
	}
	if int(target) == k {
		return 1
	}
	return 0
}

// Finish stores the statistics of all training rows in the table's fields, and keeps those for the training rows of
// each part, which rows i have that are the same number modulo the number of parts.
func (f *CrossFit) Finish() {
	for j := range f.cells {
		x := &f.cells[j]
		x.cell.field.Means = x.without(-1)
		x.cell.folds = nil
		for k := range crossFolds {
			x.cell.folds = append(x.cell.folds, x.without(k))
		}
	}
}

// without returns the statistics of the rows of all parts but one.
func (x *crossCell) without(fold int) []float64 {
	c := x.cell
	out := make([]float64, c.kinds*c.numbers)
	for k := range c.numbers {
		var all mean
		of := make([]mean, c.kinds)
		for part := range crossFolds {
			if part == fold {
				continue
			}
			for code, rows := range x.rows[part] {
				all.add(rows, x.means[part][code*c.numbers+k])
				of[code].add(rows, x.means[part][code*c.numbers+k])
			}
		}
		for code, m := range of {
			m.add(smoothing, all.value)
			out[code*c.numbers+k] = m.value
		}
	}
	return out
}

// mean is a mean that rows are added to, without a sum that may be too great.
type mean struct{ rows, value float64 }

func (m *mean) add(rows, value float64) {
	if rows > 0 {
		m.rows += rows
		m.value += (value - m.value) * (rows / m.rows)
	}
}
