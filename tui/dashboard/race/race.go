// Package race is the screen of a race between methods: the form that starts one, and the curves and the table that
// take the place of the panes while one is on.
package race

import (
	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// View takes the place of the panes while a race is on: the racers' curves over one another, and under them
// a table with the best on top.
type View struct {
	keys                  []*screen.Binding[*desk.App] // before those of the dashboard
	lossChart, faultChart chart.Canvas
	axis                  history.RaceAxis
	linear                bool // scale of both charts; else logarithmic
	byLoss                bool // what the table is sorted by
	at                    int  // the racer that enter continues with
	chosen                bool // by hand; until then it is the leader
	confirming            bool // whether to abandon the race
	race                  *event.RaceEvent
	changes               uint64
	key                   viewKey // of the picture in rows
	rows                  []string
}

// viewKey is all that a picture of the race depends on.
type viewKey struct {
	w, h             int
	gen, runGen, own uint64
	th               *style.Palette
	gl               *style.GlyphSet
}

// racerName is a racer's letter and name.
func racerName(h *history.History, i int) string {
	if i < 0 || i >= len(h.Race.Racers) {
		return ""
	}
	return style.RacerLetter(i) + " " + style.Clean(h.Race.Racers[i].Name)
}

// begin forgets what was chosen in an earlier race.
func (r *View) start(h *history.History) {
	if h.Race.Event == nil || h.Race.Event == r.race {
		return
	}
	if h.Race.Event.State == "begun" {
		*r = View{keys: r.keys, axis: r.axis, linear: r.linear, byLoss: r.byLoss, changes: r.changes}
	}
	r.race = h.Race.Event
}

// selected is the racer that enter continues with, −1 while there is none.
func (r *View) selected(h *history.History) int {
	order := h.Race.Ranking(r.byLoss)
	switch {
	case len(order) == 0:
		return -1
	case r.chosen && r.at < len(order):
		return r.at
	}
	return order[0]
}

// Press gives a key to the table of the race, and reports whether it means something there. Any key but its answers
// takes back the question whether to abandon the race.
func (r *View) Press(a *desk.App, k string) (cmd tea.Cmd, taken bool) {
	r.start(a.H)
	r.changes++
	b := screen.Bound(r.keys, a, k)
	r.confirming = false
	if b == nil {
		return nil, false
	}
	return b.Act(a, k), true
}

// New returns the screen of races.
func New() *View {
	r := &View{}
	r.keys = r.bindings()
	return r
}

// Keys implements Mode.
func (r *View) Keys(a *desk.App) []widget.Hint { return screen.Hints(r.keys, a) }

// bindings are the keys while the race has the screen; those of the dashboard stand behind them.
func (r *View) bindings() []*screen.Binding[*desk.App] {
	onlooker := func(a *desk.App) bool { return a.H.Watched() || a.OnlyViews() }
	requested := func(a *desk.App) bool { return r.confirming && !onlooker(a) }
	steered := func(a *desk.App) bool { return !r.confirming && !onlooker(a) }
	under := func(a *desk.App) bool { return a.H.Race.Event != nil && a.H.Race.Event.State == "begun" }
	looking := func(a *desk.App) bool { return !requested(a) }
	key := func(show, word string, keys ...string) *screen.Binding[*desk.App] {
		return desk.Bind("", show, word, keys...).Footer(word)
	}
	passed := func(a *desk.App, k string) tea.Cmd { return screen.Press(a.Bindings, a, k) }
	return []*screen.Binding[*desk.App]{
		key("enter", "abandon the race", "enter", "y").
			On(func(a *desk.App, _ string) tea.Cmd { return a.Send(event.Pick{Racer: -1}) }).Only(requested),
		key("esc", "", "esc", "n", "u", "q").Then(func(*desk.App, string) {}).FooterBy(func(a *desk.App) string {
			if under(a) {
				return "race on"
			}
			return "back"
		}).Only(requested),
		key("space", "play or pause", "space").On(passed).Only(func(a *desk.App) bool { return a.H.Watched() }),
		key(", .", "back, on", ",", ".").On(passed).Only(func(a *desk.App) bool { return a.H.Watched() }),
		key("enter", "", "enter").On(func(a *desk.App, _ string) tea.Cmd {
			if i := r.selected(a.H); i >= 0 {
				return a.Send(event.Pick{Racer: i})
			}
			return nil
		}).FooterBy(func(a *desk.App) string { return "go on with " + style.RacerLetter(r.selected(a.H)) }).
			While(func(a *desk.App) bool { return steered(a) && r.selected(a.H) >= 0 }).Only(looking).Unless(
			func(a *desk.App) string {
				if onlooker(a) {
					return desk.Unsteerable(a)
				}
				return ""
			}),
		key("↑↓", "choose", "up", "shift+tab", "down", "tab").Then(func(a *desk.App, k string) {
			if k == "up" || k == "shift+tab" {
				r.move(a.H, -1)
			} else {
				r.move(a.H, 1)
			}
		}).While(looking),
		key("space", "", "space").On(passed).FooterBy(func(a *desk.App) string {
			if a.H.Status.Phase == event.Paused {
				return "race on"
			}
			return "pause"
		}).While(under).Only(steered),
		key("esc", "abandon", "esc", "u").Then(func(a *desk.App, _ string) { r.confirming = true }).Only(steered),
		key("x", "axis", "x").Then(func(*desk.App, string) { r.axis = (r.axis + 1) % history.RaceAxisCount }).While(
			looking),
		key("r", "rank by", "r").Then(func(a *desk.App, _ string) { r.byLoss = !r.byLoss }).While(looking),
		key("y", "log", "y").Then(func(a *desk.App, _ string) { r.linear = !r.linear }).While(looking),
		key("?", "help", "?").On(passed).While(looking),
		key("q", "", "q").On(passed).FooterBy(desk.QuitWord).While(looking),
	}
}

// move chooses the racer above or below in the table.
func (r *View) move(h *history.History, by int) {
	order, at := h.Race.Ranking(r.byLoss), r.selected(h)
	for place, i := range order {
		if i == at {
			r.at, r.chosen = order[max(0, min(place+by, len(order)-1))], true
			return
		}
	}
}

// Draw returns exactly h rows of w columns.
func (r *View) Draw(v *pane.View, w, h int) []string {
	r.start(v.H)
	key := viewKey{w: w, h: h, gen: v.H.Race.Gen, runGen: v.H.Gen.Run, own: r.changes, th: v.Palette, gl: v.Glyphs}
	if r.rows != nil && r.key == key {
		return r.rows
	}
	r.key = key
	if v.H.Race.Event == nil {
		text := v.Line(w).To(2).Write(style.Muted, "a race is on; its beginning was not seen").Full()
		r.rows = style.Block([]string{"", text}, w, h)
		return r.rows
	}
	r.rows = r.compose(v, w, h)
	return r.rows
}

// compose puts the charts over the table, in frames where there is room for them.
func (r *View) compose(v *pane.View, w, h int) []string {
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
func (r *View) charts(v *pane.View, w, h int, framed bool) []string {
	fault, _ := v.Judged("valid")
	left := w / 2
	alone := v.H.Elsewhere() && !v.H.Curves.Judged()
	if alone {
		left = w
	}
	loss := r.chart(v, &r.lossChart, "loss", chart.Plot{},
		func(k *history.Racer) *chart.Series { return &k.Loss[r.axis] }, left, h, framed)
	if alone {
		return loss
	}
	var p chart.Plot
	v.MetricAxis(&p)
	other := r.chart(v, &r.faultChart, fault, p, func(k *history.Racer) *chart.Series { return &k.Metric[r.axis] },
		w-left, h, framed)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = loss[i] + other[i]
	}
	return rows
}

func (r *View) chart(v *pane.View, c *chart.Canvas, name string, p chart.Plot,
	of func(*history.Racer) *chart.Series, w, h int, framed bool) []string {
	p.Log, p.Whole, p.Waiting = !r.linear, r.axis != history.BySeconds, "waiting for the first laps"
	switch r.axis {
	case history.ByEquivalents:
		p.Limit = float64(v.H.Race.Event.Equivalents)
	case history.BySeconds:
		p.Limit = float64(v.H.Race.Event.Seconds)
	}
	p.Y.Clip = v.H.Race.Bounds(of)
	p.Closed = p.Limit == 0 || v.H.Race.Event.State != "begun"
	order := v.H.Race.Ranking(r.byLoss)
	for place := range order { // the leader's curve comes last, over the others
		i := order[len(order)-1-place]
		p.Curves = append(p.Curves, chart.Curve{Name: style.RacerLetter(i), Token: style.RacerToken(i),
			Series: of(&v.H.Race.Racers[i]), Dashed: i%2 == 1,
			Mark: rune(style.RacerLetter(i)[0]), Tag: style.RacerLetter(i)})
	}
	header := r.chartTitle(name, w-6)
	if framed {
		return style.Block(widget.Framed(&v.Pen, style.Border, header, c.Draw(&v.Pen, p, w-4, h-2), w), w, h)
	}
	l := v.Line(w).Write(style.Text, " ")
	for _, h := range header {
		l.Write(h.Token, h.Text)
	}
	return style.Block(append([]string{l.Full()}, c.Draw(&v.Pen, p, w-1, h-1)...), w, h)
}

// chartTitle names a chart and its axes, as far as there is room.
func (r *View) chartTitle(name string, room int) []style.Part {
	by, scale := "  by "+r.axis.Name(), "  log"
	if style.Cells(name)+style.Cells(by)+style.Cells(scale) > room {
		by = "  by " + r.axis.Word()
	}
	if r.linear || style.Cells(name)+style.Cells(by)+style.Cells(scale) > room {
		scale = ""
	}
	return []style.Part{style.Strong.Of(name), style.Muted.Of(by + scale)}
}
