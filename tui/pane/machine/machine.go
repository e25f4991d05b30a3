package machine

import (
	tea "charm.land/bubbletea/v2"

	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Pane shows how the machine does. It needs samples: without any it says so.
type Pane struct {
	pane.Linear
	Panel
}

var (
	_ pane.Pane  = (*Pane)(nil)
	_ pane.Keyed = (*Pane)(nil)
)

// Name implements pane.Pane.
func (*Pane) Name(*pane.View) string { return "machine" }

// Version implements pane.Pane.
func (p *Pane) Version(h *history.History) uint64 { return p.Samples() + h.Curves.Machine.Gen }

// Header implements pane.Pane.
func (p *Pane) Header(v *pane.View, l *style.Line) {
	if p.Logged = &v.H.Curves.Machine; p.logged() {
		l.Group(style.Muted.Of("as logged  " + p.Span()))
		return
	}
	if p.Samples() == 0 {
		return
	}
	l.Group(style.Muted.Of("cpu "), style.Strong.Of(percent(p.Latest.CPU)))
	for _, g := range together(p.Latest.GPUs) {
		l.Group(style.Muted.Of("  "+g.name+" "), style.Strong.Of(percent(g.Busy)))
	}
	l.Group(style.Muted.Of("  " + p.Span()))
}

// Body implements pane.Pane.
func (p *Pane) Body(v *pane.View, w, h int, _ bool) []string {
	p.Logged = &v.H.Curves.Machine
	return style.Clip(p.Draw(&v.Pen, w, h), h)
}

// Strip implements pane.Pane.
func (p *Pane) Strip(v *pane.View, w, h int) []string {
	l := v.Line(w)
	p.Logged = &v.H.Curves.Machine
	if h > 2 || p.Samples() == 0 || p.logged() {
		v.Label(l, "machine")
		if p.Samples() == 0 && !p.logged() {
			return []string{l.Write(style.Muted, "not told").Full()}
		}
		p.Header(v, l)
		rows := []string{l.Full()}
		for _, row := range p.list(&v.Pen, p.graphs(), w-1, h-1) {
			rows = append(rows, " "+row)
		}
		return rows
	}
	return []string{p.Row(&v.Pen, w)}
}

// Keys implements pane.Keyed.
func (p *Pane) Keys() []pane.Key {
	return []pane.Key{{Show: "[ ]", Help: "the curves show more, or less", Names: []string{"[", "]"},
		Do: func(_ *pane.View, k string) (tea.Cmd, bool) {
			p.Widen(map[string]int{"[": 1, "]": -1}[k])
			return nil, true
		}}}
}
