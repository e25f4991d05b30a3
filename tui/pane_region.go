package tui

import (
	"math"
	"slices"
	"strconv"
)

// regionPane shows how far a method trusts its model: radius and ρ for a trust region, learning rate and
// gradient norm for a first-order method, and of the others what they say of themselves.
type regionPane struct {
	chartView
	upper, lower chart
	log          bool
}

func (p *regionPane) name(v *view) string {
	return [...]string{byRadius: "region", byRate: "rate", byFigures: "method"}[v.h.steering()]
}

func (p *regionPane) seen(h *history) uint64 { return h.epochGen + h.runGen + h.settingGen }

func (p *regionPane) toggleLog() bool { p.log = !p.log; return true }

func (p *regionPane) head(v *view, l *line) {
	if v.h.epochs == 0 {
		return
	}
	for _, g := range p.values(v) {
		if !l.group(g...) {
			return
		}
	}
	e := &v.h.latest
	switch {
	case v.h.steering() != byRadius || e.Epoch == 0:
	case e.Accepted:
		l.group(part{tokGood, " accepted"})
	default:
		if !l.group(part{tokWarn, " rejected"}) {
			l.group(part{tokWarn, " ×"})
		}
	}
	if next, ok := v.h.nextRadius(); ok {
		l.group(part{tokMuted, " → R "}, part{tokText, number(next)})
	}
}

// values are the current figures, each a group that is shown whole or not at all.
func (p *regionPane) values(v *view) [][]part {
	e := &v.h.latest
	switch v.h.steering() {
	case byRate:
		return append([][]part{
			{{tokStrong, number(float64(e.Rate))}},
			{{tokMuted, "  ‖g‖ "}, {tokText, number(float64(e.GradientNorm))}},
		}, p.own(v, "  ")...)
	case byFigures:
		return p.own(v, "")
	}
	return [][]part{
		{{tokMuted, "R "}, {tokStrong, number(float64(e.Radius))}},
		{{tokMuted, "  " + v.gl.rho + " "}, {tokText, short(float64(e.Rho))}},
	}
}

// own are the method's own figures, after a gap.
func (p *regionPane) own(v *view, gap string) [][]part {
	var groups [][]part
	for i := range v.h.figures {
		f := &v.h.figures[i]
		groups = append(groups, []part{{tokMuted, gap + f.Symbol + " "}, {tokText, f.text(float64(f.Value))}})
		gap = "  "
	}
	return groups
}

// short writes a ratio with two decimals.
func short(x float64) string {
	if math.Abs(x) < 100 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return number(x)
}

// plots returns what the two charts show. ρ is clipped to where it decides: below 0 is worse, above 1
// better than the model promised.
func (p *regionPane) plots(v *view) (upper, lower plot) {
	one := func(name string, t token, s *series) plot {
		return epochPlot(v.h, plotCurve{name: name, tok: t, series: s, mark: '*'})
	}
	switch {
	case v.h.steering() == byRate:
		upper, lower = one("rate", tokAccent, &v.h.rate), one("‖g‖", tokAccent, &v.h.gradient)
		lower.log = true
	case v.h.steering() == byFigures:
		upper, lower = one("‖Δw‖", tokAccent, &v.h.step), one("‖g‖", tokAccent, &v.h.gradient)
		lower.log = true
		if own := v.h.figures; len(own) > 0 {
			upper = one(own[0].Symbol, tokAccent, &own[0].series)
			upper.value = own[0].text
			if len(own) > 1 {
				lower = one(own[1].Symbol, tokAccent, &own[1].series)
				lower.value = own[1].text
			}
		}
	default:
		upper, lower = one("radius", tokAccent, &v.h.radius), one(v.gl.rho, tokAccent, &v.h.rho)
		lower.clip, lower.show, lower.rules = [2]float64{-0.5, 1.5}, [2]float64{-0.25, 1.25}, []float64{0, 1}
	}
	upper.log = p.log && !lowest(upper.curves[0].series)
	upper.waiting, lower.waiting = waiting(v), ""
	return upper, lower
}

