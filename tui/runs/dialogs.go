package runs

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// nounOf writes a number of runs.
func nounOf(n int) string { return format.Counted(n, "run") }

// help is every key with what it does, and what the signs mean.
func help() *screen.HelpDialog[*Model] {
	return &screen.HelpDialog[*Model]{Left: 64, Right: 50, Narrow: 70,
		More: []widget.Hint{widget.NewHint(":", "search commands")}, Sections: helpSections}
}

func helpSections(m *Model) (keys, _ []widget.Section) {
	const columns = 8
	for _, g := range groups {
		s := widget.Section{Title: g}
		for i := range m.bindings {
			if b := &m.bindings[i]; b.Group == g {
				s.Rows = append(s.Rows, widget.Explain(style.Accent, b.Help().Key, columns, b.Help().Desc))
			}
		}
		keys = append(keys, s)
	}
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
	return keys, []widget.Section{words}
}

// entries are what the search for commands has: the bindings, and what the list can be sorted by.
func entries(m *Model) (out []screen.Entry[*Model]) {
	for _, g := range groups {
		for i := range m.bindings {
			if b := &m.bindings[i]; b.Group == g && b.Keys()[0] != ":" {
				out = append(out, screen.BoundEntries(b, m)...)
			}
		}
	}
	for k := range allColumns {
		c := &allColumns[k]
		out = append(out, screen.Entry[*Model]{Kind: "sort", Text: "by " + c.title, Also: c.about,
			Do: func(m *Model) tea.Cmd { m.sortBy(k); return nil }})
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
	switch k.String() {
	case "esc", "q", "C", "enter":
		return screen.Close, nil
	case "up", "k":
		o.at = max(0, o.at-1)
	case "down", "j":
		o.at = min(o.at+1, len(allColumns)-1)
	case "space", "x":
		if allColumns[o.at].key == nameColumn {
			return screen.Stay, m.Tell(style.Warn, "the name stays")
		}
		m.columns[o.at] = !m.columns[o.at]
		m.arrange()
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
	first, end := o.window.Show(o.at, len(allColumns), max(1, h-2), 1, bw-4)
	o.window.Ticks = true
	var rows []string
	for i := first; i < end; i++ {
		c := &allColumns[i]
		arrow, box, ink := " ", "[ ] ", style.Text
		if m.columns[i] {
			box = "[x] "
		}
		if i == o.at {
			arrow, ink = "▸", style.Chosen
		}
		rows = append(rows, m.Line(bw-4).Put(style.Accent, arrow+" ").Put(style.Muted, box).Put(ink, c.title).To(
			15).Put(style.Muted, c.about).Full())
	}
	return widget.DialogBox(&m.Pen, "columns · esc closes", rows, bw)
}

// noteDialog edits the note or the tags of a run.
type noteDialog struct {
	run   *store.Run
	label string
	what  noted
	field textinput.Model
}

// noted is what a line about a run is.
type noted uint8

const (
	itsNote noted = iota
	itsTags
	itsName
)

func newNote(m *Model, what noted) *noteDialog {
	r := m.selected()
	o := &noteDialog{run: r.run, label: r.label(), what: what, field: widget.NewInput(400)}
	o.field.SetValue([...]string{r.run.Note, strings.Join(r.run.Tags, " "), r.run.Name}[what])
	o.field.CursorEnd()
	o.field.Focus()
	return o
}

// Handle implements Dialog.
func (o *noteDialog) Handle(m *Model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			text := strings.TrimSpace(o.field.Value())
			switch o.what {
			case itsName:
				return screen.Close, m.rename(o.run.ID, text)
			case itsTags:
				return screen.Close, m.annotate(o.run.ID, o.run.Note, strings.Fields(text))
			}
			return screen.Close, m.annotate(o.run.ID, text, o.run.Tags)
		}
	}
	o.field, _ = o.field.Update(msg)
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *noteDialog) Hints(*Model) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "keep"), widget.NewHint("esc", "leave it as it was")}
}

// Draw implements Dialog.
func (o *noteDialog) Draw(m *Model, w, _ int) []string {
	bw := min(w-2, 76)
	title := [...]string{"note on ", "tags of ", "name of "}[o.what] + o.label
	about := [...]string{"a line about the run", "words with spaces between them",
		"a name that no other run has; nothing: none"}[o.what]
	l := m.Line(bw - 4)
	widget.InputLine(&m.Pen, l, &o.field, true)
	return widget.DialogBox(&m.Pen, title, []string{l.Full(), m.Line(bw-4).Put(style.Muted, about).Full()}, bw)
}
