package desk

import (
	"newtop/tui/layout"
	"newtop/tui/pane"
)

// isBlank reports whether a pane has nothing to show of the run.
func isBlank(a *App, id layout.ID) bool {
	p, ok := a.Panes[id].(pane.Blank)
	return ok && p.Blank(a.H)
}

// reported reports whether a run that is reported by its figures alone has something for a pane that it has mostly
// nothing for.
func reported(a *App, id layout.ID) bool {
	return id == layout.Spectrum && len(a.H.Spectra) > 0 || id == layout.Inner && a.H.Factors.Reported()
}

// IsIdle reports whether a run that is reported by its figures alone has nothing for a pane, or nothing that the
// metrics do not show.
func IsIdle(a *App, id layout.ID) bool {
	if !a.H.MetricsOnly() {
		return false
	}
	switch id {
	case layout.Inner, layout.Spectrum, layout.Topology, layout.Region, layout.Errors:
		return !reported(a, id)
	}
	return isBlank(a, id)
}

// Division divides the screen as it is now.
func Division(a *App, zoomed bool) layout.Screen {
	if a.H.MetricsOnly() {
		s := layout.DashboardOfMetrics(a.Width, a.Height, headerRows(a), zoomed, a.Focus, len(a.H.Console.Lines) > 0,
			func(id layout.ID) bool { return IsIdle(a, id) })
		if len(a.H.Console.Lines) > 0 && a.Focus != layout.Log {
			s.Give(layout.Log, layout.Console)
		}
		return s
	}
	s := layout.Dashboard(a.Width, a.Height, headerRows(a), zoomed, a.Focus)
	if a.H.Elsewhere() {
		cede(a, &s)
	}
	for id := range layout.ID(len(a.Panes)) {
		if id != a.Focus && isBlank(a, id) {

			s.Drop(id)
		}
	}
	return s
}

// cede gives up the places for what a model that another program has can't have: to what that program prints, if it
// does.
func cede(a *App, s *layout.Screen) {
	for _, id := range []layout.ID{layout.Errors, layout.Accuracy} {
		if id == a.Focus || !isBlank(a, id) {
			continue
		}
		if len(a.H.Console.Lines) > 0 {
			s.Give(id, layout.Console)
		}
		s.Cede(id)
	}
}
