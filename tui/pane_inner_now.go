package tui

import (
	"math"

	"newtop/internal/format"
)

// now is the solve or the pass through batches that is under way.
func (p *innerPane) now(v *view, w int) string {
	l := v.Line(w)
	s := &v.h.status
	switch {
	case v.h.solving:
		p.solve(v, l)
	case !v.h.over() && s.Units > 0 && s.Unit > 0:
		l.Put(Muted, "batch ").Put(Text, format.Count(s.Unit)).Put(Muted, " of "+format.Count(s.Units)+" ")
		v.Progress(l, float64(s.Unit)/float64(s.Units), l.Left())
	case len(v.h.bars) > 0:
		p.finished(v, l)
	}
	return l.Full()
}

// solve writes the state of the solve under way, what matters most first.
func (p *innerPane) solve(v *view, l *Line) {
	e := &v.h.live
	l.Put(Accent, "▸ ")
	before := innerBar{}
	if len(v.h.bars) > 0 {
		before = v.h.bars[len(v.h.bars)-1]
	}
	if e.Member > 0 || before.nets > 1 {
		l.Put(Muted, "net ").Put(Text, format.Count(e.Member+1)+" ")
	}
	if e.Block > 0 || before.blocks > 1 {
		l.Put(Muted, "block ").Put(Text, format.Count(e.Block+1)+" ")
	}
	l.Put(Muted, "it ").Put(Text, Pad(format.Count(e.Iteration), 3))
	l.Group(Muted.Of(" ‖r‖/‖g‖ "), Text.Of(Pad(format.Number(float64(e.Residual)), 6)))
	if r := float64(e.StepNorm) / float64(e.Radius); !math.IsNaN(r) && !math.IsInf(r, 0) {
		l.Group(Muted.Of(" ‖s‖/R "), Text.Of(Pad(format.Short(r), 4)))
	}
	t := Text
	if e.Curvature <= 0 {
		t = NegativeCurvature
	}
	l.Group(Muted.Of(" curv "), t.Of(Pad(format.Number(float64(e.Curvature)), 6)))
	l.Group(Muted.Of(" q "), Text.Of(format.Number(float64(e.Model))))
}

// finished says in words why the newest solve ended.
func (p *innerPane) finished(v *view, l *Line) {
	b := &v.h.bars[len(v.h.bars)-1]
	s := b.stop()
	l.Put(Muted, "epoch "+format.Count(b.epoch)+": ").Put(stopToken(s), s.Words())
	if in := v.h.latest.Inner; len(in) > 0 {
		last := &in[len(in)-1]
		l.Group(Muted.Of("  ‖r‖/‖g‖ "), Text.Of(format.Number(float64(last.Residual))))
		l.Group(Muted.Of("  curv "), Text.Of(format.Number(float64(last.Curvature))))
	}
}
