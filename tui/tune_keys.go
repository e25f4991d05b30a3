package tui

import (
	"io"
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// tuneBindings is the table of the keys, in the order of the footer.
func tuneBindings() []Binding[*tuning] {
	on := Bind[*tuning]
	then := func(f func(m *tuning, k string)) func(m *tuning, k string) tea.Cmd {
		return func(m *tuning, k string) tea.Cmd { f(m, k); return nil }
	}
	back := on("esc", "back to all panes, or to all trials", "back", then((*tuning).back), "esc")
	back.now = func(m *tuning) bool { return m.zoomed || m.filter != "" }
	value := on("v", "values: what it took to get to the target, or the measure", "value", then(func(m *tuning, _ string) {
		m.charts.measure = !m.charts.measure
	}), "v")
	value.now = func(m *tuning) bool { return m.gone }
	return []Binding[*tuning]{
		back,
		on("q", "stop the search and quit; its trials are kept", "quit", func(m *tuning, _ string) tea.Cmd { return m.leave() }, "q", "ctrl+c"),
		on("?", "this help", "help", then(func(m *tuning, _ string) { m.front = &tuneHelp{} }), "?"),
		on("↑↓", "select a trial; also pgup, pgdown, home and end", "trial", then((*tuning).move), "up", "down", "k", "j", "pgup", "pgdown", "home", "end"),
		on("tab", "the next pane; shift+tab: the one before", "pane", then((*tuning).cycle), "tab", "shift+tab"),
		on("z", "the pane on the whole screen, and back; also enter", "zoom", then(func(m *tuning, _ string) { m.zoomed = !m.zoomed }), "z", "enter"),
		on("s", "sort by rank, measure, time or newest; S: back", "sort", then((*tuning).resort), "s", "S"),
		on("/", "show only trials with words, as adam batch=64 -pruned", "filter", then(func(m *tuning, _ string) { m.typing = true }), "/"),
		on("d", "all of the selected trial", "details", then(func(m *tuning, _ string) { m.front = &tuneTrial{} }), "d"),
		on("c", "the newtop train command line of the best; again: copy it", "command", then(func(m *tuning, _ string) { m.front = &tuneCommand{} }), "c"),
		on("←→", "another hyperparameter", "dimension", then(func(m *tuning, k string) { m.turn(map[string]int{"left": -1, "right": 1}[k]) }), "left", "right"),
		value,
		on("x", "x: seconds or gradient equivalents", "axis", then(func(m *tuning, _ string) { m.charts.work = !m.charts.work }), "x"),
		on("y", "logarithmic or linear scale", "log", (*tuning).rescale, "y"),
		on("p", "picture of the chart, as SVG", "picture", (*tuning).picture, "p"),
		on("P", "picture of the screen, as SVG", "", func(m *tuning, _ string) tea.Cmd { return m.pictureOf(m.screen(), "newtop-tune-screen") }, "P"),
		on("t", "the next theme: auto, dark, light, safe, mono", "theme", func(m *tuning, k string) tea.Cmd { return m.nextTheme(k) }, "t"),
		on("g", "the next glyphs: auto, braille, block, ascii", "", func(m *tuning, k string) tea.Cmd { return m.nextGlyphs(k) }, "g"),
		on("M", "newtop follows the mouse, or leaves it alone", "", func(m *tuning, k string) tea.Cmd { return m.toggleMouse(k) }, "M"),
		on("ctrl+z", "suspend; fg comes back", "", func(*tuning, string) tea.Cmd { return tea.Suspend }, "ctrl+z"),
	}
}

// press gives a key to the filter, to what stands in front, and then to the table of bindings.
func (m *tuning) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c" || k == "ctrl+z":
	case m.typing:
		m.typeKey(k, style.Clean(msg.Text))
		return nil
	case m.front != nil:
		if cmd, taken := m.inFront(k); taken {
			return cmd
		}
	}
	for i := range m.bindings {
		if b := &m.bindings[i]; slices.Contains(b.Keys(), k) {
			return b.do(m, k)
		}
	}
	return nil
}

// inFront gives a key to what stands in front. What asks something back has commands of its own.
func (m *tuning) inFront(k string) (cmd tea.Cmd, taken bool) {
	switch f := m.front.(type) {
	case *tuneQuit:
		if k == "q" || k == "y" {
			return m.leave(), true
		}
	case *tuneCommand:
		if k == "c" || k == "enter" {
			return f.copy(m), true
		}
	}
	taken, closed := m.front.handleKey(m, k)
	if closed {
		m.front = nil
	}
	return nil, taken || !closed
}

