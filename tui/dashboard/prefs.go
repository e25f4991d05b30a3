package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"newtop/tui/chart"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// recallPrefs applies the user's choices. A file that cannot be used is a line in the log.
func recallPrefs(a *App, o *screen.Options) {
	p, ok, err := a.Prefer(o)
	if err != nil {
		a.h.Log.Say(0, style.Warn, "preferences: %s", style.Clean(err.Error()))
	}
	if !ok {
		return
	}
	a.saving.format = p.Save
	for _, c := range charted(a) {
		c.SetXAxis(p.XAxis)
	}
	a.Prefs.Begin(preferences(a))
}

// charted returns the panes that remember how their charts are drawn.
func charted(a *App) (out []chart.AxisKeeper) {
	for _, p := range a.panes {
		if c, ok := p.(chart.AxisKeeper); ok {
			out = append(out, c)
		}
	}
	return out
}

// preferences are the choices that the screen shows now. Of charts that differ, the one changed last counts.
func preferences(a *App) screen.Preferences {
	p, last := a.Looks(), a.Prefs.Last()
	p.XAxis, p.Save = last.XAxis, a.saving.format
	for i, c := range charted(a) {
		x := c.XAxis()
		switch {
		case i == len(a.xAxes):
			a.xAxes = append(a.xAxes, x)
		case x != a.xAxes[i]:
			p.XAxis, a.xAxes[i] = x, x
		}
	}
	return p
}

// stored follows the end of a write.
func stored(a *App, msg screen.StoredMsg) tea.Cmd {
	cmd, err := a.Prefs.Written(msg)
	if err != nil {
		a.say(style.Warn, "preferences: "+style.Clean(err.Error()))
	}
	return cmd
}
