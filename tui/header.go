package tui

import (
	"strconv"

	"newtop/trainer"
)

// header is two rows: what is trained, and how it goes. When the run is over the second row says how it
// ended, and a run that diverged says so in a colour that is hard to overlook.
func (a *App) header(w int) []string {
	return []string{a.headerRun(w), a.headerState(w)}
}

func (a *App) headerRun(w int) string {
	l := a.th.line(w)
	l.put(tokText, " ").put(tokAccent, a.title)
	state := a.state()
	room := w - width(state) - 2
	r := a.h.run
	if r == nil {
		l.put(tokMuted, "  waiting for the run")
	} else {
		inner := a.th.line(room - l.w)
		d, m := &r.Data, &r.Model
		inner.group(part{tokText, "  " + clean(d.Name)})
		rows := count(d.TrainRows)
		if d.TestRows > 0 {
			rows += " + " + count(d.TestRows)
		}
		inner.group(part{tokText, "  " + m.Shape()})
		inner.group(part{tokMuted, "  " + count(m.Parameters) + " weights"})
		inner.group(part{tokMuted, "  " + rows + " rows"})
		if m.Loss != "" {
			inner.group(part{tokMuted, "  " + clean(m.Loss)})
		}
		inner.group(part{tokMuted, "  " + r.Seeds()})
		l.raw(inner.b.String(), inner.w)
	}
	l.to(w - width(state) - 1)
	for _, p := range state {
		l.put(p.t, p.s)
	}
	return l.full()
}

// state is the phase as a symbol and a word.
func (a *App) state() []part {
	s := &a.h.status
	switch {
	case a.h.diverged != nil:
		return []part{{tokBad, "× diverged"}}
	case a.h.done != nil && a.h.done.Reason == trainer.ReasonFailed:
		return []part{{tokBad, "× failed"}}
	case a.h.over():
		return []part{{tokGood, "■ ended"}}
	case a.closed:
		return []part{{tokWarn, "■ feed closed"}}
	case a.stopping:
		return []part{{tokWarn, "■ stopping"}}
	case s.Computing != "":
		return []part{{tokWarn, "● " + clean(s.Computing)}}
	case s.Phase == trainer.Paused:
		return []part{{tokWarn, "‖ paused"}}
	case s.Phase == trainer.Running && s.Racing:
		return []part{{tokGood, "● racing"}}
	case s.Phase == trainer.Running:
		return []part{{tokGood, "● running"}}
	}
	return []part{{tokMuted, "○ preparing"}}
}

func (a *App) headerState(w int) string {
	l := a.th.line(w)
	if a.h.diverged != nil {
		l.put(tokAlarm, " × DIVERGED at epoch "+count(a.h.diverged.Epoch)+": "+clean(a.h.diverged.Reason)+" ")
		l.put(tokAlarm, spaces(l.left()))
		return l.full()
	}
	if d := a.h.done; d != nil {
		ink := tokDone
		if d.Reason == trainer.ReasonFailed || d.Reason == trainer.ReasonDiverged {
			ink = tokAlarm
		}
		l.put(ink, " "+a.summary(d, w-2))
		l.put(ink, spaces(l.left()))
		return l.full()
	}
	if a.h.run == nil && a.h.status.Optimizer == "" {
		return l.full()
	}
	a.progressLine(l)
	return l.full()
}

// summary is what remains to be said of a run: why it ended, how good it got and when, how long it took.
func (a *App) summary(d *trainer.DoneEvent, w int) string {
	unit, what := percent, "test error "
	if a.h.regression() {
		unit, what = number, "test RMSE "
	}
	if a.h.testFault.empty() {
		what = what[len("test "):]
	}
	s := ending(d)
	add := func(more string) {
		if cells(s)+cells(more) <= w {
			s += more
		}
	}
	if a.h.hasBest {
		add(" · best " + what + unit(a.h.best) + " at epoch " + count(a.h.bestEpoch))
	}
	add(" · " + count(d.Epochs) + " epochs in " + span(float64(d.Elapsed)))
	add(" · loss " + number(float64(d.Loss)))
	return s
}

// progressLine writes the optimizer, its settings as far as there is room, and the epoch.
func (a *App) progressLine(l *line) {
	s := &a.h.status
	tail := a.progressTail(l.room)
	inner := a.th.line(l.left() - width(tail) - 3)
	inner.put(tokText, " ").put(tokStrong, clean(s.Optimizer))
	fits := true
	if k := a.h.primary(); k != nil {
		fits = inner.group(part{tokMuted, "  " + clean(k.Key) + " "}, part{tokText, pad(settingText(k.Text), 5)})
	}
	for _, k := range s.Settings {
		// What does not fit ends the row: a later one in its place would come and go.
		fits = fits && (k.Primary || inner.group(part{tokMuted, "  " + clean(k.Key) + " "}, part{tokText, settingText(k.Text)}))
	}
	l.raw(inner.b.String(), inner.w)
	l.to(l.room - width(tail) - 1)
	for _, p := range tail {
		l.put(p.t, p.s)
	}
}

// settingText shortens a number that a method has adapted: 3.9999999999999987 is 4.
func settingText(s string) string {
	if len(s) > 7 {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
	}
	return clean(s)
}

func (a *App) progressTail(room int) []part {
	s := &a.h.status
	parts := []part{{tokMuted, "epoch "}, {tokStrong, count(s.Epoch)}}
	if s.EpochLimit > 0 {
		parts = append(parts, part{tokMuted, " of " + count(s.EpochLimit) + " "})
		w := 12
		if room < 80 {
			w = 6
		}
		n := min(w, max(0, s.Epoch*w/s.EpochLimit))
		parts = append(parts, part{tokAccent, repeat("━", n)}, part{tokGrid, repeat("─", w-n)})
	}
	return append(parts, part{tokText, "  " + clock(a.elapsed())})
}
