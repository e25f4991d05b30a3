package objective

import (
	"fmt"
	"slices"

	"newtop/models"
	"newtop/trainer/optim"
)

// Cache is what an objective keeps of the weights that it was last asked for. Who finds it as it was is charged for
// nothing that was charged before: runs that go on from a checkpoint, and those that share one objective in turn.
type Cache struct {
	Evaluated *evaluated `archive:"known"`
	Passes    *passes    `archive:"linear"`
	Asked     bool       `archive:"asked"` // whether products were asked of the passes
	Parts     []Cache    `archive:"parts"`
}

// evaluated is an evaluation but for what the objective knows.
type evaluated struct {
	At           []float64 `archive:"figured"`
	Wrong        int       `archive:"wrong"` // optim.MaxCount: not told
	Loss         float64   `archive:"loss"`
	SquaredError float64   `archive:"squared error"`
}

// passes are those forward and backward, which are done again.
type passes struct {
	At      []float64 `archive:"at"`
	Current bool      `archive:"current"` // as far as they are kept
}

// Save stores what the objective keeps, and what its parts do if there are that many.
func (o *Objective) Save(c *Cache, parts int) {
	*c = Cache{Asked: o.passes.Asked()}
	if e := &o.evaluation; o.known {
		wrong := e.Wrong
		if wrong < 0 {
			wrong = optim.MaxCount
		}
		c.Evaluated = &evaluated{slices.Clone(o.evaluatedAt), wrong, e.Loss, e.SquaredError}
	}
	if o.linear {
		c.Passes = &passes{slices.Clone(o.at), o.passes.Current()}
	}
	if parts != len(o.parts) {
		return
	}
	for _, part := range o.parts {
		c.Parts = append(c.Parts, Cache{})
		part.(*Objective).Save(&c.Parts[len(c.Parts)-1], 1)
	}
}

// Aside calls f, which may ask for evaluations at other weights. The last one of before stays.
func (o *Objective) Aside(f func()) {
	at, evaluation, known := slices.Clone(o.evaluatedAt), o.evaluation, o.known
	f()
	copy(o.evaluatedAt, at)
	o.evaluation, o.known = evaluation, known
}

// SaveAll stores what the objective and all its parts keep.
func (o *Objective) SaveAll(c *Cache) { o.Save(c, len(o.parts)) }

// Load makes the objective, and so many parts of it, keep what is stored, and charges nothing. Passes at other weights
// than w, from which no method goes on, are forgotten; nil: none are. With 1 part those there are belong to others.
func (o *Objective) Load(c *Cache, w []float64, parts int) {
	if o.known = c.Evaluated != nil; o.known {
		e := c.Evaluated
		copy(o.evaluatedAt, e.At)
		o.evaluation = models.Evaluation{
			Rows: o.evaluated(), Outputs: o.problem.Outputs(), Wrong: e.Wrong, Loss: e.Loss,
			SquaredError: e.SquaredError,
		}
		if e.Wrong == optim.MaxCount {
			o.evaluation.Wrong = -1
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
	o.passes.Expect(c.Asked)
	switch {
	case parts == 1:
	case len(c.Parts) == 0:
		o.closeParts()
	default:
		for i, part := range o.Blocks(parts) {
			part.(*Objective).Load(&c.Parts[i], w, 1)
		}
	}
}

// LoadAll is Load for a cache with everything that SaveAll stored. It returns an error for one that is not of such
// rows.
func (o *Objective) LoadAll(c *Cache) error {
	if len(c.Parts) == 1 || len(c.Parts) > o.Rows() {
		return fmt.Errorf("%d parts of %d rows", len(c.Parts), o.Rows())
	}
	if c.Evaluated != nil && c.Evaluated.Wrong > o.evaluated() && c.Evaluated.Wrong != optim.MaxCount {
		return fmt.Errorf("%d of %d rows are wrong", c.Evaluated.Wrong, o.evaluated())
	}
	o.closeParts()
	o.Load(c, nil, len(c.Parts))
	return nil
}
