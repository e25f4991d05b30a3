package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/style"
)

const (
	keptSolves  = 1024 // epochs whose inner solves are kept as bars
	keptSpectra = 512
	keptLog     = 500
)

// history is everything the panes show of a run, in bounded memory. Apply adds a Delta; the counters
// tell a pane whether what it shows has changed.
type history struct {
	run    *event.RunEvent
	status event.Status

	loss, testLoss, fault, testFault chart.Series // fault: error, or RMSE for regression
	radius, rho, rate                chart.Series
	gradient, step                   chart.Series
	seconds                          chart.Series
	figures                          []figureSeries // the newest epoch's method's own
	memberLow, memberHigh            chart.Series   // the faults of a committee's best and worst member

	latest, before event.EpochEvent // the newest two epochs
	epochs         int              // how many were seen
	best           float64          // least test fault so far, training fault without test rows
	bestEpoch      int
	hasBest        bool
	rejected       int

	bars    []innerBar
	barred  int                         // bars there have been, those dropped included
	stops   [krylov.Interrupted + 1]int // solves ended for each reason
	solves  int
	inner   int // inner iterations of all solves
	live    event.InnerEvent
	solving bool // live belongs to an unfinished solve
	stage   innerHistory

	spectra  []event.SpectrumEvent
	entries  []entry
	diverged *event.DivergedEvent
	raceHistory
	lookHistory
	recordHistory
	done    *event.DoneEvent
	thinned int
	charted
	unlogged bool // the epochs of now are too many for the log

	runGen, epochGen, innerGen, spectrumGen, logGen, settingGen uint64
}

// innerBar is the inner work of one epoch: its iterations by the reason why the solves ended.
type innerBar struct {
	epoch  int
	total  int
	byStop [krylov.Interrupted + 1]int
	solves [krylov.Interrupted + 1]int
	nets   int // of a committee that solved
	blocks int // of rows that they went through
}

// stop is the reason that ended most of an epoch's solves.
func (b *innerBar) stop() krylov.Stop {
	var most krylov.Stop
	for s, n := range b.solves {
		if n > b.solves[most] || most == 0 && n > 0 {
			most = krylov.Stop(s)
		}
	}
	return most
}

// entry is one line of the log.
type entry struct {
	epoch int
	tok   style.Token
	text  string           // empty for an epoch's figures
	stats event.EpochEvent // of an epoch line
	stop  krylov.Stop
	inner int
}

// regression reports whether the faults are root mean squares and not error fractions.
func (h *history) regression() bool { return h.run != nil && h.run.Data.Classes == 0 && !h.classified }

// apply adds what is new. The order within a Delta is: run, epochs with the switches, settings and
// spectra that belong after them, the end.
func (h *history) apply(d *feed.Delta) {
	defer func(over bool) {
		if over != h.over() { // of an interrupted run without an event of its own
			h.epochGen++
			h.innerGen++
		}
	}(h.over())
	if d.Restart {
		h.restart(d.Run)
	}
	if d.Run != nil {
		h.run = d.Run
		h.runGen++
		h.say(0, style.Text, "%s", strings.Join(runWords(d.Run), " · "))
	}
	deeds := h.newDeeds(d.Status.Audience)
	h.standing(&d.Status)
	(&sequence{h: h, d: d, done: deeds}).play()
	h.laps(d)
	h.looks(d)
	for i := range d.Inner {
		h.iteration(&d.Inner[i])
	}
	h.stage.take(d)
	if d.Thinned > 0 {
		h.thinned += d.Thinned
	}
	h.end(d)
}

// standing takes in the run's status.
func (h *history) standing(s *event.Status) {
	if s.Computing != h.status.Computing {
		h.spectrumGen++
	}
	if s.Optimizer != h.status.Optimizer {
		h.epochGen++
	}
	if !slices.Equal(s.Settings, h.status.Settings) {
		h.settingGen++
	}
	if s.Unit != h.status.Unit || s.Phase != h.status.Phase {
		h.innerGen++
	}
	h.recorded(&s.Recording)
	h.replayed(s.Replay)
	h.status = *s
}

func (h *history) end(d *feed.Delta) {
	if len(d.Resumes) > 0 && d.Status.Phase != event.Ended {
		return // it had ended before it was resumed
	}
	if d.Diverged != nil && h.diverged == nil {
		h.diverged = d.Diverged
		h.say(d.Diverged.Epoch, style.Bad, "diverged: %s", style.Clean(d.Diverged.Reason))
	}
	if d.Done != nil && h.done == nil {
		h.done = d.Done
		h.solving = false
		h.innerGen++
		h.epochGen++
		h.say(d.Done.Epochs, style.Good, "ended: %s", ending(d.Done))
	}
}

