package desk

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/history"
	"newtop/tui/style"
)

// header is two rows: what is trained, and how it goes. When the run is over the second row says how it ended, and a
// run that diverged says so in a colour that is hard to overlook. A watched run has a third one, where there is room:
// where in it that is, and one about the machine.
func header(a *App, w int) []string {
	a.Bar.Hide()
	rows := []string{headerRun(a, w), headerState(a, w)}
	switch {
	case a.Caption != "" && BarRows(a) > 0:
		rows = append(rows, captionLine(a, w))
	case a.Caption != "":
		rows[1] = captionLine(a, w)
	case BarRows(a) > 0:
		rows = append(rows, a.Bar.Line(a, w, false))
	}
	if machineRows(a) > 0 {
		rows = append(rows, machinePane(a).Row(&a.Pen, w))
	}
	return rows
}

func captionLine(a *App, w int) string {
	l := a.Line(w)
	l.Write(style.Done, " "+ansi.Truncate(a.Caption, w-2, "…"))
	l.Write(style.Done, style.Spaces(l.Left()))
	return l.Full()
}

func headerRun(a *App, w int) string {
	l := a.Line(w)
	l.Write(style.Text, " ").Write(style.Accent, a.Title)
	audience := audienceParts(a, w)
	state := append(audience, stateParts(a)...)
	room := w - style.Width(state) - 2
	if len(audience) > 0 {
		room-- // else it would read as one of the facts
	}
	inner := a.Line(room - l.Width)
	alert := recordAlert(a)
	switch {
	case a.H.Run == nil && alert == "" && a.H.Watched():
		l.Write(style.Text, "  "+ansi.Truncate(style.Clean(a.H.Status.Replay.Source), inner.Room-2, "…"))
	case a.H.Run == nil && alert == "":
		l.Write(style.Muted, "  waiting for the run")
	case alert != "":
		facts := a.Line(max(inner.Room-style.Cells(alert)-2, inner.Room/3))
		headerFacts(a, facts, 2)
		inner.Append(facts).Write(style.Text, "  ").Write(style.Warn, ansi.Truncate(alert, inner.Left(), "…"))
	default:
		headerFacts(a, inner, -1)
	}
	l.Append(inner)
	l.To(w - style.Width(state) - 1)
	for _, p := range state {
		l.Write(p.Token, p.Text)
	}
	return l.Full()
}

// headerFacts writes what the run is, as far as there is room: at most that many facts, all with a negative number.
func headerFacts(a *App, l *style.Line, most int) {
	r := a.H.Run
	if r == nil {
		return
	}
	d, m := &r.Data, &r.Model
	groups := [][]style.Part{{style.Text.Of("  " + style.Clean(d.Name))}}
	add := func(t style.Token, s string) { groups = append(groups, []style.Part{t.Of("  " + s)}) }
	if m.Program != "" {
		add(style.Text, style.Clean(m.Program))
	}
	if s := m.Shape(); s != "" {
		add(style.Text, s)
	}
	if p := a.H.Status.Replay; p != nil && BarRows(a) == 0 && p.Source != d.Name {
		add(style.Muted, style.Clean(p.Source))
	}
	if m.Parameters > 0 {
		add(style.Muted, format.Count(m.Parameters)+" weights")
	}
	rows := format.Count(d.TrainRows)
	if d.TestRows > 0 {
		if d.ValidationRows > 0 {
			rows += " + " + format.Count(d.ValidationRows)
		}
		rows += " + " + format.Count(d.TestRows)
	}
	if d.TrainRows > 0 {
		add(style.Muted, rows+" rows")
	}
	if m.Loss != "" {
		add(style.Muted, style.Clean(m.Loss))
	}
	if !a.H.External() {
		add(style.Muted, r.Seeds())
	}
	for i, g := range groups {
		if i == most {
			return
		}
		l.Group(g...)
	}
	recordedAs(a, l)
}

