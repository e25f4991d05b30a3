package pane

import (
	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Accuracy shows the share of wrongly classified rows, or for regression the root mean square error.
type Accuracy struct {
	Charted
	chart chart.Canvas
	log   bool
}

var (
	_ Blank    = (*Accuracy)(nil)
	_ Keyed    = (*Accuracy)(nil)
	_ Moused   = (*Accuracy)(nil)
	_ Pictured = (*Accuracy)(nil)
)

func (*Accuracy) Name(v *View) string { return metricName(v.H) }

func (p *Accuracy) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

// Blank reports whether a program tells neither errors nor root mean squares.
func (*Accuracy) Blank(h *history.History) bool {
	return (h.MetricsOnly() || h.Elsewhere()) && h.Epochs > 0 && h.Curves.Metric.Empty() && h.Curves.TestMetric.Empty()
}

func (p *Accuracy) ToggleLog() bool { p.log = !p.log; return true }

// unit is how the quantity is written.
func (p *Accuracy) unit(v *View) func(float64) string {
	if v.H.Regression() {
		return format.Number
	}
	return format.Percent
}

func (p *Accuracy) Header(v *View, l *style.Line) {
	pairHeader(v, l, &v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric, p.unit(v))
	if v.H.Best.Known && v.H.Epochs > 1 {
		l.Group(style.Muted.Of("  best "), style.Strong.Of(p.unit(v)(v.H.Best.Value)),
			style.Muted.Of(" at "+format.Count(v.H.Best.Epoch)))
	}
	if low, high := v.H.Curves.MemberLow.Last(), v.H.Curves.MemberHigh.Last(); low == low {
		l.Group(style.Muted.Of("  members "), style.Text.Of(p.unit(v)(low)+" to "+p.unit(v)(high)))
	}
	scaleHeader(l, p.log)
}

func (p *Accuracy) plot(v *View) chart.Plot {
	pl := pairPlot(v, &v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric)
	pl.Log, pl.Y.Zero = p.log, true
	if !v.H.Curves.MemberLow.Empty() {
		pl.Curves = append(pl.Curves,
			chart.Curve{Name: "best member", Token: style.Muted, Series: &v.H.Curves.MemberLow, Mark: '.'},
			chart.Curve{Name: "worst", Token: style.Muted, Series: &v.H.Curves.MemberHigh, Mark: '.'})
	}
	if !v.H.Regression() {
		pl.Y.Unit = format.PercentUnit
	}
	return pl
}

func (p *Accuracy) Body(v *View, w, h int, zoomed bool) []string {
	pl := p.plot(v)
	pl.Best, pl.Value, pl.Waiting = true, p.unit(v), v.Without(p.Name(v))
	if zoomed {
		return p.Whole(&v.Pen, &p.chart, pl, w, h)
	}
	return p.chart.Draw(&v.Pen, pl, w, h)
}

func (p *Accuracy) Strip(v *View, w, h int) []string {
	return pairStrip(v, &p.chart, p.plot(v), p.Name(v), p.unit(v), w, h)
}

func (p *Accuracy) Figure(v *View) *figure.Chart {
	f := figure.Chart{Title: "error", Y: "share of rows classified wrongly",
		Curves: trainAndTest(&v.H.Curves.Metric, &v.H.Curves.ValidationMetric, &v.H.Curves.TestMetric)}
	if v.H.Regression() {
		f.Title, f.Y = "RMSE", "root mean square error"
		if v.H.Run != nil {
			f.Title = v.H.Run.Data.RMSE()
		}
	}
	return RunFigure(v.H, f)
}
