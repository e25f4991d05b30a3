// Package history remembers a run as panes show it: curves, inner solves, the steps of the method, the log, the race,
// earlier epochs and analyses, all in bounded memory. It follows the events of a feed and knows no screen.
package history

import (
	"math"
	"slices"
	"sort"
	"time"

	"newtop/trainer/event"
	"newtop/tui/chart"
)

// maxBests bounds how many of the best epochs so far are retained, for what is best after going back and for when a
// value was reached first.
const maxBests = 1024

// maxSpectra bounds how many spectra are kept.
const maxSpectra = 512

// History is everything the panes show of a run, in bounded memory. Apply adds a Delta; the counters tell a pane
// whether what it shows has changed.
type History struct {
	Run     *event.RunEvent
	Status  event.Status
	Measure event.Measure // what the run is judged by

	Latest, Before event.EpochEvent // the latest two epochs
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

	Restarts int // times that the history began again
	Gen      Generations
}

// records are the epochs that were each the best so far.
type records struct {
	Best  Best
	bests []Best // it, and those before it
}

// Coarse returns a history that keeps its curves in that many buckets each, an even number, where there are many runs.
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

// AppendQuantity adds what an epoch tells of a quantity to its curve. What newtop itself does not tell, the method did
// not have: the curve is broken off. Another program tells it now and then only.
func AppendQuantity(s *chart.Series, at chart.Position, y event.Float, external bool) {
	if y.Absent() && !external {
		s.Gap(at)
		return
	}
	s.Append(at, float64(y))
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

// restart forgets the run: what follows begins it again. The counters continue, so that every picture is drawn again,
// and what is known of a run's epochs stays for the list of those to go to.
func (h *History) restart(run *event.RunEvent) {
	old := *h
	*h = History{Restarts: old.Restarts + 1}
	h.Curves.coarsen(old.Curves.maxBuckets)
	h.Gen = Generations{old.Gen.Run + 1, old.Gen.Epoch + 1, old.Gen.Inner + 1, old.Gen.Spectrum + 1,
		old.Gen.Setting + 1}
	h.Log.Gen, h.Race.Gen = old.Log.Gen+1, old.Race.Gen+1
	h.Steps.Gen, h.Console.Gen, h.Curves.Machine.Gen = old.Steps.Gen+1, old.Console.Gen+1, old.Curves.Machine.Gen+1
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

// Regression reports whether the run's rows are judged by root mean squares and not by error fractions.
func (h *History) Regression() bool { return h.Run != nil && h.Measure.Train() != event.Error }

// Over reports whether the run has ended.
func (h *History) Over() bool { return h.Done != nil || h.Status.Phase == event.Ended }

// Primary is the setting that + and − scale, nil if there is none.
func (h *History) Primary() *event.Setting {
	for i := range h.Status.Settings {
		if s := &h.Status.Settings[i]; s.Primary {
			return s
		}
	}
	return nil
}

// Steering is what a method is steered by, and so what reports how it is doing.
type Steering uint8

const (
	ByRadius  Steering = iota // a trust region
	ByRate                    // a learning rate
	ByMetrics                 // numbers of its own
)

// Steering tells it from what + and − scale, and where nothing can be scaled from the latest epoch.
func (h *History) Steering() Steering {
	s := h.Primary()
	switch {
	case s != nil && s.Key == "radius":
		return ByRadius
	case s != nil && s.Key == "rate":
		return ByRate
	case s != nil:
		return ByMetrics
	case h.Latest.Epoch == 0 && !h.External() || h.Epochs > 0 && !h.Latest.Radius.Absent():
		return ByRadius
	case h.Epochs > 0 && !h.Latest.Rate.Absent():
		return ByRate
	}
	return ByMetrics
}

// Watched reports whether the run is trained elsewhere, or was: nobody answers what it does not tell.
func (h *History) Watched() bool { return h.Status.Replay != nil }

// Offline reports whether a question would have no answer: the run is over for good, or only its record is here.
func (h *History) Offline() bool { return h.Over() && !h.Status.Held || h.Watched() }

// Loading is how much of a record has been read, and whether more is being read.
func (h *History) Loading() (share float64, ok bool) {
	r := h.Status.Replay
	if r == nil || !reading(r) {
		return 0, false
	}
	return r.Loading, true
}

func reading(r *event.Replay) bool { return r != nil && r.Loading > 0 && r.Loading < 1 }

// External reports whether the run is reported by another program, which may tell little.
func (h *History) External() bool { return h.Run != nil && h.Run.External() }

// Elsewhere reports whether newtop trains a model that another program has, whose layers and rows are not known.
func (h *History) Elsewhere() bool { return h.Run != nil && h.Run.Model.Program != "" }

// Lacks reports whether the model has not what an optimizer needs.
func (h *History) Lacks(optimizer string) bool {
	return h.Run != nil && slices.Contains(h.Run.Model.Missing, optimizer)
}

// Awaited reports whether a run is watched for that has not begun.
func (h *History) Awaited() bool {
	r := h.Status.Replay
	return h.Run == nil && r != nil && r.Loading == 1
}

// MetricsOnly reports whether the run is reported by its figures alone, and by spectra at most.
func (h *History) MetricsOnly() bool {
	return h.Awaited() || h.External() && len(h.Solves.Bars) == 0 && len(h.Steps.Solves) == 0
}

// HasVerdict reports whether an epoch says anything about its step: other programs do not.
func (h *History) HasVerdict(e *event.EpochEvent) bool {
	return e.Epoch > 0 && (!h.External() || !e.Rho.Absent())
}

// Missing reports whether another program tells no values of a curve at all.
func (h *History) Missing(s *chart.Series) bool {
	return (h.External() || h.Elsewhere()) && s.Blank() && h.Diverged == nil
}

// Received notes when the latest epoch came, for runs that tell no times.
func (h *History) Received(now time.Time) {
	if _, loading := h.Loading(); loading || h.Status.Epoch == 0 {
		h.came = pace{}
		return
	}
	if n := len(h.came.at); n == 0 || h.came.at[n-1].epoch != float64(h.Status.Epoch) {
		h.came.add(h.Status.Epoch, float64(now.UnixNano())/1e9)
	}
}

// Remaining estimates the seconds to the epoch limit from the epochs of late; NaN without a limit, where no pace is
// known, or when the run is over or nobody continues with it.
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
