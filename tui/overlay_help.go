package tui

import (
	"strings"

	"newtop/tui/style"
)

// help is every key with what it does, and what stands in the panes.
func help() *HelpDialog[*App] {
	return &HelpDialog[*App]{Left: 57, Right: 57, Narrow: 66, More: []Hint{NewHint(":", "search commands")},
		Sections: func(a *App) (keys, words []Section) { return a.keySections(), a.wordSections() }}
}

// idleWhy is why the keys that steer do nothing.
func idleWhy(a *App) string {
	if a.h.viewer {
		return "you are a viewer"
	}
	return "it is only watched"
}

// keySections has the keys by group, as the table of bindings has them, and before them those of what has the
// screen.
func (a *App) keySections() (out []Section) {
	const columns = 10
	own := Section{}
	switch p, ok := a.panes[a.focus].(explained); {
	case a.racing():
		own.title = "in the race"
		for _, h := range a.race.hints(a) {
			if h.key != "?" && h.key != "q" && h.key != "space" {
				own.rows = append(own.rows, Explain(style.Accent, h.key, columns, h.text))
			}
		}
	case ok && a.zoomed:
		own.title = a.panes[a.focus].name(a.paneView()) + ", zoomed"
		for _, k := range p.ownKeys() {
			own.rows = append(own.rows, Explain(style.Accent, k[0], columns, k[1]))
		}
	}
	if len(own.rows) > 0 {
		out = append(out, own)
	}
	for _, g := range groups {
		s := Section{title: g}
		var idle []string
		for i := range a.bindings {
			switch b := &a.bindings[i]; {
			case b.Group != g || b.Absent(a):
			case replays(a) && b.Group == groupRun, a.h.viewer && (b.Group == groupRun || b.Lacking(a) == viewerOnly):
				idle = append(idle, b.Help().Key)
			default:
				s.rows = append(s.rows, Explain(style.Accent, b.Help().Key, columns, b.Help().Desc))
			}
		}
		if len(idle) > 0 {
			s.rows = append(s.rows, []style.Part{style.Muted.Of(strings.Join(idle, " ") + "  not here: " + idleWhy(a))})
		}
		if len(s.rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}
