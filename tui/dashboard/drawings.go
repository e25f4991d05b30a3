package dashboard

import (
	"time"

	"github.com/charmbracelet/colorprofile"

	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/render"
	"newtop/tui/style"
)

// drawings are what was drawn of the history for one viewer and serves others who would see the same: panes that nobody
// has done anything to but focus and zoom, and whole screens of such panes without anything in front.
type drawings struct {
	panes  map[paneKey]*drawnPane
	frames map[frameKey]*drawnFrame
	cells  int // of all of them
	swept  time.Time
}

// Bounds of what is kept: as many cells as 200 screens of 80 × 24, and nothing that no viewer asked for in a while.
const (
	keptCells  = 200 * 80 * 24
	keptUnused = 10 * time.Second
)

// frameLife is how long a screen stands for one that is drawn a little later of the same history: its clock moves.
const frameLife = 400 * time.Millisecond

// looks is how things appear on a terminal.
type looks struct {
	theme         style.Theme
	glyphs        style.Glyphs
	noColor, dark bool
	profile       colorprofile.Profile
	ascii         bool
}

// paneKey tells what a pane's picture depends on besides the history.
type paneKey struct {
	id       layout.ID
	key      pane.CacheKey
	looks    looks
	onlooker bool
}

type drawnPane struct {
	pane  pane.Pane
	cache pane.Cache
	used  time.Time
}

// frameKey tells what a screen depends on besides the history.
type frameKey struct {
	width, height              int
	looks                      looks
	focus                      layout.ID
	zoomed, noMouse            bool
	closed, readOnly, stopping bool
	notice                     style.Part
	viewer                     string // their name if they control: "you" stands in its place
	control                    bool
	late                       bool // the record lags behind
}

type drawnFrame struct {
	frame   *render.Shared
	version uint64
	at      time.Time
	stale   bool
	used    time.Time
}

// looks are those of a screen now.
func (a *App) looks() looks {
	return looks{theme: a.ThemeChoice, glyphs: a.GlyphChoice, noColor: a.NoColor, dark: a.Dark, profile: a.Profile,
		ascii: a.Glyphs.ASCII}
}

// pane returns the common picture of a pane and what draws it.
func (d *drawings) pane(a *App, id layout.ID, key pane.CacheKey) *drawnPane {
	key.Seen, key.Look = 0, 0
	k := paneKey{id, key, a.looks(), a.onlooker()}
	p := d.panes[k]
	if p == nil {
		d.make(key.W * key.H)
		p = &drawnPane{pane: newPanes()[id]}
		d.panes[k] = p
	}
	p.used = a.clock()
	return p
}

// make makes room for something of so many cells.
func (d *drawings) make(cells int) {
	if d.cells += cells; d.cells > keptCells || d.panes == nil {
		d.panes, d.frames, d.cells = map[paneKey]*drawnPane{}, map[frameKey]*drawnFrame{}, cells
	}
}

// forget drops what was drawn, of which something may have broken in the middle.
func (c *Common) forget() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drawings = drawings{}
	}
}

// sweep drops what nobody has asked for in a while.
func (d *drawings) sweep(now time.Time) {
	if now.Sub(d.swept) < keptUnused {
		return
	}
	d.swept = now
	for k, p := range d.panes {
		if now.Sub(p.used) > keptUnused {
			delete(d.panes, k)
			d.cells -= k.key.W * k.key.H
		}
	}
	for k, f := range d.frames {
		if now.Sub(f.used) > keptUnused {
			delete(d.frames, k)
			d.cells -= k.width * k.height
		}
	}
}

// commonFrame reports whether a screen is one that others who look at the run may have too, and tells it apart from
// others.
func commonFrame(a *App) (key frameKey, ok bool) {
	if a.common == nil || a.dialog != nil || racing(a) || a.h.Watched() {
		return key, false
	}
	places := division(a, a.zoomed).Places
	if len(places) == 0 { // a strip is drawn by this screen's own panes
		return key, false
	}
	for _, p := range places {
		if a.own[p.Pane] {
			return key, false
		}
	}
	key = frameKey{
		width: a.Width, height: a.Height, looks: a.looks(), focus: a.focus, zoomed: a.zoomed, noMouse: a.NoMouse,
		closed: a.closed, readOnly: a.readOnly, stopping: a.stopping, notice: a.Notice, control: !a.onlooker(),
		late: !a.record.since.IsZero() && a.clock().Sub(a.record.since) >= aMoment,
	}
	if key.control {
		key.viewer = a.viewer.Name
	}
	return key, true
}

// shown returns the screen as it is to be shown, drawn by this one or by another viewer's.
func (a *App) shown() render.Frame {
	key, ok := commonFrame(a)
	if !ok {
		return a.drawFrame()
	}
	d, now := &a.common.drawings, a.clock()
	f := d.frames[key]
	if f == nil {
		d.make(key.width * key.height)
		f = &drawnFrame{}
		d.frames[key] = f
	}
	f.used = now
	if f.frame == nil || f.version != a.common.version || now.Sub(f.at) >= frameLife {
		start := time.Now()
		f.frame = render.Share(a.drawFrame())
		f.version, f.at, f.stale = a.common.version, now, a.stale
		a.budget.Rendered(time.Since(start))
	}
	a.stale = f.stale
	return f.frame.Frame(a.redraws)
}

// drawFrame draws the screen.
func (a *App) drawFrame() render.Frame {
	return render.Frame{Rows: a.Finished(a.screen()), Width: a.Width, Title: a.windowTitle(), Mouse: a.mouseMode(),
		Anew: a.redraws}
}
