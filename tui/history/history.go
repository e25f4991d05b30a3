// Package history remembers a run as panes show it: curves, inner solves, the steps of the method, the log, the race,
// earlier epochs and analyses, all in bounded memory. It follows the events of a feed and knows no screen.
package history

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/style"
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
	Best           Best
	bests          []Best // and those before it
	Curves         Curves
	Solves         Solves
	Steps          Steps
	Factors        Factors
	Spectra        []event.SpectrumEvent
	Analyses       Analyses
	Race           Race
	Earlier        Earlier
	Log            Log
	Console        Console
	Thinned        int // epochs that are not here, as the feed left them out

	Diverged *event.DivergedEvent
	Done     *event.DoneEvent

	since         int  // the epoch after which the current method took over
	trained, came pace // in seconds of training, and as the epochs came here

	Restarts int // times that the history began anew
	Gen      Generations
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

// Apply adds what is new. The order within a Delta is: run, epochs with the switches, settings and
// spectra that belong after them, the end.
func (h *History) Apply(d *feed.Delta) {
	defer func(over bool) {
		if over != h.Over() { // of an interrupted run without an event of its own
			h.Gen.Epoch++
			h.Gen.Inner++
		}
	}(h.Over())
	if d.Restart {
		h.restart(d.Run)
	}
	if d.Run != nil {
		h.Run, h.Measure = d.Run, d.Run.Measure()
		h.Gen.Run++
		h.Log.Say(0, style.Text, "%s", strings.Join(RunWords(d.Run), " · "))
		for _, note := range d.Run.Data.Notes {
			h.Log.Say(0, style.Text, "%s", style.Clean(note))
		}
	}
	actions := newActions(h, d.Status.Audience)
	h.takeStatus(&d.Status)
	(&sequence{h: h, d: d, done: actions}).play()
	for i := range d.Laps { // of the newest race: a lap 0 begins each racer anew
		h.Race.lap(&d.Laps[i], h.Measure)
	}
	for i := range d.Epochs {
		h.Earlier.take(h, &d.Epochs[i])
		h.trained.add(d.Epochs[i].Epoch, float64(d.Epochs[i].Elapsed))
	}
	h.Analyses.take(d)
	h.Console.take(d.Console)
	for i := range d.Inner {
		h.iteration(&d.Inner[i])
	}
	h.Steps.take(d)
	if d.Thinned > 0 {
		h.Thinned += d.Thinned
	}
	h.end(d)
}

// takeStatus takes in the run's status.
func (h *History) takeStatus(s *event.Status) {
	if s.Computing != h.Status.Computing {
		h.Gen.Spectrum++
	}
	if s.Optimizer != h.Status.Optimizer {
		h.Gen.Epoch++
	}
	if !slices.Equal(s.Settings, h.Status.Settings) {
		h.Gen.Setting++
	}
	if s.Unit != h.Status.Unit || s.Phase != h.Status.Phase {
		h.Gen.Inner++
	}
	h.Log.recording(&h.Status, &s.Recording)
	if begun := h.Status.Replay == nil && s.Replay != nil; begun || s.Replay != nil &&
		reading(h.Status.Replay) != reading(s.Replay) {
		h.Gen.Run++ // what empty panes say is another thing now
	}
	h.Log.replay(h.Status.Replay, s.Replay)
	h.Status = *s
}

func (h *History) end(d *feed.Delta) {
	if len(d.Resumes) > 0 && d.Status.Phase != event.Ended {
		return // it had ended before it was resumed
	}
	if d.Diverged != nil && h.Diverged == nil {
		h.Diverged = d.Diverged
		h.Log.Say(d.Diverged.Epoch, style.Bad, "diverged: %s", style.Clean(d.Diverged.Reason))
	}
	if d.Done != nil && h.Done == nil {
		h.Done = d.Done
		h.Solves.Running = false
		h.Gen.Inner++
		h.Gen.Epoch++
		ink := style.Good
		if d.Done.Reason == event.ReasonDiverged || d.Done.Reason == event.ReasonFailed {
			ink = style.Bad
		}
		h.Log.Say(d.Done.Epochs, ink, "ended: %s", Ending(d.Done))
	}
}

