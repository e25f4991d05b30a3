package inner

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// profile draws the loss along the latest step that was asked for into w × h: what it is of, the loss beside its
// models, and in words what that means.
func (t *solvePlayer) profile(v *pane.View, w, h int) []string {
	e := v.H.Steps.Slice
	if e == nil || len(e.At) == 0 {
		return t.noProfile(v, w, h)
	}
	words := clauses(profileText(v, e), w, max(1, h/4))
	l := v.Line(w)
	l.Write(style.Accent, "along the step").Write(style.Muted, " of epoch ").Write(style.Text, format.Count(e.Epoch))
	if behind := v.H.Latest.Epoch - e.Epoch; behind > 0 {
		l.Group(style.Muted.Of(", " + format.Counted(behind, "epoch") + " ago"))
	}
	l.Group(style.Muted.Of("  ‖s‖ "), style.Text.Of(format.Number(float64(e.StepNorm))))
	if t.waiting(v) != "" {
		l.Group(style.Warn.Of("  a newer one is asked for"))
	}
	rows := []string{l.Full(), profileKey(v, e, w)}
	picture := max(h-2-len(words), 0)
	t.along.Resize(w, picture)
	paintProfile(v, &t.along, e, w, picture)
	rows = append(rows, t.along.Rows(&v.Pen)...)
	for _, s := range words {
		rows = append(rows, v.Line(w).Write(style.Text, s).Full())
	}
	return style.Block(rows, w, h)
}

// waiting says what is on the way when a look was asked for, "" if none is.
func (t *solvePlayer) waiting(v *pane.View) string {
	switch {
	case !t.requested || v.H.Steps.Slice != t.had || v.H.Latest.Epoch > t.when+2 || v.H.Offline():
		return ""
	case v.H.Status.Computing == "slice":
		return "computing the loss along the last step"
	}
	return "asked for the loss along the last step"
}

// noProfile says how to get one.
func (t *solvePlayer) noProfile(v *pane.View, w, h int) []string {
	text := t.waiting(v)
	switch {
	case v.H.Watched():
		text = "the record has no look along a step up to here"
	case v.H.Offline():
		text = "nothing was asked for while the run lasted"
	case v.Viewer:
		text = "it comes when one who controls asks for it"
	case text == "":
		text = "l asks for the loss along the last step"
	}
	rows := make([]string, max(h, 1))
	rows[0] = v.Line(w).Write(style.Accent, "along the step").Write(style.Muted, "  no look yet").Full()
	if h > 2 {
		rows[h/2] = v.Line(w).To((w-style.Cells(text))/2).Write(style.Muted, text).Full()
	}
	return style.Block(rows, w, h)
}

// profileCurve is one of the three curves; its letter stands along it, so that it is known without colours.
type profileCurve struct {
	letter rune
	name   string
	tok    style.Token
	y      []event.Float
}

func profileCurves(e *event.SliceEvent) [3]profileCurve {
	return [3]profileCurve{
		{'G', "Gauss–Newton", style.Test, e.GaussNewton},
		{'H', "full quadratic", style.NegativeCurvature, e.Quadratic},
		{'E', "true loss", style.Train, e.Loss},
	}
}

// reported reports whether the curve has a value: a model that another program has may have no Gauss–Newton matrix.
func (k *profileCurve) reported() bool {
	return slices.ContainsFunc(k.y, func(y event.Float) bool { return y != 0 && format.Finite(float64(y)) })
}

func profileKey(v *pane.View, e *event.SliceEvent, w int) string {
	l := v.Line(w)
	curves := profileCurves(e)
	gap := ""
	for _, k := range []int{2, 0, 1} {
		if v.H.Elsewhere() && !curves[k].reported() {
			continue
		}
		l.Group(style.Text.Of(gap), curves[k].tok.Of(string(curves[k].letter)), style.Muted.Of(" "+curves[k].name))
		gap = "   "
	}
	return l.Full()
}

