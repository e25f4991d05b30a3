package runs

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// The headings of the keys.
const (
	groupRun  = "the selected run"
	groupList = "the list"
	groupHelp = "help and end"
)

var groups = [...]string{groupRun, groupList, screen.GroupView, groupHelp}

const noRun = "there is no run"

// nothing is why nothing can be done with the selected row.
func nothing(m *Model) string {
	if m.selected() == nil {
		return noRun
	}
	return ""
}

// unmarkable is why the selected row can't be marked.
func unmarkable(m *Model) string {
	switch r := m.selected(); {
	case r == nil:
		return noRun
	case r.run == nil:
		return "a search can't be compared: → opens it into its trials, which can"
	case !m.marked[r.key] && len(m.marked) >= m.host.MaxCompared:
		return "no more than " + nounOf(m.host.MaxCompared) + " can be compared"
	}
	return ""
}

// incomparable is why nothing can be compared.
func incomparable(m *Model) string {
	if len(m.marked) < 2 {
		return "expected two marked runs or more: space marks"
	}
	return ""
}

// unnoted is why the selected row has no note.
func unnoted(m *Model) string {
	switch r := m.selected(); {
	case r == nil:
		return noRun
	case r.run == nil:
		return "a search has no note and no tags; its trials have"
	}
	return ""
}

// unresumable is why the selected run can't be resumed.
func unresumable(m *Model) string {
	switch r := m.selected(); {
	case r == nil:
		return noRun
	case m.host.Unresumable == nil:
		return "another run is on the screen beneath: expected newtop resume " + r.label()
	case r.run == nil:
		return "expected newtop tune --resume " + r.label()
	case r.run.State == store.Running:
		return r.label() + " is being trained: enter watches it"
	default:
		return m.host.Unresumable(r.run)
	}
}

// folded is why the selected row is neither opened nor closed.
func folded(m *Model) string {
	if r := m.selected(); r == nil || r.sweep == nil && !r.trial {
		return "only searches have trials"
	}
	return ""
}

// press gives a key to the filter, to what stands in front, and then to the table of bindings.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	msg.Text = style.Clean(msg.Text)
	switch {
	case k == "ctrl+c" || k == "ctrl+z":
	case m.dialog != nil:
		if cmd, passed := screen.ToDialog(&m.dialog, m, msg); !passed {
			return cmd
		}
	case m.filter.Typing:
		if !m.filter.HandleKey(k, msg.Text) {
			m.arrange()
			return nil
		}
	}
	return screen.Press(m.bindings, m, k)
}

// paste gives pasted text to what takes text.
func (m *Model) paste(text string) {
	switch {
	case m.dialog != nil:
		screen.ToDialog(&m.dialog, m, tea.PasteMsg{Content: text})
	case m.filter.Typing:
		m.filter.Add(text)
		m.arrange()
	}
}

// showAll shows all runs again, and then leaves.
func showAll(m *Model, _ string) tea.Cmd {
	if m.filter.Text == "" {
		return tea.Quit
	}
	m.filter.Text = ""
	m.arrange()
	return nil
}

// open watches the selected run, or looks at the search.
func open(m *Model, _ string) tea.Cmd {
	r, ctx, h := m.selected(), m.Ctx, m.host
	if r.sweep != nil {
		name := r.sweep.Name
		if r.sweep.Of == 0 {
			name = r.sweep.Parts[0].ID
		}
		return screen.Cover(func() (screen.Layer, func(), error) { return h.Search(ctx, name) })
	}
	id := r.run.ID
	return screen.Cover(func() (screen.Layer, func(), error) { return h.Watch(ctx, id) })
}

// mark marks the selected run, or takes the mark away, and moves to the next one.
func mark(m *Model, _ string) {
	key := m.selected().key
	if m.marked[key] {
		delete(m.marked, key)
	} else {
		m.marked[key] = true
	}
	m.selectRow(m.position + 1)
}

// markAll marks the runs that are listed, as many as can be compared; once some are marked, none.
func markAll(m *Model, _ string) {
	none := len(m.marked) > 0
	clear(m.marked)
	for _, r := range m.rows {
		if r.run != nil && !none && len(m.marked) < m.host.MaxCompared {
			m.marked[r.key] = true
		}
	}
}

// compareMarked opens the marked runs over one another, in the order of the list.
func compareMarked(m *Model, _ string) tea.Cmd {
	var ids []string
	for i := range m.rows {
		if m.marked[m.rows[i].key] {
			ids = append(ids, m.rows[i].key)
		}
	}
	for key := range m.marked {
		if !slices.Contains(ids, key) { // the filter hides it
			ids = append(ids, key)
		}
	}
	ctx, h := m.Ctx, m.host
	return screen.Cover(func() (screen.Layer, func(), error) { return h.Compare(ctx, ids) })
}

// goOn leaves the list, so that the run is resumed.
func goOn(m *Model, _ string) tea.Cmd {
	m.resume = m.selected().run.ID
	return tea.Quit
}

// copyName asks the terminal to take the run's name into its clipboard.
func copyName(m *Model, _ string) tea.Cmd {
	r := m.selected()
	name := r.key
	switch {
	case r.sweep != nil:
		name = r.sweep.Name
	case r.run.Name != "":
		name = r.run.Name
	}
	return tea.Batch(tea.SetClipboard(name), m.Notify(style.Text,
		"sent to the terminal's clipboard: "+style.Clean(name)))
}

// mouse selects the row that is clicked, or sorts by the column; the wheel moves on.
func (m *Model) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		if wheel.Button == tea.MouseWheelUp || wheel.Button == tea.MouseWheelDown {
			m.move(widget.WheelKey(wheel).String())
		}
		return
	}
	if _, click := msg.(tea.MouseClickMsg); !click {
		return
	}
	if row, ok := m.table.Row(at.X, at.Y); ok {
		m.selectRow(row)
	} else if key := m.table.TitleAt(at.X, at.Y); key != "" {
		m.sortBy(key)
	}
}

// hints are what the footer names.
func (m *Model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}

// nounOf writes a number of runs.
func nounOf(n int) string { return format.Counted(n, "run") }
