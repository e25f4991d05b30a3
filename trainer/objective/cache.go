package objective

import (
	"fmt"
	"slices"

	"newtop/models"
	"newtop/trainer/optim"
)

// Cache is what an objective keeps of the weights that it was last asked for. Who finds it as it was is charged for
// nothing that was charged before: runs that resume from a checkpoint, and those that share one objective in turn.
type Cache struct {
	Evaluated *evaluated `archive:"known"`
	Passes    *passes    `archive:"linear"`
	Requested bool       `archive:"asked"` // whether products were asked of the passes
	Parts     []Cache    `archive:"parts"`
}

// evaluated is an evaluation but for what the objective knows.
type evaluated struct {
	At            []float64 `archive:"figured"`
	Misclassified int       `archive:"wrong"` // optim.MaxCount: not told
	Loss          float64   `archive:"loss"`
	SquaredError  float64   `archive:"squared error"`
}

// passes are those forward and backward, which are done again.
type passes struct {
	At      []float64 `archive:"at"`
	Current bool      `archive:"current"` // as far as they are kept
}

// Save stores what an objective keeps, and what its parts do if there are that many.
func (c *Cache) Save(o *Objective, parts int) {
	*c = Cache{Requested: o.passes.Requested()}
	if e := &o.last; e.known {
		wrong := e.Misclassified
		if wrong < 0 {
			wrong = optim.MaxCount
		}
		c.Evaluated = &evaluated{slices.Clone(e.at), wrong, e.Loss, e.SquaredError}
	}
	if o.linear {
		c.Passes = &passes{slices.Clone(o.at), o.passes.Current()}
	}
	if parts != len(o.parts) {
		return
	}
	for _, part := range o.parts {
		c.Parts = append(c.Parts, Cache{})
		c.Parts[len(c.Parts)-1].Save(part.(*Objective), 1)
	}
}

// SaveAll stores what an objective and all its parts keep.
func (c *Cache) SaveAll(o *Objective) { c.Save(o, len(o.parts)) }

// Load makes an objective, and that many parts of it, keep what is stored, and charges nothing. Passes at other weights
// than w, from which no method continues, are forgotten; nil: none are. With 1 part those there are belong to others.
func (c *Cache) Load(o *Objective, w []float64, parts int) {
	if o.last.known = c.Evaluated != nil; o.last.known {
		e := c.Evaluated
		copy(o.last.at, e.At)
		o.last.Evaluation = models.Evaluation{
			Rows: evaluatedRows(o), Outputs: o.problem.Outputs(), Misclassified: e.Misclassified, Loss: e.Loss,
			SquaredError: e.SquaredError,
		}
		if e.Misclassified == optim.MaxCount {
			o.last.Misclassified = -1
		}
	}
	p := c.Passes
	wanted := p != nil && (w == nil || slices.Equal(p.At, w))
	if wanted && !(o.linear && slices.Equal(o.at, p.At) && o.passes.Current() == p.Current) {
		o.passes.Expect(p.Current)
		o.passes.Update(p.At)
		copy(o.at, p.At)
	}
	o.linear = wanted
	o.passes.Expect(c.Requested)
	switch {
	case parts == 1:
	case len(c.Parts) == 0:
		closeParts(o)
	default:
		for i, part := range o.Blocks(parts) {
			c.Parts[i].Load(part.(*Objective), w, 1)
		}
	}
}

// LoadAll is Load for a cache with everything that SaveAll stored. It returns an error for one that is not of such
// rows.
func (c *Cache) LoadAll(o *Objective) error {
	if len(c.Parts) == 1 || len(c.Parts) > o.Rows() {
		return fmt.Errorf("%d parts of %d rows", len(c.Parts), o.Rows())
	}
	e, rows := c.Evaluated, evaluatedRows(o)
	if e != nil && e.Misclassified > rows && e.Misclassified != optim.MaxCount {
		return fmt.Errorf("%d of %d rows are wrong", e.Misclassified, rows)
	}
	closeParts(o)
	c.Load(o, nil, len(c.Parts))
	return nil
}

// evaluatedRows returns how many rows the objective's evaluations count.
func evaluatedRows(o *Objective) int {
	if o.problem.External != nil {
		return o.Rows() * RowParts
	}
	return o.Rows()
}
