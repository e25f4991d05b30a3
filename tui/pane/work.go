package pane

import (
	"math"
	"slices"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Work shows what the run has cost and what it still will.
type Work struct {
	Linear
	Charted
	chart chart.Canvas
}

var (
	_ Keyed    = (*Work)(nil)
	_ Moused   = (*Work)(nil)
	_ Pictured = (*Work)(nil)
)

func (*Work) Name(*View) string { return "work" }

func (*Work) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

func (p *Work) Header(v *View, l *style.Line) {
	if v.H.Latest.Epoch == 0 || v.H.Missing(&v.H.Curves.Seconds) {
		return
	}
	l.Group(style.Strong.Of(format.Span(float64(v.H.Latest.Seconds))), style.Muted.Of(an(v.H.Run.Counted())))
	if eta := v.H.Remaining(); !math.IsNaN(eta) {
		l.Group(style.Muted.Of("  left "), style.Text.Of(format.Clock(eta)))
	}
}

// an is " an epoch", or what else a run counts.
func an(counted string) string {
	if counted == "epoch" {
		return " an epoch"
	}
	return " a " + counted
}

// item is one figure.
type item struct{ name, value string }

func (p *Work) items(v *View) []item {
	e, counted := &v.H.Latest, v.H.Run.Counted()
	per := math.NaN()
	if before := &v.H.Before; e.Epoch > before.Epoch {
		per = float64(e.GradientEquivalents-before.GradientEquivalents) / float64(e.Epoch-before.Epoch)
	}
	eta := "–"
	if r := v.H.Remaining(); !math.IsNaN(r) {
		eta = format.Clock(r)
	}
	list := []item{
		{"gradients", format.Work(float64(e.Gradients))},
		{"products", format.Work(float64(e.Products))},
		{"equivalents", format.Work(float64(e.GradientEquivalents))},
		{"per " + counted, format.Work(per)},
		{"mean " + counted, format.Span(v.H.Curves.Seconds.Mean())},
		{"losses", format.Work(float64(e.Losses))},
		{"left", eta},
	}
	if v.H.External() {
		list = slices.DeleteFunc(list, func(k item) bool { return k.value == "–" })
	}
	return list
}

func (p *Work) Body(v *View, w, h int, zoomed bool) []string {
	items := p.items(v)
	if len(items) == 0 {
		text := style.Wrapped(v.Without("times"), w)
		rows := make([]string, max(0, h-len(text))/2, h)
		for _, s := range text {
			rows = append(rows, v.Line(w).To((w-style.Cells(s))/2).Write(style.Muted, s).Full())
		}
		return style.Clip(rows, h)
	}
	columns := max(1, min(w/24, len(items)))
	if columns > 1 && h >= len(items) {
		columns = 1
	}
	const most = 30
	each := min(w/columns, most)
	n := (len(items) + columns - 1) / columns
	rows := make([]string, 0, h)
	for i := range min(n, h) {
		l := v.Line(w)
		for c := range columns {
			if k := c*n + i; k < len(items) {
				l.To(c * each)
				l.Write(style.Muted, style.Pad(items[k].name, 12)).Write(
					style.Text, style.Right(items[k].value, min(9, each-13)))
			}
		}
		rows = append(rows, l.Full())
	}
	spare := h - len(rows)
	pl := EpochPlot(v.H, chart.Curve{Name: "time of" + an(v.H.Run.Counted()), Token: style.Accent,
		Series: &v.H.Curves.Seconds, Mark: '*'})
	pl.Y.Zero, pl.Y.Unit, pl.Best, pl.Value = true, format.SecondsUnit, true, format.Span
	switch {
	case zoomed && w-26 >= 28 && h >= 8:
		p.StartPicture()
		return append(style.Beside(rows, 24, p.Show(&v.Pen, &p.chart, pl, 26, 0, w-26, h-1)), p.KeyLine(&v.Pen, w))
	case zoomed && spare >= 9:
		p.StartPicture()
		rows = append(rows, "")
		rows = append(rows, p.Show(&v.Pen, &p.chart, pl, 0, len(rows), w, spare-2)...)
		return append(rows, p.KeyLine(&v.Pen, w))
	}
	p.StartPicture()
	if columns == 1 && w-26 >= 28 && h >= 6 {
		return style.Beside(rows, 24, p.chart.Draw(&v.Pen, pl, w-26, h))
	}
	if spare >= 4 {
		rows = append(rows, "")
		rows = append(rows, p.chart.Draw(&v.Pen, pl, w, spare-1)...)
	}
	return rows
}

func (p *Work) Strip(v *View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, "work")
	items := p.items(v)
	for i, k := range items[:min(len(items), 4)] {
		gap := "  "
		if i == 0 {
			gap = ""
		}
		l.Group(style.Muted.Of(gap+k.name+" "), style.Text.Of(k.value))
	}
	return []string{l.Full()}
}

func (p *Work) Figure(v *View) *figure.Chart {
	return RunFigure(v.H, figure.Chart{Title: "seconds" + an(v.H.Run.Counted()), Y: "seconds",
		Curves: []figure.Curve{{Color: style.OnPaper(style.Train), Points: PointsOf(&v.H.Curves.Seconds)}}})
}
