package widget

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Field is a line of a form: a text that is typed, or one of several choices.
type Field struct {
	Replaceable
	Name    string
	About   string                   // what it is for
	Choices []string                 // nil: any text
	Check   func(text string) string // why a text is refused, "" if it is not; nil: none is
	Invalid string                   // why the text that it has now is refused, as Check said
}

// NewField returns a field with a text of at most limit characters.
func NewField(name, about string, limit int, value string) Field {
	f := Field{Name: name, About: about, Replaceable: NewReplaceable(limit, value)}
	f.Focus()
	return f
}

// Set gives a field another text.
func (f *Field) Set(text string) {
	f.SetValue(text)
	f.CursorEnd()
	f.fresh = true
	f.check()
}

func (f *Field) check() {
	if f.Invalid = ""; f.Check != nil {
		f.Invalid = f.Check(f.Value())
	}
}

// turn moves to another choice.
func (f *Field) turn(by int) {
	n := len(f.Choices)
	f.Set(f.Choices[(max(0, slices.Index(f.Choices, f.Value()))+by+n)%n])
}

// Form is fields one under the other, of which one has the keys.
type Form struct {
	Fields []Field
	At     int
}

// FormAnswer is what a form wants after a message.
type FormAnswer uint8

// The answers.
const (
	Editing   FormAnswer = iota // the form continues
	Submitted                   // every field has a text that is not refused
	Cancelled
)

// Handle gives a message to the form. What a field refuses is not submitted: that field gets the keys.
func (f *Form) Handle(msg tea.Msg) FormAnswer {
	at := &f.Fields[f.At]
	k, _ := msg.(tea.KeyPressMsg)
	switch k := k.String(); {
	case k == "esc":
		return Cancelled
	case k == "enter":
		for i := range f.Fields {
			if f.Fields[i].check(); f.Fields[i].Invalid != "" {
				f.At = i
				return Editing
			}
		}
		return Submitted
	case k == "tab" || k == "down":
		f.At = (f.At + 1) % len(f.Fields)
	case k == "shift+tab" || k == "up":
		f.At = (f.At + len(f.Fields) - 1) % len(f.Fields)
	case at.Choices == nil:
		at.Replaceable.Handle(msg)
		at.check()
	case k == "left":
		at.turn(-1)
	case k == "right" || k == "space":
		at.turn(1)
	}
	return Editing
}

// Rows draws the fields. One alone has no name and what it is for under it; of several each has both beside it.
func (f *Form) Rows(v *style.Pen, w int) (rows []string) {
	note := func(l *style.Line, k *Field) string {
		if k.Invalid != "" {
			return l.Write(style.Bad, ansi.Truncate("× "+k.Invalid, max(0, l.Left()), "…")).Full()
		}
		return l.Write(style.Muted, ansi.Truncate(style.Clean(k.About), max(0, l.Left()), "…")).Full()
	}
	if len(f.Fields) == 1 {
		l := v.Line(w)
		f.Fields[0].Draw(v, l, true)
		return []string{l.Full(), note(v.Line(w), &f.Fields[0])}
	}
	names, texts := 0, 8
	for i := range f.Fields {
		names = max(names, style.Cells(f.Fields[i].Name))
		texts = max(texts, min(24, style.Cells(f.Fields[i].Value())+1))
	}
	for i := range f.Fields {
		k := &f.Fields[i]
		arrow, color := " ", style.Muted
		if i == f.At {
			arrow, color = "▸", style.Accent
		}
		l := v.Line(w).Write(style.Accent, arrow).Write(color, style.Pad(style.Clean(k.Name), names)+"  ")
		text := v.Line(min(texts, l.Left()))
		k.Draw(v, text, i == f.At)
		rows = append(rows, note(l.Append(text).To(names+texts+5), k))
	}
	return rows
}

// Draw writes what a field has.
func (f *Field) Draw(v *style.Pen, l *style.Line, active bool) {
	if f.Choices == nil {
		InputLine(v, l, &f.Model, active)
		return
	}
	text := style.Clean(f.Value())
	if active {
		text = "← " + text + " →"
	}
	l.Write(style.Strong, text)
}
