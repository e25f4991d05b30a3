package desk

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/layout"
	"newtop/tui/pane"
)

// A fast run changes every curve many times a second, and a curve whose axis moves changes most of its cells.
// So a chart that was drawn a moment ago keeps its picture for a while; the values in its frame continue, unless
// the picture repeats them, and the header follows every change. The first change after some quiet shows at once,
// and so does what a key does.
const (
	chartHold  = 800 * time.Millisecond
	remoteHold = 1200 * time.Millisecond // over SSH
	headHold   = 250 * time.Millisecond
	keyCalm    = time.Second // after a key charts follow every change for so long

	calmInterval = 80 * time.Millisecond // between two news while nobody types
)

// pace is what the root model knows of when things were drawn.
type pace struct {
	every   time.Duration // the least time between two news
	pause   time.Duration // what of it the bridge waits
	hold    time.Duration // how long a chart keeps its picture; 0 never
	touched time.Time     // when the newest key came, or the first screen
	drawing bool          // a drawMsg is under way
	stale   bool          // the screen has pictures that were held back
}

// shareBudget adapts to how many look. Charts are most of a frame: where news is rare they come with every third.
func shareBudget(a *App) {
	a.every = a.budget.Interval(a.interval)
	if a.Viewer == nil && a.Clock().Sub(a.touched) >= keyCalm {
		a.every = max(a.every, calmInterval)
	}
	if a.pause = a.every; a.Common != nil {
		a.pause = 0 // the history changes no more often
	}
	if a.Viewer != nil {
		a.hold = max(remoteHold, 5*a.every/2)
	}
}

// DrawMsg ends a hold: the screen is drawn again.
type DrawMsg struct{}

// holds reports whether a pane keeps its picture although what it shows has changed: only while a run is
// running by itself, and whatever the keys while a record is being read. What is zoomed on an inner solve is there to
// be followed, factors are not.
func holds(a *App, id layout.ID, d *pane.Cache, key pane.CacheKey) bool {
	seen := key.Version
	key.Version = d.Key.Version
	late := a.Clock().Sub(d.At) >= a.hold
	if _, loading := a.H.Loading(); loading {
		return a.hold > 0 && d.Rows != nil && d.Key == key && !late
	}
	if a.hold <= 0 || d.Rows == nil || key.Bare || id == layout.Inner && key.Zoomed && !a.H.Factors.Reported() ||
		a.H.Over() ||
		a.H.Status.Phase != event.Running {
		return false
	}
	return d.Key == key && seen != key.Version && !late && a.Clock().Sub(a.touched) >= keyCalm
}

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
	if holds(a, p.Pane, d, key) {
		a.stale = true
		if now := a.Clock(); now.Sub(d.Headed) >= headHold && !key.Zoomed && plotted(p.Pane) {
			d.Rows[0], d.Headed = pane.FrameTop(shown, a.PaneView(), p.W, key.Focused), now
		}
		return d.Rows
	}
	before := d.Key
	rows := d.Draw(shown, a.PaneView(), p.Rect, key)
	if d.Key != before {
		d.At = a.Clock()
		d.Headed = d.At
	}
	return rows
}

// plotted reports whether a pane's body is a curve, which its frame may be ahead of. Beside a list of numbers, newer
// ones in the frame would contradict it.
func plotted(id layout.ID) bool {
	return id == layout.Loss || id == layout.Accuracy || id == layout.Region
}

// Waits reports whether the frame after a message can wait for the next news.
func Waits(a *App, msg tea.Msg) bool {
	switch msg.(type) {
	case TickMsg, DrawMsg:
		return a.Clock().Sub(a.trained.received) < 2*a.every
	}
	return false
}

// redraw returns the command that ends the holds, unless one is under way.
func redraw(a *App) tea.Cmd {
	if a.hold <= 0 || a.drawing || a.H.Over() {
		return nil
	}
	a.drawing = true
	return a.later(a.hold, DrawMsg{})
}

// redrawn follows the end of a hold. A picture that is younger than it needs another one.
func redrawn(a *App) tea.Cmd {
	a.drawing = false
	if !a.stale {
		return nil
	}
	return redraw(a)
}
