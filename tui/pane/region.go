package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Region shows how far a method trusts its model: radius and ρ for a trust region, learning rate and
// gradient norm for a first-order method, and of the others what they say of themselves.
type Region struct {
	Charted
	upper, lower chart.Canvas
	log          bool
	page         int // of the pairs of curves that there are
	plan         []chart.Point
}

var (
	_ Keyed    = (*Region)(nil)
	_ Moused   = (*Region)(nil)
	_ Pictured = (*Region)(nil)
)

// NewRegion returns the pane with a logarithmic axis.
func NewRegion() *Region { return &Region{log: true} }

func (p *Region) Name(v *View) string {
	if v.H.External() && v.H.Steering() == history.ByMetrics {
		return "metrics"
	}
	return [...]string{history.ByRadius: "region", history.ByRate: "rate", history.ByMetrics: "method"}[v.H.Steering()]
}

func (p *Region) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run + h.Gen.Setting }

func (p *Region) ToggleLog() bool { p.log = !p.log; return true }

func (p *Region) Header(v *View, l *style.Line) {
	if v.H.Epochs == 0 {
		return
	}
	for _, g := range p.values(v) {
		if !l.Group(g...) {
			return
		}
	}
	e := &v.H.Latest
	switch {
	case v.H.Steering() != history.ByRadius || e.Epoch == 0:
	case e.Accepted && format.Finite(float64(e.Loss)):
		l.Group(style.Good.Of(" accepted"))
	case e.Accepted:
		l.Group(style.Bad.Of(" accepted"))
	default:
		if !l.Group(style.Warn.Of(" rejected")) {
			l.Group(style.Warn.Of(" ×"))
		}
	}
}

// values are the current figures, each a group that is shown whole or not at all.
func (p *Region) values(v *View) [][]style.Part {
	e := &v.H.Latest
	switch v.H.Steering() {
	case history.ByRate:
		groups := [][]style.Part{latest(e.Rate, &v.H.Curves.Rate, style.Strong, format.Number)}
		if !v.H.Missing(&v.H.Curves.Gradient) {
			groups = append(groups, append([]style.Part{style.Muted.Of("  ‖g‖ ")},
				latest(e.GradientNorm, &v.H.Curves.Gradient, style.Text, format.Number)...))
		}
		if ratioReported(v.H) {
			groups = append(groups, p.ratio(v, "  "))
		}
		return append(groups, p.own(v, "  ")...)
	case history.ByMetrics:
		groups := p.own(v, "")
		switch {
		case !ratioReported(v.H):
		case len(groups) == 0:
			groups = append(groups, p.ratio(v, ""))
		default:
			groups = slices.Insert(groups, 1, p.ratio(v, "  "))
		}
		return groups
	}
	radius := append([]style.Part{style.Muted.Of("R ")}, latest(
		e.Radius, &v.H.Curves.Radius, style.Strong, format.Number)...)
	if next, ok := NextRadius(v.H); ok { // which the header has as the setting
		radius = append(radius, style.Muted.Of(v.Glyphs.To), style.Strong.Of(format.Number(next)))
	}
	return [][]style.Part{radius, p.ratio(v, "  ")}
}

// ratio is ρ, after a gap.
func (p *Region) ratio(v *View, gap string) []style.Part {
	return append([]style.Part{style.Muted.Of(gap + v.Glyphs.Rho + " ")},
		latest(v.H.Latest.Rho, &v.H.Curves.Rho, style.Text, format.Short)...)
}

// ratioReported reports whether the latest epoch of newtop's own tells ρ of a method that has no radius.
func ratioReported(h *history.History) bool {
	return h.Steering() != history.ByRadius && h.Latest.Epoch > 0 && !h.Latest.Rho.Absent() && !h.External()
}

// latest writes an epoch's value of a curve: one that is not finite as a × behind the latest that is.
func latest(y event.Float, s *chart.Series, color style.Token, text func(float64) string) []style.Part {
	if y.NonFinite() && s.Broken() {
		return s.Now(color, text)
	}
	return []style.Part{color.Of(text(float64(y)))}
}

