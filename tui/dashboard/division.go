package dashboard

import (
	"newtop/tui/layout"
	"newtop/tui/pane"
)

// isBlank reports whether a pane has nothing to show of the run.
func isBlank(a *App, id layout.ID) bool {
	p, ok := a.panes[id].(pane.Blank)
	return ok && p.Blank(a.h)
}

// told reports whether a run that is told by its figures alone has something for a pane that it has mostly nothing for.
func told(a *App, id layout.ID) bool {
	return id == layout.Spectrum && len(a.h.Spectra) > 0 || id == layout.Inner && a.h.Factors.Told()
}

// isIdle reports whether a run that is told by its figures alone has nothing for a pane, or nothing that the metrics do
// not show.
func isIdle(a *App, id layout.ID) bool {
	if !a.h.MetricsOnly() {
		return false
	}
	switch id {
	case layout.Inner, layout.Spectrum, layout.Topology, layout.Region, layout.Errors:
		return !told(a, id)
	}
	return isBlank(a, id)
}

// division divides the screen as it is now.
func division(a *App, zoomed bool) layout.Screen {
	if a.h.MetricsOnly() {
		s := layout.DashboardOfMetrics(a.Width, a.Height, headerRows(a), zoomed, a.focus, len(a.h.Console.Lines) > 0,
			func(id layout.ID) bool { return isIdle(a, id) })
		if len(a.h.Console.Lines) > 0 && a.focus != layout.Log {
			s.Give(layout.Log, layout.Console)
		}
		return s
	}
	s := layout.Dashboard(a.Width, a.Height, headerRows(a), zoomed, a.focus)
	if a.h.Elsewhere() {
		cede(a, &s)
	}
	for id := range layout.ID(len(a.panes)) {
		if id != a.focus && isBlank(a, id) {

			s.Drop(id)
		}
	}
	return s
}

// cede gives up the places for what a model that another program has can't have: to what that program prints, if it
// does.
func cede(a *App, s *layout.Screen) {
	for _, id := range []layout.ID{layout.Errors, layout.Accuracy} {
		if id == a.focus || !isBlank(a, id) {
			continue
		}
		if len(a.h.Console.Lines) > 0 {
			s.Give(id, layout.Console)
		}
		s.Cede(id)
	}
}
