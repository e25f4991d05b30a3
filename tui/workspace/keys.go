package workspace

import (
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/pane/metrics"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// The headings of the keys.
const (
	groupRuns = "the runs"
	groupHelp = "help and end"

	groupDifferences = "differences"
)

var groups = [...]string{groupRuns, groupDifferences, screen.GroupView, groupHelp}

// bindings is the table of the keys, in the order of the footer. Those of the charts stand in the grid's own.
func bindings() []*screen.Binding[*model] {
	on, use := screen.Bind[*model], screen.Use[*model]
	return []*screen.Binding[*model]{
		use(groupHelp, "all runs again; then back to the screen beneath", screen.Back).On(back).Footer(
			"all runs").While(func(m *model) bool {
			return m.filter.Text != "" || m.solo != nil || m.within != nil
		}),
		screen.QuitKey[*model](groupHelp, "quit, or back to the screen beneath"),
		use(groupHelp, "this help", screen.ShowHelp).
			Then(func(m *model, _ string) { m.dialog = screen.Help(helpSections) }).DefaultFooter(),
		screen.CommandsKey(groupHelp, openPalette),
		on(groupRuns, "tab", "the charts have the keys, or the list", "tab", "shift+tab").Then(turn).FooterBy(
			func(m *model) string {
				return [...]string{onList: "list", onCharts: "charts",
					onDifferences: "differences"}[m.next()]
			}),
		use(groupRuns, "hide the selected run, or show it", screen.Toggle).On(toggle).Footer("hide").Unless(noRun),
		on(groupRuns, "s", "the selected run alone, or all again", "s").Then(solo).Footer("solo").Unless(noRun),
		use(groupRuns, "only runs with words or values, as lr>0.01 opt=adam big", screen.Filter).Then(
			func(m *model, _ string) { m.filter.Typing = true }).DefaultFooter().Only(listed),
		use(groupRuns, "pin the selected run: it is drawn over all others", screen.Pin).Then(
			pin).DefaultFooter().Unless(
			noRun).Only(listed),
		on(groupRuns, "c", "another color for the selected run", "c").Then(
			func(m *model, _ string) { m.at.colour++ }).Footer("color").Unless(noRun).Only(listed),
		on(groupRuns, "a", "show all runs, or none", "a").Then(all).Footer("all").Only(
			func(m *model) bool { return m.focus != onDifferences }),
		on(groupRuns, "f", "let the other runs fade, or come back", "f").Then(
			func(m *model, _ string) { m.faded = !m.faded }),
		on(groupDifferences, "a", "choices that are the same, too", "a").Then(
			func(m *model, _ string) { m.differences.all = !m.differences.all }).Footer("all choices").Only(differs),
		on(groupDifferences, "+ -", "a harder or an easier target", "+", "=", "-", "_").On(aim).Footer("target").Only(
			differs),
		on(groupDifferences, "↑↓", "select a row; also j k, pgup pgdn, home end", widget.MoveKeys...).Then(
			pageDifferences).Only(differs),
		on(groupDifferences, "←→", "other runs", "left", "right").Then(pageDifferences).Footer("runs").Only(differs),
		use(groupRuns, "order of the list: as given, by name, value, state, best", screen.Sort).Then(
			func(m *model, _ string) {
				m.sorted = (m.sorted + 1) % orders
				m.arrange()
			}).FooterBy(func(m *model) string { return m.sorted.String() }).Only(listed),
		on(groupRuns, "C", "the column to sort by: a metric's latest or best value, a setting", "C").Then(
			func(m *model, _ string) { openColumns(m) }).Footer("column").Only(listed),
		use(groupRuns, "runs as one curve: by a setting, by all but the seed, by name", screen.Group).Then(
			func(m *model, _ string) { openGrouping(m) }).DefaultFooter().Only(listed),
		on(groupRuns, "b", "the band of a group: ± σ, min–max, none", "b").Then(func(m *model, _ string) {
			m.spread = (m.spread + 1) % chart.Spreads
		}).FooterBy(func(m *model) string { return m.spread.String() }).While(func(m *model) bool {
			return m.by != ""
		}).Unless(func(m *model) string {
			if m.by == "" {
				return "the runs are not grouped: g groups them"
			}
			return ""
		}),
		use(groupRuns, "what is known of the selected run: settings, machine, summary", screen.Overview).Then(
			func(m *model, _ string) {
				m.dialog = screen.NewOverview[*model](history.Overview(m.at.h), m.at.name)
			}).Unless(noRun),
		on(groupRuns, "V", "keep the view for other runs, or forget it: groups, x, order, column, metrics", "V").On(
			keepView),
		use(groupRuns, "the run's own screen, or the runs of a group", screen.Open).On(open).DefaultFooter().Only(
			func(m *model) bool { return listed(m) && openable(m) }),
		on(groupRuns, "↑↓", "select another run; also j k, pgup pgdn, home end", widget.MoveKeys...).Then(
			move).Only(listed),
		on(groupRuns, "J K", "the same while the charts have the keys", "J", "K").Then(move),
		use(screen.GroupView, "the charts on the whole screen, and back", screen.Zoom).Then(
			func(m *model, _ string) {
				m.alone, m.focus = !m.alone, onCharts
				if !m.alone {
					m.focus = onList
				}
			}).FooterBy(func(m *model) string {
			if m.alone {
				return "list"
			}
			return "zoom"
		}),
		on(groupDifferences, "d", "what the runs reached, took and chose", "d").Then(openDifferences).Footer(
			"differences"),
		screen.AccuracyKey(logsAccuracy).While(func(m *model) bool { return metrics.Share(&m.grid) }).Unless(
			func(m *model) string {
				if !slices.ContainsFunc(m.runs, func(r *run) bool { return r.h.Measure.Info().Share }) {
					return "no run has an accuracy"
				}
				return ""
			}),
		use(screen.GroupView, "picture of the selected chart, as SVG", screen.Picture).On(picture),
		screen.ScreenshotKey("newtop-workspace-screen", (*model).screen),
		screen.ThemeKey[*model](),
		screen.GlyphsKey[*model](),
		screen.MouseKey[*model](),
		screen.RedrawKey[*model](),
		screen.SuspendKey[*model](groupHelp),
	}
}

// logsAccuracy reports whether a run's log has accuracies.
func logsAccuracy(m *model) bool {
	return slices.ContainsFunc(m.runs, func(r *run) bool { return pane.LogsAccuracy(r.h) })
}

// accurate reports whether errors are shown as accuracies.
func accurate(m *model) bool { return m.Accurate(logsAccuracy(m)) }

func listed(m *model) bool { return m.focus == onList }

func differs(m *model) bool { return m.focus == onDifferences }

// next is what tab gives the keys to.
func (m *model) next() focus {
	switch {
	case m.focus == onList:
		return onCharts
	case m.focus == onCharts && m.differences.open:
		return onDifferences
	}
	return onList
}

// turn gives the keys to the next part of the screen.
func turn(m *model, k string) {
	m.focus, m.alone = m.next(), false
	if k == "shift+tab" && m.differences.open {
		m.focus = m.next()
	}
}

func openable(m *model) bool { return m.at != nil && (m.at.open != nil || len(m.at.members) > 0) }

// noRun is why nothing can be done with the selected run.
func noRun(m *model) string {
	if m.at == nil {
		return "there is no run"
	}
	return ""
}

// press gives a key to what takes text, to what stands in front, and then to the charts and the table of bindings:
// first to what has the keys.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	msg.Text = style.Clean(msg.Text)
	switch {
	case k == "ctrl+c" || k == "ctrl+z" || k == "ctrl+l":
		return screen.Press(m.bindings, m, k)
	case m.dialog != nil:
		if cmd, passed := screen.ToDialog(&m.dialog, m, msg); !passed {
			return cmd
		}
	case m.filter.Typing:
		if m.filter.HandleKey(k, msg.Text) {
			move(m, k)
		}
		if !m.filter.Typing && m.invalid != "" { // what can't be read is not kept
			m.filter.Text = ""
		}
		m.arrange()
		return nil
	case m.grid.Typing():
		m.grid.HandleKey(k, msg.Text)
		return nil
	}
	if m.focus == onCharts && m.grid.HandleKey(k, msg.Text) {
		resort(m)
		return nil
	}
	if b := screen.Bound(m.bindings, m, k); b != nil {
		return b.Act(m, k)
	}
	if m.focus != onCharts && m.listWidth() > 0 { // else the charts are not in sight
		m.grid.HandleKey(k, msg.Text)
		resort(m)
	}
	return nil
}

