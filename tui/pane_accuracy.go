package tui

import (
	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// accuracyPane shows the share of wrongly classified rows, or for regression the root mean square error.
type accuracyPane struct {
	chartPane
	chart chart.Canvas
	log   bool
}

func (*accuracyPane) name(v *view) string { return metricName(v.h) }

func (p *accuracyPane) seen(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

func (p *accuracyPane) toggleLog() bool { p.log = !p.log; return true }

// unit is how the quantity is written.
func (p *accuracyPane) unit(v *view) func(float64) string {
	if v.h.Regression() {
		return format.Number
	}
	return format.Percent
}

func (p *accuracyPane) head(v *view, l *style.Line) {
	pick := func(e, r float64) float64 {
		if v.h.Regression() {
			return r
		}
		return e
	}
	now, old := &v.h.Latest, &v.h.Before
	pairHead(v, l, pick(float64(now.Error), float64(now.RMSE)), pick(float64(old.Error), float64(old.RMSE)),
		pick(float64(now.TestError), float64(now.TestRMSE)), pick(float64(old.TestError), float64(old.TestRMSE)), v.h.Missing(&v.h.Curves.Metric), p.unit(v))
	if v.h.Best.Known && v.h.Epochs > 1 {
		l.Group(style.Muted.Of("  best "), style.Strong.Of(p.unit(v)(v.h.Best.Value)), style.Muted.Of(" at "+format.Count(v.h.Best.Epoch)))
	}
	if low, high := v.h.Curves.MemberLow.Last(), v.h.Curves.MemberHigh.Last(); low == low {
		l.Group(style.Muted.Of("  members "), style.Text.Of(p.unit(v)(low)+" to "+p.unit(v)(high)))
	}
	scaleHead(l, p.log)
}

func (p *accuracyPane) plot(v *view) chart.Plot {
	pl := pairPlot(v, &v.h.Curves.Metric, &v.h.Curves.TestMetric)
	pl.Log, pl.Zero, pl.Curves[0].Alarm = p.log, true, false
	if !v.h.Curves.MemberLow.Empty() {
		pl.Curves = append(pl.Curves,
			chart.Curve{Name: "best member", Token: style.Muted, Series: &v.h.Curves.MemberLow, Mark: '.'},
			chart.Curve{Name: "worst", Token: style.Muted, Series: &v.h.Curves.MemberHigh, Mark: '.'})
	}
	if !v.h.Regression() {
		pl.Label = func(f float64) string { return format.Tick(format.Round(100*f, 6)) + "%" }
	}
	return pl
}

func (p *accuracyPane) body(v *view, w, h int, zoomed bool) []string {
	pl := p.plot(v)
	pl.Best, pl.Value, pl.Waiting = true, p.unit(v), v.without(p.name(v))
	if zoomed {
		return p.Whole(&v.Pen, &p.chart, pl, w, h)
	}
	return p.chart.Draw(&v.Pen, pl, w, h)
}

func (p *accuracyPane) strip(v *view, w, h int) []string {
	return pairStrip(v, &p.chart, p.plot(v), p.name(v), p.unit(v), w, h)
}

func (p *accuracyPane) figure(v *view) *figure.Chart {
	f := figure.Chart{Title: "error", Y: "share of rows classified wrongly", Curves: trainAndTest(&v.h.Curves.Metric, &v.h.Curves.TestMetric)}
	if v.h.Regression() {
		f.Title, f.Y = "RMSE", "root mean square error"
	}
	return runFigure(v.h, f)
}
