package desk

import (
	"time"

	"newtop/tui/render"
)

// commonFrame reports whether a screen is one that others who look at the run may have too, and tells it apart from
// others.
func commonFrame(a *App) (key frameKey, ok bool) {
	if a.Common == nil || a.Dialog != nil || Racing(a) || a.H.Watched() {
		return key, false
	}
	places := Division(a, a.Zoomed).Slots
	if len(places) == 0 { // a strip is drawn by this screen's own panes
		return key, false
	}
	for _, p := range places {
		if a.own[p.Pane] {
			return key, false
		}
	}
	key = frameKey{
		width: a.Width, height: a.Height, style: appearanceOf(a), focus: a.Focus, zoomed: a.Zoomed, noMouse: a.NoMouse,
		closed: a.Closed, readOnly: a.ReadOnly, stopping: a.Stopping, notice: a.Notice, control: !a.OnlyViews(),
		late: !a.record.since.IsZero() && a.Clock().Sub(a.record.since) >= aMoment,
	}
	if key.control {
		key.viewer = a.Viewer.Name
	}
	return key, true
}

// Frame returns the screen as it is to be shown, drawn by this one or by another viewer's.
func Frame(a *App) render.Frame {
	if a.drawn = a.Clock(); a.Common != nil {
		a.version = a.Common.version
	}
	key, ok := commonFrame(a)
	if !ok {
		return drawFrame(a)
	}
	d, now := &a.Common.drawings, a.Clock()
	f := d.frames[key]
	if f == nil {
		d.make(key.width * key.height)
		f = &drawnFrame{}
		d.frames[key] = f
	}
	f.used = now
	if f.frame == nil || f.version != a.Common.version || now.Sub(f.at) >= frameLife {
		start := time.Now()
		f.frame = render.Share(drawFrame(a))
		f.version, f.at = a.Common.version, now
		a.budget.Rendered(time.Since(start))
	}
	return f.frame.Frame(a.Redraws)
}

// drawFrame draws the screen.
func drawFrame(a *App) render.Frame {
	return render.Frame{Rows: a.Finished(a.Rows()), Width: a.Width, Title: a.WindowTitle(), Mouse: a.MouseMode(),
		Redraws: a.Redraws}
}
