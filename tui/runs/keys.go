package runs

import (
	"slices"

	tea "charm.land/bubbletea/v2"

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

// bindings is the table of the keys, in the order of the footer.
func bindings() []screen.Binding[*Model] {
	on := screen.Bind[*Model]
	theme := screen.ThemeKey[*Model]()
	theme.SetKeys("T")
	theme.SetHelp("T", theme.Help().Desc)
	back := on(groupList, "esc", "all runs; then back to the screen beneath, or quit", "esc").On((*Model).showAll).Foot(
		"all runs")
	back = back.While(func(m *Model) bool { return m.filter.Text != "" })
	return []screen.Binding[*Model]{
		back,
		on(groupHelp, "q", "quit, or back to the screen beneath", "q", "ctrl+c").On(
			func(*Model, string) tea.Cmd { return tea.Quit }).FootBy(screen.LeaveWord[*Model]),
		on(groupHelp, "R", "back to the screen beneath", "R").On(func(*Model, string) tea.Cmd { return tea.Quit }).Only(
			func(m *Model) bool { return m.Over }),
		on(groupHelp, "?", "this help", "?").Then(func(m *Model, _ string) { m.dialog = help() }).Foot("help"),
		screen.CommandsKey(groupHelp, func(m *Model) {
			m.dialog = screen.NewPalette(
				entries(m), "commands and columns")
		}),
		on(groupRun, "enter", "watch the run, or look at the search", "enter").On((*Model).open).FootBy(
			func(m *Model) string {
				if r := m.selected(); r != nil && r.sweep != nil {
					return "search"
				}
				return "watch"
			}).Unless(nothing),
		on(groupList, "/", "show only runs with words, as letters adam -failed", "/").Then(
			func(m *Model, _ string) { m.filter.Typing = true }).Foot("filter"),
		on(groupRun, "space", "mark it, to be compared", "space").Then((*Model).mark).Foot("mark").Unless(unmarkable),
		on(groupList, "c", "compare the marked runs", "c").On((*Model).compareMarked).Foot("compare").Unless(
			incomparable).While(func(m *Model) bool { return incomparable(m) == "" }),
		on(groupRun, "r", "go on with the run, as newtop resume does", "r").On((*Model).goOn).Foot("resume").Unless(
			unresumable).While(func(m *Model) bool { return unresumable(m) == "" }),
		on(groupList, "u", "bring back what was removed last", "u").On((*Model).restore).Foot("undo").While(
			func(m *Model) bool { return len(m.pending) > 0 }).Unless(func(m *Model) string {
			if len(m.pending) == 0 {
				return "nothing was removed in the last 10 s"
			}
			return ""
		}),
		on(groupList, "s", "sort by the next column, S reversed; or click a title", "s", "S").Then(
			(*Model).resort).Foot("sort"),
		on(groupList, "→ ←", "open a search into its trials, and close it", "right", "left", "l", "h").On(
			(*Model).unfold).Foot("trials").While(func(m *Model) bool {
			r := m.selected()
			return r != nil && (r.sweep != nil || r.trial)
		}).Unless(folded).By([2]string{"right", "open a search into its trials"}, [2]string{"left", "close a search"}),
		on(groupRun, "d", "remove it; u brings it back within 10 s", "d").On((*Model).remove).Foot("remove").Unless(
			unremovable).While(func(m *Model) bool { return unremovable(m) == "" }),
		on(groupRun, "n", "write a note on it", "n").Then(func(
			m *Model, _ string) {
			m.dialog = newNote(m, itsNote)
		}).Foot("note").Unless(unnoted),
		on(groupRun, "t", "edit its tags", "t").Then(func(m *Model, _ string) { m.dialog = newNote(m, itsTags) }).Foot(
			"tags").Unless(unnoted),
		on(groupRun, "N", "give it another name", "N").Then(func(
			m *Model, _ string) {
			m.dialog = newNote(m, itsName)
		}).Unless(unnoted),
		on(groupRun, "y", "copy its name", "y").On((*Model).copyName).Foot("copy").Unless(nothing),
		on(groupList, "C", "choose the columns", "C").Then(func(
			m *Model, _ string) {
			m.dialog = &columnDialog{}
		}).Foot("columns"),
		on(groupList, "↑↓", "select another one; also j k, pgup pgdown, home end", "up", "down", "k", "j", "pgup",
			"pgdown", "home", "end").Then((*Model).move),
		on(screen.GroupView, "P", "picture of the screen, as SVG and PNG", "P").On(
			func(m *Model, _ string) tea.Cmd { return m.ScreenPicture(m.screen(), "newtop-runs-screen") }),
		theme.Foot("theme"),
		screen.GlyphsKey[*Model](),
		screen.MouseKey[*Model](),
		screen.RedrawKey[*Model](),
		screen.SuspendKey[*Model](groupHelp),
	}
}

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
	case !m.marked[r.key] && len(m.marked) >= m.host.Most:
		return "no more than " + nounOf(m.host.Most) + " can be compared"
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

// unresumable is why the selected run can't be gone on with.
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
func (m *Model) showAll(string) tea.Cmd {
	if m.filter.Text == "" {
		return tea.Quit
	}
	m.filter.Text = ""
	m.arrange()
	return nil
}

// refusedMsg says why something could not be opened.
type refusedMsg struct{ text string }

// show returns the command that puts a screen over the list.
func (m *Model) show(open func() (screen.Layer, func(), error)) tea.Cmd {
	return func() tea.Msg {
		l, closed, err := open()
		if err != nil {
			return refusedMsg{err.Error()}
		}
		return screen.Push(l, closed)
	}
}

// open watches the selected run, or looks at the search.
func (m *Model) open(string) tea.Cmd {
	r, ctx, h := m.selected(), m.Ctx, m.host
	if r.sweep != nil {
		name := r.sweep.Name
		if r.sweep.Of == 0 {
			name = r.sweep.Parts[0].ID
		}
		return m.show(func() (screen.Layer, func(), error) { return h.Search(ctx, name) })
	}
	id := r.run.ID
	return m.show(func() (screen.Layer, func(), error) { return h.Watch(ctx, id) })
}

// mark marks the selected run, or takes the mark away, and goes on to the next one.
func (m *Model) mark(string) {
	key := m.selected().key
	if m.marked[key] {
		delete(m.marked, key)
	} else {
		m.marked[key] = true
	}
	m.selectRow(m.place + 1)
}

// compareMarked opens the marked runs over one another, in the order of the list.
func (m *Model) compareMarked(string) tea.Cmd {
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
	return m.show(func() (screen.Layer, func(), error) { return h.Compare(ctx, ids) })
}

// goOn leaves the list, so that the run is gone on with.
func (m *Model) goOn(string) tea.Cmd {
	m.resume = m.selected().run.ID
	return tea.Quit
}

// resort sorts by the next column that is shown, or the other way round.
func (m *Model) resort(k string) {
	if k == "S" {
		if m.sort >= 0 {
			m.reversed = !m.reversed
		}
		m.arrange()
		return
	}
	m.sort, m.reversed = m.sort+1, false
	for m.sort < len(allColumns) && !m.columns[m.sort] {
		m.sort++
	}
	if m.sort >= len(allColumns) {
		m.sort = -1
	}
	m.arrange()
}

// unfold opens the selected search into its trials, or closes it.
func (m *Model) unfold(k string) tea.Cmd {
	r := m.selected()
	if k == "left" || k == "h" {
		for at := m.place; at >= 0; at-- {
			if m.rows[at].sweep != nil {
				delete(m.opened, m.rows[at].key)
				m.selectRow(at)
				break
			}
		}
		m.arrange()
		return nil
	}
	if r.sweep == nil || m.opened[r.key] {
		return nil
	}
	m.opened[r.key] = true
	m.arrange()
	return m.load()
}

// copyName asks the terminal to take the run's name into its clipboard.
func (m *Model) copyName(string) tea.Cmd {
	r := m.selected()
	name := r.key
	switch {
	case r.sweep != nil:
		name = r.sweep.Name
	case r.run.Name != "":
		name = r.run.Name
	}
	return tea.Batch(tea.SetClipboard(name), m.Tell(style.Text, "sent to the terminal's clipboard: "+style.Clean(name)))
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
	if _, click := msg.(tea.MouseClickMsg); !click || !m.table.Contains(at.X, at.Y) {
		return
	}
	if line := at.Y - m.table.Y - m.table.First; line >= 0 && line < m.table.Rows {
		m.selectRow(m.table.Top + line)
	} else if line == -1 {
		for _, h := range m.heads {
			if at.X >= h.from && at.X < h.to {
				m.sortBy(h.column)
			}
		}
	}
}

// hints are what the footer names.
func (m *Model) hints() []widget.Hint {
	if m.dialog != nil {
		return m.dialog.Hints(m)
	}
	return screen.Hints(m.bindings, m)
}
