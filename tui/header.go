package tui

import (
	"strconv"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
)

// header is two rows: what is trained, and how it goes. When the run is over the second row says how it
// ended, and a run that diverged says so in a colour that is hard to overlook. A watched run has a third one, where there
// is room: where in it that is.
func (a *App) header(w int) []string {
	a.bar.rect = rect{}
	rows := []string{a.headerRun(w), a.headerState(w)}
	if a.barRows() > 0 {
		rows = append(rows, a.barLine(w, false))
	}
	return rows
}

func (a *App) headerRun(w int) string {
	l := a.line(w)
	l.put(tokText, " ").put(tokAccent, a.title)
	audience := a.audience(w)
	state := append(audience, a.state()...)
	room := w - width(state) - 2
	if len(audience) > 0 {
		room-- // else it would read as one of the facts
	}
	inner := a.line(room - l.w)
	alert := a.alert()
	switch {
	case a.h.run == nil && alert == "" && a.h.watched():
		l.put(tokText, "  "+ansi.Truncate(clean(a.h.status.Replay.Source), inner.room-2, "…"))
	case a.h.run == nil && alert == "":
		l.put(tokMuted, "  waiting for the run")
	case alert != "":
		facts := a.line(max(inner.room-cells(alert)-2, inner.room/3))
		a.facts(facts, 2)
		inner.raw(facts.b.String(), facts.w).put(tokText, "  ").put(tokWarn, ansi.Truncate(alert, inner.left(), "…"))
	default:
		a.facts(inner, -1)
	}
	l.raw(inner.b.String(), inner.w)
	l.to(w - width(state) - 1)
	for _, p := range state {
		l.put(p.t, p.s)
	}
	return l.full()
}

// facts writes what the run is, as far as there is room: at most so many facts, all with a negative number.
func (a *App) facts(l *line, most int) {
	r := a.h.run
	if r == nil {
		return
	}
	d, m := &r.Data, &r.Model
	groups := [][]part{{tokText.of("  " + clean(d.Name))}}
	add := func(t token, s string) { groups = append(groups, []part{t.of("  " + s)}) }
	if len(m.Layers) > 0 {
		add(tokText, m.Shape())
	}
	if p := a.h.status.Replay; p != nil && a.barRows() == 0 && p.Source != d.Name {
		add(tokMuted, clean(p.Source))
	}
	if m.Parameters > 0 {
		add(tokMuted, format.Count(m.Parameters)+" weights")
	}
	rows := format.Count(d.TrainRows)
	if d.TestRows > 0 {
		rows += " + " + format.Count(d.TestRows)
	}
	if d.TrainRows > 0 {
		add(tokMuted, rows+" rows")
	}
	if m.Loss != "" {
		add(tokMuted, clean(m.Loss))
	}
	if !a.h.foreign() {
		add(tokMuted, r.Seeds())
	}
	for i, g := range groups {
		if i == most {
			return
		}
		l.group(g...)
	}
	a.recordedAs(l)
}

// state is the phase as a symbol and a word.
func (a *App) state() []part {
	s := &a.h.status
	switch {
	case a.h.watched() && !a.h.over():
		return []part{a.playing()}
	case a.h.diverged != nil:
		return []part{tokBad.of("× diverged")}
	case a.h.done != nil && a.h.done.Reason == event.ReasonFailed:
		return []part{tokBad.of("× failed")}
	case a.h.watched() && a.h.done == nil && s.Replay.Stale != "" && a.h.over():
		return []part{tokWarn.of("■ interrupted")}
	case a.h.over():
		return []part{tokGood.of("■ ended")}
	case a.closed:
		return []part{tokWarn.of("■ feed closed")}
	case a.stopping:
		return []part{tokWarn.of("■ stopping")}
	case s.Computing != "":
		return []part{tokWarn.of("● " + clean(s.Computing))}
	case s.Phase == event.Paused:
		return []part{tokWarn.of("‖ paused")}
	case s.Phase == event.Running && s.Racing:
		return []part{tokGood.of("● racing")}
	case s.Phase == event.Running:
		return []part{tokGood.of("● running")}
	}
	return []part{tokMuted.of("○ preparing")}
}