// stateParts is the phase as a symbol and a word.
func stateParts(a *App) []style.Part {
	s := &a.H.Status
	switch {
	case a.leaving && !a.H.Over():
		return []style.Part{style.Warn.Of("■ q again ends the program")}
	case a.H.Watched() && !a.H.Over():
		return []style.Part{playing(a)}
	case s.Held && s.Computing != "":
		return []style.Part{style.Warn.Of("■ " + style.Clean(s.Computing))}
	case a.H.Diverged != nil, a.H.Done != nil && a.H.Done.Reason == event.ReasonDiverged:
		return []style.Part{style.Bad.Of("× diverged")}
	case a.H.Done != nil && a.H.Done.Reason == event.ReasonFailed:
		return []style.Part{style.Bad.Of("× failed")}
	case a.H.Watched() && a.H.Done == nil && s.Replay.Stale != "" && a.H.Over() && !a.H.External():
		return []style.Part{style.Warn.Of("■ interrupted")}
	case a.H.Over():
		return []style.Part{style.Good.Of("■ ended")}
	case a.Closed:
		return []style.Part{style.Warn.Of("■ feed closed")}
	case a.Stopping:
		return []style.Part{style.Warn.Of("■ stopping")}
	case underWay(a) != "":
		return []style.Part{style.Warn.Of("‖ " + underWay(a))}
	case s.Computing != "":
		return []style.Part{style.Warn.Of("● " + style.Clean(s.Computing))}
	case s.Phase == event.Paused:
		return []style.Part{style.Warn.Of("‖ paused")}
	case s.Phase == event.Running && s.Racing:
		return []style.Part{style.Good.Of("● racing")}
	case s.Phase == event.Running:
		return []style.Part{style.Good.Of("● running")}
	}
	return []style.Part{style.Muted.Of("○ preparing")}
}

// underWay says what was asked for and has not happened yet: a large product may take seconds.
func underWay(a *App) string {
	switch c := a.sent.(type) {
	case event.Pause:
		if c.On {
			return "pausing …"
		}
	case event.Switch:
		return "switching …"
	case event.Set, event.Scale:
		return "changing …"
	case event.Rewind:
		return "going back …"
	case event.Race:
		return "racing …"
	case event.Pick:
		return "picking …"
	}
	return ""
}

func headerState(a *App, w int) string {
	l := a.Line(w)
	if a.H.Diverged != nil {
		l.Write(style.Alarm, " × DIVERGED at "+a.H.Run.Counted()+" "+format.Count(a.H.Diverged.Epoch)+": "+style.Clean(
			a.H.Diverged.Reason)+" ")
		l.Write(style.Alarm, style.Spaces(l.Left()))
		return l.Full()
	}
	if d := a.H.Done; d != nil {
		color := style.Done
		if d.Reason == event.ReasonFailed || d.Reason == event.ReasonDiverged {
			color = style.Alarm
		}
		l.Write(color, " "+summary(a, d, w-2))
		l.Write(color, style.Spaces(l.Left()))
		return l.Full()
	}
	if a.H.Watched() && BarRows(a) == 0 {
		return a.Bar.Line(a, w, true)
	}
	if a.H.Run == nil && a.H.Status.Optimizer == "" {
		return l.Full()
	}
	progressLine(a, l)
	return l.Full()
}