// paintProfile draws the curves.
func paintProfile(v *pane.View, c *chart.Canvas, e *event.SliceEvent, w, h int) {
	a, ok := profileArea(e)
	if !ok || w < 4 || h < 2 {
		return
	}
	a.Place(c, v.Glyphs, w, h, chart.YMargin(&a, w, h), true)
	chart.DrawRule(c, v.Glyphs, a, 0)
	for _, t := range [2]float64{0, 1} {
		chart.DrawUpright(c, v.Glyphs, a, t, style.Focus)
	}
	for _, k := range profileCurves(e) {
		chart.DrawPath(c, v.Glyphs, a, k.tok, k.letter, k.letter == 'G', min(len(e.At), len(k.y)),
			func(i int) (x, y float64) {
				return float64(e.At[i]), float64(k.y[i])
			})
	}
	for turn, k := range profileCurves(e) {
		k.letters(v, c, a, e.At, turn)
	}
	if a.H < h {
		profileLabels(v, c, a, h-1)
	}
}

// profileArea finds the ranges; false without a finite loss. What lies within the step has the axis, what lies beyond
// may at most double it at each end: nothing far away must press the step flat.
func profileArea(e *event.SliceEvent) (chart.Area, bool) {
	a := chart.Area{Left: math.Inf(1), Right: math.Inf(-1), Low: math.Inf(1), High: math.Inf(-1)}
	curves := profileCurves(e)
	each := func(inside bool, use func(y float64)) {
		for _, k := range curves {
			for i := range min(len(e.At), len(k.y)) {
				t, y := float64(e.At[i]), float64(k.y[i])
				if format.Finite(t) && format.Finite(y) && (t >= 0 && t <= 1) == inside {
					a.Left, a.Right = math.Min(a.Left, t), math.Max(a.Right, t)
					use(y)
				}
			}
		}
	}
	each(true, func(y float64) { a.Low, a.High = math.Min(a.Low, y), math.Max(a.High, y) })
	if a.Low > a.High {
		return a, false
	}
	low, high := a.Low, a.High
	if high-low <= 1e-12*math.Max(math.Abs(low), math.Abs(high)) || high == low {
		by := math.Max(math.Abs(low)/2, 1e-12)
		a.Low, a.High = low-by, high+by
	}
	each(false, func(y float64) {
		a.Low, a.High = math.Min(a.Low, math.Max(y, 2*low-high)), math.Max(a.High, math.Min(y, 2*high-low))
	})
	a.Low, a.High = chart.RoundOutward(a.Low, a.High, chart.Nice((a.High-a.Low)/16))
	return a, format.Finite(a.High - a.Low)
}

// letters writes the curve's letter at some of its points; the curves take turns, so that two that lie on
// each other are both named.
func (k *profileCurve) letters(v *pane.View, c *chart.Canvas, a chart.Area, at []event.Float, turn int) {
	n := min(len(at), len(k.y))
	every := max(3, n/4)
	for i := n - 1 - turn; i >= 0; i -= every {
		if t, y := float64(at[i]), float64(k.y[i]); format.Finite(y) {
			chart.DrawDot(c, v.Glyphs, a, chart.Dot{X: t, Y: y, R: k.letter, Token: k.tok})
		}
	}
}

// profileLabels names the begin and the end of the step before other multiples of it.
func profileLabels(v *pane.View, c *chart.Canvas, a chart.Area, row int) {
	put := func(t float64, s string, color style.Token) {
		chart.DrawLabel(c, a, a.CellX(v.Glyphs, t), row, s, color)
	}
	if a.Left <= 1 && a.Right >= 1 {
		put(1, "t = 1", style.Focus)
	}
	if a.Left <= 0 && a.Right >= 0 {
		put(0, "t = 0", style.Focus)
	}
	for _, t := range chart.Steps(a.Left, a.Right, max(2, a.W/9)) {
		if t != 0 && t != 1 {
			put(t, format.Tick(format.Round(t, 6)), style.Muted)
		}
	}
}
