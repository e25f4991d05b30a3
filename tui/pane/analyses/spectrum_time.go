package analyses

import (
	"fmt"
	"math"
	"slices"
	"sort"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// spectrumView is one of the pictures that the zoomed pane has.
type spectrumView struct {
	name string
	draw func(v *pane.View, w, h int) []string
}

// views returns those that there is something to show in.
func (p *Spectrum) views(v *pane.View) (out []spectrumView) {
	if len(v.H.Spectra) > 1 {
		if len(densities(v.H)) > 1 {
			out = append(out, spectrumView{"density over time", p.densityMap})
		}
		out = append(out, spectrumView{"eigenvalues over time", p.traces})
	}
	return append(out, spectrumView{"latest spectrum", func(v *pane.View, w, h int) []string {
		pairs, _ := p.source(v)
		return p.latest(v, pairs, w, h, true)
	}})
}

func (p *Spectrum) Keys() []pane.Key {
	return []pane.Key{{Show: "v", Help: "another view", Names: []string{"v"},
		Do: func(v *pane.View, _ string) (tea.Cmd, bool) {
			n := len(p.views(v))
			p.at = (p.at + 1) % n
			return nil, n > 1
		}}}
}

func (p *Spectrum) keyLine(v *pane.View, next string, w int) string {
	l := v.Line(w)
	l.Group(style.Accent.Of("v"), style.Muted.Of(" "+next+"   "))
	if !v.Unasked() {
		l.Group(style.Accent.Of("k"), style.Muted.Of(" compute now"))
	}
	return l.Full()
}

// densities are the spectra that have one, in order.
func densities(h *history.History) (out []*event.SpectrumEvent) {
	for i := range h.Spectra {
		e := &h.Spectra[i]
		if d := e.Density; d != nil && min(len(d.Grid), len(d.Values)) > 1 && d.Grid[0] < d.Grid[len(d.Grid)-1] {
			out = append(out, e)
		}
	}
	return out
}

// eigenAxis holds all densities, in units of the finest smoothing.
func eigenAxis(list []*event.SpectrumEvent) chart.Symlog {
	low, high, unit := 0.0, 0.0, math.Inf(1)
	for _, e := range list {
		low = math.Min(low, float64(e.Density.Grid[0]))
		high = math.Max(high, float64(e.Density.Grid[len(e.Density.Grid)-1]))
		if s := float64(e.Density.Sigma); s > 0 {
			unit = math.Min(unit, s)
		}
	}
	most := math.Max(high, -low)
	if unit > most || unit < most/1e4 {
		unit = most / 1e4
	}
	s := chart.Symlog{Unit: unit}
	s.Low, s.High = s.Up(low), s.Up(high)
	return s
}

// peak returns the greatest density between two eigenvalues, NaN outside the grid.
func peak(d *event.Density, from, to float64) float64 {
	n := min(len(d.Grid), len(d.Values))
	i := sort.Search(n, func(i int) bool { return float64(d.Grid[i]) >= from })
	best := math.NaN()
	for ; i < n && float64(d.Grid[i]) <= to; i++ {
		if x := float64(d.Values[i]); math.IsNaN(best) || x > best {
			best = x
		}
	}
	if !math.IsNaN(best) || i == 0 || i == n {
		return best
	}
	a, b := float64(d.Grid[i-1]), float64(d.Grid[i])
	t := ((from+to)/2 - a) / (b - a)
	return (1-t)*float64(d.Values[i-1]) + t*float64(d.Values[i])
}

// densityMap draws the density of the spectra over the epochs: a column for an epoch, which has the spectrum that
// was the latest one then, a row for an eigenvalue on a symmetric logarithmic axis, and a shade for the logarithm
// of the density, down to a tenth of what one eigenvalue alone would show.
func (p *Spectrum) densityMap(v *pane.View, w, h int) []string {
	list := densities(v.H)
	axis := eigenAxis(list)
	edge, symbol, hasEdge := stabilityEdge(v.H, list[len(list)-1])
	if hasEdge && edge < 2*axis.Back(axis.High) {
		axis.High = math.Max(axis.High, axis.Up(1.1*edge))
	}
	l := v.Line(w)
	l.Write(style.Accent, "density over time").Write(style.Muted, "  "+format.Count(len(list))+" spectra")
	l.Group(style.Muted.Of(", " + v.Glyphs.Lambda + " on a symmetric log axis"))
	const gutter = 9
	m := chart.NewCellGrid(&v.Pen, w, h-1)
	right := 0
	if hasEdge {
		right = style.Cells(symbol) + 3
	}
	cols, rows := w-gutter-right, h-3
	if cols < 4 || rows < 2 {
		return append([]string{l.Full()}, m.Rows()...)
	}
	r := chart.NewRaster(cols, rows*chart.RowsPerCell(&v.Pen))
	sc := densityRaster(v.H, &r, list, axis)
	m.Paint(gutter, 0, &r, sc)
	axis.DrawTicks(m, gutter, rows, signToken)
	if y := axis.Row(edge, rows); hasEdge && y >= 0 && y < rows {
		m.Write(gutter+cols, y, style.Warn, " ← "+symbol)
	}
	epochTicks(m, list, gutter, rows, cols)
	m.Ramp(m.Write(gutter, rows+1, style.Muted, "density "), rows+1, 10, sc,
		func(x float64) string { return magnitude(math.Pow(10, x)) })
	return append([]string{l.Full()}, m.Rows()...)
}

// densityRaster fills a raster with the logarithms of the densities, and returns their scale.
func densityRaster(h *history.History, r *chart.Raster, list []*event.SpectrumEvent, axis chart.Symlog) chart.Scale {
	first, end := mapSpan(list)
	top, floor, before := math.Inf(-1), math.Inf(1), -1
	for x := range r.W {
		epoch := first + (float64(x)+0.5)/float64(r.W)*(end-first)
		i := max(sort.Search(len(list), func(i int) bool { return float64(list[i].Epoch) > epoch })-1, 0)
		if i == before {
			for y := range r.H {
				r.Values[y*r.W+x] = r.Values[y*r.W+x-1]
			}
			continue
		}
		before = i
		d := list[i].Density
		if one := oneEigenvalue(h, d); one > 0 {
			floor = math.Min(floor, math.Log10(one/10))
		}
		for y := range r.H {
			step := (axis.High - axis.Low) / float64(r.H)
			upper := axis.High - float64(y)*step
			value := math.Log10(peak(d, axis.Back(upper-step), axis.Back(upper)))
			if math.IsInf(value, -1) {
				value = -300
			}
			r.Values[y*r.W+x] = value
			if value > top {
				top = value
			}
		}
	}
	if math.IsInf(top, 0) {
		top = 0
	}
	if math.IsInf(floor, 0) || floor > top-1 || math.IsNaN(floor) {
		floor = top - 5
	}
	return chart.Scale{Ramp: style.RampHeat, Low: floor, High: top}
}

// mapSpan returns the epochs that a map is of: the last spectrum gets as many as the one before it.
func mapSpan(list []*event.SpectrumEvent) (first, end float64) {
	n := len(list)
	last := list[n-1].Epoch
	return float64(list[0].Epoch), float64(last + max(last-list[n-2].Epoch, 1))
}

// epochTicks writes under the columns at which epoch a spectrum was computed, where there is room, the last one
// first.
func epochTicks(m *chart.CellGrid, list []*event.SpectrumEvent, x0, y, cols int) {
	m.Write(x0-6, y, style.Muted, "epoch")
	first, end := mapSpan(list)
	free := x0 + cols
	for i := len(list) - 1; i >= 0; i-- {
		s := format.Count(list[i].Epoch)
		x := x0 + int(math.Ceil((float64(list[i].Epoch)-first)/(end-first)*float64(cols)-0.5))
		if x+style.Cells(s) < free || i == len(list)-1 && x+style.Cells(s) <= free {
			m.Write(x, y, style.Muted, s)
			free = x - 3
		}
	}
}

// traces draws the greatest few and the least two eigenvalues over the epochs, with what certifies the ends, and
// lists the latest ones.
func (p *Spectrum) traces(v *pane.View, w, h int) []string {
	pairs, _ := p.source(v)
	side, below := 0, 0
	switch {
	case w >= 100:
		side = 44
	case h >= 18:
		below = min(len(pairs), h/3)
	}
	cw, ch := w-side, h-below
	if side > 0 {
		cw -= 2
	}
	rows := p.tracePlot(v, cw, ch)
	if side > 0 {
		facts, weak := p.facts(v)
		var list []string
		for _, f := range slices.Concat(facts, weak) {
			list = append(list, f.in(v, side))
		}
		list = append(list, "")
		if rest := h - len(list); rest > 0 {
			list = append(list, p.list(v, pairs, side, rest)...)
		}
		return style.Beside(style.Block(rows, cw, h), cw, list)
	}
	if below > 0 {
		rows = append(rows, p.list(v, pairs, w, below)...)
	}
	return rows
}

// Eigenvalues that are followed over the epochs.
const (
	tracedTop    = 5
	tracedBottom = 2
)

func (p *Spectrum) tracePlot(v *pane.View, w, h int) []string {
	var top [tracedTop]chart.Series
	var bottom [tracedBottom]chart.Series
	var ends [2]bounds // of the greatest and of the least
	var least pair
	for i := range v.H.Spectra {
		e := &v.H.Spectra[i]
		list := sortedPairs(e)
		at, n := float64(e.Epoch), len(list)
		if n == 0 {
			continue
		}
		for k := range min(tracedTop, n) {
			top[k].Add(at, list[k].value)
		}
		ends[0].add(at, list[0])
		if topOnly(e) {
			continue
		}
		for k := range min(tracedBottom, n-tracedTop) {
			bottom[k].Add(at, list[n-1-k].value)
		}
		least = list[n-1]
		ends[1].add(at, least)
	}
	var greatest, lower []chart.Curve
	if edge, ok := edgeCurve(v.H, &top[0]); ok {
		edge.Tag = edge.Name
		greatest = append(greatest, edge)
	}
	greatest = append(greatest, ends[0].curves(&top[0])...)
	for k := tracedTop - 1; k >= 0; k-- {
		if !top[k].Empty() {
			greatest = append(greatest, chart.Curve{Name: fmt.Sprint(k + 1),
				Token: []style.Token{style.Accent, style.Muted}[min(k, 1)], Series: &top[k], Mark: rune('1' + k),
				Tag: tag(k == 0, v.Glyphs.Lambda+"₁")})
		}
	}
	if !bottom[0].Empty() {
		lower = append(lower, ends[1].curves(&bottom[0])...)
	}
	for k := tracedBottom - 1; k >= 0; k-- {
		if !bottom[k].Empty() {
			lower = append(lower, chart.Curve{Name: "-" + fmt.Sprint(k+1), Token: least.token(), Series: &bottom[k],
				Dashed: true, Mark: rune('a' + k), Tag: tag(k == 0, "least")})
		}
	}
	l := v.Line(w)
	l.Write(style.Accent, "eigenvalues over time")
	l.Group(style.Muted.Of(fmt.Sprintf("  greatest %d, and least %d dashed", tracedTop, tracedBottom)))
	if len(ends[0].curves(&top[0])) > 0 || len(ends[1].curves(&bottom[0])) > 0 {
		l.Group(style.Muted.Of("; the ends between their bounds"))
	}
	return append([]string{l.Full()}, p.overTime(v, greatest, lower, w, h-1, false)...)
}

// bounds are those of an eigenvalue over the epochs, above and below it.
type bounds struct {
	above, below chart.Series
	widest       float64
}

func (b *bounds) add(at float64, q pair) {
	if !math.IsNaN(q.bound) {
		b.widest = math.Max(b.widest, q.bound)
		b.above.Add(at, q.value+q.bound)
		b.below.Add(at, q.value-q.bound)
	}
}

// curves are the bounds where they can be seen beside the values.
func (b *bounds) curves(values *chart.Series) []chart.Curve {
	low, high, ok := values.Bounds(false)
	if !ok || b.widest <= (math.Max(high, 0)-math.Min(low, 0))/100 {
		return nil
	}
	return []chart.Curve{{Token: style.Muted, Series: &b.above, Dashed: true, Mark: '.'},
		{Token: style.Muted, Series: &b.below, Dashed: true, Mark: '.'}}
}

func tag(has bool, s string) string {
	if has {
		return s
	}
	return ""
}

// sortedPairs returns the finite eigenvalues of an event with their bounds, the greatest first.
func sortedPairs(e *event.SpectrumEvent) (pairs []pair) {
	for i, f := range e.Eigenvalues {
		b := math.NaN()
		if i < len(e.Residuals) {
			b = math.Abs(float64(e.Residuals[i]))
		}
		if x := float64(f); !math.IsNaN(x) && !math.IsInf(x, 0) {
			pairs = append(pairs, pair{x, b})
		}
	}
	sort.Slice(pairs, func(i, j int) bool { return pairs[i].value > pairs[j].value })
	return pairs
}

// Figure has the extreme eigenvalues over the epochs, greatest first.
func (p *Spectrum) Figure(v *pane.View) *figure.Chart {
	h := v.H
	f := figure.Chart{Title: "spectrum", Y: "eigenvalue"}
	if len(h.Spectra) == 0 {
		return nil
	}
	f.Title += ", " + matrix(latestSpectrum(h))
	for i := range h.Spectra {
		e := &h.Spectra[i]
		for k, value := range e.Eigenvalues {
			if k == len(f.Curves) {
				f.Curves = append(f.Curves, figure.Curve{Color: style.OnPaper(style.Train)})
			}
			if y := float64(value); !math.IsNaN(y) && !math.IsInf(y, 0) {
				f.Curves[k].Points = append(f.Curves[k].Points, figure.Point{X: float64(e.Epoch), Y: y})
			}
		}
	}
	named := map[string]bool{}
	for k := range f.Curves {
		c := &f.Curves[k]
		name := "positive"
		if n := len(c.Points); n > 0 && c.Points[n-1].Y < 0 {
			name, c.Color, c.Dashed = "negative", style.OnPaper(style.NegativeCurvature), true
		}
		if !named[name] {
			c.Name, named[name] = name, true
		}
	}
	return pane.RunFigure(h, f)
}
