package tuning

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// bindings is the table of the keys, in the order of the footer.
func bindings() []*screen.Binding[*model] {
	on := func(show, help string, keys ...string) *screen.Binding[*model] {
		return screen.Bind[*model]("", show, help, keys...)
	}
	use := func(help string, v screen.Verb, more ...screen.Verb) *screen.Binding[*model] {
		return screen.Use[*model]("", help, v, more...)
	}
	return []*screen.Binding[*model]{
		use("back to all panes, or to all trials", screen.Back).On(back).DefaultFooter().While(
			func(m *model) bool { return m.zoomed || m.filter.Text != "" }),
		use("stop the search and quit; its trials are kept", screen.Quit).On(
			func(m *model, _ string) tea.Cmd { return m.leave() }).FooterBy(screen.LeaveWord[*model]),
		use("this help", screen.ShowHelp).
			Then(func(m *model, _ string) { m.dialog = screen.Help(helpSections) }).DefaultFooter(),
		screen.CommandsKey("", func(m *model) {
			m.dialog = screen.NewPalette(screen.Commands(m.bindings, m), "commands")
		}),
		on("↑↓", "select a trial; also pgup, pgdown, home and end", widget.MoveKeys...).Then(moveTo).Footer("trial"),
		on("tab", "the next pane; shift+tab: the one before", "tab", "shift+tab").Then(cycle).Footer("pane"),
		use("the selected trial's run: its curves and its console", screen.Open).On(openTrial).DefaultFooter(),
		use("the pane on the whole screen, and back", screen.Zoom).Then(
			func(m *model, _ string) { m.zoomed = !m.zoomed }).DefaultFooter(),
		use("sort by rank, measure, time or latest", screen.Sort).Then(func(m *model, _ string) {
			m.sort = (m.sort + 1) % tuneSorts
			m.list(&m.standing)
		}).DefaultFooter(),
		use("show only trials with words, as adam batch=64 -pruned", screen.Filter).Then(
			func(m *model, _ string) { m.filter.Typing = true }).DefaultFooter(),
		on("d", "all of the selected trial", "d").Then(func(m *model, _ string) { m.dialog = &trialDialog{} }).Footer(
			"details"),
		on("c", "the command line of the best; again: copy it", "c").Then(
			func(m *model, _ string) { m.dialog = &commandDialog{} }).Footer("command"),
		on("←→", "another hyperparameter", "left", "right").Then(
			func(m *model, k string) { turnDimension(m, map[string]int{"left": -1, "right": 1}[k]) }).Footer(
			"dimension"),
		on("a", "parallel coordinates: all hyperparameters, or one", "a").Then(func(m *model, _ string) {
			m.charts.parallel, m.side = !m.charts.parallel, tuneSlice
		}).Footer("parallel"),
		on("v", "values: what it took to get to the target, or the measure", "v").Then(func(m *model, _ string) {
			m.charts.measure = !m.charts.measure
		}).Footer("value").While(func(m *model) bool { return m.reached }),
		use("x: seconds or gradient equivalents", screen.Axis).Then(
			func(m *model, _ string) { m.charts.work = !m.charts.work }).DefaultFooter().While(
			func(m *model) bool { return m.leaderboard.Program == nil }),
		use("logarithmic or linear scale", screen.Scale).On(rescale).DefaultFooter(),
		screen.AccuracyKey(func(*model) bool { return false }).While(func(*model) bool { return false }).Unless(
			func(m *model) string {
				if !m.leaderboard.Share() {
					return "the trials have no accuracy"
				}
				return ""
			}),
		use("picture of the chart, as SVG", screen.Picture).On(picture).DefaultFooter(),
		screen.ScreenshotKey("newtop-tune-screen", (*model).screen),
		screen.ThemeKey[*model]().DefaultFooter(),
		screen.GlyphsKey[*model](),
		screen.MouseKey[*model](),
		screen.RedrawKey[*model](),
		screen.SuspendKey[*model](""),
	}
}

// press gives a key to the filter, to what stands in front, and then to the table of bindings.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c" || k == "ctrl+z":
	case m.filter.Typing:
		if m.filter.HandleKey(k, style.Clean(msg.Text)) {
			moveTo(m, k)
		} else {
			m.list(&m.standing)
		}
		return nil
	case m.dialog != nil:
		if cmd, passed := screen.ToDialog(&m.dialog, m, msg); !passed {
			return cmd
		}
	}
	return screen.Press(m.bindings, m, k)
}

// openTrial puts the screen of the selected trial's run over this one.
func openTrial(m *model, _ string) tea.Cmd {
	t, ctx, open := selected(m), m.Ctx, m.open
	if t == nil || t.Run == "" {
		return m.Notify(style.Muted, "no trial with a run is selected")
	}
	return screen.Cover(func() (screen.Layer, func(), error) { return open(ctx, t) })
}

// back undoes what hides something: the zoom, then the filter.
func back(m *model, _ string) tea.Cmd {
	switch {
	case m.zoomed:
		m.zoomed = false
	case m.filter.Text != "":
		m.filter.Text = ""
		m.list(&m.standing)
	case m.Over:
		return tea.Quit
	}
	return nil
}

// cycle moves the focus to the next pane or the one before.
func cycle(m *model, k string) {
	if k == "tab" {
		m.focusOn((m.focus + 1) % tunePanes)
	} else {
		m.focusOn((m.focus + tunePanes - 1) % tunePanes)
	}
}

func (m *model) focusOn(p layout.ID) {
	m.focus = p
	if p != tuneTable {
		m.side = p
	}
}

// rescale changes the scale of the pane that has the focus, or of all charts from the leaderboard.
func rescale(m *model, _ string) tea.Cmd {
	if m.focus == tuneMatters {
		return m.Notify(style.Muted, "shares have no scale to switch")
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
func picture(m *model, _ string) tea.Cmd {
	pane := m.focus
	if pane == tuneTable {
		pane = m.side
	}
	f, name := pictureOf(m, pane)
	if f == nil {
		return m.Notify(style.Warn, "there is nothing to draw; P takes the screen")
	}
	return m.Picture("newtop-tune-"+screen.PlainName(name), screen.Drawing{Suffix: ".svg",
		Draw: func(w io.Writer) error { return f.Draw(w, "svg") }})
}

// mouse selects the trial that is clicked, in the leaderboard or in a chart, and the pane.
func (m *model) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		if wheel.Button == tea.MouseWheelUp || wheel.Button == tea.MouseWheelDown {
			moveTo(m, widget.WheelKey(wheel).String())
		}
		return
	}
	if _, click := msg.(tea.MouseClickMsg); !click {
		return
	}
	for i := range m.slots {
		p := &m.slots[i]
		if !p.Contains(at.X, at.Y) || p.Pane >= tunePanes {
			continue
		}
		m.focusOn(p.Pane)
		switch p.Pane {
		case tuneTable:
			if row, ok := m.table.Row(at.X, at.Y); ok {
				selectTrial(m, m.rows[row])
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
func (m *model) selectDot(d *drawnDots, x, y int) {
	const near = 9 // squared; a row counts for two columns
	best, least := -1, near+1
	for k, c := range d.cells {
		dx, dy := c[0]+d.at.X-x, 2*(c[1]+d.at.Y-y)
		if r := dx*dx + dy*dy; r <= least {
			best, least = d.trials[k], r
		}
	}
	if best >= 0 {
		selectTrial(m, best)
	}
}

// hints are what the footer names.
func (m *model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}
