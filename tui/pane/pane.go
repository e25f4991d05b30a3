// Package pane is the contract of the panes of the dashboard, and those that show what an epoch brought: losses,
// errors, the trust region, the work and the log. A pane draws what a history remembers into a rectangle; it keeps
// nothing but its charts and toggles, and knows no other pane.
package pane

import (
	"math"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/figure"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// View is what panes read when they draw. They never change it.
type View struct {
	style.Pen
	H      *history.History
	Viewer bool // the screen is that of one who may look and no more
	// Accuracy has the share of rightly classified rows stand in the place of that of wrongly classified ones.
	Accuracy bool
}

// Unasked reports whether nobody answers what this screen asks: there is no answer, or no right to ask.
func (v *View) Unasked() bool { return v.H.Offline() || v.Viewer }

// Pane is one rectangle of the dashboard. Panes keep nothing but their charts and toggles: what they
// show is in the history.
type Pane interface {
	// Name stands in the frame and in the help.
	Name(v *View) string
	// Header puts the current values into the frame, after the name; it may stop at any width.
	Header(v *View, l *style.Line)
	// Body draws into w × h cells (both ≥ 1): at most h rows, none wider than w. zoomed says that the
	// pane has the whole screen.
	Body(v *View, w, h int, zoomed bool) []string
	// Strip draws without a frame for a compact screen, its first row beginning with what it is.
	Strip(v *View, w, h int) []string
	// Version adds up the counters of what it shows, so that an unchanged sum is an unchanged picture.
	Version(h *history.History) uint64
	// ToggleLog switches its axis between linear and logarithmic; false if it has none.
	ToggleLog() bool
}

// Pictured is a pane that says by itself what its picture shows.
type Pictured interface {
	// figure returns nil while there is nothing to show.
	Figure(v *View) *figure.Chart
}

// Charted is embedded by panes of charts: it hands their keys and their mouse to the charts.
type Charted struct{ chart.Controls }

func (p *Charted) Keys() (out []Key) {
	for _, k := range p.Controls.Keys() {
		out = append(out, Key{Show: k.Show, Help: k.Help, Names: k.Names,
			Do: func(_ *View, name string) (tea.Cmd, bool) {
				return nil, p.Controls.HandleKey(name)
			}})
	}
	return out
}

func (p *Charted) HandleMouse(_ *View, m tea.MouseMsg, x, y int) bool {
	return p.Controls.HandleMouse(m, x, y)
}

// Restarter is a pane that looks at places of a run by their number: when the run begins again they are others.
type Restarter interface{ Restart() }

// Interfaces beyond Pane are asked for by assertion. One that is met by promotion alone is lost without an error when a
// type changes, so a pane states those that it meets.

// Moused is a pane that follows the mouse while it has the whole screen.
type Moused interface {
	// handleMouse gets a click, release, wheel or motion at a cell of its body, of the size that it was last drawn in.
	HandleMouse(v *View, m tea.MouseMsg, x, y int) (taken bool)
}

// Linear is embedded by panes without a scale to switch.
type Linear struct{}

func (Linear) ToggleLog() bool { return false }

// Cache keeps a pane's rows until something that they show changes.
type Cache struct {
	Key  CacheKey
	Rows []string
}

// CacheKey is what a picture of a pane depends on.
type CacheKey struct {
	W, H            int
	Version, Style  uint64
	Focused, Zoomed bool
	Bare            bool
}

// rows returns the pane's rectangle, drawing it only if needed: exactly r.h rows of r.w columns.
func (d *Cache) Draw(p Pane, v *View, r layout.Rect, key CacheKey) []string {
	key.W, key.H, key.Version = r.W, r.H, p.Version(v.H)
	if d.Rows != nil && d.Key == key {
		return d.Rows
	}
	d.Key = key
	if key.Bare {
		d.Rows = style.Block(p.Strip(v, r.W, r.H), r.W, r.H)
		if key.Focused {
			d.Rows[0] = v.Line(1).Write(style.Focus, "▸").Full() + ansi.TruncateLeft(d.Rows[0], 1, "")
		}
		return d.Rows
	}
	d.Rows = frame(p, v, r, key)
	return d.Rows
}

// frame draws a pane in its border, which carries the name and the current values.
func frame(p Pane, v *View, r layout.Rect, key CacheKey) []string {
	color := style.Border
	if key.Focused {
		color = style.Focus
	}
	inner := r.W - 2
	rows := make([]string, 0, r.H)
	rows = append(rows, FrameTop(p, v, r.W, key.Focused))
	side := v.Line(1)
	side.Write(color, "│")
	edge := side.Full()
	for _, row := range style.Block(p.Body(v, max(inner-2, 1), max(r.H-2, 1), key.Zoomed), inner-2, r.H-2) {
		rows = append(rows, edge+" "+row+" "+edge)
	}
	bottom := v.Line(r.W)
	bottom.Write(color, "╰"+style.Repeat("─", inner)+"╯")
	return append(rows, bottom.Full())
}

// FrameTop draws the border's first row, with the name and the current values.
func FrameTop(p Pane, v *View, w int, focused bool) string {
	color, nameInk := style.Border, style.Strong
	if focused {
		color, nameInk = style.Focus, style.Focus
	}
	top := v.Line(w)
	top.Write(color, "╭─")
	title := v.Line(w - 4)
	if focused && v.Palette.Colorless() { // where a terminal has no bold letters either
		nameInk = style.Chosen
	}
	title.Write(style.Text, " ").Write(nameInk, p.Name(v)).Write(style.Text, " ")
	values := v.Line(title.Left() - 2)
	p.Header(v, values)
	if values.Width > 0 {
		title.Write(style.Text, " ").Append(values).Write(style.Text, " ")
	}
	top.Append(title)
	for top.Left() > 1 {
		top.Write(color, style.Repeat("─", top.Left()-1))
	}
	top.Write(color, "╮")
	return top.Full()
}

// trend says whether the latest value went up or down.
func trend(now, before float64) string {
	switch {
	case math.IsNaN(now) || math.IsNaN(before):
		return " "
	case now < before:
		return "▾"
	case now > before:
		return "▴"
	}
	return "="
}
