package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/style"
)

// binding joins keys to what they do. Dispatch, footer, help and palette all read the one table.
type binding struct {
	key.Binding
	group string // its heading in the help
	// do acts; k is the key that was pressed.
	do func(a *App, k string) tea.Cmd
	// now says whether the footer should name it, given the state; nil for never.
	now func(a *App) bool
	// short is what the footer says; it may depend on the state.
	short func(a *App) string
	// why says in a clause why it can't be done at present, "" if it can; nil if it always can.
	why func(a *App) string
	// each says what its keys do one by one, where that differs: pairs of a key and a clause.
	each [][2]string
	// there says whether the key has this meaning in the present state; nil if it always has.
	there func(a *App) bool
}

func bind(group, show, help string, keys ...string) binding {
	return binding{group: group, Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, help))}
}

// on completes a binding with its action.
func (b binding) on(do func(a *App, k string) tea.Cmd) binding { b.do = do; return b }

// unless completes it with what may be in its way.
func (b binding) unless(why func(a *App) string) binding { b.why = why; return b }

// by completes it with what its keys do one by one.
func (b binding) by(each ...[2]string) binding { b.each = each; return b }

// only completes it with the state that it belongs to.
func (b binding) only(there func(a *App) bool) binding { b.there = there; return b }

// absent reports whether the key means something else at present, or nothing.
func (b *binding) absent(a *App) bool { return b.there != nil && !b.there(a) }

// lacking is why it can't be done at present, "" if it can.
func (b *binding) lacking(a *App) string {
	if b.why == nil {
		return ""
	}
	return b.why(a)
}

// act does it, or says why not.
func (b *binding) act(a *App, k string) tea.Cmd {
	if why := b.lacking(a); why != "" {
		a.note(style.Warn, why)
		return a.expire()
	}
	return b.do(a, k)
}

// unsteerable is why commands make no sense at present.
func unsteerable(a *App) string {
	switch {
	case a.h.watched():
		return feed.ErrReadOnly.Error()
	case a.h.viewer:
		return viewerOnly
	case a.h.over():
		return "the run has ended"
	case a.closed:
		return "the feed is closed"
	case a.readOnly:
		return feed.ErrReadOnly.Error()
	case a.stopping:
		return "the run is stopping"
	}
	return ""
}

// unchangeable is why the run can't be changed at present: a race goes on from the weights of its beginning.
func unchangeable(a *App) string {
	if why := unsteerable(a); why != "" || !a.h.status.Racing {
		return why
	}
	return "a race is on: pick a racer or abandon it first"
}

// covered is why the panes take no keys.
func covered(a *App) string {
	if a.racing() {
		return "the race has the screen"
	}
	return ""
}

// unpicturable is why the focused pane can't be drawn to a file.
func unpicturable(a *App) string {
	if a.h.viewer {
		return viewerOnly
	}
	return covered(a)
}

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
	groupReplay = "replay"
	groupRun    = "run"
	groupView   = "view"
	groupHelp   = "help and end"
)

// groups are the headings in the order of the help.
var groups = [...]string{groupReplay, groupRun, groupView, groupHelp}

// bindings is the table, in the order of the footer: what matters most first.
func bindings() []binding {
	return slices.Concat(mainBindings(), replayBindings(), zoomBindings(), runBindings(), viewBindings())
}

func always(*App) bool { return true }

func uncovered(a *App) bool { return covered(a) == "" }

func changeable(a *App) bool { return unchangeable(a) == "" }

// quitWord says what q does.
func (a *App) quitWord() string {
	switch {
	case a.stopping:
		return "quit at once"
	case a.guest != nil:
		return "leave"
	case a.steerable():
		return "stop"
	}
	return "quit"
}

