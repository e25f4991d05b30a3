package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"newtop/tui/chart"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/layout"
	"newtop/tui/pane/metrics"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// choices are what the preferences have besides how everything looks.
type choices struct {
	saves *dialogs.Saves
	xAxes []string // of each of the charted panes, when it was last asked
}

// recall applies the user's choices. A file that cannot be used is a line in the log.
func (c *choices) recall(a *desk.App, o *screen.Options) {
	p, ok, err := a.Prefer(o)
	if err != nil {
		a.H.Log.Say(0, style.Warn, "preferences: %s", style.Clean(err.Error()))
	}
	if !ok {
		return
	}
	c.saves.Format = p.Save
	for _, pane := range charted(a) {
		pane.SetXAxis(p.XAxis)
	}
	if m, ok := a.Panes[layout.Metrics].(*metrics.Pane); ok {
		metrics.SetCharts(&m.Grid, p.Charts)
	}
	a.Prefs.Start(c.now(a))
}

// charted returns the panes that remember how their charts are drawn.
func charted(a *desk.App) (out []chart.AxisKeeper) {
	for _, p := range a.Panes {
		if c, ok := p.(chart.AxisKeeper); ok {
			out = append(out, c)
		}
	}
	return out
}

// now are the choices that the screen shows now. Of charts that differ, the one changed last counts.
func (c *choices) now(a *desk.App) screen.Preferences {
	p, last := a.Appearance(), a.Prefs.Last()
	p.XAxis, p.Save = last.XAxis, c.saves.Format
	if m, ok := a.Panes[layout.Metrics].(*metrics.Pane); ok {
		p.Charts = metrics.Charts(&m.Grid)
	}
	for i, pane := range charted(a) {
		x := pane.XAxis()
		switch {
		case i == len(c.xAxes):
			c.xAxes = append(c.xAxes, x)
		case x != c.xAxes[i]:
			p.XAxis, c.xAxes[i] = x, x
		}
	}
	return p
}

// stored follows the end of a write.
func stored(a *desk.App, msg screen.StoredMsg) tea.Cmd {
	cmd, err := a.Prefs.Written(msg)
	if err != nil {
		a.Say(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	return cmd
}
