package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"newtop/trainer/event"
	"newtop/tui/chart"
)

// keptPaces is over how many epochs the pace of a run is measured.
const keptPaces = 20

// pace measures how long epochs take lately.
type pace struct{ at []moment }

// moment is when an epoch was over.
type moment struct{ epoch, seconds float64 }

// add notes when an epoch was over; after a way back those beyond it are void.
func (p *pace) add(epoch int, seconds float64) {
	m := moment{float64(epoch), seconds}
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return
	}
	p.at = slices.DeleteFunc(p.at, func(o moment) bool { return o.epoch >= m.epoch || o.seconds > m.seconds })
	p.at = chart.Newest(append(p.at, m), keptPaces+1)
}

// each is the seconds that an epoch takes; NaN while that is not known. The quickest and the slowest stretch are left
// out, as one pause must not count for long.
func (p *pace) each() float64 {
	at := p.at[max(0, len(p.at)-keptPaces-1):]
	var took []moment
	for i := 1; i < len(at); i++ {
		took = append(took, moment{at[i].epoch - at[i-1].epoch, at[i].seconds - at[i-1].seconds})
	}
	const enough = 5
	if len(took) >= enough {
		slices.SortFunc(took, func(a, b moment) int { return cmp.Compare(a.seconds/a.epoch, b.seconds/b.epoch) })
		took = took[1 : len(took)-1]
	}
	var sum moment
	for _, m := range took {
		sum.epoch, sum.seconds = sum.epoch+m.epoch, sum.seconds+m.seconds
	}
	if !(sum.seconds > 0) {
		return math.NaN()
	}
	return sum.seconds / sum.epoch
}

// Heard notes when the newest epoch came, for runs that tell no times.
func (h *History) Heard(now time.Time) {
	if _, loading := h.Loading(); loading || h.Status.Epoch == 0 {
		h.came = pace{}
		return
	}
	if n := len(h.came.at); n == 0 || h.came.at[n-1].epoch != float64(h.Status.Epoch) {
		h.came.add(h.Status.Epoch, float64(now.UnixNano())/1e9)
	}
}

// Remaining estimates the seconds to the epoch limit from the epochs of late; NaN without a limit, where no pace is
// known, or when the run is over or nobody goes on with it.
func (h *History) Remaining() float64 {
	s := &h.Status
	if s.EpochLimit == 0 || s.Epoch == 0 || s.Phase == event.Ended || h.Over() || s.Replay != nil &&
		s.Replay.Stale != "" {
		return math.NaN()
	}
	each := h.trained.each()
	if math.IsNaN(each) && s.Elapsed > 0 {
		each = s.Elapsed / float64(s.Epoch)
	}
	if math.IsNaN(each) {
		each = h.came.each()
	}
	return each * float64(max(s.EpochLimit-s.Epoch, 0))
}