func (a *App) headerState(w int) string {
	l := a.line(w)
	if a.h.diverged != nil {
		l.put(tokAlarm, " × DIVERGED at epoch "+format.Count(a.h.diverged.Epoch)+": "+clean(a.h.diverged.Reason)+" ")
		l.put(tokAlarm, spaces(l.left()))
		return l.full()
	}
	if d := a.h.done; d != nil {
		ink := tokDone
		if d.Reason == event.ReasonFailed || d.Reason == event.ReasonDiverged {
			ink = tokAlarm
		}
		l.put(ink, " "+a.summary(d, w-2))
		l.put(ink, spaces(l.left()))
		return l.full()
	}
	if a.h.watched() && a.barRows() == 0 {
		return a.barLine(w, true)
	}
	if a.h.run == nil && a.h.status.Optimizer == "" {
		return l.full()
	}
	a.progressLine(l)
	return l.full()
}

// summary is what remains to be said of a run: why it ended, how good it got and when, how long it took.
func (a *App) summary(d *event.DoneEvent, w int) string {
	unit, what := format.Percent, "test error "
	if a.h.regression() {
		unit, what = format.Number, "test RMSE "
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
		add(" · best " + what + unit(a.h.best) + " at epoch " + format.Count(a.h.bestEpoch))
	}
	epochs, elapsed, loss := d.Epochs, float64(d.Elapsed), float64(d.Loss)
	if a.h.foreign() { // what its last line leaves out, its epochs have told
		epochs = max(epochs, a.h.latest.Epoch)
		elapsed, loss = orElse(elapsed, a.shown), orElse(loss, a.h.loss.last())
	}
	took := ""
	if elapsed > 0 {
		took = " in " + format.Span(elapsed)
	}
	add(" · " + format.Counted(epochs, "epoch") + took)
	if loss == loss {
		add(" · loss " + format.Number(loss))
	}
	return s
}

// orElse returns x, or y where x is unknown.
func orElse(x, y float64) float64 {
	if x == x {
		return x
	}
	return y
}

// progressLine writes the optimizer, its settings as far as there is room, and the epoch.
func (a *App) progressLine(l *line) {
	s := &a.h.status
	tail := a.progressTail(l.room)
	inner := a.line(l.left() - width(tail) - 3)
	inner.put(tokText, " ").put(tokStrong, clean(s.Optimizer))
	fits := true
	if k := a.h.primary(); k != nil {
		fits = inner.group(tokMuted.of("  "+clean(k.Key)+" "), tokText.of(pad(primaryText(a.h, k), 5)))
	}
	for _, k := range s.Settings {
		// What does not fit ends the row: a later one in its place would come and go.
		fits = fits && (k.Primary || inner.group(tokMuted.of("  "+clean(k.Key)+" "), tokText.of(settingText(k.Text))))
	}
	l.raw(inner.b.String(), inner.w)
	l.to(l.room - width(tail) - 1)
	for _, p := range tail {
		l.put(p.t, p.s)
	}
}

// primaryText is the value of what + and − scale. Of a watched run the settings are those that it began with, so that
// what a method adapts is told by its newest epoch.
func primaryText(h *history, k *event.Setting) string {
	now := map[string]float64{"radius": float64(h.latest.Radius), "rate": float64(h.latest.Rate)}
	if v, ok := now[k.Key]; ok && h.watched() && h.epochs > 0 && format.Finite(v) {
		return settingText(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return settingText(k.Text)
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
	watched := s.Replay != nil
	if watched && (!s.Replay.Live || s.EpochLimit == 0) { // the bar says it
		return nil
	}
	parts := []part{tokMuted.of("epoch "), tokStrong.of(format.Count(s.Epoch))}
	if s.EpochLimit > 0 {
		parts = append(parts, tokMuted.of(" of "+format.Count(s.EpochLimit)+" "))
		w := 12
		if room < 80 {
			w = 6
		}
		n := min(w, max(0, s.Epoch*w/s.EpochLimit))
		parts = append(parts, tokAccent.of(repeat("━", n)), tokGrid.of(repeat("─", w-n)))
	}
	if watched {
		return parts
	}
	return append(parts, tokText.of("  "+format.Clock(a.elapsed())))
}
