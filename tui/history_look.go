package tui

import (
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// lookHistory is the newest of what was asked for: blocks of weights and where the outputs are wrong.
type lookHistory struct {
	weights    map[[2]int]*event.WeightsEvent // by {to, from}
	errors     *event.ErrorsEvent
	weightsGen uint64
	errorsGen  uint64
}

// looks takes in what a Delta has of them.
func (t *lookHistory) looks(d *feed.Delta) {
	for i := range d.Weights {
		e := &d.Weights[i]
		if e.Rows < 1 || e.Cols < 1 || len(e.Values) != e.Rows*e.Cols {
			continue
		}
		if t.weights == nil {
			t.weights = map[[2]int]*event.WeightsEvent{}
		}
		t.weights[[2]int{e.To, e.From}] = e
		t.weightsGen++
	}
	if n := len(d.Errors); n > 0 {
		t.errors = &d.Errors[n-1]
		t.errorsGen++
	}
}

// glancer is a pane that asks for what it shows, while it has the whole screen.
type glancer interface {
	// glance returns what to ask the run for now, nil for nothing.
	glance(h *history) event.Command
}

// asked keeps a pane from asking again before a run could answer, and from asking so often that the run slows.
type asked struct {
	any     bool
	epoch   int
	elapsed float64
	gen     uint64
}

// Seconds of training between two questions: the least, and the least while the last one has no answer.
const (
	askEvery = 1.0
	askAgain = 5.0
)

// due reports whether to ask anew after an epoch; gen counts the answers.
func (k *asked) due(h *history, gen uint64) bool {
	e := &h.status
	if k.any {
		wait := askEvery
		if k.gen == gen {
			wait = askAgain
		}
		if e.Epoch == k.epoch || e.Elapsed >= k.elapsed && e.Elapsed-k.elapsed < wait {
			return false
		}
	}
	*k = asked{true, e.Epoch, e.Elapsed, gen}
	return true
}
