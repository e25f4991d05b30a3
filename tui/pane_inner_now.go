package tui

import (
	"math"

	"newtop/internal/format"
)

// now is the solve or the pass through batches that is under way.
func (p *innerPane) now(v *view, w int) string {
	l := v.line(w)
	s := &v.h.status
	switch {
	case v.h.solving:
		p.solve(v, l)
	case !v.h.over() && s.Units > 0 && s.Unit > 0:
		l.put(tokMuted, "batch ").put(tokText, format.Count(s.Unit)).put(tokMuted, " of "+format.Count(s.Units)+" ")
		v.progress(l, float64(s.Unit)/float64(s.Units), l.left())
	case len(v.h.bars) > 0:
		p.finished(v, l)
	}
	return l.full()
}

// solve writes the state of the solve under way, what matters most first.
func (p *innerPane) solve(v *view, l *line) {
	e := &v.h.live
	l.put(tokAccent, "▸ ")
	before := innerBar{}
	if len(v.h.bars) > 0 {
		before = v.h.bars[len(v.h.bars)-1]
	}
	if e.Member > 0 || before.nets > 1 {
		l.put(tokMuted, "net ").put(tokText, format.Count(e.Member+1)+" ")
	}
	if e.Block > 0 || before.blocks > 1 {
		l.put(tokMuted, "block ").put(tokText, format.Count(e.Block+1)+" ")
	}
	l.put(tokMuted, "it ").put(tokText, pad(format.Count(e.Iteration), 3))
	l.group(tokMuted.of(" ‖r‖/‖g‖ "), tokText.of(pad(format.Number(float64(e.Residual)), 6)))
	if r := float64(e.StepNorm) / float64(e.Radius); !math.IsNaN(r) && !math.IsInf(r, 0) {
		l.group(tokMuted.of(" ‖s‖/R "), tokText.of(pad(format.Short(r), 4)))
	}
	t := tokText
	if e.Curvature <= 0 {
		t = tokNegativeCurvature
	}
	l.group(tokMuted.of(" curv "), t.of(pad(format.Number(float64(e.Curvature)), 6)))
	l.group(tokMuted.of(" q "), tokText.of(format.Number(float64(e.Model))))
}

// finished says in words why the newest solve ended.
func (p *innerPane) finished(v *view, l *line) {
	b := &v.h.bars[len(v.h.bars)-1]
	s := b.stop()
	l.put(tokMuted, "epoch "+format.Count(b.epoch)+": ").put(stopToken(s), s.Words())
	if in := v.h.latest.Inner; len(in) > 0 {
		last := &in[len(in)-1]
		l.group(tokMuted.of("  ‖r‖/‖g‖ "), tokText.of(format.Number(float64(last.Residual))))
		l.group(tokMuted.of("  curv "), tokText.of(format.Number(float64(last.Curvature))))
	}
}