// own are the method's own figures, after a gap.
func (p *Region) own(v *View, gap string) [][]style.Part {
	var groups [][]style.Part
	first := 0
	if len(v.H.Curves.Metrics) > 0 && v.H.Steering() == history.ByMetrics {
		first = p.firstMetric(v) // those of the charts stand before the others
	}
	for i := range v.H.Curves.Metrics {
		f := &v.H.Curves.Metrics[(first+i)%len(v.H.Curves.Metrics)]
		groups = append(groups, append([]style.Part{style.Muted.Of(gap + f.Symbol + " ")},
			latest(f.Value, &f.Series, style.Text, f.Format)...))
		gap = "  "
	}
	return groups
}

// one is a plot of one curve.
func one(h *history.History, name string, s *chart.Series) chart.Plot {
	return EpochPlot(h, chart.Curve{Name: name, Token: style.Accent, Series: s, Mark: '*'})
}

// curves lists what there is to show two at a time: a rate, the method's own figures, the lengths of gradient and step.
func (p *Region) curves(v *View) (all []chart.Plot) {
	gradient, step := one(v.H, "‖g‖", &v.H.Curves.Gradient), one(v.H, "‖Δw‖", &v.H.Curves.Step)
	gradient.Log = true
	var own []chart.Plot
	for i := range v.H.Curves.Metrics {
		f := &v.H.Curves.Metrics[i]
		pl := one(v.H, f.Symbol, &f.Series)
		pl.Value = f.Format
		own = append(own, pl)
	}
	byRate := v.H.Steering() == history.ByRate
	switch {
	case !ratioReported(v.H):
	case byRate:
		own = slices.Insert(own, 0, ratioPlot(v))
	default:
		own = slices.Insert(own, min(1, len(own)), ratioPlot(v))
	}
	switch {
	case byRate:
		all = append([]chart.Plot{one(v.H, "rate", &v.H.Curves.Rate), gradient}, own...)
	case len(own) == 0:
		all = []chart.Plot{step, gradient}
	default:
		all = append(own, gradient)
	}
	if v.H.External() {
		all = slices.DeleteFunc(all, func(pl chart.Plot) bool { return pl.Curves[0].Series.Empty() })
	}
	return all
}

// ratioPlot has ρ, clipped to where it decides: below 0 is worse, above 1 better than the model promised.
func ratioPlot(v *View) chart.Plot {
	pl := one(v.H, v.Glyphs.Rho, &v.H.Curves.Rho)
	pl.Y.Clip, pl.Y.Show, pl.Rules = [2]float64{-0.5, 1.5}, [2]float64{-0.25, 1.25}, []float64{0, 1}
	return pl
}

// firstMetric is the first of the method's own figures that the charts show, or the one behind them.
func (p *Region) firstMetric(v *View) int {
	all := p.curves(v)
	for i := p.first(v); i < len(all); i++ {
		if f := drawnMetric(v.H, all[i]); f != nil {
			return slices.IndexFunc(v.H.Curves.Metrics, func(k history.MetricSeries) bool { return k.Key == f.Key })
		}
	}
	return len(v.H.Curves.Metrics) - 1
}

// first is which of the curves the upper chart shows. The last pair may have one of the pair before.
func (p *Region) first(v *View) int {
	n := len(p.curves(v))
	return max(0, min(p.page%max((n+1)/2, 1)*2, n-2))
}

// plots returns what the two charts show; a lower one without curves is none.
func (p *Region) plots(v *View) (upper, lower chart.Plot) {
	if v.H.Steering() == history.ByRadius {
		upper, lower = one(v.H, "radius", &v.H.Curves.Radius), ratioPlot(v)
	} else {
		all, first := p.curves(v), p.first(v)
		if len(all) == 0 {
			upper = EpochPlot(v.H, chart.Curve{Series: &v.H.Curves.Step})
			upper.Waiting = v.Without("metrics of its own")
			return upper, lower
		}
		if upper = all[first]; len(all) > first+1 {
			lower = all[first+1]
		}
	}
	log := p.log
	if v.H.External() && drawnMetric(v.H, upper) != nil {
		log = !log // what another program's figures are is not known, and the lower one is linear
	}
	upper.Log = log && len(upper.Rules) == 0 && !lowest(upper.Curves[0].Series)
	upper.Waiting = Waiting(v)
	return upper, lower
}

