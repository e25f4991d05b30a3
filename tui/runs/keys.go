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
	on, use := screen.Bind[*Model], screen.Use[*Model]
	return []screen.Binding[*Model]{
		use(groupList, "all runs; then back to the screen beneath, or quit", screen.Back).On(showAll).Foot(
			"all runs").While(func(m *Model) bool { return m.filter.Text != "" }),
		screen.QuitKey[*Model](groupHelp, "quit, or back to the screen beneath"),
		on(groupHelp, "R", "back to the screen beneath", "R").On(func(*Model, string) tea.Cmd { return tea.Quit }).Only(
			func(m *Model) bool { return m.Over }),
		use(groupHelp, "this help", screen.ShowHelp).Then(func(m *Model, _ string) { m.dialog = help() }).Footed(),
		screen.CommandsKey(groupHelp, func(m *Model) {
			m.dialog = screen.NewPalette(entries(m), "commands and columns")
		}),
		use(groupRun, "watch the run, or look at the search", screen.Open).On(open).FootBy(
			func(m *Model) string {
				if r := m.selected(); r != nil && r.sweep != nil {
					return "search"
				}
				return "watch"
			}).Unless(nothing),
		use(groupList, "show only runs with words, as letters adam -failed", screen.Filter).Then(
			func(m *Model, _ string) { m.filter.Typing = true }).Footed(),
		use(groupRun, "mark it, to be compared", screen.Toggle).Then(mark).Foot("mark").Unless(unmarkable),
		on(groupList, "c", "compare the marked runs", "c").On(compareMarked).Foot("compare").Unless(
			incomparable).While(func(m *Model) bool { return incomparable(m) == "" }),
		on(groupRun, "r", "go on with the run, as newtop resume does", "r").On(goOn).Foot("resume").Unless(
			unresumable).While(func(m *Model) bool { return unresumable(m) == "" }),
		on(groupList, "u", "bring back what was removed last", "u").On(restore).Foot("undo").While(
			func(m *Model) bool { return len(m.pending) > 0 }).Unless(func(m *Model) string {
			if len(m.pending) == 0 {
				return "nothing was removed in the last 10 s"
			}
			return ""
		}),
		use(groupList, "sort by the next column; or click a title", screen.Sort).Then(func(m *Model, _ string) {
			m.table.SortNext()
			m.arrange()
		}).Footed(),
		on(groupList, "s", "the other way round", "s").Then(func(m *Model, _ string) { m.sortBy(m.table.Sorted) }),
		on(groupList, "→ ←", "open a search into its trials, and close it", "right", "left", "l", "h").On(
			unfold).Foot("trials").While(func(m *Model) bool {
			r := m.selected()
			return r != nil && (r.sweep != nil || r.trial)
		}).Unless(folded).By([2]string{"right", "open a search into its trials"}, [2]string{"left", "close a search"}),
		on(groupRun, "d", "remove it; u brings it back within 10 s", "d").On(remove).Foot("remove").Unless(
			unremovable).While(func(m *Model) bool { return unremovable(m) == "" }),
		on(groupRun, "n", "write a note on it", "n").Then(noteOn).Foot("note").Unless(unnoted),
		on(groupRun, "t", "edit its tags", "t").Then(tagsOf).Foot("tags").Unless(unnoted),
		on(groupRun, "N", "give it another name", "N").Then(nameOf).Unless(unnoted),
		on(groupRun, "Y", "copy its name", "Y").On(copyName).Foot("copy").Unless(nothing),
		on(groupList, "C", "choose the columns", "C").Then(func(m *Model, _ string) {
			m.dialog = &columnDialog{}
		}).Foot("columns"),
		on(groupList, "↑↓", "select another one; also j k, pgup pgdown, home end", widget.MoveKeys...).Then(
			func(m *Model, k string) { m.move(k) }),
		screen.ScreenshotKey("newtop-runs-screen", (*Model).screen),
		screen.ThemeKey[*Model]().Footed(),
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
func showAll(m *Model, _ string) tea.Cmd {
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
func open(m *Model, _ string) tea.Cmd {
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
func mark(m *Model, _ string) {
	key := m.selected().key
	if m.marked[key] {
		delete(m.marked, key)
	} else {
		m.marked[key] = true
	}
	m.selectRow(m.place + 1)
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
	return m.show(func() (screen.Layer, func(), error) { return h.Compare(ctx, ids) })
}

// goOn leaves the list, so that the run is gone on with.
func goOn(m *Model, _ string) tea.Cmd {
	m.resume = m.selected().run.ID
	return tea.Quit
}

// unfold opens the selected search into its trials, or closes it.
func unfold(m *Model, k string) tea.Cmd {
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
func copyName(m *Model, _ string) tea.Cmd {
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
