package desk

import (
	"slices"

	"newtop/trainer/feed"
	"newtop/tui/screen"
	"newtop/tui/widget"
)

// The groups of bindings.
const (
	GroupReplay = "replay"
	GroupRun    = "run"
	GroupView   = screen.GroupView
	GroupHelp   = "help and end"
)

// Groups are the headings in the order of the help.
var Groups = [...]string{GroupReplay, GroupRun, GroupView, GroupHelp}

// Bind is a binding of a key that means something on this screen alone.
func Bind(group, show, help string, keys ...string) *screen.Binding[*App] {
	return screen.Bind[*App](group, show, help, keys...)
}

// Use is a binding of what keys mean on all screens.
func Use(group, help string, v screen.Verb, more ...screen.Verb) *screen.Binding[*App] {
	return screen.Use[*App](group, help, v, more...)
}

// ViewerOnly is why a viewer who does not control can't do what they tried.
const ViewerOnly = "read-only: you are a viewer"

// Unsteerable is why commands make no sense at present.
func Unsteerable(a *App) string {
	switch {
	case a.H.Watched():
		return feed.ErrReadOnly.Error()
	case a.OnlyViews():
		return ViewerOnly
	case a.H.Offline():
		return "the run has ended"
	case a.Closed:
		return "the feed is closed"
	case a.ReadOnly:
		return feed.ErrReadOnly.Error()
	case a.Stopping:
		return "the run is stopping"
	}
	return ""
}

// Unchangeable is why the run can't be changed at present: a race resumes from the weights of its beginning.
func Unchangeable(a *App) string {
	if reason := Unsteerable(a); reason != "" || !a.H.Status.Racing {
		return reason
	}
	return "a race is on: pick a racer or abandon it first"
}

// Covered is why the panes take no keys.
func Covered(a *App) string {
	if Racing(a) {
		return "the race has the screen"
	}
	return ""
}

// Unpicturable is why the focused pane can't be drawn to a file.
func Unpicturable(a *App) string {
	if a.OnlyViews() {
		return ViewerOnly
	}
	return Covered(a)
}

// Steerable reports whether commands make sense.
func Steerable(a *App) bool { return Unsteerable(a) == "" }

// Racing reports whether the race has the screen.
func Racing(a *App) bool { return a.H.Status.Racing && !a.H.Over() }

// QuitWord says what q does.
func QuitWord(a *App) string {
	switch {
	case a.Stopping:
		return "quit at once"
	case a.Viewer != nil:
		return "leave"
	case a.Over:
		return "back"
	case Steerable(a) && !a.H.Over():
		return "stop"
	case a.Program && !a.H.Over():
		return "end the program"
	}
	return "quit"
}

// Hints are what the footer names: the keys of what has them at present.
func Hints(a *App) (out []widget.Hint) {
	switch {
	case a.Dialog != nil:
		return a.Dialog.Hints(a)
	case Racing(a):
		return a.Race.Keys(a)
	}
	out = screen.Hints(a.Bindings, a)
	if a.Zoomed && len(out) > 0 { // the way back stands first
		if i := slices.IndexFunc(out, func(h widget.Hint) bool { return h.Key == "esc" }); i > 0 {
			back := out[i]
			out = slices.Insert(slices.Delete(out, i, i+1), 0, back)
		}
	}
	return out
}

// Replays reports whether the run is only watched.
func Replays(a *App) bool { return a.H.Watched() }

// Trains reports whether the run is trained here.
func Trains(a *App) bool { return !a.H.Watched() }

// Owns reports whether the run ends with this screen.
func Owns(a *App) bool { return Trains(a) && a.Viewer == nil }