// planned adds to a chart of the rate what the schedule has for the rest of the run, and gives the chart beneath the
// same epochs.
func (p *Region) planned(v *View, upper, lower *chart.Plot) {
	if upper.Curves[0].Series != &v.H.Curves.Rate {
		return
	}
	if p.plan = ratesAhead(p.plan[:0], v.H); len(p.plan) == 0 {
		return
	}
	upper.Planned = chart.Planned{Name: "planned", Token: style.Muted, Points: p.plan}
	if first, _, ok := v.H.Curves.Rate.Ends(); ok {
		lower.Span = [2]float64{first, p.plan[len(p.plan)-1].X}
	}
}

func (p *Region) Body(v *View, w, h int, zoomed bool) []string {
	upper, lower := p.plots(v)
	if !zoomed || p.By == chart.Epochs && !p.LogX {
		p.planned(v, &upper, &lower)
	}
	switch {
	case zoomed:
		return p.both(v, upper, lower, w, h)
	case h < 8 && w >= 60 && len(lower.Curves) > 0:
		upper.Legend, upper.Signs = len(upper.Planned.Points) > 0, true
		upper.Y.Name, lower.Y.Name = p.axis(upper), lower.Curves[0].Name
		left := w/2 - 1
		return style.Beside(p.upper.Draw(&v.Pen, upper, left, h), left, p.lower.Draw(&v.Pen, lower, w-left-2, h))
	case h < 8 || upper.Curves[0].Series.Empty():
		upper.Legend, upper.Signs = len(upper.Planned.Points) > 0, true
		upper.Y.Name = p.axis(upper)
		return p.upper.Draw(&v.Pen, upper, w, h)
	case len(lower.Curves) == 0:
		return append([]string{p.caption(v, upper, w)}, p.upper.Draw(&v.Pen, upper, w, h-1)...)
	}
	return p.stacked(v, upper, lower, w, h/2-1, h, func(c *chart.Canvas, pl chart.Plot, _,
		h int) []string {
		return c.Draw(&v.Pen, pl, w, h)
	})
}

// both draws the charts of the zoomed pane, one above the other.
func (p *Region) both(v *View, upper, lower chart.Plot, w, h int) []string {
	if h < 12 || upper.Curves[0].Series.Empty() || len(lower.Curves) == 0 {
		return p.Whole(&v.Pen, &p.upper, upper, w, h)
	}
	p.StartPicture()
	p.Dress(&upper)
	p.Dress(&lower)
	rows := p.stacked(v, upper, lower, w, (h-4)/2, h-1, func(c *chart.Canvas, pl chart.Plot, y, h int) []string {
		return p.DrawAt(&v.Pen, c, pl, 0, y, w, h)
	})
	return append(rows, p.keyLine(v, w))
}

// stacked draws two plots with their captions into h rows, their y axes as wide as each other and the upper one top
// rows high.
func (p *Region) stacked(v *View, upper, lower chart.Plot, w, top, h int,
	draw func(c *chart.Canvas, pl chart.Plot, y, h int) []string) []string {
	bottom := h - top - 2
	upper.NoX = true
	upper.Y.Margin = max(upper.Axis(w, top), lower.Axis(w, bottom))
	lower.Y.Margin = upper.Y.Margin
	rows := append([]string{p.caption(v, upper, w)}, draw(&p.upper, upper, 1, top)...)
	rows = append(rows, p.caption(v, lower, w))
	return append(rows, draw(&p.lower, lower, top+2, bottom)...)
}

