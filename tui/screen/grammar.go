package screen

import tea "charm.land/bubbletea/v2"

// Verb is what a key means on every screen that has a use for it.
type Verb uint8

// The verbs.
const (
	Back Verb = iota + 1
	Quit
	ShowHelp
	Search
	Open
	Zoom
	Toggle
	Filter
	Sort
	Group
	Pin
	Overview
	Axis
	Scale
	Accuracy
	Picture
	Screenshot
	NextTheme
	NextGlyphs
	Mouse
	Redraw
	Suspend
)

// Grammar is the one table of the keys that mean the same on all screens. What a verb acts on differs with what is
// selected there, so that help texts are the screens' own.
var Grammar = [...]struct {
	Verb Verb
	Key  string // that help and footers show
	Also string // another key that does the same, "" for none
	Word string // of a footer
}{
	{Back, "esc", "", "back"},
	{Quit, "q", "ctrl+c", "quit"},
	{ShowHelp, "?", "", "help"},
	{Search, ":", "ctrl+p", "commands"},
	{Open, "enter", "", "open"},
	{Zoom, "z", "", "zoom"},
	{Toggle, "space", "", "toggle"},
	{Filter, "/", "", "filter"},
	{Sort, "S", "", "sort"},
	{Group, "g", "", "group"},
	{Pin, "*", "", "pin"},
	{Overview, "O", "", "overview"},
	{Axis, "x", "", "axis"},
	{Scale, "y", "", "log"},
	{Accuracy, "A", "", "accuracy"},
	{Picture, "p", "", "picture"},
	{Screenshot, "P", "", "screen"},
	{NextTheme, "T", "", "theme"},
	{NextGlyphs, "G", "", "glyphs"},
	{Mouse, "M", "", "mouse"},
	{Redraw, "ctrl+l", "", "redraw"},
	{Suspend, "ctrl+z", "", "suspend"},
}

// keys are those of a verb.
func (v Verb) keys() (out []string) {
	g := &Grammar[v-1]
	if g.Also == "" {
		return []string{g.Key}
	}
	return []string{g.Key, g.Also}
}

// Use returns a binding of a verb's keys under a heading of the help. More verbs do the same here.
//
//go:noinline
func Use[M Model](group, help string, v Verb, more ...Verb) *Binding[M] {
	keys := v.keys()
	for _, m := range more {
		keys = append(keys, m.keys()...)
	}
	return &Binding[M]{Keys: keys, Show: Grammar[v-1].Key, Help: help, Group: group, Verbs: append([]Verb{v}, more...)}
}

// DefaultFooter puts a binding of a verb into the footer with the verb's word.
func (b *Binding[M]) DefaultFooter() *Binding[M] { return b.Footer(Grammar[b.Verbs[0]-1].Word) }

// GroupView is the heading of the keys that change what is seen.
const GroupView = "view"

// ThemeKey goes round the themes.
func ThemeKey[M Model]() *Binding[M] {
	return Use[M](GroupView, "the next theme: auto, dark, light, safe, mono", NextTheme).
		On(func(m M, _ string) tea.Cmd { return m.Screen().SetTheme(m.Screen().ThemeChoice.Next()) })
}

// GlyphsKey goes round the glyph sets.
func GlyphsKey[M Model]() *Binding[M] {
	return Use[M](GroupView, "the next glyphs: auto, braille, block, ascii", NextGlyphs).
		On(func(m M, _ string) tea.Cmd { return m.Screen().SetGlyphs(m.Screen().GlyphChoice.Next()) })
}

// MouseKey takes the mouse, or leaves it to the terminal.
func MouseKey[M Model]() *Binding[M] {
	return Use[M](GroupView, "newtop follows the mouse, or leaves it alone", Mouse).
		On(func(m M, _ string) tea.Cmd { return m.Screen().ToggleMouse() })
}

// AccuracyKey has accuracies stand in place of errors, and back. Who goes back to what is shown by itself has no choice
// kept. logged reports whether logs have accuracies.
func AccuracyKey[M Model](logged func(m M) bool) *Binding[M] {
	return Use[M](GroupView, "accuracy in place of the error, and back", Accuracy).
		Then(func(m M, _ string) {
			b, own := m.Screen(), logged(m)
			on := !b.Accurate(own)
			if b.Accuracy = &on; on == own {
				b.Accuracy = nil
			}
			b.Changes++
		}).
		FooterBy(func(m M) string {
			if m.Screen().Accurate(logged(m)) {
				return "error"
			}
			return Grammar[Accuracy-1].Word
		})
}

// QuitKey leaves the screen.
func QuitKey[M Model](group, help string) *Binding[M] {
	return Use[M](group, help, Quit).On(func(M, string) tea.Cmd { return tea.Quit }).FooterBy(LeaveWord[M])
}

// CommandsKey opens the search for all commands.
func CommandsKey[M Model](group string, open func(m M)) *Binding[M] {
	return Use[M](group, "search all commands; also ctrl+p", Search).
		Then(func(m M, _ string) { open(m) }).DefaultFooter()
}

// ScreenshotKey writes a picture of the screen, whose rows a function returns, to files of a name.
func ScreenshotKey[M Model](name string, rows func(m M) []string) *Binding[M] {
	return Use[M](GroupView, "picture of the screen, as SVG and PNG", Screenshot).
		On(func(m M, _ string) tea.Cmd { return m.Screen().ScreenPicture(rows(m), name) })
}

// RedrawKey draws the screen again, on which something else may have written.
func RedrawKey[M Model]() *Binding[M] {
	return Use[M](GroupView, "draw the screen anew", Redraw).
		On(func(M, string) tea.Cmd { return tea.ClearScreen })
}

// SuspendKey stops the program until the shell takes it up again.
func SuspendKey[M Model](group string) *Binding[M] {
	return Use[M](group, "suspend; fg comes back", Suspend).On(
		func(M, string) tea.Cmd { return tea.Suspend })
}
