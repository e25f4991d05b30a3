package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// raceAxis is what the x of the race's charts are.
type raceAxis uint8

const (
	byEquivalents raceAxis = iota
	bySeconds
	byLaps
	raceAxisCount
)

// words names the axis.
func (x raceAxis) words() string {
	return [...]string{"gradient equivalents", "seconds", "laps"}[x]
}

// word names it where there is little room.
func (x raceAxis) word() string {
	return [...]string{"work", "seconds", "laps"}[x]
}

// raceHistory is the race that is on, or the last one, and what can be gone back to.
type raceHistory struct {
	race        *event.RaceEvent // the newest; nil before the first
	racers      []racerHistory
	raceGen     uint64
	earlier     map[int]earlierEpoch
	earlierEach int // of a recorded run every so manieth epoch is remembered; 0 stands for 1
}

// earlierEpoch is what the list of epochs to go back to shows of one.
type earlierEpoch struct {
	loss, fault, testFault float64
	optimizer              string
}

// racerHistory is how one racer has done so far.
type racerHistory struct {
	event.Racer
	loss, fault [raceAxisCount]chart.Series // fault: of the test rows, of the training rows where there are none
	now         event.EpochEvent
	begun       bool
	bestFault   float64 // NaN before its first lap
	bestLoss    float64
	ended       string // why it goes on no more
}

// laps takes in a Delta's laps, after its races, and remembers its epochs for the way back. The laps belong to the
// newest race; those of an earlier one are overwritten by the lap of Epoch 0 that begins each racer.
func (h *history) laps(d *feed.Delta) {
	for i := range d.Laps {
		h.lap(&d.Laps[i])
	}
	for i := range d.Epochs {
		h.remember(&d.Epochs[i])
	}
}

func (h *history) raced(e *event.RaceEvent) {
	h.raceGen++
	h.race = e
	switch e.State {
	case "begun":
		h.racers = make([]racerHistory, len(e.Racers))
		for i := range h.racers {
			h.racers[i] = newRacer(e.Racers[i])
		}
		h.say(e.Epoch, style.Accent, "race of %d begins", len(e.Racers))
	case "over":
		h.say(e.Epoch, style.Accent, "race is over")
	case "picked":
		if e.Picked >= 0 && e.Picked < len(e.Racers) {
			h.say(e.Epoch, style.Accent, "race ends: on with %s", style.Clean(e.Racers[e.Picked].Name))
			h.mark(e.Epoch, false, "race")
			h.epochGen++
		}
	case "abandoned":
		h.say(e.Epoch, style.Accent, "race abandoned")
	}
}

func newRacer(r event.Racer) racerHistory {
	return racerHistory{Racer: r, bestFault: math.NaN(), bestLoss: math.NaN()}
}

// lap adds a racer's outer iteration; one that is numbered 0 begins the racer anew.
func (h *history) lap(e *event.LapEvent) {
	if e.Racer < 0 || e.Racer >= len(h.racers) {
		return
	}
	r := &h.racers[e.Racer]
	if e.Lap.Epoch == 0 && r.begun {
		*r = newRacer(r.Racer)
	}
	if e.Lap.Epoch > 0 && r.now.Epoch == 0 { // all have the figures of lap 0: they are nobody's merit
		r.bestLoss, r.bestFault = math.NaN(), math.NaN()
	}
	h.raceGen++
	r.begun, r.ended, r.now = true, e.Ended, e.Lap
	loss, fault := float64(e.Lap.Loss), h.lapFault(&e.Lap)
	r.bestLoss, r.bestFault = chart.Lesser(r.bestLoss, finiteOr(loss)), chart.Lesser(r.bestFault, finiteOr(fault))
	for axis, x := range [raceAxisCount]float64{float64(e.Lap.GradientEquivalents), float64(e.Lap.Elapsed), float64(e.Lap.Epoch)} {
		if format.Finite(x) {
			r.loss[axis].Add(x, loss)
			r.fault[axis].Add(x, fault)
		}
	}
}

