package trainer

import (
	"strings"

	"newtop/models"
	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim/methods"
)

// slice computes a slice of the last proposed step over all training rows. The step of a committee is that of the member
// whose turn was the last; in block mode it is the last block's, from the weights within the sweep, with the ρ that it
// had for its own block; of a mixture whose gates are tuned apart it moves the experts alone.
func (r *run) slice() (event.Event, error) {
	k := &r.proposed
	l, err := r.linearizeAt(k.from)
	if err != nil {
		return nil, err
	}
	e := k.event
	err = analysis.Slice(l, k.from, k.step, &e, r.goOn)
	return e, err
}

// linearizeAt returns a linearization over all training rows at w, apart from the one that the method works on. It
// keeps no passes, so that a slice needs no memory that grows with the rows.
func (r *run) linearizeAt(w []float64) (objective.Linearization, error) {
	if r.along == nil {
		r.along = r.rows().Bind(objective.Rows{}, models.Options{Pool: r.pool, Memory: 1})
	}
	r.along.Update(w)
	return r.along, r.goOn()
}

// proposers names the methods that slices are of.
func proposers() string {
	var names []string
	for _, i := range methods.All() {
		if i.Proposes {
			names = append(names, i.Name)
		}
	}
	return strings.Join(names, ", ")
}
