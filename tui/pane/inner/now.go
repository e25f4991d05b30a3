package inner

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// now is the solve or the pass through batches that is under way.
func (p *Pane) now(v *pane.View, w int) string {
	l := v.Line(w)
	s := &v.H.Status
	switch {
	case v.H.Solves.Running:
		p.solve(v, l)
	case !v.H.Over() && s.Units > 0 && s.Unit > 0:
		l.Write(style.Muted, "batch ").Write(style.Text, format.Count(s.Unit)).Write(
			style.Muted, " of "+format.Count(s.Units)+" ")
		v.Progress(l, float64(s.Unit)/float64(s.Units), l.Left())
	case len(v.H.Solves.Bars) > 0:
		p.finished(v, l)
	}
	return l.Full()
}

// solve writes the state of the solve under way, what matters most first.
func (p *Pane) solve(v *pane.View, l *style.Line) {
	e := &v.H.Solves.Live
	l.Write(style.Accent, "▸ ")
	before := history.Bar{}
	if len(v.H.Solves.Bars) > 0 {
		before = v.H.Solves.Bars[len(v.H.Solves.Bars)-1]
	}
	if e.Member > 0 || before.Nets > 1 {
		l.Write(style.Muted, "net ").Write(style.Text, format.Count(e.Member+1)+" ")
	}
	if e.Block > 0 || before.Blocks > 1 {
		l.Write(style.Muted, v.H.Part()+" ").Write(style.Text, format.Count(e.Block+1)+" ")
	}
	l.Write(style.Muted, "it ").Write(style.Text, style.Pad(format.Count(e.Iteration), 3))
	l.Group(style.Muted.Of(" ‖r‖/‖g‖ "), style.Text.Of(style.Pad(format.Number(float64(e.Residual)), 6)))
	if r := float64(e.StepNorm) / float64(e.Radius); !math.IsNaN(r) && !math.IsInf(r, 0) {
		l.Group(style.Muted.Of(" ‖s‖/R "), style.Text.Of(style.Pad(format.Short(r), 4)))
	}
	t := style.Text
	if e.Curvature <= 0 {
		t = style.NegativeCurvature
	}
	l.Group(style.Muted.Of(" curv "), t.Of(style.Pad(format.Number(float64(e.Curvature)), 6)))
	l.Group(style.Muted.Of(" q "), style.Text.Of(format.Number(float64(e.Model))))
}

// finished says in words why the latest solve ended.
func (p *Pane) finished(v *pane.View, l *style.Line) {
	b := &v.H.Solves.Bars[len(v.H.Solves.Bars)-1]
	s := b.Stop()
	l.Write(style.Muted, v.H.Run.Counted()+" "+format.Count(b.Epoch)+": ").Write(history.StopToken(s), s.Text())
	if in := v.H.Latest.Inner; len(in) > 0 {
		last := &in[len(in)-1]
		if v.H.External() && last.Residual.Absent() && last.Curvature.Absent() {
			return // another program may tell no more of its solves than why they ended
		}
		l.Group(style.Muted.Of("  ‖r‖/‖g‖ "), style.Text.Of(format.Number(float64(last.Residual))))
		l.Group(style.Muted.Of("  curv "), style.Text.Of(format.Number(float64(last.Curvature))))
	}
}
