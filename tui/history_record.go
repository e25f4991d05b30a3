package tui

import (
	"math"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// recordHistory is what a run's record adds to its history: how it is shown, and what it does not tell.
type recordHistory struct {
	restarts   int  // times that the history began anew
	classified bool // a run that does not tell its classes tells error rates
	bestTest   bool // the best fault is of the test rows
	viewer     bool // the screen is that of a guest who may look and no more
	deed       int  // the newest of the audience's deeds that is in the log
}

// watched reports whether the run is trained elsewhere, or was: nobody answers what it does not tell.
func (h *history) watched() bool { return h.status.Replay != nil }

// mute reports whether a question would have no answer: the run is over, or only its record is here.
func (h *history) mute() bool { return h.over() || h.watched() }

// unasked reports whether nobody answers what this screen asks: there is no answer, or no right to ask.
func (h *history) unasked() bool { return h.mute() || h.viewer }

// loading is how much of a record has been read, and whether more is being read.
func (h *history) loading() (share float64, ok bool) {
	r := h.status.Replay
	if r == nil || !reading(r) {
		return 0, false
	}
	return r.Loading, true
}

func reading(r *event.Replay) bool { return r.Loading > 0 && r.Loading < 1 }

// foreign reports whether the run is told by a program that may tell little: it names no network.
func (h *history) foreign() bool { return h.run != nil && len(h.run.Model.Layers) == 0 }

// plain reports whether the run is told by its figures alone.
func (h *history) plain() bool {
	return h.foreign() && len(h.bars) == 0 && len(h.stage.solves) == 0 && len(h.spectra) == 0
}

// judged reports whether an epoch says anything about its step: other programs do not.
func (h *history) judged(e *event.EpochEvent) bool {
	return e.Epoch > 0 && (!h.foreign() || !math.IsNaN(float64(e.Rho)))
}

// untold reports whether another program tells no values of a curve at all.
func (h *history) untold(s *chart.Series) bool { return h.foreign() && s.Empty() && h.diverged == nil }

// lossless reports whether another program tells nothing but figures of its own.
func (h *history) lossless() bool {
	return h.untold(&h.loss) && h.untold(&h.testLoss) && h.untold(&h.fault) && h.untold(&h.testFault)
}

// restart forgets the run: what follows begins it anew. The counters go on, so that every picture is drawn anew, and
// what is known of a run's epochs stays for the list of those to go to.
func (h *history) restart(run *event.RunEvent) {
	old := *h
	*h = history{}
	h.restarts, h.viewer = old.restarts+1, old.viewer
	h.runGen, h.epochGen, h.innerGen, h.spectrumGen = old.runGen+1, old.epochGen+1, old.innerGen+1, old.spectrumGen+1
	h.logGen, h.settingGen, h.raceGen = old.logGen+1, old.settingGen+1, old.raceGen+1
	h.weightsGen, h.errorsGen, h.stage.gen = old.weightsGen+1, old.errorsGen+1, old.stage.gen+1
	if run != nil && old.run != nil && run.ID == old.run.ID {
		h.earlier, h.earlierEach = old.earlier, old.earlierEach
	}
}

// put adds a value of the epoch of now to a curve and reports whether it did. Another program may tell a figure now and
// then only: what it leaves out is no hole, unless the curve had a value at every epoch so far.
func (h *history) put(s *chart.Series, y event.Float) bool {
	const regular = 8
	if h.foreign() && y != y && (s.Points < regular || s.Points < h.epochs) {
		return false
	}
	s.Put(h.now, float64(y))
	return true
}

// told adds a value like put; one that was left out is then the one before.
func (h *history) told(s *chart.Series, y *event.Float, before event.Float) {
	if !h.put(s, *y) && h.epochs > 0 {
		*y = before
	}
}

// better keeps the least fault: that of the test rows, of the training rows while no other was told.
func (h *history) better(fault, testFault float64, epoch int) {
	test := !math.IsNaN(testFault) || !h.testFault.Empty()
	if !test {
		testFault = fault
	}
	if !math.IsNaN(testFault) && (!h.hasBest || testFault < h.best || test && !h.bestTest) {
		h.best, h.bestEpoch, h.hasBest, h.bestTest = testFault, epoch, true, test
	}
}

// classify finds out whether the faults of a run that does not tell its classes are errors.
func (h *history) classify(e *event.EpochEvent) {
	if h.classified || !h.foreign() || h.run.Data.Classes != 0 || h.epochs > 0 && !(h.untold(&h.fault) && h.untold(&h.testFault)) {
		return
	}
	if e.Error == e.Error || e.TestError == e.TestError {
		h.classified = true
		h.fault, h.testFault = chart.Series{}, chart.Series{}
		h.runGen++
	}
}

// resumed notes where a run was taken up again.
func (h *history) resumed(e *event.ResumeEvent) {
	when := ""
	if !e.Time.IsZero() {
		when = ", " + e.Time.Local().Format("2 Jan 2006 15:04")
	}
	h.say(e.Epoch, style.Accent, "resumed from the checkpoint after epoch %s%s", format.Count(e.Epoch), when)
	h.mark(e.Epoch, true, "▸ resumed")
	h.done, h.diverged = nil, nil
	h.epochGen++
}

// wrote notes that the weights were saved.
func (h *history) wrote(e *event.SavedEvent) {
	h.say(e.Epoch, style.Good, "saved %s, %s", style.Clean(e.File), format.Bytes(e.Bytes))
	h.mark(e.Epoch, false, "saved")
	h.epochGen++
}

// recorded notes in the log when a run's record begins to fail, and when it is well again.
func (h *history) recorded(now *event.Recording) {
	old := &h.status.Recording
	if now.Warning != old.Warning {
		switch {
		case now.Warning != "":
			h.say(h.status.Epoch, style.Warn, "%s", unrecorded(now))
		case now.Lost > 0:
			h.say(h.status.Epoch, style.Warn, "recorded again, without %s", format.Counted(now.Lost, "event"))
		default:
			h.say(h.status.Epoch, style.Good, "recorded again, nothing is missing")
		}
	}
	if now.Lost > 0 && old.Lost == 0 {
		h.say(h.status.Epoch, style.Warn, "the record lacks events: too many waited for the disk")
	}
}

// replayed notes in the log what is wrong with the source of a watched run.
func (h *history) replayed(now *event.Replay) {
	var old event.Replay
	if h.status.Replay != nil {
		old = *h.status.Replay
	}
	if now == nil {
		return
	}
	if begun := h.status.Replay == nil; begun || reading(&old) != reading(now) {
		h.runGen++ // what empty panes say is another thing now
	}
	if now.Stale != "" && now.Stale != old.Stale {
		h.say(now.Epoch, style.Warn, "%s", style.Clean(now.Stale))
	}
	if now.Warning != "" && old.Warning == "" { // it may count on with every epoch, which the header shows
		h.say(now.Epoch, style.Warn, "%s", style.Clean(now.Warning))
	}
}