func (p *regionPane) body(v *view, w, h int, zoomed bool) []string {
	upper, lower := p.plots(v)
	switch {
	case zoomed:
		return p.both(v, upper, lower, w, h)
	case h < 8 && w >= 60:
		upper.name, lower.name = p.axis(v), lower.curves[0].name
		left := w/2 - 1
		return beside(p.upper.draw(v, upper, left, h), left, p.lower.draw(v, lower, w-left-2, h))
	case h < 8 || upper.curves[0].series.empty():
		upper.name = p.axis(v)
		return p.upper.draw(v, upper, w, h)
	}
	top := h/2 - 1
	bottom := h - top - 2
	upper.noX = true
	upper.margin = max(upper.axis(w, top), lower.axis(w, bottom))
	lower.margin = upper.margin
	rows := append([]string{p.caption(v, upper, w)}, p.upper.draw(v, upper, w, top)...)
	rows = append(rows, p.caption(v, lower, w))
	return append(rows, p.lower.draw(v, lower, w, bottom)...)
}

// both draws the charts of the zoomed pane, one above the other.
func (p *regionPane) both(v *view, upper, lower plot, w, h int) []string {
	if h < 12 || upper.curves[0].series.empty() {
		return p.whole(v, &p.upper, upper, w, h)
	}
	p.begin()
	top := (h - 4) / 2
	bottom := h - top - 3
	upper.noX = true
	p.dress(v, &upper)
	p.dress(v, &lower)
	upper.margin = max(upper.axis(w, top), lower.axis(w, bottom))
	lower.margin = upper.margin
	rows := append([]string{p.caption(v, upper, w)}, p.show(v, &p.upper, upper, 0, 1, w, top)...)
	rows = append(rows, p.caption(v, lower, w))
	rows = append(rows, p.show(v, &p.lower, lower, 0, top+2, w, bottom)...)
	return append(rows, p.keys(v, w))
}

// axis names the upper chart's axis in the corner, where there is no row for a caption.
func (p *regionPane) axis(v *view) string {
	switch own := v.h.figures; v.h.steering() {
	case byRate:
		return "rate"
	case byFigures:
		if len(own) > 0 {
			return own[0].Symbol
		}
		return "‖Δw‖"
	}
	return "R"
}

// lowest reports whether a curve has values that a logarithmic axis can't show.
func lowest(s *series) bool {
	low, _, ok := s.bounds(false)
	return ok && low <= 0
}

// caption says what the chart under it shows.
func (p *regionPane) caption(v *view, pl plot, w int) string {
	l := v.th.line(w)
	l.put(pl.curves[0].tok, pl.curves[0].name)
	if i := slices.IndexFunc(v.h.figures, func(f figureSeries) bool { return f.Symbol == pl.curves[0].name }); i >= 0 {
		l.group(part{tokMuted, "  " + v.h.figures[i].Meaning})
	}
	if len(pl.rules) > 0 {
		l.put(tokMuted, "  actual over predicted")
		if v.h.rejected > 0 {
			l.group(part{tokMuted, " · "}, part{tokWarn, count(v.h.rejected) + " rejected"})
		}
	} else if pl.log {
		l.put(tokMuted, "  log")
	}
	return l.full()
}

// beside joins two blocks with two columns between them.
func beside(left []string, w int, right []string) []string {
	rows := make([]string, max(len(left), len(right)))
	for i := range rows {
		a, b := spaces(w), ""
		if i < len(left) {
			a = fit(left[i], w)
		}
		if i < len(right) {
			b = right[i]
		}
		rows[i] = a + "  " + b
	}
	return rows
}

func (p *regionPane) strip(v *view, w, _ int) []string {
	l := v.th.line(w)
	v.label(l, p.name(v))
	if v.h.epochs > 0 {
		p.head(v, l)
	}
	return []string{l.full()}
}
