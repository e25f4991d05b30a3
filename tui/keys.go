package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"newtop/trainer"
)

// binding joins keys to what they do. Dispatch, footer and help all read the one table.
type binding struct {
	key.Binding
	group string // its heading in the help
	// do acts; k is the key that was pressed.
	do func(a *App, k string) tea.Cmd
	// now says whether the footer should name it, given the state; nil for never.
	now func(a *App) bool
	// short is what the footer says; it may depend on the state.
	short func(a *App) string
}

func bind(group, show, help string, keys ...string) binding {
	return binding{group: group, Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, help))}
}

// on completes a binding with its action.
func (b binding) on(do func(a *App, k string) tea.Cmd) binding { b.do = do; return b }

// foot puts a binding into the footer while a condition holds.
func (b binding) foot(s string, now func(a *App) bool) binding {
	return b.footBy(func(*App) string { return s }, now)
}

// footBy does so with a word that depends on the state.
func (b binding) footBy(short func(a *App) string, now func(a *App) bool) binding {
	b.short, b.now = short, now
	return b
}

const (
	groupRun  = "run"
	groupView = "view"
	groupHelp = "help and end"
)

// bindings is the table, in the order of the footer: what matters most first.
func bindings() []binding {
	steerable := func(a *App) bool { return a.steerable() }
	always := func(*App) bool { return true }
	send := func(c trainer.Command) func(*App, string) tea.Cmd {
		return func(a *App, _ string) tea.Cmd { return a.command(c) }
	}
	pauseWord := func(a *App) string {
		if a.h.status.Phase == trainer.Paused {
			return "go on"
		}
		return "pause"
	}
	quitWord := func(a *App) string {
		switch {
		case a.stopping:
			return "quit at once"
		case a.steerable():
			return "stop"
		}
		return "quit"
	}
	scalable := func(a *App) bool { return a.steerable() && a.h.primary() != nil }
	scaled := func(a *App) string { return clean(a.h.primary().Key) }
	return []binding{
		bind(groupHelp, "q", "stop the run, then quit; twice: at once", "q", "ctrl+c").
			on(func(a *App, _ string) tea.Cmd { return a.quit() }).footBy(quitWord, always),
		bind(groupHelp, "?", "this help", "?").
			on(func(a *App, _ string) tea.Cmd { a.overlay = overlayHelp; return nil }).foot("help", always),
		bind(groupRun, "space", "pause, and go on", "space").
			on(func(a *App, _ string) tea.Cmd {
				return a.command(trainer.Pause{On: a.h.status.Phase != trainer.Paused})
			}).footBy(pauseWord, steerable),
		bind(groupRun, "o", "choose an optimizer from a list", "o").
			on(func(a *App, _ string) tea.Cmd { a.openPicker(); return nil }).foot("optimizer", steerable),
		bind(groupRun, "1…9", "switch to an optimizer by its number", "1", "2", "3", "4", "5", "6", "7", "8", "9").
			on(func(a *App, k string) tea.Cmd { return a.switchTo(int(k[0] - '1')) }),
		bind(groupView, "z", "zoom the focused pane; tab shows the others", "z", "enter").
			on(func(a *App, _ string) tea.Cmd { return a.zoom(!a.zoomed) }).
			foot("zoom", func(a *App) bool { return !a.zoomed }),
		bind(groupView, "esc", "back to all panes", "esc").
			on(func(a *App, _ string) tea.Cmd { return a.zoom(false) }).
			foot("back", func(a *App) bool { return a.zoomed }),
		bind(groupView, "tab ←↑→↓", "another pane; shift+tab goes back", "tab", "shift+tab", "left", "right", "up", "down").
			on(func(a *App, k string) tea.Cmd { a.move(k); return nil }).foot("pane", always),
		bind(groupRun, "s", "run one epoch", "s").on(send(trainer.StepEpoch{})).foot("one epoch", steerable),
		bind(groupRun, "i", "run one inner iteration, or one batch", "i").on(send(trainer.StepInner{})).foot("one inner", steerable),
		bind(groupRun, "+ -", "double or halve the radius, rate or damping", "+", "=", "-", "_").
			on(func(a *App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return a.command(trainer.Scale{Factor: 0.5})
				}
				return a.command(trainer.Scale{Factor: 2})
			}).footBy(scaled, scalable),
		bind(groupRun, "k", "compute the spectrum at the weights of now", "k").
			on(send(trainer.Spectrum{})).foot("spectrum", steerable),
		bind(groupView, "y", "logarithmic or linear scale", "y").
			on(func(a *App, _ string) tea.Cmd { return a.toggleLog() }).foot("log", always),
		bind(groupHelp, "ctrl+z", "suspend; fg comes back", "ctrl+z").
			on(func(*App, string) tea.Cmd { return tea.Suspend }),
	}
}

// footer names the keys that matter now, and at its right end what was last answered.
func (a *App) footer(w int) string {
	l := a.th.line(w)
	notice := a.notice
	room := w
	if notice.s != "" {
		room = w - min(cells(notice.s)+3, w*2/3)
	}
	for i := range a.bindings {
		b := &a.bindings[i]
		if b.now == nil || !b.now(a) {
			continue
		}
		k, s := b.Help().Key, b.short(a)
		if l.w+cells(k)+cells(s)+3 > room {
			break
		}
		k, _, _ = strings.Cut(k, " ←")
		l.put(tokText, " ").put(tokAccent, k).put(tokMuted, " "+s+" ")
	}
	if notice.s != "" {
		l.to(w - min(cells(notice.s), l.left()-1) - 1)
		l.put(notice.t, notice.s)
	}
	return l.full()
}
