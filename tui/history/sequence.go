package history

import (
	"math"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// sequence takes in a Delta's epochs with what happened between them, which the Delta holds kind by kind. The numbers
// are how many of each kind were taken in.
type sequence struct {
	h    *History
	d    *feed.Delta
	done []event.Action // by those who look at the run

	switches, settings, spectra, rewinds, races, resumes, saved, actions int
}

// play goes through the epochs in order.
func (q *sequence) play() {
	h, d := q.h, q.d
	for i := range d.Epochs {
		e := &d.Epochs[i]
		if h.goesOn(e) && (q.rewinds == len(d.Rewinds) || d.Rewinds[q.rewinds].Epoch > h.Latest.Epoch) {
			h.more(e)
			continue
		}
		for h.Epochs > 0 && q.rewinds < len(d.Rewinds) && e.Epoch <= h.Latest.Epoch {
			q.rewind()
		}
		if h.Epochs > 0 && e.Epoch <= h.Latest.Epoch {
			q.before(h.Latest.Epoch + 1)
			h.cut(e.Epoch - 1)
		}
		q.before(e.Epoch)
		h.Log.full = len(d.Epochs)-i > keptLog
		h.epoch(e)
	}
	for q.rewinds < len(d.Rewinds) {
		q.rewind()
	}
	q.before(math.MaxInt)
}

// rewind takes in the next rewind.
func (q *sequence) rewind() {
	q.before(q.h.Latest.Epoch + 1)
	q.h.rewound(q.d.Rewinds[q.rewinds].To)
	q.rewinds++
}

// before takes in what belongs before an epoch. Changes and spectra that a rewind to come would take away are not in a
// Delta, so that those of later epochs than it goes back to belong after it.
func (q *sequence) before(epoch int) {
	h, d := q.h, q.d
	marks := epoch
	for _, e := range d.Rewinds[q.rewinds:] {
		marks = min(marks, e.To+1)
	}
	for ; q.actions < len(q.done) && q.done[q.actions].Epoch < epoch; q.actions++ {
		h.Log.action(&q.done[q.actions])
	}
	for ; q.resumes < len(d.Resumes) && d.Resumes[q.resumes].Epoch < epoch; q.resumes++ {
		h.resumed(&d.Resumes[q.resumes])
	}
	for ; q.races < len(d.Races) && d.Races[q.races].Epoch < epoch; q.races++ {
		h.raced(&d.Races[q.races])
	}
	for ; q.switches < len(d.Switches) && d.Switches[q.switches].Epoch < marks; q.switches++ {
		h.switched(d.Switches[q.switches])
	}
	for ; q.settings < len(d.Settings) && d.Settings[q.settings].Epoch < marks; q.settings++ {
		h.setting(&d.Settings[q.settings])
	}
	for ; q.spectra < len(d.Spectra) && d.Spectra[q.spectra].Epoch < marks; q.spectra++ {
		h.spectrum(d.Spectra[q.spectra])
	}
	for ; q.saved < len(d.Saved) && d.Saved[q.saved].Epoch < epoch; q.saved++ {
		h.saved(&d.Saved[q.saved])
	}
}
