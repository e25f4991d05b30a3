package tui

import (
	"newtop/trainer/event"
	"newtop/tui/history"
)

// Asker is a pane that asks for what it shows, while it has the whole screen.
type Asker interface {
	// Ask returns what to ask the run for now, nil for nothing.
	Ask(h *history.History) event.Command
}

// AskLimit keeps a pane from asking again before a run could answer, and from asking so often that the run slows.
type AskLimit struct {
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
func (k *AskLimit) due(h *history.History, gen uint64) bool {
	e := &h.Status
	if k.any {
		wait := askEvery
		if k.gen == gen {
			wait = askAgain
		}
		if e.Epoch == k.epoch || e.Elapsed >= k.elapsed && e.Elapsed-k.elapsed < wait {
			return false
		}
	}
	*k = AskLimit{true, e.Epoch, e.Elapsed, gen}
	return true
}
