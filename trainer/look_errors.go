package trainer

import (
	"newtop/trainer/analysis"
	"newtop/trainer/event"
)

// errors gathers where the outputs are wrong, of a committee the mean of all members'.
func (r *run) errors(c event.ShowErrors) (event.Event, error) {
	e, err := analysis.Errors(r.problem, c, r.pool.Threads(), r.outputsTo, r.goOn)
	e.Epoch = r.epoch
	return e, err
}