// keyLine names the charts' keys, and before them that of the other curves.
func (p *Region) keyLine(v *View, w int) string {
	n := len(p.curves(v))
	if v.H.Steering() == history.ByRadius || n <= 2 {
		return p.Controls.KeyLine(&v.Pen, w)
	}
	l := v.Line(w)
	first := p.first(v)
	l.Write(style.Accent, "v").Write(style.Muted, " others, these are "+format.Count(first+1)+" and "+format.Count(
		first+2)+" of "+format.Count(n)+"  ")
	return l.Raw(p.Controls.KeyLine(&v.Pen, l.Left()), l.Left()).Full()
}

// axis names the upper chart's axis in the corner, where there is no row for a caption.
func (p *Region) axis(upper chart.Plot) string {
	if name := upper.Curves[0].Name; name != "radius" {
		return name
	}
	return "R"
}

// lowest reports whether a curve has values that a logarithmic axis can't show.
func lowest(s *chart.Series) bool {
	low, _, ok := s.Bounds(false)
	return ok && low <= 0
}

// drawnMetric returns the figure of the method's own that a chart shows, nil for another chart.
func drawnMetric(h *history.History, pl chart.Plot) *history.MetricSeries {
	for i := range h.Curves.Metrics {
		if f := &h.Curves.Metrics[i]; pl.Curves[0].Series == &f.Series {
			return f
		}
	}
	return nil
}

// caption says what the chart under it shows.
func (p *Region) caption(v *View, pl chart.Plot, w int) string {
	l := v.Line(w)
	l.Write(pl.Curves[0].Token, pl.Curves[0].Name)
	if f := drawnMetric(v.H, pl); f != nil && f.Meaning != "" {
		l.Group(style.Muted.Of("  " + f.Meaning))
	}
	if len(pl.Rules) > 0 {
		l.Write(style.Muted, "  actual over predicted")
		if v.H.Rejected > 0 {
			l.Group(style.Muted.Of(" · "), style.Warn.Of(format.Count(v.H.Rejected)+" rejected"))
		}
	} else if pl.Log {
		l.Write(style.Muted, "  log")
	}
	if len(pl.Planned.Points) > 0 {
		l.Group(style.Text.Of("  "), pl.Planned.Sign(v.Glyphs))
	}
	return l.Full()
}

func (p *Region) Strip(v *View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, p.Name(v))
	if v.H.Epochs > 0 {
		p.Header(v, l)
	}
	return []string{l.Full()}
}

// Figure has the radius, or the rate of a method that has one.
func (p *Region) Figure(v *View) *figure.Chart {
	h := v.H
	if h.Curves.Radius.Empty() && h.Curves.Rate.Empty() {
		f := figure.Chart{Title: "metrics of its own", Y: "value"}
		for i := range h.Curves.Metrics[:min(len(h.Curves.Metrics), 4)] {
			k := &h.Curves.Metrics[i]
			f.Curves = append(f.Curves, figure.Curve{Name: k.Symbol, Color: style.OnPaper(style.RacerToken(i)),
				Dashed: i%2 == 1, Points: PointsOf(&k.Series)})
		}
		return RunFigure(h, f)
	}
	if h.Curves.Radius.Empty() {
		return RunFigure(h, figure.Chart{Title: "learning rate", Y: "rate", LogY: true,
			Curves: []figure.Curve{{Color: style.OnPaper(style.Train), Points: PointsOf(&h.Curves.Rate)}}})
	}
	return RunFigure(h, figure.Chart{Title: "trust region", Y: "radius and step", LogY: true, Curves: []figure.Curve{
		{Name: "radius", Color: style.OnPaper(style.Train), Points: PointsOf(&h.Curves.Radius)},
		{Name: "step norm", Color: style.OnPaper(style.Test), Dashed: true, Points: PointsOf(&h.Curves.Step)},
	}})
}

func (p *Region) Keys() []Key {
	return append([]Key{{Show: "v", Help: "other curves, where there are more than two", Names: []string{"v"},
		Do: func(v *View, _ string) (tea.Cmd, bool) {
			more := v.H.Steering() != history.ByRadius && len(p.curves(v)) > 2
			if more {
				p.page++
			}
			return nil, more
		}}}, p.Charted.Keys()...)
}
