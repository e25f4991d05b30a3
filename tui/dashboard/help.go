package dashboard

import (
	"strings"

	"newtop/tui/dashboard/desk"
	"newtop/tui/pane"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// idleReason is why the keys that steer do nothing.
func idleReason(a *desk.App) string {
	if a.OnlyViews() {
		return "you are a viewer"
	}
	return "it is only watched"
}

// keySections has the keys by group, as the table of bindings has them, and before them those of what has the
// screen.
func keySections(a *desk.App) (out []widget.Section) {
	const columns = 10
	own := widget.Section{}
	switch p, ok := a.Panes[a.Focus].(pane.Keyed); {
	case desk.Racing(a):
		own.Title = "in the race"
		for _, h := range a.Race.Keys(a) {
			if h.Key != "?" && h.Key != "q" && h.Key != "space" {
				own.Rows = append(own.Rows, widget.Explain(style.Accent, h.Key, columns, h.Text))
			}
		}
	case ok && a.Zoomed:
		own.Title = a.Panes[a.Focus].Name(a.PaneView()) + ", zoomed"
		for _, k := range p.Keys() {
			if k.Show != "" && k.Has(a.PaneView()) {
				own.Rows = append(own.Rows, widget.Explain(style.Accent, k.Show, columns, k.Help))
			}
		}
	}
	if len(own.Rows) > 0 {
		out = append(out, own)
	}
	for _, g := range desk.Groups {
		s := widget.Section{Title: g}
		var idle []string
		for _, b := range a.Bindings {
			switch {
			case b.Group != g || b.Absent(a):
			case desk.Replays(a) && b.Group == desk.GroupRun, a.OnlyViews() &&
				(b.Group == desk.GroupRun || b.Reason(a) == desk.ViewerOnly):
				idle = append(idle, b.Show)
			default:
				s.Rows = append(s.Rows, widget.Explain(style.Accent, b.Show, columns, b.Help))
			}
		}
		if len(idle) > 0 {
			s.Rows = append(s.Rows, []style.Part{style.Muted.Of(
				strings.Join(idle, " ") + "  not here: " + idleReason(a))})
		}
		if len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}
