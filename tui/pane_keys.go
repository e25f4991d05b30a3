package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
)

// Key is a key of a pane's own, or several, for as long as the pane has the whole screen. What they do and what the
// help says of them stand in one table, which has them before the keys of the dashboard.
type Key struct {
	Show, Help string   // a short name and a clause; no name: the help leaves it out
	Names      []string // as Bubble Tea names them; nil for all
	// Do acts on a key and reports whether it meant something; if not, the key is offered to those behind it.
	Do func(v *View, k string) (cmd tea.Cmd, taken bool)
}

// Keyed is a pane that has keys of its own.
type Keyed interface{ keys() []Key }

// Press offers a key to those of a pane. If it is taken, the picture is drawn anew.
func Press(p Keyed, v *View, k string) (cmd tea.Cmd, taken bool) {
	for _, b := range p.keys() {
		if b.Names == nil || slices.Contains(b.Names, k) {
			if cmd, taken := b.Do(v, k); taken {
				return cmd, true
			}
		}
	}
	return nil, false
}

// AskMsg is a command that a pane has for the run.
type AskMsg struct{ command event.Command }

// Ask returns the tea.Cmd that sends a command to the run.
func Ask(c event.Command) tea.Cmd { return func() tea.Msg { return AskMsg{c} } }
