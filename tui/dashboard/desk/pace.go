package desk

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/layout"
	"newtop/tui/pane"
)

// A fast run changes every curve many times a second, and a curve whose axis moves changes most of its cells. So news
// are rare while nobody types, and what came meanwhile is drawn at once: a frame is of one epoch, in the header as in
// the curves. The first change after some quiet shows at once, and so does what a key does.
const (
	chartHold  = 800 * time.Millisecond
	remoteHold = 1200 * time.Millisecond // over SSH
	keyCalm    = time.Second             // after a key charts follow every change for so long
)

// pace is what the root model knows of when things were drawn.
type pace struct {
	every   time.Duration // the least time between two news
	pause   time.Duration // what of it the bridge waits
	hold    time.Duration // how long a frame stays while nobody types; 0 never
	touched time.Time     // when the latest key came, or the first screen
	drawing bool          // a drawMsg is under way
	drawn   time.Time     // when a viewer's latest frame was handed over
	version uint64        // and of which version of the common history it was
}

// shareBudget adapts to how many look.
func shareBudget(a *App) {
	a.every = a.budget.Interval(a.interval)
	if a.Viewer != nil {
		a.hold = max(remoteHold, 5*a.every/2)
	}
	_, loading := a.H.Loading()
	switch a.pause = a.every; {
	case a.Common != nil:
		a.pause = 0 // the history changes no more often
	case loading:
		a.pause = max(a.every, a.hold/4) // its end is worth knowing soon
	case calm(a):
		a.pause = max(a.every, a.hold)
	}
}

// calm reports whether frames may be rare: only while a run is running by itself and nobody types. What is zoomed on an
// inner solve is there to be followed, factors are not.
func calm(a *App) bool {
	return a.H.Status.Phase == event.Running && !a.H.Over() && a.Clock().Sub(a.touched) >= keyCalm &&
		!(a.Focus == layout.Inner && a.Zoomed && !a.H.Factors.Reported())
}

// held reports whether a viewer's frame stays although there are news.
func held(a *App) bool {
	return a.Common != nil && calm(a) && a.Common.version != a.version && a.Clock().Sub(a.drawn) < a.hold
}

// DrawMsg ends a hold: the screen is drawn again.
type DrawMsg struct{}

// appearanceOf is how things appear on a screen now.
func appearanceOf(a *App) appearance {
	return appearance{theme: a.ThemeChoice, glyphs: a.GlyphChoice, noColor: a.NoColor, dark: a.Dark, profile: a.Profile,
		ascii: a.Glyphs.ASCII, accuracy: a.ShowsAccuracy()}
}

// drawPane returns the rows of a pane's rectangle.
func drawPane(a *App, p *layout.Slot) []string {
	d, shown := &a.cached[p.Pane], a.Panes[p.Pane]
	key := pane.CacheKey{
		W: p.W, H: p.H, Version: shown.Version(a.H), Style: a.Changes, Focused: p.Pane == a.Focus, Zoomed: a.Zoomed,
		Bare: p.Bare,
	}
	if a.Common != nil && !a.own[p.Pane] {
		common := a.Common.pane(paneKey{p.Pane, key, appearanceOf(a), a.OnlyViews()}, a.Clock())
		d, shown, key.Style = &common.cache, common.pane, 0
	}
	return d.Draw(shown, a.PaneView(), p.Rect, key)
}

// Waits reports whether the frame after a message can wait for the end of a hold.
func Waits(a *App, msg tea.Msg) bool {
	switch msg.(type) {
	case DeltaMsg, TickMsg, DrawMsg:
		return held(a)
	}
	return false
}

// redraw returns the command that ends a hold, unless one is under way.
func redraw(a *App) tea.Cmd {
	if a.drawing || !held(a) {
		return nil
	}
	a.drawing = true
	return a.later(a.drawn.Add(a.hold).Sub(a.Clock()), DrawMsg{})
}

// redrawn follows the end of a hold. A frame that is younger needs another one.
func redrawn(a *App) tea.Cmd {
	a.drawing = false
	return redraw(a)
}