// finiteOr is v, or NaN if it is not finite.
func finiteOr(v float64) float64 {
	if format.Finite(v) {
		return v
	}
	return math.NaN()
}

// lapFault is the error, of regression the RMSE, over the test rows if there are some.
func (h *history) lapFault(e *event.EpochEvent) float64 {
	test, train := float64(e.TestError), float64(e.Error)
	if h.regression() {
		test, train = float64(e.TestRMSE), float64(e.RMSE)
	}
	if math.IsNaN(test) {
		return train
	}
	return test
}

// sane bounds a chart of the race where a racer that diverged would leave no room for the others; {0, 0} elsewhere.
func (h *history) sane(of func(*racerHistory) *chart.Series) (bounds [2]float64) {
	others, all := math.Inf(-1), math.Inf(-1)
	for i := range h.racers {
		r := &h.racers[i]
		for _, b := range of(r).Buckets {
			all = max(all, b.Max)
			if !r.diverged() {
				others = max(others, b.Max)
			}
		}
	}
	const room = 1.2
	if others > 0 && all > room*others {
		bounds[1] = room * others
	}
	return bounds
}

func (r *racerHistory) diverged() bool { return strings.HasPrefix(r.ended, "diverged") }

// spent is which part of its budget a racer has used, 0…1.
func (h *history) spent(r *racerHistory) float64 {
	if r.ended != "" {
		return 1
	}
	part := 0.0
	if b := float64(h.race.Equivalents); b > 0 {
		part = max(part, float64(r.now.GradientEquivalents)/b)
	}
	if b := float64(h.race.Seconds); b > 0 {
		part = max(part, float64(r.now.Elapsed)/b)
	}
	if math.IsNaN(part) {
		return 0
	}
	return min(part, 1)
}

// ranking orders the racers by the least fault so far, or by the least loss; what is missing comes last.
func (h *history) ranking(byLoss bool) []int {
	order := make([]int, len(h.racers))
	for i := range order {
		order[i] = i
	}
	key := func(i int) (first, second float64) {
		r := &h.racers[i]
		first, second = absent(r.bestFault), absent(r.bestLoss)
		if byLoss {
			first, second = second, first
		}
		return first, second
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := key(i)
		c, d := key(j)
		return cmp.Or(cmp.Compare(a, c), cmp.Compare(b, d))
	})
	return order
}

// absent ranks a missing number behind all others.
func absent(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// Epochs that are remembered beyond those that can be gone back to: the newest of a run that is trained here, of a
// recorded one every so manieth.
const (
	keptEarlier  = 256
	keptRecorded = 2048
)

func (h *history) remember(e *event.EpochEvent) {
	if h.earlier == nil {
		h.earlier = map[int]earlierEpoch{}
	}
	f := earlierEpoch{loss: float64(e.Loss), fault: float64(e.Error), testFault: float64(e.TestError), optimizer: e.Optimizer}
	if h.regression() {
		f.fault, f.testFault = float64(e.RMSE), float64(e.TestRMSE)
	}
	if h.watched() {
		h.rememberRecorded(e.Epoch, f)
		return
	}
	h.earlier[e.Epoch] = f
	if len(h.earlier) < 2*(len(h.status.Kept)+keptEarlier) {
		return
	}
	for k := range h.earlier {
		if _, ok := slices.BinarySearch(h.status.Kept, k); !ok && k < e.Epoch-keptEarlier {
			delete(h.earlier, k)
		}
	}
}

// rememberRecorded keeps epochs all over a recorded run, twice as far apart whenever there are too many.
func (h *history) rememberRecorded(epoch int, f earlierEpoch) {
	h.earlierEach = max(h.earlierEach, 1)
	if epoch%h.earlierEach != 0 {
		return
	}
	h.earlier[epoch] = f
	for len(h.earlier) > keptRecorded {
		h.earlierEach *= 2
		for k := range h.earlier {
			if k%h.earlierEach != 0 {
				delete(h.earlier, k)
			}
		}
	}
}
