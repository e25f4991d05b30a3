package runs

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/store"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// helpSections are the keys with what they do, and what the signs mean.
func helpSections(m *Model) []widget.Section {
	const columns = 8
	words := widget.Section{Title: "in the list"}
	for _, r := range []struct {
		ink         style.Token
		sign, means string
	}{
		{style.Good, "●", "being trained, or searched"},
		{style.Text, "■", "over, as far as it was to go"},
		{style.Good, "✓", "it reached its target"},
		{style.Warn, "‖", "interrupted: its process is gone"},
		{style.Bad, "×", "diverged: a value was not finite"},
		{style.Bad, "✗", "failed"},
		{style.Accent, "✓", "before a name: marked, to be compared"},
		{style.Muted, "▸", "before a name: a search; ▾ its trials"},
		{style.Muted, "best", "by test error, RMSE or loss"},
		{style.Muted, "curve", "that over the epochs, on a scale of its own"},
	} {
		words.Rows = append(words.Rows, widget.Explain(r.ink, r.sign, columns, r.means))
	}
	return append(screen.HelpOf(m.bindings, columns, groups[:]...), words)
}

// entries are what the search for commands has: the bindings, and what the list can be sorted by.
func entries(m *Model) (out []screen.Entry[*Model]) {
	for _, g := range groups {
		for _, b := range m.bindings {
			if b.Group == g && b.Keys[0] != ":" {
				out = append(out, screen.BoundEntries(b, m)...)
			}
		}
	}
	for _, c := range m.table.Columns {
		out = append(out, screen.Entry[*Model]{Kind: "sort", Text: "by " + c.Title, Also: c.About,
			Do: func(m *Model) tea.Cmd { m.sortBy(c.Key); return nil }})
	}
	return out
}

// columnDialog chooses the columns.
type columnDialog struct {
	at     int
	window widget.Window
}

// List implements Lister.
func (o *columnDialog) List(*Model) (*widget.Window, func(int)) {
	return &o.window, func(row int) { o.at = row }
}

// Handle implements Dialog.
func (o *columnDialog) Handle(m *Model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	columns := m.table.Columns
	switch k := k.String(); k {
	case "esc", "q", "C", "enter":
		return screen.Close, nil
	case "space", "x":
		if columns[o.at].Key == nameColumn {
			return screen.Stay, m.Notify(style.Warn, "the name stays")
		}
		columns[o.at].Off = !columns[o.at].Off
		m.arrange()
	case "up", "down", "k", "j":
		o.at = o.window.Move(k, o.at, len(columns))
	}
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *columnDialog) Hints(*Model) []widget.Hint {
	return []widget.Hint{widget.NewHint("space", "show or hide"), widget.NewHint("↑↓", "choose"),
		widget.NewHint("esc", "close")}
}

// Draw implements Dialog.
func (o *columnDialog) Draw(m *Model, w, h int) []string {
	bw := min(w-2, 72)
	first, end := o.window.Show(o.at, len(m.table.Columns), max(1, h-2), 1, bw-4)
	o.window.Ticks = true
	var rows []string
	for i := first; i < end; i++ {
		c := &m.table.Columns[i]
		arrow, box, color := " ", "[x] ", style.Text
		if c.Off {
			box = "[ ] "
		}
		if i == o.at {
			arrow, color = "▸", style.Chosen
		}
		rows = append(rows, m.Line(bw-4).Write(style.Accent, arrow+" ").Write(style.Muted, box).Write(
			color, c.Title+" ").To(
			15).Write(style.Muted, c.About).Full())
	}
	return widget.DialogBox(&m.Pen, "columns · esc closes", rows, bw)
}

// noteDialog edits the note, the tags or the name of a run.
type noteDialog struct {
	widget.Form
	title string
	store func(m *Model, text string) tea.Cmd
}

func newNote(title, about, value string, keep func(m *Model, text string) tea.Cmd) *noteDialog {
	field := widget.NewField("", about, 400, value)
	field.Keep()
	return &noteDialog{widget.Form{Fields: []widget.Field{field}}, title, keep}
}

// noteOn edits a run's note.
func noteOn(m *Model, _ string) {
	r := m.selected()
	m.dialog = newNote("note on "+r.label(), "a line about the run", r.run.Note, func(m *Model, text string) tea.Cmd {
		return annotate(m, r.run.ID, text, r.run.Tags)
	})
}

// tagsOf edits a run's tags.
func tagsOf(m *Model, _ string) {
	r := m.selected()
	m.dialog = newNote("tags of "+r.label(), "words with spaces between them", strings.Join(r.run.Tags, " "),
		func(m *Model, text string) tea.Cmd { return annotate(m, r.run.ID, r.run.Note, strings.Fields(text)) })
}

// nameOf gives a run another name.
func nameOf(m *Model, _ string) {
	r := m.selected()
	d := newNote("name of "+r.label(), "a name that no other run has; nothing: none", r.run.Name,
		func(m *Model, text string) tea.Cmd { return rename(m, r.run.ID, text) })
	d.Fields[0].Check = func(text string) string { return unnameable(m, r.run, text) }
	m.dialog = d
}

// unnameable is why a run can't have a name, "" if it can.
func unnameable(m *Model, run *store.Run, name string) string {
	name = strings.TrimSpace(name)
	if name == "" {
		return ""
	}
	if err := store.CheckName(name); err != nil {
		return style.Clean(err.Error())
	}
	for i := range m.runs {
		if other := &m.runs[i]; other.Name == name && other.ID != run.ID {
			return "another run has that name: " + shortID(other.ID)
		}
	}
	return ""
}

// Handle implements Dialog.
func (o *noteDialog) Handle(m *Model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	switch o.Form.Handle(msg) {
	case widget.Cancelled:
		return screen.Close, nil
	case widget.Submitted:
		return screen.Close, o.store(m, strings.TrimSpace(o.Fields[0].Value()))
	}
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *noteDialog) Hints(*Model) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "keep"), widget.NewHint("esc", "leave it as it was")}
}

// Draw implements Dialog.
func (o *noteDialog) Draw(m *Model, w, _ int) []string {
	bw := min(w-2, 76)
	return widget.DialogBox(&m.Pen, o.title, o.Rows(&m.Pen, bw-4), bw)
}
