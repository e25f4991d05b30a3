package pane

import (
	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Accuracy shows the share of wrongly or of rightly classified rows, or for regression the root mean square error.
type Accuracy struct {
	Charted
	chart chart.Canvas
	log   bool // its axis is logarithmic
	asked bool // the user chose it
}

var (
	_ Blank    = (*Accuracy)(nil)
	_ Keyed    = (*Accuracy)(nil)
	_ Moused   = (*Accuracy)(nil)
	_ Pictured = (*Accuracy)(nil)
)

func (*Accuracy) Name(v *View) string { return v.MetricName() }

func (p *Accuracy) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

// Blank reports whether a program tells neither errors nor root mean squares.
func (*Accuracy) Blank(h *history.History) bool {
	return (h.MetricsOnly() || h.Elsewhere()) && h.Epochs > 0 && !h.Curves.Judged()
}

func (p *Accuracy) ToggleLog() bool { p.log, p.asked = !p.log, true; return true }

func (p *Accuracy) Header(v *View, l *style.Line) {
	pairHeader(v, l, &v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric, v.MetricText,
		v.Accurate())
	if v.H.Best.Known && v.H.Epochs > 1 && v.H.Measure.Train() != event.Loss {
		l.Group(style.Muted.Of("  best "), style.Strong.Of(v.MetricText(v.H.Best.Value)),
			style.Muted.Of(" at "+format.Count(v.H.Best.Epoch)))
	}
	if low, high := v.H.Curves.MemberLow.Last(), v.H.Curves.MemberHigh.Last(); low == low {
		l.Group(style.Muted.Of("  members "), style.Text.Of(v.MetricText(low)+" to "+v.MetricText(high)))
	}
	pl := p.plot(v)
	scaleHeader(l, pl.Log)
}

func (p *Accuracy) plot(v *View) chart.Plot {
	pl := pairPlot(v, &v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric)
	v.MetricAxis(&pl)
	if !p.asked { // on a linear axis what happens to a small error is flat
		const small = 0.1
		p.log = v.H.Best.Known && v.H.Best.Value < small && v.H.Measure.Train() == event.Error && !v.Accuracy
	}
	pl.Log, pl.Y.Zero = p.log && chart.FitsLog(pl.Curves, p.asked), true
	if !v.H.Curves.MemberLow.Empty() {
		pl.Curves = append(pl.Curves,
			chart.Curve{Name: "best member", Token: style.Muted, Series: &v.H.Curves.MemberLow, Mark: '.'},
			chart.Curve{Name: "worst", Token: style.Muted, Series: &v.H.Curves.MemberHigh, Mark: '.'})
	}
	return pl
}

func (p *Accuracy) Body(v *View, w, h int, zoomed bool) []string {
	pl := p.plot(v)
	pl.Best, pl.Waiting = true, v.Without(p.Name(v))
	if zoomed {
		return p.Whole(&v.Pen, &p.chart, pl, w, h)
	}
	return p.chart.Draw(&v.Pen, pl, w, h)
}

func (p *Accuracy) Strip(v *View, w, h int) []string {
	return pairStrip(v, &p.chart, p.plot(v), p.Name(v), v.MetricText, w, h)
}

func (p *Accuracy) Figure(v *View) *figure.Chart {
	f := figure.Chart{Title: v.MetricName(), Y: "share of rows classified wrongly",
		Curves: trainAndTest(&v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric)}
	switch {
	case v.H.Regression():
		f.Y = "root mean square error"
	case v.Accuracy:
		f.Y = "share of rows classified rightly"
		for _, c := range f.Curves {
			for i := range c.Points {
				c.Points[i].Y = 1 - c.Points[i].Y
			}
		}
	}
	return RunFigure(v.H, f)
}
