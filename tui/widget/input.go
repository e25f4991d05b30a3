package widget

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// NewInput returns a field for a line of text of at most that many characters, 0 for no bound.
func NewInput(limit int) textinput.Model {
	t := textinput.New()
	t.Prompt = ""
	t.CharLimit = limit
	t.SetVirtualCursor(false)
	return t
}

// Types reports whether a message puts characters into a text field.
func Types(msg tea.Msg) bool {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return m.Text != ""
	case tea.PasteMsg:
		return true
	}
	return false
}

// Edits reports whether a message is meant for the text of a field or the place in it, so that what follows is typed
// into it.
func Edits(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
		return true
	}
	return false
}

// Replaceable is a text field whose value the first character replaces that is typed, and others edit.
type Replaceable struct {
	textinput.Model
	fresh bool
}

// NewReplaceable returns a field with a value.
func NewReplaceable(limit int, value string) Replaceable {
	r := Replaceable{Model: NewInput(limit), fresh: true}
	r.SetValue(value)
	r.CursorEnd()
	return r
}

// Keep has what is typed edit the value.
func (r *Replaceable) Keep() { r.fresh = false }

// Handle gives a message to the field.
func (r *Replaceable) Handle(msg tea.Msg) {
	if r.fresh && Types(msg) {
		r.SetValue("")
	}
	r.fresh = r.fresh && !Edits(msg)
	r.Model, _ = r.Model.Update(msg)
}

// InputLine writes what stands in a text field, with its cursor if that has the keys.
func InputLine(v *style.Pen, l *style.Line, t *textinput.Model, active bool) {
	text := []rune(t.Value())
	if !active {
		l.Write(style.Strong, style.Clean(string(text)))
		return
	}
	at := min(t.Position(), len(text))
	before := style.Clean(string(text[:at]))
	if over := style.Cells(before) - l.Left() + 2; over > 0 {
		before = ansi.TruncateLeft(before, over, "")
	}
	l.Write(style.Strong, before).Write(style.Accent, "▏").Write(style.Strong, style.Clean(string(text[at:])))
}