// mainBindings are those that a footer should never be without.
func mainBindings() []binding {
	pauseWord := func(a *App) string {
		if a.h.status.Phase == event.Paused {
			return "go on"
		}
		return "pause"
	}
	return []binding{
		bind(groupHelp, "q", "stop the run, then quit; twice: at once", "q", "ctrl+c").
			on(func(a *App, _ string) tea.Cmd { return a.quit() }).footBy((*App).quitWord, always).only(owns),
		bind(groupHelp, "q", "quit, and leave the run alone", "q", "ctrl+c").
			on(func(a *App, _ string) tea.Cmd { return a.quit() }).footBy((*App).quitWord, always).only(func(a *App) bool { return !owns(a) }),
		bind(groupHelp, "?", "this help", "?").
			on(func(a *App, _ string) tea.Cmd { a.overlay = &helpOverlay{}; return nil }).foot("help", always),
		bind(groupHelp, ":", "search all commands; also ctrl+p", ":", "ctrl+p").
			on(func(a *App, _ string) tea.Cmd { a.openPalette(); return nil }).foot("commands", always),
		bind(groupRun, "space", "pause, and go on", "space").
			on(func(a *App, _ string) tea.Cmd {
				return a.command(event.Pause{On: a.h.status.Phase != event.Paused})
			}).footBy(pauseWord, (*App).steerable).unless(unsteerable).only(trains),
		playBinding(),
	}
}

// zoomBindings give one pane the screen, and take it back.
func zoomBindings() []binding {
	return []binding{
		bind(groupView, "z", "zoom the focused pane; also enter", "z", "enter").
			on(func(a *App, _ string) tea.Cmd { return a.zoom(!a.zoomed) }).
			foot("zoom", func(a *App) bool { return uncovered(a) && !a.zoomed }).unless(covered),
		bind(groupView, "esc", "back to all panes", "esc").
			on(func(a *App, _ string) tea.Cmd { return a.zoom(false) }).
			foot("back", func(a *App) bool { return uncovered(a) && a.zoomed }).unless(covered),
	}
}

// runBindings steer the run.
func runBindings() []binding {
	paused := func(a *App) bool { return a.steerable() && a.h.status.Phase == event.Paused }
	send := func(c event.Command) func(*App, string) tea.Cmd {
		return func(a *App, _ string) tea.Cmd { return a.command(c) }
	}
	scalable := func(a *App) bool { return changeable(a) && a.h.primary() != nil }
	scaled := func(a *App) string { return style.Clean(a.h.primary().Key) }
	unscalable := func(a *App) string {
		why := unchangeable(a)
		if why == "" && a.h.status.Optimizer != "" && a.h.primary() == nil {
			why = style.Clean(a.h.status.Optimizer) + " has no radius, rate or damping to scale"
		}
		return why
	}
	unkept := func(a *App) string {
		why := unchangeable(a)
		if why == "" && len(a.h.status.Kept) == 0 {
			why = "no epoch is kept to go back to"
		}
		return why
	}
	return []binding{
		bind(groupRun, "s", "run one epoch", "s").on(send(event.StepEpoch{})).foot("one epoch", paused).unless(unsteerable).only(trains),
		bind(groupRun, "i", "run one inner iteration, or one batch", "i").
			on(send(event.StepInner{})).foot("one inner", paused).unless(unsteerable),
		bind(groupRun, "o", "choose an optimizer from a list", "o").
			on(func(a *App, _ string) tea.Cmd { a.openPicker(); return nil }).foot("optimizer", changeable).unless(unchangeable),
		bind(groupRun, "1…9", "switch to an optimizer by its number", "1", "2", "3", "4", "5", "6", "7", "8", "9").
			on(func(a *App, k string) tea.Cmd { return a.switchTo(int(k[0] - '1')) }).unless(unchangeable),
		bind(groupRun, "e", "edit the settings in a form", "e").
			on(func(a *App, _ string) tea.Cmd { return a.openForm("") }).foot("settings", changeable).unless(unchangeable),
		bind(groupRun, "+ -", "double or halve the radius, rate or damping", "+", "=", "-", "_").
			on(func(a *App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return a.command(event.Scale{Factor: 0.5})
				}
				return a.command(event.Scale{Factor: 2})
			}).footBy(scaled, scalable).unless(unscalable).
			by([2]string{"+", "double the radius, rate or damping"}, [2]string{"-", "halve the radius, rate or damping"}).only(trains),
		bind(groupRun, "f", "fork: race methods or settings from here", "f").
			on(func(a *App, _ string) tea.Cmd { a.openRace(); return nil }).foot("race", changeable).unless(unchangeable),
		bind(groupRun, "u", "go back to an earlier epoch", "u").
			on(func(a *App, _ string) tea.Cmd { a.openRewind(); return nil }).
			foot("go back", func(a *App) bool { return unkept(a) == "" }).unless(unkept).only(trains),
		bind(groupRun, "k", "compute the spectrum at the weights of now", "k").
			on(func(a *App, _ string) tea.Cmd { return a.askSpectrum() }).foot("spectrum", changeable).unless(unchangeable),
		bind(groupRun, "w", "save the model, as safetensors or ONNX", "w").
			on(func(a *App, _ string) tea.Cmd { a.openSave(); return nil }).
			foot("save", func(a *App) bool { return unsavable(a) == "" && a.h.over() }).unless(unsavable),
	}
}

