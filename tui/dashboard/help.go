package dashboard

import (
	"strings"

	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// help is every key with what it does, and what stands in the panes.
func help() *screen.HelpDialog[*App] {
	return &screen.HelpDialog[*App]{Left: 57, Right: 57, Narrow: 66,
		More:     []widget.Hint{widget.NewHint(":", "search commands")},
		Sections: func(a *App) (keys, words []widget.Section) { return keySections(a), wordSections(a) }}
}

// idleWhy is why the keys that steer do nothing.
func idleWhy(a *App) string {
	if a.onlooker() {
		return "you are a viewer"
	}
	return "it is only watched"
}

// keySections has the keys by group, as the table of bindings has them, and before them those of what has the
// screen.
func keySections(a *App) (out []widget.Section) {
	const columns = 10
	own := widget.Section{}
	switch p, ok := a.panes[a.focus].(pane.Keyed); {
	case racing(a):
		own.Title = "in the race"
		for _, h := range a.Race.Keys(a) {
			if h.Key != "?" && h.Key != "q" && h.Key != "space" {
				own.Rows = append(own.Rows, widget.Explain(style.Accent, h.Key, columns, h.Text))
			}
		}
	case ok && a.zoomed:
		own.Title = a.panes[a.focus].Name(a.paneView()) + ", zoomed"
		for _, k := range p.Keys() {
			if k.Show != "" && k.Has(a.paneView()) {
				own.Rows = append(own.Rows, widget.Explain(style.Accent, k.Show, columns, k.Help))
			}
		}
	}
	if len(own.Rows) > 0 {
		out = append(out, own)
	}
	for _, g := range groups {
		s := widget.Section{Title: g}
		var idle []string
		for i := range a.Bindings {
			switch b := &a.Bindings[i]; {
			case b.Group != g || b.Absent(a):
			case replays(a) && b.Group == groupRun, a.onlooker() && (b.Group == groupRun || b.Lacking(a) == viewerOnly):
				idle = append(idle, b.Help().Key)
			default:
				s.Rows = append(s.Rows, widget.Explain(style.Accent, b.Help().Key, columns, b.Help().Desc))
			}
		}
		if len(idle) > 0 {
			s.Rows = append(s.Rows, []style.Part{style.Muted.Of(strings.Join(idle, " ") + "  not here: " + idleWhy(a))})
		}
		if len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}
