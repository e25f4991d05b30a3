package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// raceView takes the place of the panes while a race is on: the racers' curves over one another, and under them
// a table with the best on top.
type raceView struct {
	lossChart, faultChart chart.Canvas
	axis                  history.RaceAxis
	linear                bool // scale of both charts; else logarithmic
	byLoss                bool // what the table is sorted by
	at                    int  // the racer that enter goes on with
	chosen                bool // by hand; until then it is the leader
	asking                bool // whether to abandon the race
	race                  *event.RaceEvent
	changes               uint64
	key                   raceKey // of the picture in rows
	rows                  []string
}

// raceKey is all that a picture of the race depends on.
type raceKey struct {
	w, h             int
	gen, runGen, own uint64
	th               *style.Palette
	gl               *style.GlyphSet
}

// racing reports whether the race has the screen.
func (a *App) racing() bool { return a.h.Status.Racing && !a.h.Over() }

// racerName is a racer's letter and name.
func racerName(h *history.History, i int) string {
	if i < 0 || i >= len(h.Race.Racers) {
		return ""
	}
	return style.RacerLetter(i) + " " + style.Clean(h.Race.Racers[i].Name)
}

// begin forgets what was chosen in an earlier race.
func (r *raceView) begin(h *history.History) {
	if h.Race.Event == nil || h.Race.Event == r.race {
		return
	}
	if h.Race.Event.State == "begun" {
		*r = raceView{axis: r.axis, linear: r.linear, byLoss: r.byLoss, changes: r.changes}
	}
	r.race = h.Race.Event
}

// selected is the racer that enter goes on with, −1 while there is none.
func (r *raceView) selected(h *history.History) int {
	order := h.Race.Ranking(r.byLoss)
	switch {
	case len(order) == 0:
		return -1
	case r.chosen && r.at < len(order):
		return r.at
	}
	return order[0]
}

// handleKey reports whether the race took the key.
func (r *raceView) handleKey(a *App, k string) (cmd tea.Cmd, taken bool) {
	r.begin(a.h)
	r.changes++
	if (a.h.Watched() || a.h.Viewer) && slices.Contains([]string{"enter", "esc", "u"}, k) {
		if k == "enter" {
			return a.Tell(style.Warn, unsteerable(a)), true
		}
		return nil, false
	}
	if r.asking {
		r.asking = false
		switch k {
		case "enter", "y":
			return a.command(event.Pick{Racer: -1}), true
		case "esc", "n", "u", "q":
			return nil, true
		}
	}
	switch k {
	case "up", "shift+tab":
		r.move(a.h, -1)
	case "down", "tab":
		r.move(a.h, 1)
	case "enter":
		if i := r.selected(a.h); i >= 0 {
			return a.command(event.Pick{Racer: i}), true
		}
	case "esc", "u":
		r.asking = true
	case "x":
		r.axis = (r.axis + 1) % history.RaceAxisCount
	case "y":
		r.linear = !r.linear
	case "r":
		r.byLoss = !r.byLoss
	default:
		return nil, false
	}
	return nil, true
}

// move chooses the racer above or below in the table.
func (r *raceView) move(h *history.History, by int) {
	order, at := h.Race.Ranking(r.byLoss), r.selected(h)
	for place, i := range order {
		if i == at {
			r.at, r.chosen = order[max(0, min(place+by, len(order)-1))], true
			return
		}
	}
}

// hints are the keys that the footer names.
func (r *raceView) hints(a *App) []widget.Hint {
	if a.h.Watched() {
		return []widget.Hint{widget.NewHint("space", "play or pause"), widget.NewHint(", .", "back, on"), widget.NewHint("↑↓", "choose"), widget.NewHint("x", "axis"), widget.NewHint("r", "rank by"), widget.NewHint("y", "log"), widget.NewHint("?", "help"), widget.NewHint("q", "quit")}
	}
	if a.h.Viewer {
		return []widget.Hint{widget.NewHint("↑↓", "choose"), widget.NewHint("x", "axis"), widget.NewHint("r", "rank by"), widget.NewHint("y", "log"), widget.NewHint("?", "help"), widget.NewHint("q", "leave")}
	}
	if r.asking {
		return []widget.Hint{widget.NewHint("enter", "abandon the race"), widget.NewHint("esc", "race on")}
	}
	out := []widget.Hint{widget.NewHint("↑↓", "choose")}
	if i := r.selected(a.h); i >= 0 {
		out = []widget.Hint{widget.NewHint("enter", "go on with "+style.RacerLetter(i)), widget.NewHint("↑↓", "choose")}
	}
	if a.h.Race.Event != nil && a.h.Race.Event.State == "begun" {
		word := "pause"
		if a.h.Status.Phase == event.Paused {
			word = "race on"
		}
		out = append(out, widget.NewHint("space", word))
	}
	return append(out, widget.NewHint("esc", "abandon"), widget.NewHint("x", "axis"), widget.NewHint("r", "rank by"), widget.NewHint("y", "log"), widget.NewHint("?", "help"), widget.NewHint("q", a.quitWord()))
}

