package history

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"newtop/tui/chart"
)

// maxPaces is over how many epochs the pace of a run is measured.
const maxPaces = 20

// pace measures how long epochs take lately.
type pace struct{ at []moment }

// paces are those of a run.
type paces struct {
	trained, came pace // in seconds of training, and as the epochs came here
}

// moment is when an epoch was over.
type moment struct{ epoch, seconds float64 }

// add notes when an epoch was over; after a way back those beyond it are void.
func (p *pace) add(epoch int, seconds float64) {
	m := moment{float64(epoch), seconds}
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return
	}
	p.at = slices.DeleteFunc(p.at, func(o moment) bool { return o.epoch >= m.epoch || o.seconds > m.seconds })
	p.at = chart.KeepLast(append(p.at, m), maxPaces+1)
}

// each is the seconds that an epoch takes; NaN while that is not known. The quickest and the slowest stretch are left
// out, as one pause must not count for long.
func (p *pace) each() float64 {
	at := p.at[max(0, len(p.at)-maxPaces-1):]
	var took []moment
	for i := 1; i < len(at); i++ {
		took = append(took, moment{at[i].epoch - at[i-1].epoch, at[i].seconds - at[i-1].seconds})
	}
	const enough = 5
	if len(took) >= enough {
		of := func(i int) float64 { return took[i].seconds / took[i].epoch }
		sort.Slice(took, func(i, j int) bool { return cmp.Less(of(i), of(j)) })
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
