package desk

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
	maxCells  = 200 * 80 * 24
	maxUnused = 10 * time.Second
)

// frameLife is how long a screen stands for one that is drawn a little later of the same history: its clock moves.
const frameLife = 400 * time.Millisecond

// appearance is how things appear on a terminal.
type appearance struct {
	theme         style.Theme
	glyphs        style.Glyphs
	noColor, dark bool
	profile       colorprofile.Profile
	ascii         bool
	accuracy      bool
}

// paneKey reports what a pane's picture depends on besides the history.
type paneKey struct {
	id       layout.ID
	key      pane.CacheKey
	style    appearance
	readOnly bool
}

type drawnPane struct {
	pane  pane.Pane
	cache pane.Cache
	used  time.Time
}

// frameKey reports what a screen depends on besides the history.
type frameKey struct {
	width, height              int
	style                      appearance
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
	used    time.Time
}

// pane returns the common picture of a pane and what draws it.
func (d *drawings) pane(k paneKey, now time.Time) *drawnPane {
	k.key.Version, k.key.Style = 0, 0
	p := d.panes[k]
	if p == nil {
		d.make(k.key.W * k.key.H)
		p = &drawnPane{pane: NewPanes()[k.id]}
		d.panes[k] = p
	}
	p.used = now
	return p
}

// make makes room for something of that many cells.
func (d *drawings) make(cells int) {
	if d.cells += cells; d.cells > maxCells || d.panes == nil {
		d.panes, d.frames, d.cells = map[paneKey]*drawnPane{}, map[frameKey]*drawnFrame{}, cells
	}
}

// sweep drops what nobody has asked for in a while.
func (d *drawings) sweep(now time.Time) {
	if now.Sub(d.swept) < maxUnused {
		return
	}
	d.swept = now
	for k, p := range d.panes {
		if now.Sub(p.used) > maxUnused {
			delete(d.panes, k)
			d.cells -= k.key.W * k.key.H
		}
	}
	for k, f := range d.frames {
		if now.Sub(f.used) > maxUnused {
			delete(d.frames, k)
			d.cells -= k.width * k.height
		}
	}
}