// draw returns exactly h rows of w columns.
func (r *raceView) draw(v *View, w, h int) []string {
	r.begin(v.H)
	key := raceKey{w: w, h: h, gen: v.H.Race.Gen, runGen: v.H.Gen.Run, own: r.changes, th: v.Palette, gl: v.Glyphs}
	if r.rows != nil && r.key == key {
		return r.rows
	}
	r.key = key
	if v.H.Race.Event == nil {
		text := v.Line(w).To(2).Put(style.Muted, "a race is on; its beginning was not seen").Full()
		r.rows = style.Block([]string{"", text}, w, h)
		return r.rows
	}
	r.rows = r.compose(v, w, h)
	return r.rows
}

// compose puts the charts over the table, in frames where there is room for them.
func (r *raceView) compose(v *View, w, h int) []string {
	framed := w >= 80 && h >= 18
	edge := 0
	if framed {
		edge = 2
	}
	table := r.table(v, w-2*edge)
	charts := h - len(table) - edge
	var rows []string
	if charts >= 3+edge {
		rows = r.charts(v, w, charts, framed)
	}
	if framed {
		table = widget.Framed(&v.Pen, style.Border, r.title(v, w-6), table, w)
	}
	return style.Block(append(rows, table...), w, h)
}

// charts draws losses and faults side by side.
func (r *raceView) charts(v *View, w, h int, framed bool) []string {
	fault, unit := "error", format.Percent
	if v.H.Regression() {
		fault, unit = "RMSE", nil
	}
	if !v.H.Curves.TestMetric.Empty() {
		fault = "test " + fault
	}
	left := w / 2
	loss := r.chart(v, &r.lossChart, "loss", nil, func(k *history.Racer) *chart.Series { return &k.Loss[r.axis] }, left, h, framed)
	other := r.chart(v, &r.faultChart, fault, unit, func(k *history.Racer) *chart.Series { return &k.Metric[r.axis] }, w-left, h, framed)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = loss[i] + other[i]
	}
	return rows
}

func (r *raceView) chart(v *View, c *chart.Canvas, name string, unit func(float64) string, of func(*history.Racer) *chart.Series, w, h int, framed bool) []string {
	p := chart.Plot{Log: !r.linear, Whole: r.axis != history.BySeconds, Label: unit, Waiting: "waiting for the first laps"}
	if unit != nil && !r.linear {
		p.Label = func(v float64) string { return format.Tick(format.Round(100*v, 4)) + "%" }
	}
	switch r.axis {
	case history.ByEquivalents:
		p.Limit = float64(v.H.Race.Event.Equivalents)
	case history.BySeconds:
		p.Limit = float64(v.H.Race.Event.Seconds)
	}
	p.Clip = v.H.Race.Bounds(of)
	p.Closed = p.Limit == 0 || v.H.Race.Event.State != "begun"
	order := v.H.Race.Ranking(r.byLoss)
	for place := range order { // the leader's curve comes last, over the others
		i := order[len(order)-1-place]
		p.Curves = append(p.Curves, chart.Curve{Name: style.RacerLetter(i), Token: style.RacerToken(i), Series: of(&v.H.Race.Racers[i]), Dashed: i%2 == 1,
			Alarm: true, Mark: rune(style.RacerLetter(i)[0]), Tag: style.RacerLetter(i)})
	}
	head := r.chartTitle(name, w-6)
	if framed {
		return style.Block(widget.Framed(&v.Pen, style.Border, head, c.Draw(&v.Pen, p, w-4, h-2), w), w, h)
	}
	l := v.Line(w).Put(style.Text, " ")
	for _, h := range head {
		l.Put(h.Token, h.Text)
	}
	return style.Block(append([]string{l.Full()}, c.Draw(&v.Pen, p, w-1, h-1)...), w, h)
}

// chartTitle names a chart and its axes, as far as there is room.
func (r *raceView) chartTitle(name string, room int) []style.Part {
	by, scale := "  by "+r.axis.Words(), "  log"
	if style.Cells(name)+style.Cells(by)+style.Cells(scale) > room {
		by = "  by " + r.axis.Word()
	}
	if r.linear || style.Cells(name)+style.Cells(by)+style.Cells(scale) > room {
		scale = ""
	}
	return []style.Part{style.Strong.Of(name), style.Muted.Of(by + scale)}
}
