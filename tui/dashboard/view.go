package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// askSpectrum asks for a spectrum, unless one is under way: on a fast run that is most of the time, and no refusal.
func askSpectrum(a *desk.App) tea.Cmd {
	if a.H.Status.Computing == "spectrum" {
		return a.Notify(style.Text, "a spectrum is being computed")
	}
	return a.Send(event.Spectrum{})
}

// unopenedMsg says why the recorded runs could not be opened.
type unopenedMsg struct{ err error }

// openRuns puts the recorded runs over the screen. A run that is trained here continues.
func openRuns(a *desk.App) tea.Cmd {
	browse := a.Browse
	return func() tea.Msg {
		l, closed, err := browse()
		if err != nil {
			return unopenedMsg{err}
		}
		return screen.Push(l, closed)
	}
}

// cycle moves the focus to the next pane or the one before, past those that the run has nothing for.
func cycle(a *desk.App, forward bool) {
	order := make([]layout.ID, len(a.Panes))
	for i := range order {
		order[i] = layout.ID(i)
	}
	if a.H.MetricsOnly() { // of which the metrics are the largest pane
		for _, id := range [...]layout.ID{layout.Images, layout.Metrics} {
			i := slices.Index(order, id)
			order = slices.Insert(slices.Delete(order, i, i+1), slices.Index(order, layout.Loss)+1, id)
		}
	}
	n := len(order)
	step := n - 1
	if forward {
		step = 1
	}
	for at := slices.Index(order, a.Focus); n > 0; n-- {
		at = (at + step) % len(order)
		if a.Focus = order[at]; !desk.Absent(a, a.Focus) && !desk.IsIdle(a, a.Focus) {
			return
		}
	}
}

// move moves the focus: tab goes round, arrows go in their direction, and zoomed, where there is only one
// pane to see, left and up go back.
func move(a *desk.App, k string) {
	if a.Zoomed || k == "tab" || k == "shift+tab" {
		cycle(a, k == "tab" || k == "right" || k == "down")
		return
	}
	s := desk.Division(a, false)
	d := map[string][2]int{"left": {-1, 0}, "right": {1, 0}, "up": {0, -1}, "down": {0, 1}}[k]
	a.Focus = s.Neighbour(a.Focus, d[0], d[1])
}

// toggleLog switches the scale of the focused pane.
func toggleLog(a *desk.App) tea.Cmd {
	p := a.Panes[a.Focus]
	a.Claim(a.Focus)
	if p.ToggleLog() {
		a.Changes++
		return nil
	}
	return a.Notify(style.Muted, p.Name(a.PaneView())+" has no scale to switch")
}

// searchLog gives the log the screen and the keys, or the console where that is looked at or stands in the log's place.
func searchLog(a *desk.App) tea.Cmd {
	id := layout.Log
	if a.Focus == layout.Console || a.Focus != layout.Log && a.H.External() && len(a.H.Console.Lines) > 0 {
		id = layout.Console
	}
	p, ok := a.Panes[id].(interface{ Search() })
	if !ok {
		return nil
	}
	a.Focus, a.Zoomed = id, true
	a.Claim(id)
	p.Search()
	a.Changes++
	return nil
}
