package pane

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Images shows the images that a watched log has, one at a time.
type Images struct {
	Linear
	key   string // that was chosen; "": the first
	step  int    // likewise
	moved bool   // step was chosen; the latest is shown else
	asked event.ShowImage
	shown *event.Image // is drawn until what is chosen has come
}

var (
	_ Asker     = (*Images)(nil)
	_ Blank     = (*Images)(nil)
	_ Glancer   = (*Images)(nil)
	_ Keyed     = (*Images)(nil)
	_ Restarter = (*Images)(nil)
)

// imagesOf are the images of a run's log, without names where it has none.
func imagesOf(h *history.History) *event.Images {
	if r := h.Status.Replay; r != nil && r.Images != nil {
		return r.Images
	}
	return &event.Images{}
}

// Name implements Pane.
func (*Images) Name(*View) string { return "images" }

// Version implements Pane.
func (*Images) Version(h *history.History) uint64 { return imagesOf(h).Gen }

// Blank implements Blank.
func (*Images) Blank(h *history.History) bool { return len(imagesOf(h).Names) == 0 }

// Restart implements Restarter.
func (p *Images) Restart() { *p = Images{key: p.key} }

// chosen are the places of the name and the step that are chosen. What is drawn is the latest of that name that came.
func (p *Images) chosen(h *history.History) (i *event.Images, nth, step int) {
	i = imagesOf(h)
	nth = max(0, slices.IndexFunc(i.Names, func(n event.ImageName) bool { return n.Key == p.key }))
	n := &i.Names[nth]
	step = len(n.Steps) - 1
	if p.moved {
		at, _ := slices.BinarySearch(n.Steps, p.step)
		step = min(at, step)
	}
	for _, s := range i.Shown {
		if s.ShowImage == (event.ShowImage{Key: n.Key, Step: n.Steps[step]}) {
			p.shown = s
		}
	}
	if p.shown != nil && p.shown.Key != n.Key {
		p.shown = nil
	}
	return i, nth, step
}

// Ask implements Asker.
func (p *Images) Ask(h *history.History) event.Command {
	if p.Blank(h) {
		return nil
	}
	i, nth, step := p.chosen(h)
	n := &i.Names[nth]
	c := event.ShowImage{Key: n.Key, Step: n.Steps[step]}
	if n.Kind != "" || c == p.asked || p.shown != nil && p.shown.ShowImage == c {
		return nil
	}
	p.asked = c
	return c
}

// Glance implements Glancer.
func (p *Images) Glance(h *history.History) event.Command { return p.Ask(h) }

// Header implements Pane. It is of the image that is drawn.
func (p *Images) Header(v *View, l *style.Line) {
	if p.Blank(v.H) {
		return
	}
	i, nth, step := p.chosen(v.H)
	n := &i.Names[nth]
	l.Group(style.Strong.Of(style.Clean(n.Key)))
	if s := p.shown; s != nil {
		step, _ = slices.BinarySearch(n.Steps, s.Step)
		l.Group(style.Muted.Of("  step "), style.Text.Of(format.Count(s.Step)))
	}
	of := func(keys string, at, n int) {
		if n > 1 {
			l.Group(style.Muted.Of(fmt.Sprintf("  %s %d of %d", v.Glyphs.Keys(keys), at+1, n)))
		}
	}
	of("←→", step, len(n.Steps))
	of("↑↓", nth, len(i.Names))
	if s := p.shown; s != nil && s.Width > 0 {
		l.Group(style.Muted.Of(fmt.Sprintf("  %d × %d", s.Width, s.Height)))
	}
}

// Body implements Pane.
func (p *Images) Body(v *View, w, h int, _ bool) []string {
	text := func(s string) []string { return []string{v.Line(w).Write(style.Muted, style.Clean(s)).Full()} }
	if p.Blank(v.H) {
		return text("the log has no images")
	}
	i, nth, _ := p.chosen(v.H)
	switch s := p.shown; {
	case i.Names[nth].Kind != "":
		return text(i.Names[nth].Kind + ": not shown")
	case s == nil:
		return text("reading")
	case s.Pixels == nil:
		return text(s.Note)
	case s.Note != "" && h > 1:
		return append(chart.Picture(&v.Pen, s.Pixels, w, h-1), text(s.Note)...)
	default:
		return chart.Picture(&v.Pen, s.Pixels, w, h)
	}
}

// Strip implements Pane.
func (p *Images) Strip(v *View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, "images")
	p.Header(v, l)
	return []string{l.Full()}
}

// Keys implements Keyed.
func (p *Images) Keys() []Key {
	return []Key{
		{Show: "← →", Help: "the step before, the next; home and end", Names: []string{"left", "right", "home", "end"},
			Do: func(v *View, k string) (tea.Cmd, bool) {
				if p.Blank(v.H) {
					return nil, false
				}
				i, nth, step := p.chosen(v.H)
				steps := i.Names[nth].Steps
				last := len(steps) - 1
				to := map[string]int{"left": max(step-1, 0), "right": min(step+1, last), "end": last}[k]
				p.step, p.moved = steps[to], to < last
				return nil, true
			}},
		{Show: "↑ ↓", Help: "other images", Names: []string{"up", "down"}, Do: func(v *View, k string) (tea.Cmd, bool) {
			if p.Blank(v.H) {
				return nil, false
			}
			i, nth, _ := p.chosen(v.H)
			n := len(i.Names)
			p.key = i.Names[(nth+map[string]int{"up": n - 1, "down": 1}[k])%n].Key
			return nil, true
		}},
	}
}
