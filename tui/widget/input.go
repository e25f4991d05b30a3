package widget

import (
	"charm.land/bubbles/v2/textinput"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

func NewInput(limit int) textinput.Model {
	t := textinput.New()
	t.Prompt = ""
	t.CharLimit = limit
	t.SetVirtualCursor(false)
	return t
}

// InputLine writes what stands in a text field, with its cursor if that has the keys.
func InputLine(v *style.Pen, l *style.Line, t *textinput.Model, active bool) {
	text := []rune(t.Value())
	if !active {
		l.Put(style.Strong, style.Clean(string(text)))
		return
	}
	at := min(t.Position(), len(text))
	before := style.Clean(string(text[:at]))
	if over := style.Cells(before) - l.Left() + 2; over > 0 {
		before = ansi.TruncateLeft(before, over, "")
	}
	l.Put(style.Strong, before).Put(style.Accent, "▏").Put(style.Strong, style.Clean(string(text[at:])))
}