// typeKey edits the filter.
func (m *tuning) typeKey(k, text string) {
	switch {
	case k == "enter":
		m.typing = false
	case k == "esc":
		m.typing = false
		m.narrow("")
	case k == "backspace" && m.filter != "":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.narrow(m.filter[:len(m.filter)-n])
	case k == "ctrl+u":
		m.narrow("")
	case k == "space":
		m.narrow(m.filter + " ")
	case slices.Contains([]string{"up", "down", "pgup", "pgdown", "home", "end"}, k):
		m.move(k)
	case text != "" && k != "tab":
		m.narrow(m.filter + text)
	}
}

// back undoes what hides something: the zoom, then the filter.
func (m *tuning) back(string) {
	if m.zoomed {
		m.zoomed = false
		return
	}
	m.narrow("")
}

// cycle moves the focus to the next pane or the one before.
func (m *tuning) cycle(k string) {
	if k == "tab" {
		m.focusOn((m.focus + 1) % tunePanes)
	} else {
		m.focusOn((m.focus + tunePanes - 1) % tunePanes)
	}
}

func (m *tuning) focusOn(p layout.ID) {
	m.focus = p
	if p != tuneTable {
		m.side = p
	}
}

// rescale changes the scale of the pane that has the focus, or of all charts from the leaderboard.
func (m *tuning) rescale(string) tea.Cmd {
	if m.focus == tuneMatters {
		return m.tell(style.Muted, "shares have no scale to switch")
	}
	linear := &m.charts.linear
	if m.focus != tuneTable {
		linear[m.focus] = !linear[m.focus]
		return nil
	}
	now := !linear[tuneProgress]
	for i := range linear {
		linear[i] = now
	}
	return nil
}

// picture draws a chart for paper: the focused one, or the one beside the leaderboard.
func (m *tuning) picture(string) tea.Cmd {
	pane := m.focus
	if pane == tuneTable {
		pane = m.side
	}
	f, name := m.figure(pane)
	if f == nil {
		return m.tell(style.Warn, "there is nothing to draw; P takes the screen")
	}
	return m.write("newtop-tune-"+PlainName(name), func(w io.Writer) error { return f.write(w, "svg") })
}

// mouse selects the trial that is clicked, in the leaderboard or in a chart, and the pane.
func (m *tuning) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		switch {
		case m.front != nil:
			m.front.handleKey(m, WheelKey(wheel))
		case wheel.Button == tea.MouseWheelUp || wheel.Button == tea.MouseWheelDown:
			m.move(WheelKey(wheel))
		}
		return
	}
	if _, click := msg.(tea.MouseClickMsg); !click || m.front != nil {
		return
	}
	for i := range m.places {
		p := &m.places[i]
		if !p.Contains(at.X, at.Y) || p.Pane >= tunePanes {
			continue
		}
		m.focusOn(p.Pane)
		switch p.Pane {
		case tuneTable:
			if row := at.Y - m.table.Y - m.table.first; row >= 0 && row < m.table.rows {
				m.selectTrial(m.rows[m.table.top+row])
			}
		case tuneMatters:
			if row := at.Y - m.charts.matters.Y; row >= 0 && row < len(m.charts.shares) {
				m.charts.dim = m.charts.shares[row]
			}
		case tuneProgress, tuneSlice:
			m.selectDot(&m.charts.dots[p.Pane], at.X, at.Y)
		}
		return
	}
}

// selectDot selects the trial whose dot is nearest to a cell of the screen, if one is near.
func (m *tuning) selectDot(d *tuneDots, x, y int) {
	const near = 9 // squared; a row counts for two columns
	best, least := -1, near+1
	for k, c := range d.cells {
		dx, dy := c[0]+d.at.X-x, 2*(c[1]+d.at.Y-y)
		if r := dx*dx + dy*dy; r <= least {
			best, least = d.trials[k], r
		}
	}
	if best >= 0 {
		m.selectTrial(best)
	}
}

// footer names the keys, or has the filter while it is typed.
func (m *tuning) footer(w int) string {
	if m.typing {
		l := m.Line(w).Put(style.Accent, " / ")
		about := "▏ " + format.Count(len(m.rows)) + " of " + format.Count(len(m.board.Trials)) + " · enter keeps · esc ends"
		text := style.Clean(m.filter)
		if over := style.Cells(text) - max(8, w-style.Cells(about)-4); over > 0 {
			text = ansi.TruncateLeft(text, over+1, "…")
		}
		return l.Put(style.Strong, text).Put(style.Accent, about[:len("▏")]).Put(style.Muted, about[len("▏"):]).Full()
	}
	if m.front != nil {
		return m.hintLine(w, m.front.hints())
	}
	var hints []Hint
	for i := range m.bindings {
		if b := &m.bindings[i]; b.short != "" && (b.now == nil || b.now(m)) {
			hints = append(hints, NewHint(b.Help().Key, b.short))
		}
	}
	return m.hintLine(w, hints)
}
