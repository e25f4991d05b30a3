package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/history"
)

// Key is a key of a pane's own, or several, for as long as the pane has the whole screen. What they do and what the
// help says of them stand in one table, which has them before the keys of the dashboard.
type Key struct {
	Show, Help string   // a short name and a clause; no name: the help leaves it out
	Names      []string // as Bubble Tea names them; nil for all
	// Only says whether the pane has the key with what it shows; nil for always.
	Only func(v *View) bool
	// Do acts on a key and reports whether it meant something; if not, the key is offered to those behind it.
	Do func(v *View, k string) (cmd tea.Cmd, taken bool)
}

// Has reports whether the pane has the key with what it shows.
func (b *Key) Has(v *View) bool { return b.Only == nil || b.Only(v) }

// Keyed is a pane that has keys of its own.
type Keyed interface{ Keys() []Key }

// Press offers a key to those of a pane. If it is taken, the picture is drawn again.
func Press(p Keyed, v *View, k string) (cmd tea.Cmd, taken bool) {
	for _, b := range p.Keys() {
		if (b.Names == nil || slices.Contains(b.Names, k)) && b.Has(v) {
			if cmd, taken := b.Do(v, k); taken {
				return cmd, true
			}
		}
	}
	return nil, false
}

// Binds reports whether a key is one of a pane's, whatever it means now.
func Binds(p Keyed, k string) bool {
	return slices.ContainsFunc(p.Keys(), func(b Key) bool { return b.Names == nil || slices.Contains(b.Names, k) })
}

// AskMsg is a command that a pane has for the run.
type AskMsg struct{ Command event.Command }

// Ask returns the tea.Cmd that sends a command to the run.
func Ask(c event.Command) tea.Cmd { return func() tea.Msg { return AskMsg{c} } }

// Asker is a pane that asks for what it shows, while it has the whole screen.
type Asker interface {
	// Ask returns what to ask the run for now, nil for nothing.
	Ask(h *history.History) event.Command
}

// Glancer is a pane that asks while it is one of several on the screen, too, seldom: that must cost a run next to
// nothing.
type Glancer interface {
	// Glance returns what to ask the run for now, nil for nothing.
	Glance(h *history.History) event.Command
}

// Blank is a pane that may have nothing to show of a run, and nothing to come. Others get its place.
type Blank interface{ Blank(h *history.History) bool }

// AskLimit keeps a pane from asking again before a run could answer, and from asking so often that the run slows.
type AskLimit struct {
	any     bool
	epoch   int
	elapsed float64
	gen     uint64
}

// Seconds of training between two questions: the least, and the least while the last one has no answer.
const (
	askEvery = 1.0
	askAgain = 5.0
)

// Due reports whether to ask again after an epoch; gen counts the answers.
func (k *AskLimit) Due(h *history.History, gen uint64) bool {
	e := &h.Status
	if k.any {
		wait := askEvery
		if k.gen == gen {
			wait = askAgain
		}
		if e.Epoch == k.epoch || e.Elapsed >= k.elapsed && e.Elapsed-k.elapsed < wait {
			return false
		}
	}
	*k = AskLimit{true, e.Epoch, e.Elapsed, gen}
	return true
}
