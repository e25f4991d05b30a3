package compare

import (
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	printed "newtop/internal/figure"
	"newtop/tui/chart"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// compareBindings is the table of the keys, in the order of the footer.
func compareBindings() []screen.Binding[*model] {
	on := func(show, help string, keys ...string) screen.Binding[*model] {
		return screen.Bind[*model]("", show, help, keys...)
	}
	back := on("esc", "back to charts and table", "esc").On(func(m *model, _ string) tea.Cmd {
		if !m.zoomed && m.Over {
			return tea.Quit
		}
		m.zoomed = false
		return nil
	}).Foot("back")
	back = back.While(func(m *model) bool { return m.zoomed })
	return []screen.Binding[*model]{
		back,
		on("q", "quit", "q", "ctrl+c").On(func(*model, string) tea.Cmd { return tea.Quit }).FootBy(
			screen.LeaveWord[*model]),
		on("?", "this help", "?").Then(func(m *model, _ string) { m.dialog = compareHelp() }).Foot("help"),
		screen.CommandsKey("", func(m *model) {
			m.dialog = screen.NewPalette(
				screen.Commands(m.bindings, m), "commands")
		}),
		on("↑↓", "select a run; also tab and shift+tab", "up", "down", "tab", "shift+tab", "k", "j").Then(
			(*model).move).Foot("run"),
		on("d", "what the runs differ in", "d").Then(func(m *model,
			_ string) {
			m.dialog = &compareDifferences{}
		}).Foot("differences"),
		on("v", "the next quantities; V: those before", "v", "V").Then(func(m *model, k string) {
			m.charts.next(map[string]int{"v": 1, "V": -1}[k])
		}).Foot("view"),
		on("x", "x: epochs, seconds or work", "x").Then(func(*model, string) {}).Foot("axis"),
		on("space", "hide the selected run, or show it", "space").On((*model).hide).Foot("hide"),
		on("f", "let the other runs fade, or come back", "f").Then(
			func(m *model, _ string) { m.faded = !m.faded }).Foot("fade"),
		on("+ -", "a harder or an easier target for times and work", "+", "=", "-", "_").On((*model).aim).Foot(
			"target"),
		on("z", "charts on the whole screen, and back; also enter", "z", "enter").Then(
			func(m *model, _ string) { m.zoomed = !m.zoomed }).Foot("zoom"),
		on("y", "logarithmic or linear scale", "y").Then((*model).rescale).Foot("log"),
		on("p", "picture of the charts, as SVG", "p").On((*model).picture).Foot("picture"),
		on("P", "picture of the screen, as SVG and PNG", "P").On((*model).screenPicture),
		screen.ThemeKey[*model]().Foot("theme"),
		screen.GlyphsKey[*model](),
		screen.MouseKey[*model](),
		screen.RedrawKey[*model](),
		screen.SuspendKey[*model](""),
	}
}

// press gives a key to what stands in front, to the charts, and then to the table of bindings.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	if m.dialog != nil && k != "ctrl+c" && k != "ctrl+z" {
		if cmd, passed := screen.ToDialog(&m.dialog, m, msg); !passed {
			return cmd
		}
	}
	if m.charts.view.HandleKey(k) {
		return nil
	}
	return screen.Press(m.bindings, m, k)
}

// move selects the run above or below in the ranking.
func (m *model) move(k string) {
	by := 1
	if k == "up" || k == "shift+tab" || k == "k" {
		by = -1
	}
	n := len(m.order)
	if at := place(m) + by; k == "tab" || k == "shift+tab" {
		m.at = m.order[(at+n)%n]
	} else {
		m.at = m.order[max(0, min(at, n-1))]
	}
}

// hide takes the selected run out of the charts, or puts it back; one always stays.
func (m *model) hide(string) tea.Cmd {
	r := &m.runs[m.at]
	seen := 0
	for i := range m.runs {
		if !m.runs[i].hidden {
			seen++
		}
	}
	if !r.hidden && seen == 1 {
		return m.Tell(style.Warn, "one run must stay to be seen")
	}
	r.hidden = !r.hidden
	return nil
}

// aim goes on to the next target.
func (m *model) aim(k string) tea.Cmd {
	if len(m.targets) == 0 {
		return m.Tell(style.Muted, "the runs have no common values to aim at")
	}
	by := 1
	if k == "-" || k == "_" {
		by = -1
	}
	m.target = max(0, min(m.target+by, len(m.targets)-1))
	return nil
}

// rescale changes the scale of what is shown.
func (m *model) rescale(string) {
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
func (m *model) picture(string) tea.Cmd {
	if len(m.charts.shown) == 0 {
		return m.Tell(style.Warn, "there is nothing to draw; P takes the screen")
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
			runs = append(runs, printed.Run{ID: r.ID, Name: r.label, Opening: r.Run, Epochs: r.Epochs,
				Switches: r.Switches, Diverged: r.Diverged})
		}
	}
	name := "newtop-compare-" + screen.PlainName(comparedQuantities[m.charts.quantity(0)].Name)
	return m.Picture(name, screen.Drawing{Suffix: ".svg", Draw: func(
		w io.Writer) error {
		return printed.Draw(w, "svg", runs, o)
	}})
}

// screenPicture draws the screen as it stands.
func (m *model) screenPicture(string) tea.Cmd {
	return m.ScreenPicture(m.screen(), "newtop-compare-screen")
}

// mouse selects the run that is clicked, and gives the charts what happens on them.
func (m *model) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	wheel, isWheel := msg.(tea.MouseWheelMsg)
	if m.table.Contains(at.X, at.Y) {
		if isWheel {
			m.move(widget.WheelKey(wheel).String())
		} else if _, click := msg.(tea.MouseClickMsg); click {
			if row := at.Y - m.table.Y - m.table.First; row >= 0 && row < m.table.Rows {
				m.at = m.order[m.table.Top+row]
			}
		}
		return
	}
	m.charts.view.HandleMouse(msg, at.X, at.Y)
}

// hints are what the footer names.
func (m *model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}
