package screen

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Model is the model of a screen: it embeds a Base.
type Model interface{ Screen() *Base }

// Dialog stands in front of the screen of a model M and has its keys.
type Dialog[M Model] interface {
	// Handle takes a key or pasted text and says what becomes of the dialog and of the message. It leaves the model's
	// dialog alone.
	Handle(m M, msg tea.Msg) (Answer, tea.Cmd)
	// Draw returns rows of one width, at most h of at most w columns.
	Draw(m M, w, h int) []string
	// Hints are the keys that the footer names meanwhile.
	Hints(m M) []widget.Hint
}

// Answer is what becomes of a dialog after a message.
type Answer uint8

// The answers.
const (
	Stay  Answer = iota // it stays in front
	Close               // it is done with
	Pass                // it is done with, and the message is for the screen behind
)

// ToDialog gives a message to the dialog in front, and takes it away when it is done with; passed says that the message
// is for the screen behind.
func ToDialog[M Model](front *Dialog[M], m M, msg tea.Msg) (cmd tea.Cmd, passed bool) {
	d := *front
	answer, cmd := d.Handle(m, msg)
	if answer != Stay && *front == d { // what it did may have opened another one
		*front = nil
	}
	return cmd, answer == Pass
}

// Lister is a dialog with a list that can be clicked.
type Lister[M Model] interface {
	// List is what Draw showed of the list, and chooses one of its rows.
	List(m M) (shown *widget.Window, choose func(row int))
}

// MouseToDialog gives what the mouse does to the dialog in front: the wheel moves as the arrows do, a click chooses a
// row of its list, one on the chosen row is its enter, and one beside the dialog its esc.
func MouseToDialog[M Model](front *Dialog[M], m M, msg tea.MouseMsg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp || msg.Button == tea.MouseWheelDown {
			_, cmd := (*front).Handle(m, widget.WheelKey(msg)) // it closes nothing
			return cmd
		}
	case tea.MouseClickMsg:
		if msg.Button != tea.MouseLeft {
			break
		}
		if key := clicked(*front, m, msg.X, msg.Y); key.Code != 0 {
			cmd, _ := ToDialog(front, m, key)
			return cmd
		}
	}
	return nil
}

// clicked is the key that does the same as a click on a cell of the screen. There is none for a click that chooses a
// row.
func clicked[M Model](d Dialog[M], m M, x, y int) (key tea.KeyPressMsg) {
	w, h := m.Screen().Width, m.Screen().Height-layout.FooterRows
	box := widget.Centered(d.Draw(m, w, max(h, 0)), w, h)
	if !box.Contains(x, y) {
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	lister, ok := d.(Lister[M])
	if !ok {
		return key
	}
	shown, choose := lister.List(m)
	row, ok := shown.Row(x-box.X, y-box.Y)
	switch {
	case !ok:
	case row != shown.At:
		choose(row)
	case shown.Ticks:
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	default:
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	}
	return key
}

// InFront is how the dialog in front draws, nil without one.
func InFront[M Model](front Dialog[M], m M) func(w, h int) []string {
	if front == nil {
		return nil
	}
	return func(w, h int) []string { return front.Draw(m, w, h) }
}

// HelpOf is what the help says of bindings, by their groups, all in one for "", with that many columns for the keys.
func HelpOf[M Model](bindings []*Binding[M], columns int, groups ...string) (out []widget.Section) {
	for _, g := range groups {
		s := widget.Section{Title: g}
		for _, b := range bindings {
			if g == "" || b.Group == g {
				s.Rows = append(s.Rows, widget.Explain(style.Accent, b.Show, columns, b.Help))
			}
		}
		out = append(out, s)
	}
	return out
}

// HelpDialog has every key with what it does, and what stands on the screen.
type HelpDialog[M Model] struct {
	widget.Scroll
	sections func(m M) []widget.Section
}

// Help returns a help of sections.
func Help[M Model](sections func(m M) []widget.Section) *HelpDialog[M] {
	return &HelpDialog[M]{sections: sections}
}

// Handle scrolls; every key that is none of the help's closes it, and does what it does.
func (o *HelpDialog[M]) Handle(m M, msg tea.Msg) (Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Stay, nil
	}
	switch k.String() {
	case "esc", "?", "q", "enter":
		return Close, nil
	}
	if o.Scroll.HandleKey(k.String(), max(1, m.Screen().Height-5)) {
		return Stay, nil
	}
	return Pass, nil
}

// Hints implements Dialog.
func (o *HelpDialog[M]) Hints(M) []widget.Hint {
	return []widget.Hint{{Key: "esc", Text: "close"}, {Key: "↑↓", Text: "scroll"}, {Key: ":", Text: "search commands"}}
}

// Draw puts the sections into two columns, as even as they can be, where the screen has room for both, else one.
func (o *HelpDialog[M]) Draw(m M, w, h int) []string {
	pen := &m.Screen().Pen
	sections := slices.DeleteFunc(o.sections(m), func(s widget.Section) bool { return len(s.Rows) == 0 })
	column := func(of []widget.Section, most int) (rows []string, wide int) {
		wide = min(widget.SectionsWidth(of), most)
		return widget.Sections(pen, of, wide), wide
	}
	rows, wide := column(sections, w-6)
	for i := 1; i < len(sections) && (w-6)/2 >= 48; i++ {
		left, lw := column(sections[:i], (w-6)/2)
		right, rw := column(sections[i:], (w-6)/2)
		if max(len(left), len(right)) < len(rows) {
			rows, wide = style.Beside(left, lw, right), lw+rw+2
		}
	}
	bw := wide + 4
	rows, more := o.Cut(rows, max(1, h-2))
	return widget.DialogBox(pen, "help · esc closes"+more, rows, bw)
}
