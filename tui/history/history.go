// Package history remembers a run as panes show it: curves, inner solves, the steps of the method, the log, the race,
// earlier epochs and analyses, all in bounded memory. It follows the events of a feed and knows no screen.
package history

import (
	"math"
	"slices"
	"sort"

	"newtop/trainer/event"
	"newtop/tui/chart"
)

// maxBests bounds how many of the best epochs so far are retained, for what is best after going back and for when a
// value was reached first.
const maxBests = 1024

// keptSpectra bounds how many spectra are kept.
const keptSpectra = 512

// History is everything the panes show of a run, in bounded memory. Apply adds a Delta; the counters tell a pane
// whether what it shows has changed.
type History struct {
	Run     *event.RunEvent
	Status  event.Status
	Measure event.Measure // what the run is judged by

	Latest, Before event.EpochEvent // the newest two epochs
	Epochs         int              // how many were seen
	Rejected       int              // steps that were not taken
	records
	Curves   Curves
	Solves   Solves
	Steps    Steps
	Factors  Factors
	Spectra  []event.SpectrumEvent
	Analyses Analyses
	Race     Race
	Earlier  Earlier
	Log      Log
	Console  Console
	Thinned  int // epochs that are not here, as the feed left them out

	Diverged *event.DivergedEvent
	Done     *event.DoneEvent

	paces
	since int // the epoch after which the current method took over

	Restarts int // times that the history began anew
	Gen      Generations
}

// records are the epochs that were each the best so far.
type records struct {
	Best  Best
	bests []Best // it, and those before it
}

// Coarse returns a history that keeps its curves in so many buckets each, an even number, where there are many runs.
func Coarse(buckets int) *History {
	h := &History{}
	h.Curves.coarsen(buckets)
	return h
}

// Generations count the changes of what panes show.
type Generations struct{ Run, Epoch, Inner, Spectrum, Setting uint64 }

// Best is the least value of the run's measure.
type Best struct {
	Value float64
	Epoch int
	At    chart.Position // of the epoch: what it took
	Known bool
	tie   float64 // what decides between epochs with the same value
}

// Put adds what an epoch tells of a quantity to its curve. What newtop itself does not tell, the method did not have:
// the curve is broken off. Another program tells it now and then only.
func Put(s *chart.Series, at chart.Position, y event.Float, external bool) {
	if y.Absent() && !external {
		s.Gap(at)
		return
	}
	s.Put(at, float64(y))
}

// thinned leaves out every second one of the older half.
func thinned(bests []Best) []Best {
	old := len(bests) / 2
	for i := range old / 2 {
		bests[i] = bests[2*i+1]
	}
	return append(bests[:old/2], bests[old:]...)
}

// Reach is the first epoch known to have had so small a value of the measure.
func (h *History) Reach(value float64) (b Best, ok bool) {
	i := sort.Search(len(h.bests), func(i int) bool { return h.bests[i].Value <= value })
	if i == len(h.bests) {
		return b, false
	}
	return h.bests[i], true
}

// First is the first value of the measure, NaN for none.
func (h *History) First() float64 {
	if len(h.bests) == 0 {
		return math.NaN()
	}
	return h.bests[0].Value
}

// Metrics are what the run's rows are judged by beside the loss: the error of a classifier, the RMSE of a regression.
func (h *History) Metrics() (train, test event.Quantity) {
	if h.Regression() {
		return event.RMSE, event.TestRMSE
	}
	return event.Error, event.TestError
}

// restart forgets the run: what follows begins it anew. The counters go on, so that every picture is drawn anew, and
// what is known of a run's epochs stays for the list of those to go to.
func (h *History) restart(run *event.RunEvent) {
	old := *h
	*h = History{Restarts: old.Restarts + 1}
	h.Curves.coarsen(old.Curves.most)
	h.Gen = Generations{old.Gen.Run + 1, old.Gen.Epoch + 1, old.Gen.Inner + 1, old.Gen.Spectrum + 1,
		old.Gen.Setting + 1}
	h.Log.Gen, h.Race.Gen, h.Steps.Gen, h.Console.Gen = old.Log.Gen+1, old.Race.Gen+1, old.Steps.Gen+1, old.Console.Gen+1
	h.Analyses.WeightsGen, h.Analyses.ErrorsGen = old.Analyses.WeightsGen+1, old.Analyses.ErrorsGen+1
	if run != nil && old.Run != nil && run.ID == old.Run.ID {
		h.Earlier = old.Earlier
	}
}

// newActions are those of an audience that are not in the log yet, in order.
func newActions(h *History, a *event.Audience) []event.Action {
	if a == nil || a == h.Status.Audience || len(a.Actions) == 0 {
		return nil
	}
	first := slices.IndexFunc(a.Actions, func(d event.Action) bool { return d.Number > h.Log.lastAction })
	if first < 0 {
		return nil
	}
	return a.Actions[first:]
}