func (h *History) epoch(newest *event.EpochEvent) {
	now, old := *newest, &h.Latest
	e := &now
	h.Curves.now = PositionOf(e)
	h.updateBest(e)
	if passed := e.Elapsed - old.Elapsed; h.External() && h.Epochs > 0 && e.Seconds.Absent() && passed >= 0 {
		e.Seconds = passed / event.Float(max(e.Epoch-old.Epoch, 1))
	}
	plain := now // without what is only remembered
	h.measured(e, old)
	if e.Epoch > 0 && !e.Accepted && h.HasVerdict(newest) {
		h.Rejected++
	}
	h.Curves.own(e, h.Latest.Optimizer, h.External())
	h.Curves.committee(e, h.Measure)
	h.Factors.take(e, h.Latest.Optimizer, h.Curves.most)
	h.Before, h.Latest = h.Latest, *e
	h.Epochs++
	h.Gen.Epoch++
	h.solved(&plain)
}

// measured adds an epoch's values to the curves.
func (h *History) measured(e, old *event.EpochEvent) {
	// put adds a value to a curve. Another program may tell a quantity now and then only: what it leaves out is the
	// value before.
	put := func(s *chart.Series, y *event.Float, before event.Float) {
		Put(s, h.Curves.now, *y, h.External())
		if y.Absent() && h.External() && h.Epochs > 0 {
			*y = before
		}
	}
	put(&h.Curves.Loss, &e.Loss, old.Loss)
	put(&h.Curves.TestLoss, &e.TestLoss, old.TestLoss)
	train, test := h.Metrics()
	put(&h.Curves.Metric, train.Of(e), *train.Of(old))
	put(&h.Curves.TestMetric, test.Of(e), *test.Of(old))
	if h.External() || h.Run != nil && h.Run.Data.ValidationRows > 0 {
		put(&h.Curves.ValidationLoss, &e.ValidationLoss, old.ValidationLoss)
		put(&h.Curves.ValidationMetric, train.Validation().Of(e), *train.Validation().Of(old))
	}
	put(&h.Curves.Radius, &e.Radius, old.Radius)
	put(&h.Curves.Rho, &e.Rho, old.Rho)
	put(&h.Curves.Rate, &e.Rate, old.Rate)
	put(&h.Curves.Gradient, &e.GradientNorm, old.GradientNorm)
	put(&h.Curves.Step, &e.StepNorm, old.StepNorm)
	if n := e.InnerIterations(); !n.Absent() {
		h.Curves.Inner.Put(h.Curves.now, float64(n))
	}
	if e.Epoch > 0 {
		put(&h.Curves.Seconds, &e.Seconds, old.Seconds)
	}
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

// updateBest keeps the least value of the measure. Where an epoch changes what a run of another program is judged by,
// what was kept by the old measure goes.
func (h *History) updateBest(e *event.EpochEvent) {
	if m := h.Measure.With(e); m != h.Measure {
		if m.Train() != h.Measure.Train() {
			none := chart.Series{Most: h.Curves.most}
			h.Curves.Metric, h.Curves.TestMetric, h.Curves.ValidationMetric = none, none, none
			h.Gen.Run++
		}
		h.Measure, h.Best, h.bests = m, Best{}, nil
	}
	order := h.Measure.Order()
	tie := float64(*order[len(order)-1].Of(e))
	if v := h.Measure.Value(e); !math.IsNaN(v) && (!h.Best.Known || v < h.Best.Value || v == h.Best.Value &&
		tie < h.Best.tie) {
		h.Best = Best{v, e.Epoch, PositionOf(e), true, tie}
		if h.bests = append(h.bests, h.Best); len(h.bests) > maxBests {
			h.bests = thinned(h.bests)
		}
	}
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

// solved adds the epoch's inner solves to the bars, the counts and the log.
func (h *History) solved(e *event.EpochEvent) {
	line := Entry{Epoch: e.Epoch, Token: style.Muted, Stats: *e}
	line.Stats.Blocks, line.Stats.Inner, line.Stats.Preconditioner = nil, nil, nil
	if len(e.Inner) > 0 {
		b := h.Solves.take(e)
		line.Stop, line.Inner = b.Stop(), b.Total
	}
	h.Solves.Running = false
	h.Gen.Inner++
	if !h.Log.full {
		h.Log.add(line)
	}
}

func (h *History) iteration(e *event.InnerEvent) {
	h.Solves.Live = *e
	h.Solves.Running = h.Done == nil && e.Epoch > h.Latest.Epoch
	h.Gen.Inner++
}

func (h *History) switched(e event.SwitchEvent) {
	h.Solves.Running = false // what was under way was the other method's
	h.since, h.Factors = e.Epoch, Factors{}
	h.Gen.Inner++
	h.Gen.Epoch++
	h.Curves.Mark(e.Epoch, true, style.Clean(e.To))
	h.Curves.changed()
	h.Log.Say(e.Epoch, style.Accent, "%s → %s", style.Clean(e.From), style.Clean(e.To))
}

func (h *History) spectrum(e event.SpectrumEvent) {
	if e.Stop.Failed() {
		h.Log.Say(e.Epoch, style.Bad, "no spectrum: %s", e.Stop.Words())
		return
	}
	h.Spectra = chart.Newest(append(h.Spectra, e), keptSpectra)
	h.Gen.Spectrum++
	if low, high, ok := Spread(&e); ok {
		h.Log.Say(e.Epoch, style.Text, "λ %s to %s", format.Number(low), format.Number(high))
	}
}

// setting notes a change of a hyperparameter.
func (h *History) setting(e *event.SettingEvent) {
	text := style.Clean(e.Key) + " = " + style.Clean(format.Setting(fmt.Sprint(e.Value)))
	h.Log.Say(e.Epoch, style.Accent, "%s", text)
	h.Curves.Mark(e.Epoch, false, text)
	h.Curves.changed()
	h.Gen.Epoch++
}

// rewound follows the run back to an epoch.
func (h *History) rewound(to int) {
	h.cut(to)
	h.Curves.Mark(to, true, "back to "+format.Count(to))
	h.Log.Say(to, style.Accent, "back to %s %s", h.Run.Counted(), format.Count(to))
}

// cut takes the curves back to an epoch: what came after it stays as a branch that was left.
func (h *History) cut(to int) {
	h.since = min(h.since, to)
	h.Curves.cut(to)
	h.Factors.cut(to)
	h.Spectra = slices.DeleteFunc(h.Spectra, func(e event.SpectrumEvent) bool { return e.Epoch > to })
	h.Latest.Epoch = to
	for i := len(h.Log.Entries) - 1; i >= 0; i-- {
		if e := &h.Log.Entries[i]; e.Text == "" && e.Stats.Epoch == to {
			h.Latest = e.Stats
			break
		}
	}
	h.Before = event.UnknownEpoch(0)
	h.Solves.cut(to)
	h.bests = slices.DeleteFunc(h.bests, func(b Best) bool { return b.Epoch > to })
	h.Best = Best{}
	if n := len(h.bests); n > 0 {
		h.Best = h.bests[n-1]
	}
	h.Gen.Epoch++
	h.Gen.Inner++
	h.Gen.Spectrum++
}

// resumed notes where a run was taken up again.
func (h *History) resumed(e *event.ResumeEvent) {
	when := ""
	if !e.Time.IsZero() {
		when = ", " + e.Time.Local().Format("2 Jan 2006 15:04")
	}
	h.Log.Say(e.Epoch, style.Accent, "resumed after %s %s%s", h.Run.Counted(), format.Count(e.Epoch), when)
	h.Curves.Mark(e.Epoch, true, "▸ resumed")
	h.Done, h.Diverged = nil, nil
	h.Gen.Epoch++
}

// saved notes that the weights were saved.
func (h *History) saved(e *event.SavedEvent) {
	h.Log.Say(e.Epoch, style.Good, "saved %s, %s", style.Clean(e.File), format.Bytes(e.Bytes))
	h.Curves.Mark(e.Epoch, false, "saved")
	h.Gen.Epoch++
}

// raced takes in how a race begins and ends.
func (h *History) raced(e *event.RaceEvent) {
	h.Race.Gen++
	h.Race.Event = e
	switch e.State {
	case "begun":
		h.Race.Racers = make([]Racer, len(e.Racers))
		for i := range h.Race.Racers {
			h.Race.Racers[i] = newRacer(e.Racers[i])
		}
		h.Log.Say(e.Epoch, style.Accent, "race of %d begins", len(e.Racers))
	case "over":
		h.Log.Say(e.Epoch, style.Accent, "race is over")
	case "picked":
		if e.Picked >= 0 && e.Picked < len(e.Racers) {
			h.since = e.Epoch
			h.Log.Say(e.Epoch, style.Accent, "race ends: on with %s%s", style.Clean(e.Racers[e.Picked].Name),
				h.Race.cost())
			h.Curves.Mark(e.Epoch, false, "race")
			h.Gen.Epoch++
		}
	case "abandoned":
		h.Log.Say(e.Epoch, style.Accent, "race abandoned%s", h.Race.cost())
	}
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
