package metrics

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Pane is the browser of the metrics of one run among the panes of the dashboard. Beside others it leaves out loss and
// error, which have panes of their own.
type Pane struct {
	Grid
	run [1]Run
}

var (
	_ pane.Pane        = (*Pane)(nil)
	_ pane.Keyed       = (*Pane)(nil)
	_ pane.Moused      = (*Pane)(nil)
	_ pane.Blank       = (*Pane)(nil)
	_ pane.Restarter   = (*Pane)(nil)
	_ chart.AxisKeeper = (*Pane)(nil)
)

// New returns the pane.
func New() *Pane { return &Pane{} }

// Name implements pane.Pane.
func (*Pane) Name(*pane.View) string { return "metrics" }

// Header says how many metrics there are beside those that have panes of their own.
func (p *Pane) Header(v *pane.View, l *style.Line) {
	p.show(v)
	others := slices.DeleteFunc(slices.Clone(p.Names()), p.elsewhere)
	text := format.Count(len(others))
	if len(others) < len(p.Names()) {
		text = format.Counted(len(others), "other")
	}
	l.Group(style.Muted.Of(text))
}

// Version implements pane.Pane.
func (*Pane) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

// Blank reports whether a run of another program reports nothing but losses and errors.
func (*Pane) Blank(h *history.History) bool {
	if !h.External() || len(h.Curves.Metrics) > 0 {
		return false
	}
	for i := judged; i < len(quantities); i++ {
		if !quantities[i].several && !quantities[i].of(&h.Curves).Empty() {
			return false
		}
	}
	return true
}

// Body implements pane.Pane.
func (p *Pane) Body(v *pane.View, w, h int, zoomed bool) []string {
	p.show(v)
	p.leaveOut(zoomed)
	return p.Draw(&v.Pen, w, h, zoomed)
}

func (p *Pane) show(v *pane.View) {
	p.run[0] = Run{H: v.H}
	SetAccuracy(&p.Grid, v.Accurate())
	p.Show(p.run[:])
}

// leaveOut leaves out what has panes of its own, unless this one has the screen.
func (p *Pane) leaveOut(zoomed bool) {
	if p.Without == nil != zoomed {
		p.Without = nil
		if !zoomed {
			p.Without = p.elsewhere
		}
		p.arrange()
	}
}

// elsewhere reports whether a metric has a pane of its own.
func (p *Pane) elsewhere(name string) bool {
	m := &p.catalog.all[p.catalog.at[name]]
	k := &m.curves[0]
	return k.at < 0 && ^k.at < judged && (m.own == "" || k.part == plain)
}

// Strip implements pane.Pane.
func (p *Pane) Strip(v *pane.View, w, h int) []string {
	p.show(v)
	p.leaveOut(false)
	return pane.Indented(p.Draw(&v.Pen, w-2, h, false))
}

// HandleMouse implements pane.Moused.
func (p *Pane) HandleMouse(_ *pane.View, m tea.MouseMsg, x, y int) bool {
	return p.Grid.HandleMouse(m, x, y)
}

// Restart implements pane.Restarter: what is selected goes by name.
func (p *Pane) Restart() { p.On = false }