// summary is what remains to be said of a run: why it ended, how good it got and when, how long it took.
func summary(a *App, d *event.DoneEvent, w int) string {
	what, unit := a.PaneView().Judged("validation")
	s := history.Ending(d)
	if style.Cells(s) > w {
		s, _, _ = strings.Cut(s, ": ")
	}
	add := func(more string) {
		if style.Cells(s)+style.Cells(more) <= w {
			s += more
		}
	}
	switch best := a.H.Best; {
	case !best.Known:
	case d.Reason == event.ReasonPatience && d.Weights == event.WeightsBest:
		s = style.Clean(d.Message)
		add(": the run ends with " + a.H.Run.Counted() + " " + format.Count(best.Epoch))
		add(", " + what + " " + unit(best.Value))
	default:
		add(" · best " + what + " " + unit(best.Value) + " at " + a.H.Run.Counted() + " " + format.Count(best.Epoch))
	}
	epochs, elapsed, loss := d.Epochs, float64(d.Elapsed), float64(d.Loss)
	if a.H.External() { // what its last line leaves out, its epochs have told
		epochs = max(epochs, a.H.Latest.Epoch)
		elapsed, loss = orElse(elapsed, a.trained.shown), orElse(loss, a.H.Curves.Loss.Last())
	}
	took := ""
	if elapsed > 0 {
		took = " in " + format.Span(elapsed)
	}
	add(" · " + format.Counted(epochs, a.H.Run.Counted()) + took)
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
func progressLine(a *App, l *style.Line) {
	s := &a.H.Status
	tail := progressTail(a, l.Room)
	inner := a.Line(l.Left() - style.Width(tail) - 3)
	inner.Write(style.Text, " ").Write(style.Strong, style.Clean(s.Optimizer))
	fits := true
	if k := a.H.Primary(); k != nil {
		fits = inner.Group(style.Muted.Of("  "+style.Clean(k.Key)+" "),
			style.Text.Of(style.Pad(primaryText(a.H, k), 5)))
	}
	for _, k := range s.Settings {
		// What does not fit ends the row: a later one in its place would come and go.
		fits = fits && (k.Primary || inner.Group(style.Muted.Of("  "+style.Clean(k.Key)+" "),
			style.Text.Of(format.Setting(style.Clean(k.Text)))))
	}
	l.Append(inner)
	l.To(l.Room - style.Width(tail) - 1)
	for _, p := range tail {
		l.Write(p.Token, p.Text)
	}
}

// primaryText is the value of what + and − scale. Of a watched run the settings are those that it began with, so that
// what a method adapts is reported by its latest epoch; but for a rate that follows a schedule, whose setting is where
// it began.
func primaryText(h *history.History, k *event.Setting) string {
	now := map[string]float64{"radius": float64(h.Latest.Radius), "rate": float64(h.Latest.Rate)}
	_, planned := h.Plan()
	if v, ok := now[k.Key]; ok && !planned && h.Watched() && h.Epochs > 0 && format.Finite(v) {
		return format.Setting(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return format.Setting(style.Clean(k.Text))
}

func progressTail(a *App, room int) []style.Part {
	s := &a.H.Status
	watched := s.Replay != nil
	if watched && (!s.Replay.Live || s.EpochLimit == 0) { // the bar says it
		return nil
	}
	parts := []style.Part{style.Muted.Of(a.H.Run.Counted() + " "), style.Strong.Of(format.Count(s.Epoch))}
	if s.EpochLimit > 0 {
		parts = append(parts, style.Muted.Of(" of "+format.Count(s.EpochLimit)+" "))
		w := 12
		if room < 110 {
			w = 6
		}
		n := min(w, max(0, s.Epoch*w/s.EpochLimit))
		parts = append(parts, style.Accent.Of(style.Repeat("━", n)), style.Grid.Of(style.Repeat("─", w-n)))
	}
	if !watched {
		parts = append(parts, style.Text.Of("  "+format.Clock(elapsed(a))))
	}
	if room >= 80 {
		parts = append(parts, Remaining(a, " left ")...)
	}
	return parts
}

// Remaining is the time to the last epoch after a word, nothing where that is not known.
func Remaining(a *App, word string) []style.Part {
	if left := a.H.Remaining(); left == left {
		return []style.Part{style.Muted.Of(word), style.Text.Of(format.Clock(left))}
	}
	return nil
}

// tallEnough is how many rows a screen has that gives the bar of a watched run one of its own. On a smaller one it
// stands in the header's second row.
const tallEnough = 24

// BarRows is how many rows the header has besides its own two. A run of which the second one has nothing to say needs
// none for the bar.
func BarRows(a *App) int {
	h := a.H
	silent := h.External() && h.Status.Optimizer == "" && h.Done == nil && h.Diverged == nil
	if (h.Watched() && !silent || a.Caption != "") && a.Height >= tallEnough {
		return 1
	}
	return 0
}

// playing says what a watched run is doing that is not over: a symbol and a word.
func playing(a *App) style.Part {
	s := &a.H.Status
	if share, ok := a.H.Loading(); ok {
		return style.Warn.Of("○ loading " + format.Count(int(100*share)) + " %")
	}
	switch {
	case a.Closed:
		return style.Warn.Of("■ feed closed")
	case s.Phase == event.Paused:
		return style.Warn.Of("‖ paused")
	case s.Replay.Stale != "" && s.Replay.Epoch >= s.Replay.Last:
		return style.Good.Of("■ ended")
	case a.H.Awaited():
		return style.Warn.Of("○ waiting")
	case s.Replay.Live && !s.Replay.Quiet.IsZero():
		return style.Warn.Of("○ quiet " + format.Age(a.Clock().Sub(s.Replay.Quiet)))
	case s.Replay.Live:
		return style.Good.Of("● live")
	}
	return style.Good.Of("▸ replay")
}