// viewBindings change what is seen.
func viewBindings() []binding {
	return []binding{
		bind(groupView, "tab ←↑→↓", "another pane; shift+tab goes back", "tab", "shift+tab", "left", "right", "up", "down").
			on(func(a *App, k string) tea.Cmd { a.move(k); return nil }).foot("pane", uncovered).unless(covered).
			by([2]string{"tab", "next pane"}, [2]string{"shift+tab", "previous pane"}),
		bind(groupView, "y", "logarithmic or linear scale", "y").
			on(func(a *App, _ string) tea.Cmd { return a.toggleLog() }).foot("log", uncovered).unless(covered),
		bind(groupView, "/", "search the log", "/").
			on(func(a *App, _ string) tea.Cmd { return a.searchLog() }).unless(covered),
		bind(groupView, "t", "the next theme: auto, dark, light, safe, mono", "t").
			on(func(a *App, _ string) tea.Cmd { return a.nextTheme() }),
		bind(groupView, "M", "newtop follows the mouse, or leaves it alone", "M").
			on(func(a *App, _ string) tea.Cmd { return a.toggleMouse() }),
		bind(groupView, "p", "picture of the focused chart, as SVG", "p").
			on(func(a *App, _ string) tea.Cmd { return a.chartPicture("svg") }).
			foot("picture", func(a *App) bool { return unpicturable(a) == "" && a.h.over() }).unless(unpicturable),
		bind(groupView, "P", "picture of the screen, as SVG", "P").
			on(func(a *App, _ string) tea.Cmd { return a.screenPicture() }).unless(func(a *App) string {
			if a.h.viewer {
				return viewerOnly
			}
			return ""
		}),
		bind(groupView, "ctrl+l", "draw the screen anew", "ctrl+l").
			on(func(a *App, _ string) tea.Cmd { a.anew++; return tea.ClearScreen }),
		bind(groupHelp, "ctrl+z", "suspend; fg comes back", "ctrl+z").
			on(func(*App, string) tea.Cmd { return tea.Suspend }).only(func(a *App) bool { return a.guest == nil }),
	}
}

// hints are what the footer names: the keys of what has them at present.
func (a *App) hints() (out []Hint) {
	switch {
	case a.overlay != nil:
		return a.overlay.hints(a)
	case a.racing():
		return a.race.hints(a)
	}
	for i := range a.bindings {
		b := &a.bindings[i]
		if b.now == nil || b.absent(a) || !b.now(a) {
			continue
		}
		k, _, _ := strings.Cut(b.Help().Key, " ←")
		out = append(out, NewHint(k, b.short(a)))
	}
	if a.zoomed && len(out) > 0 { // the way back stands first
		if i := slices.IndexFunc(out, func(h Hint) bool { return h.key == "esc" }); i > 0 {
			back := out[i]
			out = slices.Insert(slices.Delete(out, i, i+1), 0, back)
		}
	}
	return out
}

// footer names the keys that matter now, and at its right end what was last answered.
func (a *App) footer(w int) string {
	l := a.Line(w)
	notice := a.notice
	room := w
	if notice.Text != "" {
		room = w - min(style.Cells(notice.Text)+3, w*2/3)
	}
	for _, h := range a.hints() {
		if l.Width+style.Cells(h.key)+style.Cells(h.text)+3 > room {
			break
		}
		l.Put(style.Text, " ").Put(style.Accent, h.key).Put(style.Muted, " "+h.text+" ")
	}
	if notice.Text != "" {
		s := ansi.Truncate(notice.Text, l.Left()-3, "…")
		l.To(w - style.Cells(s) - 1)
		l.Put(notice.Token, s)
	}
	return l.Full()
}
