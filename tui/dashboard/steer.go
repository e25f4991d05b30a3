package dashboard

import (
	"slices"

	"newtop/trainer/feed"
	"newtop/tui/screen"
	"newtop/tui/widget"
)

const (
	groupReplay = "replay"
	groupRun    = "run"
	groupView   = screen.GroupView
	groupHelp   = "help and end"
)

// groups are the headings in the order of the help.
var groups = [...]string{groupReplay, groupRun, groupView, groupHelp}

func bind(group, show, help string, keys ...string) screen.Binding[*App] {
	return screen.Bind[*App](group, show, help, keys...)
}

// use is a binding of what keys mean on all screens.
func use(group, help string, v screen.Verb, more ...screen.Verb) screen.Binding[*App] {
	return screen.Use[*App](group, help, v, more...)
}

// viewerOnly is why a viewer who does not control can't do what they tried.
const viewerOnly = "read-only: you are a viewer"

// unsteerable is why commands make no sense at present.
func unsteerable(a *App) string {
	switch {
	case a.h.Watched():
		return feed.ErrReadOnly.Error()
	case a.onlooker():
		return viewerOnly
	case a.h.Offline():
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
	if why := unsteerable(a); why != "" || !a.h.Status.Racing {
		return why
	}
	return "a race is on: pick a racer or abandon it first"
}

// covered is why the panes take no keys.
func covered(a *App) string {
	if racing(a) {
		return "the race has the screen"
	}
	return ""
}

// unpicturable is why the focused pane can't be drawn to a file.
func unpicturable(a *App) string {
	if a.onlooker() {
		return viewerOnly
	}
	return covered(a)
}

// steerable reports whether commands make sense.
func steerable(a *App) bool { return unsteerable(a) == "" }

// racing reports whether the race has the screen.
func racing(a *App) bool { return a.h.Status.Racing && !a.h.Over() }

// quitWord says what q does.
func quitWord(a *App) string {
	switch {
	case a.stopping:
		return "quit at once"
	case a.viewer != nil:
		return "leave"
	case a.Over:
		return "back"
	case steerable(a) && !a.h.Over():
		return "stop"
	case a.program && !a.h.Over():
		return "end the program"
	}
	return "quit"
}

// hints are what the footer names: the keys of what has them at present.
func hints(a *App) (out []widget.Hint) {
	switch {
	case a.dialog != nil:
		return a.dialog.Hints(a)
	case racing(a):
		return a.Race.Keys(a)
	}
	out = screen.Hints(a.Bindings, a)
	if a.zoomed && len(out) > 0 { // the way back stands first
		if i := slices.IndexFunc(out, func(h widget.Hint) bool { return h.Key == "esc" }); i > 0 {
			back := out[i]
			out = slices.Insert(slices.Delete(out, i, i+1), 0, back)
		}
	}
	return out
}

// replays and trains tell the two kinds of runs apart.
func replays(a *App) bool { return a.h.Watched() }

func trains(a *App) bool { return !a.h.Watched() }

// owns reports whether the run ends with this screen.
func owns(a *App) bool { return trains(a) && a.viewer == nil }
