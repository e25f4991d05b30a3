package analyses

import (
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// fact is one line beside the eigenvalues, said ever shorter.
type fact [][]style.Part

// in writes the longest form that fits.
func (f fact) in(v *pane.View, w int) string {
	l := v.Line(w)
	for _, parts := range f {
		if l.Group(parts...) {
			break
		}
	}
	return l.Full()
}

// facts returns what there is to say about the latest spectrum: what is worth an eigenvalue's row, and what
// is not.
func (p *Spectrum) facts(v *pane.View) (strong, weak []fact) {
	e := latestSpectrum(v.H)
	if e == nil {
		if pairs, _ := p.source(v); len(pairs) > 0 {
			end := "not seen"
			if pairs[len(pairs)-1].value < 0 {
				end = "lower" // than where CG stopped at negative curvature
			}
			strong = []fact{{{style.Muted.Of("inside the spectrum; its negative end is " + end)},
				{style.Muted.Of("inside; the negative end is " + end)}}}
		}
		return strong, nil
	}
	low, high, ok := history.Spread(e)
	if edge, symbol, has := stabilityEdge(v.H, e); has && ok {
		strong = append(strong, edgeFact(v, edge, symbol, high))
	}
	if pairs := sortedPairs(e); e.Method == "power" && ok && -low > math.Abs(high) && !pairs[len(pairs)-1].unsigned() {
		strong = append(strong, fact{{style.NegativeCurvature.Of("the largest |" + v.Glyphs.Lambda + "| is negative")}})
	}
	if e.Stop.Early() {
		strong = append(strong, openFact(v, e.Open))
	}
	if t := e.Trace; t != nil {
		value := []style.Part{style.Muted.Of("trace "), style.Strong.Of(format.Number(float64(t.Value)))}
		if s := float64(t.Error); !math.IsNaN(s) {
			value = append(value, style.Muted.Of(v.Glyphs.Within+magnitude(s)))
		}
		probes := style.Muted.Of("  by " + format.Counted(t.Probes, "probe"))
		strong = append(strong, fact{append(value[:len(value):len(value)], probes), value})
	}
	if rowsReported(v.H, e) {
		weak = append(weak, rowsFact(v.H, e))
	}
	if e.Differences {
		products := "products from differences: "
		within := "an estimate of their error is in each " + strings.TrimSpace(v.Glyphs.Within)
		strong = append(strong, fact{{style.Warn.Of(products + within)}, {style.Warn.Of("each " +
			strings.TrimSpace(v.Glyphs.Within) + " from differences")}})
	} else if len(e.Residuals) > 0 {
		within := "an eigenvalue lies within each " + strings.TrimSpace(v.Glyphs.Within)
		weak = append(weak, fact{{style.Muted.Of(within + ", not surely the k-th")}, {style.Muted.Of(within)}})
	}
	return strong, weak
}

// openFact says at which end the iteration ran out before the bounds were as small as wanted.
func openFact(v *pane.View, end string) fact {
	of := ""
	if end = style.Clean(end); end == "both" {
		of = " at both ends"
	} else if end != "" {
		of = " of the " + end
	}
	said := "some " + strings.TrimSpace(v.Glyphs.Within) + of
	return fact{{style.Warn.Of(said + " are larger than wanted")}, {style.Warn.Of(said + " too large")}}
}

// edgeFact compares the greatest eigenvalue to the edge of stability, in words.
func edgeFact(v *pane.View, edge float64, symbol string, greatest float64) fact {
	color, word, where := style.Good, "  stable", ", below the edge"
	if greatest > edge {
		color, word, where = style.Warn, "  unstable", ", above the edge"
	}
	figures := []style.Part{style.Muted.Of(symbol + " "), style.Text.Of(format.Number(edge)),
		style.Muted.Of("  " + v.Glyphs.Lambda + "₁ "), style.Text.Of(format.Number(greatest))}
	short := append(figures[:len(figures):len(figures)], color.Of(word))
	return fact{append(short[:len(short):len(short)], color.Of(where)), short, short[:2]}
}

// rowsReported reports whether it is known what rows the operator averages over: a program that has the model may not
// say.
func rowsReported(h *history.History, e *event.SpectrumEvent) bool {
	return e.Rows > 0 && !(h.Elsewhere() && h.Run.Data.TrainRows == 0)
}

// rowsFact says over how many rows, and which, the operator averages.
func rowsFact(h *history.History, e *event.SpectrumEvent) fact {
	rows, which := format.Counted(e.Rows, "row"), style.Clean(e.Selection)
	if h.Run != nil && h.Run.Data.TrainRows > e.Rows {
		rows = format.Count(e.Rows) + " of " + format.Counted(h.Run.Data.TrainRows, "row")
	}
	if which == "all" {
		rows, which = "all "+rows, ""
	}
	of := matrix(e) + " over "
	long := rows
	if which != "" {
		long += ", " + which
	}
	return fact{{style.Muted.Of(of + long)}, {style.Muted.Of(long)}, {style.Muted.Of(rows)}}
}

// stabilityEdge is that of the method where the spectrum is the Hessian's, whose curvature it is about.
func stabilityEdge(h *history.History, e *event.SpectrumEvent) (value float64, symbol string, ok bool) {
	if e.Operator != "hessian" {
		return 0, "", false
	}
	return h.StabilityEdge()
}

// charts draws the density of the latest spectrum and the ends of all over the epochs, as far as there is
// either, one above the other or side by side.
func (p *Spectrum) charts(v *pane.View, w, h int, zoomed bool) []string {
	e := latestSpectrum(v.H)
	switch {
	case e.Density == nil:
		return p.history(v, w, h, zoomed)
	case len(v.H.Spectra) > 1 && h >= 16:
		return append(p.density(v, e, w, h/2), p.history(v, w, h-h/2, zoomed)...)
	case len(v.H.Spectra) > 1 && w >= 60:
		left := w/2 - 1
		return style.Beside(p.density(v, e, left, h), left, p.history(v, w-left-2, h, false))
	}
	return p.density(v, e, w, h)
}

// density draws the spectral density on a logarithmic scale that reaches down to a tenth of what one
// eigenvalue alone would show, with its standard error above it, a line at zero, to the left of which the
// curvature is negative, and one at the edge of stability.
func (p *Spectrum) density(v *pane.View, e *event.SpectrumEvent, w, h int) []string {
	d := e.Density
	rows := make([]string, 0, h)
	if h >= 5 {
		rows = append(rows, p.densityCaption(v, d, w))
		h--
	}
	n := min(len(d.Grid), len(d.Values))
	var mean, above chart.Series
	peak := 0.0
	for i := range n {
		x, y := float64(d.Grid[i]), float64(d.Values[i])
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if n > 1 {
			// The end of the axis is labelled: with more digits than its place on the screen has, it would be long.
			x = snap(x, math.Abs(float64(d.Grid[n-1])-float64(d.Grid[0])))
		}
		mean.Add(x, y)
		if y > peak {
			peak = y
		}
		if i < len(d.Errors) {
			above.Add(x, y+float64(d.Errors[i]))
		}
	}
	pl := chart.Plot{Log: true, Closed: true, Y: chart.YAxis{Name: "density"}, Waiting: "the density has no values"}
	if w >= 60 && h >= 8 {
		pl.Curves = append(pl.Curves, chart.Curve{Token: style.Muted, Series: &above, Dashed: true, Mark: '.'})
	}
	pl.Curves = append(pl.Curves, chart.Curve{Token: style.Accent, Series: &mean, Mark: '*'})
	one := oneEigenvalue(v.H, d)
	if one == 0 {
		one = 1e-5 * peak // of a model whose size is not told
	}
	if one > 0 && one < peak {
		pl.Y.Clip = [2]float64{one / 10, 2 * peak}
	}
	pl.Marks = []chart.Mark{{X: 0}}
	if edge, symbol, ok := stabilityEdge(v.H, e); ok {
		pl.Marks = append(pl.Marks, chart.Mark{X: edge, Text: symbol})
	}
	return append(rows, p.curve.Draw(&v.Pen, pl, w, h)...)
}

// oneEigenvalue is the height of a single eigenvalue in a density, 0 if that is not known.
func oneEigenvalue(h *history.History, d *event.Density) float64 {
	if h.Run == nil || h.Run.Model.Parameters == 0 {
		return 0
	}
	return 1 / (float64(h.Run.Model.Parameters) * float64(d.Sigma) * math.Sqrt(2*math.Pi))
}

// snap rounds x to a part of the extent too small to see.
func snap(x, extent float64) float64 {
	if !(extent > 0) || math.IsInf(extent, 0) {
		return x
	}
	step := chart.Nice(extent / 2000)
	return math.Round(x/step) * step
}

func (p *Spectrum) densityCaption(v *pane.View, d *event.Density, w int) string {
	l := v.Line(w)
	l.Write(style.Accent, "density").Write(style.Muted, "  log")
	l.Group(style.Muted.Of(", negative left of the line"))
	l.Group(style.Muted.Of(" · " + format.Counted(d.Probes, "probe") + " × " + format.Counted(d.Steps, "step")))
	l.Group(style.Muted.Of(", smoothed by " + format.Number(float64(d.Sigma))))
	return l.Full()
}

// history draws the greatest and the least eigenvalue over the epochs, and the edge of stability while it is
// not far off.
func (p *Spectrum) history(v *pane.View, w, h int, legend bool) []string {
	var top, bottom chart.Series
	for i := range v.H.Spectra {
		e := &v.H.Spectra[i]
		low, high, ok := history.Spread(e)
		if ok {
			top.Add(float64(e.Epoch), high)
		}
		if ok && !topOnly(e) {
			bottom.Add(float64(e.Epoch), low)
		}
	}
	greatest := []chart.Curve{{Name: "greatest", Token: style.Accent, Series: &top, Mark: '*'}}
	if edge, ok := edgeCurve(v.H, &top); ok {
		greatest = append([]chart.Curve{edge}, greatest...)
	}
	var least []chart.Curve
	if !bottom.Empty() {
		least = []chart.Curve{{Name: "least", Token: style.NegativeCurvature, Series: &bottom, Dashed: true, Mark: 'o'}}
	}
	return p.overTime(v, greatest, least, w, h, legend)
}

// overTime draws eigenvalues over the epochs, with a dot for each measurement of the last of either list: the greatest
// and, as they differ by orders of magnitude, the least beneath on a scale of their own where there is room.
func (p *Spectrum) overTime(v *pane.View, greatest, least []chart.Curve, w, h int, legend bool) []string {
	plot := func(curves ...chart.Curve) chart.Plot {
		pl := pane.EpochPlot(v.H, curves...)
		pl.Y.Zero, pl.Legend, pl.Marks, pl.Rules = true, legend, nil, []float64{0}
		return pl
	}
	const two = 10 // rows
	if h < two || len(least) == 0 {
		pl := plot(slices.Concat(greatest, least)...)
		pl.Dots = append(measured(greatest, w), measured(least, w)...)
		return p.chart.Draw(&v.Pen, pl, w, h)
	}
	upper, lower := plot(greatest...), plot(least...)
	upper.Dots, lower.Dots = measured(greatest, w), measured(least, w)
	upper.NoX = true
	top := (h - 1) / 2
	bottom := h - 1 - top
	upper.Y.Margin = max(upper.Axis(w, top), lower.Axis(w, bottom))
	lower.Y.Margin = upper.Y.Margin
	l := v.Line(w).Write(least[len(least)-1].Token, "least").Write(style.Muted, "  on a scale of its own")
	return slices.Concat(p.chart.Draw(&v.Pen, upper, w, top), []string{l.Full()},
		p.curve.Draw(&v.Pen, lower, w, bottom))
}

// measured returns a dot for each point of the last curve, where they do not merge.
func measured(curves []chart.Curve, w int) (dots []chart.Dot) {
	if len(curves) == 0 {
		return nil
	}
	k := &curves[len(curves)-1]
	const apart = 3 // columns
	if points := k.Series.Fine(); apart*len(points) <= w {
		for _, b := range points {
			dots = append(dots, chart.Dot{X: b.X1[chart.Epochs], Y: b.Last, R: '●', Token: k.Token})
		}
	}
	return dots
}

// edgeCurve is the edge of stability as a line over the greatest eigenvalues, where it is not far off. A schedule of
// the rate moves it from epoch to epoch.
func edgeCurve(h *history.History, top *chart.Series) (chart.Curve, bool) {
	edge, symbol, ok := stabilityEdge(h, latestSpectrum(h))
	_, greatest, has := top.Bounds(false)
	if !ok || !has {
		return chart.Curve{}, false
	}
	const far = 3
	line := &chart.Series{}
	first, last, _ := top.Ends()
	if edges := h.StabilityEdges(); edges != nil {
		for _, b := range edges.Buckets {
			switch at := b.X1[chart.Epochs]; {
			case at < first || at > last:
			case b.Last < far*greatest:
				line.Append(b.X1, b.Last)
			default:
				line.Gap(b.X1)
			}
		}
	} else if edge < far*greatest {
		line.Add(first, edge)
		line.Add(last, edge)
	}
	return chart.Curve{Name: symbol, Token: style.Warn, Series: line, Dashed: true, Mark: '='}, !line.Empty()
}
