package history

import (
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// Analyses are the latest of what was asked for: blocks of weights and where the outputs are wrong.
type Analyses struct {
	Weights    map[[2]int]*event.WeightsEvent // by {to, from}
	Errors     *event.ErrorsEvent
	WeightsGen uint64
	ErrorsGen  uint64
}

// apply takes in what a Delta has of them.
func (t *Analyses) apply(d *feed.Delta) {
	for i := range d.Weights {
		e := &d.Weights[i]
		if e.Rows < 1 || e.Cols < 1 || len(e.Values) != e.Rows*e.Cols {
			continue
		}
		if t.Weights == nil {
			t.Weights = map[[2]int]*event.WeightsEvent{}
		}
		t.Weights[[2]int{e.To, e.From}] = e
		t.WeightsGen++
	}
	if n := len(d.Errors); n > 0 {
		t.Errors = &d.Errors[n-1]
		t.ErrorsGen++
	}
}
