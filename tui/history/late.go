package history

import (
	"newtop/trainer/event"
)

// goesOn reports whether an event tells more of the newest epoch of another program, as its validation, which is over
// later.
func (h *History) goesOn(e *event.EpochEvent) bool {
	return h.External() && h.Epochs > 0 && e.Epoch == h.Latest.Epoch && len(e.Inner) == 0 && len(e.Members) == 0
}

// more adds what is told later of the newest epoch. It stays one epoch, which took as long as was said at first.
func (h *History) more(e *event.EpochEvent) {
	told := *e
	if !h.Latest.Seconds.Absent() {
		told.Seconds = event.Absent
	}
	h.Curves.now = PositionOf(e)
	h.updateBest(e)
	h.measured(&told, &h.Latest)
	h.Curves.own(e, h.Latest.Optimizer, true)
	h.Latest = h.Latest.With(e)
	h.Gen.Epoch++
	h.Log.more(e)
}

// more adds to the line of an epoch.
func (l *Log) more(late *event.EpochEvent) {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		if e := &l.Entries[i]; e.Text == "" {
			if e.Stats.Epoch == late.Epoch {
				e.Stats = e.Stats.With(late)
				l.Gen++
			}
			return
		}
	}
}
