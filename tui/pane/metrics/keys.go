package metrics

import (
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/pane"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// binding is a key of the grid, and what the last row says of it; "" for nothing.
type binding struct {
	pane.Key
	show, short string
}

// does makes what a key does of a function that always means something.
func does(do func(k string)) func(*pane.View, string) (tea.Cmd, bool) {
	return func(_ *pane.View, k string) (tea.Cmd, bool) { do(k); return nil, true }
}

// bindings is the table of the keys as they are now: those of the grid, or those of a chart that has all the room.
func (g *Grid) bindings() []binding {
	if g.whole {
		return slices.Concat(chartKeys(g), scaleKeys(g))
	}
	return slices.Concat(gridKeys(g), scaleKeys(g), axisKeys(g), lastKeys(g))
}

func gridKeys(g *Grid) []binding {
	return []binding{
		{pane.Key{Do: g.typed}, "", ""},
		{pane.Key{Show: "↑↓←→", Help: "select a chart; also h j k l, home and end",
			Names: []string{"up", "down", "left", "right", "h", "j", "k", "l", "home", "end"}, Do: does(g.move)}, "",
			""},
		{pane.Key{Show: "enter", Help: "the chart with all the room, and back; a heading folds",
			Names: []string{"enter"}, Do: does(g.enter)}, "enter", "zoom"},
		{pane.Key{Show: "[ ]", Help: "the page before, the next; also pgup pgdn",
			Names: []string{"[", "]", "pgup", "pgdown"}, Do: does(func(k string) {
				g.turn(map[string]int{"[": -1, "pgup": -1, "]": 1, "pgdown": 1}[k])
			})}, "[ ]", "page"},
		{pane.Key{Show: "/", Help: "only metrics that match a regular expression", Names: []string{"/"},
			Do: does(func(string) { g.filter.Typing = true })}, "/", "filter"},
		{pane.Key{Show: "S", Help: "order: as written, by name, by change", Names: []string{"S"},
			Do: does(func(string) {
				g.order = (g.order + 1) % orders
				g.chosen = ""
				g.arrange()
			})}, "S", g.order.String()},
		{pane.Key{Show: "g", Help: "group by prefix, fold all, and back", Names: []string{"g"}, Do: does(func(string) {
			g.grouping, g.folded = (g.grouping+1)%groupings, nil
			g.arrange()
		})}, "g", [...]string{"group", "fold", "ungroup"}[g.grouping]},
		{pane.Key{Show: "C r", Help: "columns of charts, rows of charts: as many as fit, 1, 2, …; kept",
			Names: []string{"C", "r"}, Do: does(func(k string) {
				if d := &g.division; k == "C" {
					d.columns = d.next(d.columns, max(1, (g.place.W+gap)/(leastW+gap)))
				} else {
					d.rows = d.next(d.rows, max(1, min(9, g.place.H/leastH)))
				}
				g.changes++
			})}, "C r", g.division.label()},
		{pane.Key{Show: "*", Help: "pin the chart to the front, or no longer", Names: []string{"*"},
			Do: does(func(string) { g.pin() })}, "*", "pin"},
	}
}

// scaleKeys are those of the y axes.
func scaleKeys(g *Grid) []binding {
	return []binding{
		{pane.Key{Show: "y Y", Help: "logarithmic y of the selected chart; of all", Names: []string{"y", "Y"},
			Do: does(func(k string) { g.rescale(k == "Y") })}, "y", "log"},
	}
}

// axisKeys are those of the x axis and the cursor that all charts have in common. They are the keys of a large chart,
// of which some have other names here, as the arrows select charts.
func axisKeys(g *Grid) []binding {
	as := func(names map[string]string) func(*pane.View, string) (tea.Cmd, bool) {
		return func(_ *pane.View, k string) (tea.Cmd, bool) {
			if other, ok := names[k]; ok {
				k = other
			}
			g.changes++
			return nil, g.HandleChart(k)
		}
	}
	smoothing := "smooth"
	if g.Half > 0 {
		smoothing = "smoothed " + format.Tick(g.Half)
	}
	return []binding{
		{pane.Key{Show: ", .", Help: "cursor in all charts; < > by ten; also shift ← →",
			Names: []string{",", ".", "<", ">", "shift+left", "shift+right"},
			Do: as(map[string]string{",": "left", ".": "right", "<": "shift+left", ">": "shift+right",
				"shift+left": "left", "shift+right": "right"})}, ", .", "cursor"},
		{pane.Key{Show: "x X", Help: "x: epochs, seconds, work, a metric that never falls; logarithmic x",
			Names: []string{"x", "X"}, Do: as(nil)}, "x", XName(g)},
		{pane.Key{Show: "m", Help: "smoothing; the raw curves stay", Names: []string{"m"}, Do: as(nil)}, "m",
			smoothing},
		{pane.Key{Show: "+ -", Help: "zoom x in and out; 0 all", Names: []string{"+", "=", "-", "_", "0"},
			Do: as(map[string]string{"+": "]", "=": "]", "-": "[", "_": "["})}, "+ -", "zoom x"},
		{pane.Key{Show: "c", Help: "leave out what is far off", Names: []string{"c"}, Do: as(nil)}, "c", "clip"},
	}
}

// lastKeys give back what was set, one at a time.
func lastKeys(g *Grid) []binding {
	return []binding{
		{pane.Key{Show: "esc", Help: "hide the cursor, then all metrics again, then back", Names: []string{"esc"},
			Do: func(*pane.View, string) (tea.Cmd, bool) {
				switch {
				case g.On:
					g.HandleChart("esc")
					g.On = false
				case g.filter.Text != "":
					g.filter.Text = ""
					g.narrow()
				default:
					return nil, false
				}
				g.changes++
				return nil, true
			}}, "", ""},
	}
}

// chartKeys are those of a chart that has all the room.
func chartKeys(g *Grid) (out []binding) {
	for _, k := range g.Controls.Keys() {
		do := k.Do
		out = append(out, binding{pane.Key{Show: k.Show, Help: k.Help, Names: k.Names,
			Do: func(_ *pane.View, name string) (tea.Cmd, bool) {
				g.changes++
				if idle(g) {
					return nil, false
				}
				if name == "x" {
					return nil, turnAxis(g)
				}
				return nil, do(name)
			}}, "", ""})
	}
	return append(out,
		binding{pane.Key{Show: "pgup pgdn", Help: "the chart before, the next; also h l",
			Names: []string{"pgup", "pgdown", "h", "l"}, Do: does(func(k string) {
				g.next(map[string]int{"pgup": -1, "h": -1, "pgdown": 1, "l": 1}[k])
			})}, "", ""},
		binding{pane.Key{Show: "enter", Help: "back to all charts; also esc", Names: []string{"enter", "esc"},
			Do: does(func(string) { g.whole = false })}, "", ""})
}

// HandleChart gives a key to what the charts have in common.
func (g *Grid) HandleChart(k string) bool {
	if k == "x" && !idle(g) {
		return turnAxis(g)
	}
	return g.Controls.HandleKey(k)
}

// idle reports whether no chart was drawn that keys could act on.
func idle(g *Grid) bool {
	return g.Main == nil || len(g.Main.Buckets) == 0 || len(g.Shown) == 0 || g.Shown[0].W == 0
}

// Keys are those of the table that mean something now.
func (g *Grid) Keys() (out []pane.Key) {
	for _, b := range g.bindings() {
		out = append(out, b.Key)
	}
	return out
}

// HandleKey does what a key means, and reports whether it meant something. text is what it types.
func (g *Grid) HandleKey(k, text string) bool {
	if g.filter.Typing {
		return g.typing(k, text)
	}
	for _, b := range g.bindings() {
		if slices.Contains(b.Names, k) {
			if _, taken := b.Do(nil, k); taken {
				return true
			}
		}
	}
	return false
}

// Paste takes pasted text where something is typed.
func (g *Grid) Paste(text string) {
	if g.filter.Typing {
		g.filter.Add(style.Clean(text))
		g.narrow()
	}
}

// typed takes the keys of a filter while it is typed.
func (g *Grid) typed(_ *pane.View, k string) (tea.Cmd, bool) {
	if !g.filter.Typing {
		return nil, false
	}
	text := ""
	if utf8.RuneCountInString(k) == 1 {
		text = style.Clean(k)
	}
	return nil, g.typing(k, text)
}

func (g *Grid) typing(k, text string) bool {
	before := g.filter.Text
	if g.filter.HandleKey(k, text) {
		g.move(k)
	}
	if !g.filter.Typing && g.invalid != "" { // what can't be read is not kept
		g.filter.Text = ""
	}
	if g.filter.Text != before {
		g.narrow()
	}
	return true
}

// move selects another chart or heading.
func (g *Grid) move(k string) {
	switch k {
	case "left", "h":
		g.choose(g.at - 1)
	case "right", "l":
		g.choose(g.at + 1)
	case "up", "k":
		g.climb(-1)
	case "down", "j":
		g.climb(1)
	case "pgup", "pgdown":
		g.turn(map[string]int{"pgup": -1, "pgdown": 1}[k])
	case "home":
		g.choose(0)
	case "end":
		g.choose(len(g.items) - 1)
	}
}

// statusLine is the last row: what is typed, or how many metrics there are, and the keys.
func (g *Grid) statusLine(v *style.Pen, w, y int) string {
	if g.filter.Typing {
		about := g.count()
		if g.invalid != "" {
			about = "not a regular expression: " + g.invalid
			l := v.Line(w).Write(style.Accent, " / ").Write(style.Strong, g.filter.Text).Write(style.Accent, "▏")
			return l.Write(style.Warn, " "+about).Full()
		}
		return g.filter.Line(v, w, about)
	}
	if g.whole {
		return g.KeyLine(v, w)
	}
	l := v.Line(w).Write(style.Muted, g.count())
	if n := len(g.pages); n > 1 {
		l.Group(style.Muted.Of("  page " + format.Count(g.page+1) + " of " + format.Count(n)))
	}
	if g.filter.Text != "" {
		l.Group(style.Accent.Of("  / "), style.Strong.Of(style.Clean(g.filter.Text)))
	}
	for _, b := range g.bindings() {
		if b.short != "" {
			from := l.Width + 2
			l.Group(style.Accent.Of("  "+v.Glyphs.Keys(b.show)), style.Muted.Of(" "+b.short))
			if l.Width > from {
				g.status = append(g.status, span{from, l.Width, y, b.Names})
			}
		}
	}
	return l.Full()
}

// Hints are the keys that a footer names while the grid has the keys.
func (g *Grid) Hints() (out []widget.Hint) {
	for _, b := range g.bindings() {
		if b.short != "" {
			out = append(out, widget.NewHint(b.show, b.short))
		}
	}
	return out
}

// HandleMouse gets what the mouse does at a cell of what Draw returned, and reports whether it took it: a click selects
// a chart, one on the selected chart gives it all the room, the wheel turns pages, and motion moves the cursor.
func (g *Grid) HandleMouse(m tea.MouseMsg, x, y int) bool {
	if g.whole {
		taken := g.Controls.HandleMouse(m, x, y)
		if taken {
			g.changes++
		}
		return taken
	}
	switch m := m.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			g.turn(-1)
		case tea.MouseWheelDown:
			g.turn(1)
		}
		return true
	case tea.MouseClickMsg:
		for _, s := range g.status {
			if y == s.y && x >= s.from && x < s.to {
				k := s.keys[0]
				if x == s.from+2 && len(s.keys) > 1 { // the second of two
					k = s.keys[1]
				}
				return g.HandleKey(k, "")
			}
		}
		at := under(g, x, y)
		if m.Button != tea.MouseLeft || at < 0 {
			return false
		}
		if at == g.at {
			g.enter("")
		} else {
			g.choose(at)
		}
		return true
	case tea.MouseMotionMsg:
		if g.Controls.HandleMouse(m, x, y) {
			g.changes++
			return true
		}
	}
	return false
}

// under is the item at a cell, -1 for none.
func under(g *Grid, x, y int) int {
	if !g.place.Contains(x, y) || g.page >= len(g.pages) {
		return -1
	}
	top := 0
	for _, r := range g.pages[g.page] {
		if y < top+r.h {
			if r.heading {
				return r.first
			}
			if at := r.first + x/(r.w+gap); at < r.end {
				return at
			}
			return -1
		}
		top += r.h
	}
	return -1
}