// resort sorts the list again where the charts change its values.
func resort(m *model) {
	if m.sorted == byValue {
		m.arrange()
	}
}

// paste gives pasted text to what takes text.
func (m *model) paste(text string) {
	switch {
	case m.dialog != nil:
		screen.ToDialog(&m.dialog, m, tea.PasteMsg{Content: text})
	case m.filter.Typing:
		m.filter.Add(text)
		m.arrange()
	default:
		m.grid.Paste(text)
	}
}

// back gives back one thing at a time: one run alone, the filter, what the charts have, the screen.
func back(m *model, _ string) tea.Cmd {
	switch {
	case m.focus == onDifferences:
		m.differences.open, m.focus = false, onList
	case m.focus == onList && m.grid.Enlarged(), m.focus == onList && m.grid.On:
		m.grid.HandleKey("esc", "")
	case m.solo != nil:
		m.solo = nil
	case m.within != nil:
		m.at, m.within = m.within, nil
		m.arrange()
	case m.filter.Text != "":
		m.filter.Text = ""
		m.arrange()
	case m.grid.HandleKey("esc", ""):
	case m.alone:
		m.alone, m.focus = false, onList
	case m.Over:
		return tea.Quit
	}
	return nil
}

// toggle hides the selected run, or shows it. Of one that alone was shown the others come back.
func toggle(m *model, _ string) tea.Cmd {
	if m.solo != nil {
		m.solo = nil
		return nil
	}
	m.at.off = !m.at.off
	return nil
}

