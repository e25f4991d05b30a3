package tui

import (
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	printed "newtop/internal/figure"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// compareBindings is the table of the keys, in the order of the footer.
func compareBindings() []Binding[*comparison] {
	on := Bind[*comparison]
	then := func(f func(m *comparison, k string)) func(m *comparison, k string) tea.Cmd {
		return func(m *comparison, k string) tea.Cmd { f(m, k); return nil }
	}
	back := on("esc", "back to charts and table", "back", then(func(m *comparison, _ string) { m.zoomed = false }), "esc")
	back.now = func(m *comparison) bool { return m.zoomed }
	return []Binding[*comparison]{
		back,
		on("q", "quit", "quit", func(*comparison, string) tea.Cmd { return tea.Quit }, "q", "ctrl+c"),
		on("?", "this help", "help", then(func(m *comparison, _ string) { m.front = &compareHelp{} }), "?"),
		on("↑↓", "select a run; also tab and shift+tab", "run", then((*comparison).move), "up", "down", "tab", "shift+tab", "k", "j"),
		on("d", "what the runs differ in", "differences", then(func(m *comparison, _ string) { m.front = &compareDifferences{} }), "d"),
		on("v", "the next quantities; V: those before", "view", then(func(m *comparison, k string) {
			m.charts.next(map[string]int{"v": 1, "V": -1}[k])
		}), "v", "V"),
		on("x", "x: epochs, seconds or work", "axis", then(func(*comparison, string) {}), "x"),
		on("space", "hide the selected run, or show it", "hide", (*comparison).hide, "space"),
		on("f", "let the other runs fade, or come back", "fade", then(func(m *comparison, _ string) { m.faded = !m.faded }), "f"),
		on("+ -", "a harder or an easier target for times and work", "target", (*comparison).aim, "+", "=", "-", "_"),
		on("z", "charts on the whole screen, and back; also enter", "zoom", then(func(m *comparison, _ string) { m.zoomed = !m.zoomed }), "z", "enter"),
		on("y", "logarithmic or linear scale", "log", then((*comparison).rescale), "y"),
		on("p", "picture of the charts, as SVG", "picture", (*comparison).picture, "p"),
		on("P", "picture of the screen, as SVG", "", (*comparison).screenPicture, "P"),
		on("t", "the next theme: auto, dark, light, safe, mono", "theme", func(m *comparison, k string) tea.Cmd { return m.nextTheme(k) }, "t"),
		on("g", "the next glyphs: auto, braille, block, ascii", "", func(m *comparison, k string) tea.Cmd { return m.nextGlyphs(k) }, "g"),
		on("M", "newtop follows the mouse, or leaves it alone", "", func(m *comparison, k string) tea.Cmd { return m.toggleMouse(k) }, "M"),
		on("ctrl+z", "suspend; fg comes back", "", func(*comparison, string) tea.Cmd { return tea.Suspend }, "ctrl+z"),
	}
}

// press gives a key to what stands in front, to the charts, and then to the table of bindings.
func (m *comparison) press(k string) tea.Cmd {
	if m.front != nil && k != "ctrl+c" && k != "ctrl+z" {
		taken, closed := m.front.handleKey(m, k)
		if closed {
			m.front = nil
		}
		if taken || !closed {
			return nil
		}
	}
	if m.charts.view.HandleKey(k) {
		return nil
	}
	for i := range m.bindings {
		if b := &m.bindings[i]; slices.Contains(b.Keys(), k) {
			return b.do(m, k)
		}
	}
	return nil
}

// move selects the run above or below in the ranking.
func (m *comparison) move(k string) {
	by := 1
	if k == "up" || k == "shift+tab" || k == "k" {
		by = -1
	}
	n := len(m.order)
	if at := m.place() + by; k == "tab" || k == "shift+tab" {
		m.at = m.order[(at+n)%n]
	} else {
		m.at = m.order[max(0, min(at, n-1))]
	}
}

// hide takes the selected run out of the charts, or puts it back; one always stays.
func (m *comparison) hide(string) tea.Cmd {
	r := &m.runs[m.at]
	seen := 0
	for i := range m.runs {
		if !m.runs[i].hidden {
			seen++
		}
	}
	if !r.hidden && seen == 1 {
		return m.tell(style.Warn, "one run must stay to be seen")
	}
	r.hidden = !r.hidden
	return nil
}

// aim goes on to the next target.
func (m *comparison) aim(k string) tea.Cmd {
	if len(m.targets) == 0 {
		return m.tell(style.Muted, "the runs have no common values to aim at")
	}
	by := 1
	if k == "-" || k == "_" {
		by = -1
	}
	m.target = max(0, min(m.target+by, len(m.targets)-1))
	return nil
}

// rescale changes the scale of what is shown.
func (m *comparison) rescale(string) {
	c := &m.charts
	if len(c.shown) == 0 {
		return
	}
	for side := range c.sides() {
		k := c.quantity(side)
		c.flipped[k] = !c.flipped[k]
	}
}

// picture draws the quantities on the screen for paper.
func (m *comparison) picture(string) tea.Cmd {
	if len(m.charts.shown) == 0 {
		return m.tell(style.Warn, "there is nothing to draw; P takes the screen")
	}
	cv := &m.charts.view
	o := printed.Options{X: chart.AxisNames[cv.By], LogX: cv.LogX, Smooth: cv.Half}
	for side := range m.charts.sides() {
		q := &comparedQuantities[m.charts.quantity(side)]
		if !slices.Contains(o.What, q.drawn) {
			o.What = append(o.What, q.drawn)
		}
		if q.rows != "" {
			o.Rows = q.rows
		}
	}
	var runs []printed.Run
	for i := range m.runs {
		if r := &m.runs[i]; !r.hidden {
			runs = append(runs, printed.Run{ID: r.ID, Name: r.label, Opening: r.Run, Epochs: r.Epochs, Switches: r.Switches, Diverged: r.Diverged})
		}
	}
	name := "newtop-compare-" + PlainName(comparedQuantities[m.charts.quantity(0)].name)
	return m.write(name, func(w io.Writer) error { return printed.Draw(w, "svg", runs, o) })
}

// screenPicture draws the screen as it stands.
func (m *comparison) screenPicture(string) tea.Cmd {
	return m.pictureOf(m.screen(), "newtop-compare-screen")
}

// mouse selects the run that is clicked, and gives the charts what happens on them.
func (m *comparison) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	wheel, isWheel := msg.(tea.MouseWheelMsg)
	if m.front != nil {
		if isWheel {
			m.front.handleKey(m, WheelKey(wheel))
		}
		return
	}
	if m.table.Contains(at.X, at.Y) {
		if isWheel {
			m.move(WheelKey(wheel))
		} else if _, click := msg.(tea.MouseClickMsg); click {
			if row := at.Y - m.table.Y - m.table.first; row >= 0 && row < m.table.rows {
				m.at = m.order[m.table.top+row]
			}
		}
		return
	}
	m.charts.view.HandleMouse(msg, at.X, at.Y)
}

// WheelKey is the key that does the same as the wheel.
func WheelKey(msg tea.MouseWheelMsg) string {
	if msg.Button == tea.MouseWheelUp {
		return "up"
	}
	return "down"
}

// footer names the keys.
func (m *comparison) footer(w int) string {
	var hints []Hint
	if m.front != nil {
		hints = m.front.hints()
	} else {
		for i := range m.bindings {
			if b := &m.bindings[i]; b.short != "" && (b.now == nil || b.now(m)) {
				hints = append(hints, NewHint(b.Help().Key, b.short))
			}
		}
	}
	return m.hintLine(w, hints)
}