func (h *history) epoch(newest *event.EpochEvent) {
	now, old := *newest, &h.latest
	e := &now
	h.now = spotOf(e)
	h.classify(e)
	if passed := e.Elapsed - old.Elapsed; h.foreign() && h.epochs > 0 && e.Seconds != e.Seconds && passed >= 0 {
		e.Seconds = passed / event.Float(max(e.Epoch-old.Epoch, 1))
	}
	plain := now // without what is only remembered
	h.told(&h.loss, &e.Loss, old.Loss)
	h.told(&h.testLoss, &e.TestLoss, old.TestLoss)
	fault, testFault, faultBefore, testFaultBefore := &e.Error, &e.TestError, old.Error, old.TestError
	if h.regression() {
		fault, testFault, faultBefore, testFaultBefore = &e.RMSE, &e.TestRMSE, old.RMSE, old.TestRMSE
	}
	h.better(float64(*fault), float64(*testFault), e.Epoch)
	h.told(&h.fault, fault, faultBefore)
	h.told(&h.testFault, testFault, testFaultBefore)
	h.told(&h.radius, &e.Radius, old.Radius)
	h.told(&h.rho, &e.Rho, old.Rho)
	h.told(&h.rate, &e.Rate, old.Rate)
	h.told(&h.gradient, &e.GradientNorm, old.GradientNorm)
	h.told(&h.step, &e.StepNorm, old.StepNorm)
	if e.Epoch > 0 {
		h.told(&h.seconds, &e.Seconds, old.Seconds)
		if !e.Accepted && h.judged(newest) {
			h.rejected++
		}
	}
	h.own(e)
	h.committee(e)
	h.before, h.latest = h.latest, *e
	h.epochs++
	h.epochGen++
	h.solved(&plain)
}

// solved adds the epoch's inner solves to the bars, the counts and the log.
func (h *history) solved(e *event.EpochEvent) {
	line := entry{epoch: e.Epoch, tok: style.Muted, stats: *e}
	line.stats.Blocks, line.stats.Inner = nil, nil
	if len(e.Inner) > 0 {
		b := innerBar{epoch: e.Epoch}
		for _, s := range e.Inner {
			b.nets, b.blocks = max(b.nets, s.Member+1), max(b.blocks, s.Block+1)
			k := s.Stop
			if k > krylov.Interrupted {
				k = krylov.Interrupted
			}
			b.total += s.Iterations
			b.byStop[k] += s.Iterations
			b.solves[k]++
			h.stops[k]++
		}
		h.solves += len(e.Inner)
		h.inner += b.total
		h.bars = chart.Newest(append(h.bars, b), keptSolves)
		h.barred++
		line.stop, line.inner = b.stop(), b.total
	}
	h.solving = false
	h.innerGen++
	if !h.unlogged {
		h.log(line)
	}
}

func (h *history) iteration(e *event.InnerEvent) {
	h.live = *e
	h.solving = h.done == nil && e.Epoch > h.latest.Epoch
	h.innerGen++
}

func (h *history) switched(e event.SwitchEvent) {
	h.solving = false // what was under way was the other method's
	h.innerGen++
	h.epochGen++
	h.mark(e.Epoch, true, style.Clean(e.To))
	h.say(e.Epoch, style.Accent, "%s → %s", style.Clean(e.From), style.Clean(e.To))
}

func (h *history) spectrum(e event.SpectrumEvent) {
	if e.Stop.Failed() {
		h.say(e.Epoch, style.Bad, "no spectrum: %s", e.Stop.Words())
		return
	}
	h.spectra = chart.Newest(append(h.spectra, e), keptSpectra)
	h.spectrumGen++
	if low, high, ok := spread(&e); ok {
		h.say(e.Epoch, style.Text, "λ %s … %s", format.Number(low), format.Number(high))
	}
}

// spread returns the least and the greatest eigenvalue of an event.
func spread(e *event.SpectrumEvent) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range e.Eigenvalues {
		if v := float64(f); !math.IsNaN(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high, low <= high
}

// say adds a line to the log.
func (h *history) say(epoch int, t style.Token, format string, args ...any) {
	h.log(entry{epoch: epoch, tok: t, text: fmt.Sprintf(format, args...)})
}

func (h *history) log(e entry) {
	h.entries = chart.Newest(append(h.entries, e), keptLog)
	h.logGen++
}

// over reports whether the run has ended.
func (h *history) over() bool { return h.done != nil || h.status.Phase == event.Ended }

// primary is the setting that + and − scale, nil if there is none.
func (h *history) primary() *event.Setting {
	for i := range h.status.Settings {
		if s := &h.status.Settings[i]; s.Primary {
			return s
		}
	}
	return nil
}

// steering is what a method is steered by, and so what tells how it is doing.
type steering uint8

const (
	byRadius  steering = iota // a trust region
	byRate                    // a learning rate
	byFigures                 // numbers of its own
)

// steering tells it from what + and − scale, and where nothing can be scaled from the newest epoch.
func (h *history) steering() steering {
	s := h.primary()
	switch {
	case s != nil && s.Key == "radius":
		return byRadius
	case s != nil && s.Key == "rate":
		return byRate
	case s != nil:
		return byFigures
	case h.latest.Epoch == 0 && !h.foreign() || h.epochs > 0 && !math.IsNaN(float64(h.latest.Radius)):
		return byRadius
	case h.epochs > 0 && !math.IsNaN(float64(h.latest.Rate)):
		return byRate
	}
	return byFigures
}

// solveless reports whether the current method has no inner solves: what its newest epoch had, and before
// its first one what it is steered by.
func (h *history) solveless() bool {
	if h.latest.Epoch > 0 && (h.latest.Optimizer == h.status.Optimizer || h.status.Optimizer == "") {
		return len(h.latest.Inner) == 0
	}
	return h.steering() != byRadius
}

// nextRadius is the radius that the next epoch begins with, if it is not that of the last.
func (h *history) nextRadius() (r float64, ok bool) {
	s, now := h.primary(), float64(h.latest.Radius)
	if s == nil || s.Key != "radius" || h.mute() || h.latest.Epoch == 0 {
		return 0, false
	}
	r, err := strconv.ParseFloat(s.Text, 64)
	return r, err == nil && format.Number(r) != format.Number(now)
}