// solo shows the selected run alone.
func solo(m *model, _ string) {
	if m.solo == m.at {
		m.solo = nil
	} else {
		m.solo = m.at
	}
}

// pin has the others compared with the selected run.
func pin(m *model, _ string) {
	if m.pinned == m.at {
		m.pinned = nil
	} else {
		m.pinned = m.at
	}
}

// all shows all runs of the list, or none if all are shown.
func all(m *model, _ string) {
	some := m.solo != nil
	for _, r := range m.rows {
		some = some || r.off
	}
	m.solo = nil
	for _, r := range m.rows {
		r.off = !some
	}
}

// open puts the run's own screen over this one.
func open(m *model, _ string) tea.Cmd {
	if len(m.at.members) > 0 {
		m.within = m.at
		m.solo, m.at = nil, m.at.members[0]
		m.arrange()
		return nil
	}
	open, ctx := m.at.open, m.Ctx
	return screen.Cover(func() (screen.Layer, func(), error) { return open(ctx) })
}

// picture draws the selected chart for paper.
func picture(m *model, _ string) tea.Cmd {
	f := m.grid.Figure()
	if f == nil || f.Empty() {
		return m.Notify(style.Warn, "there is nothing to draw; P takes the screen")
	}
	return m.Picture("newtop-runs-"+screen.PlainName(m.grid.Selected()), screen.Drawing{Suffix: ".svg",
		Draw: func(w io.Writer) error { return f.Draw(w, "svg") }})
}

// mouse selects the run that is clicked, hides it where its sign is, and gives the charts what happens on them.
func (m *model) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	wheel, isWheel := msg.(tea.MouseWheelMsg)
	click, isClick := msg.(tea.MouseClickMsg)
	if m.table.Contains(at.X, at.Y) {
		if isWheel {
			move(m, widget.WheelKey(wheel).String())
		}
		if row, ok := m.table.Row(at.X, at.Y); ok && isClick && click.Button == tea.MouseLeft {
			m.focus, m.at = onList, m.rows[row]
			if at.X-m.table.X < 4 {
				toggle(m, "")
			}
		}
		return
	}
	if d := &m.differences; d.open && d.table.Contains(at.X, at.Y) {
		if isWheel {
			pageDifferences(m, widget.WheelKey(wheel).String())
		}
		if row, ok := d.table.Row(at.X, at.Y); ok && isClick {
			m.focus, d.at = onDifferences, row
		}
		return
	}
	if m.charts.Contains(at.X, at.Y) {
		if isClick {
			m.focus = onCharts
		}
		m.grid.HandleMouse(msg, at.X-m.charts.X, at.Y-m.charts.Y)
		resort(m)
	}
}

// helpSections are the keys with what they do.
func helpSections(m *model) []widget.Section {
	const columns = 9
	charts := widget.Section{Title: "the charts"}
	for _, k := range m.grid.Keys() {
		if k.Show != "" {
			charts.Rows = append(charts.Rows, widget.Explain(style.Accent, k.Show, columns, k.Help))
		}
	}
	filter := widget.Explained("filter of the runs", columns,
		[2]string{"big", "the name has it; -big: has it not"},
		[2]string{"lr>0.01", "a setting or the latest value of a metric: = != > >= < <="},
		[2]string{"opt~ada", "has these letters; also of name, state, source, data"})
	return append(screen.HelpOf(m.bindings, columns, groups[:]...), charts, filter)
}

// openPalette searches over all commands, the metrics and the runs.
func openPalette(m *model) {
	entries := screen.Commands(m.bindings, m)
	for _, k := range m.grid.Keys() {
		if k.Show == "" || len(k.Names) == 0 || k.Names[0] == "esc" || k.Names[0] == "up" {
			continue
		}
		entries = append(entries, screen.Entry[*model]{Kind: "charts", Text: k.Help, Key: k.Names[0],
			Do: func(m *model) tea.Cmd {
				m.grid.HandleKey(k.Names[0], "")
				return nil
			}})
	}
	for _, name := range m.grid.Names() {
		entries = append(entries, screen.Entry[*model]{Kind: "metric", Text: style.Clean(name), Also: "its chart",
			Do: func(m *model) tea.Cmd {
				m.grid.Select(name)
				resort(m)
				return nil
			}})
	}
	for _, name := range metrics.Axes(&m.grid) {
		entries = append(entries, screen.Entry[*model]{Kind: "x", Text: style.Clean(name), Also: "along x",
			Do: func(m *model) tea.Cmd { metrics.SetOver(&m.grid, name); return nil }})
	}
	for _, r := range m.rows {
		entries = append(entries, screen.Entry[*model]{Kind: "run", Text: r.name, Also: r.source,
			Do: func(m *model) tea.Cmd {
				m.at = r
				return nil
			}})
	}
	m.dialog = screen.NewPalette(entries, "commands, metrics and runs")
}
