package pane

import (
	"slices"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// Loss shows the mean loss over the training and the test rows.
type Loss struct {
	Charted
	chart chart.Canvas
	log   bool
	asked bool // the user chose it
}

var (
	_ Blank    = (*Loss)(nil)
	_ Keyed    = (*Loss)(nil)
	_ Moused   = (*Loss)(nil)
	_ Pictured = (*Loss)(nil)
)

// NewLoss returns the pane with a logarithmic axis.
func NewLoss() *Loss { return &Loss{log: true} }

func (*Loss) Name(v *View) string { return LossName(v.H) }

func (p *Loss) Version(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

// Blank reports whether a program reports no loss.
func (*Loss) Blank(h *history.History) bool {
	return h.MetricsOnly() && h.Epochs > 0 && h.Curves.Loss.Empty() && h.Curves.ValidationLoss.Empty() &&
		h.Curves.TestLoss.Empty() && h.Diverged == nil
}

func (p *Loss) ToggleLog() bool { p.log, p.asked = !p.log, true; return true }

// plot is the chart, which is linear by itself where values are below zero.
func (p *Loss) plot(v *View) chart.Plot {
	pl := pairPlot(v, &v.H.Curves.Loss, &v.H.Curves.ValidationLoss, &v.H.Curves.TestLoss)
	pl.Log = p.log && chart.FitsLog(pl.Curves, p.asked)
	return pl
}

func (p *Loss) Header(v *View, l *style.Line) {
	pairHeader(v, l, &v.H.Curves.Loss, &v.H.Curves.ValidationLoss, &v.H.Curves.TestLoss, format.Number, false)
	pl := p.plot(v)
	scaleHeader(l, pl.Log)
}

func (p *Loss) Body(v *View, w, h int, zoomed bool) []string {
	pl := p.plot(v)
	pl.Best, pl.Waiting, pl.Note = true, v.Without(p.Name(v)), overfitText(&v.H.Curves, v.H.Run.Counted())
	if zoomed {
		return p.Whole(&v.Pen, &p.chart, pl, w, h)
	}
	return p.chart.Draw(&v.Pen, pl, w, h)
}

func (p *Loss) Strip(v *View, w, h int) []string {
	pl := p.plot(v)
	return pairStrip(v, &p.chart, pl, p.Name(v), format.Number, w, h)
}

// pairPlot is a chart of a quantity over the training rows (solid), the validation rows, if there are any, and the test
// rows (dashed).
func pairPlot(v *View, train, validation, test *chart.Series) chart.Plot {
	pl := EpochPlot(v.H, PairCurves(train, validation, test)...)
	if history.OwnX(v.H, train) == "" && !train.Empty() { // what has another x is among the metrics
		pl.Curves = slices.DeleteFunc(pl.Curves, func(k chart.Curve) bool { return history.OwnX(v.H, k.Series) != "" })
	}
	if len(pl.Curves) > 2 {
		pl.Curves[2].Thick = v.Palette.Colorless()
	}
	pl.Waiting, pl.Legend, pl.Signs = Waiting(v), true, true
	return pl
}

// PairCurves are the curves of a quantity over the rows that there are, what decides above the others.
func PairCurves(train, validation, test *chart.Series) []chart.Curve {
	curves := []chart.Curve{
		{Name: "train", Token: style.Train, Series: train, Mark: '*'},
		{Name: "test", Token: style.Test, Series: test, Dashed: true, Mark: 'o'},
	}
	if !validation.Empty() {
		curves = append(curves, chart.Curve{Name: "valid", Token: style.Validation, Series: validation, Mark: '+'})
	}
	return curves
}

// Waiting says why a chart is empty.
func Waiting(v *View) string {
	if _, loading := v.H.Loading(); loading {
		return "reading the record"
	}
	if v.H.Run == nil {
		return "waiting for the run"
	}
	return "waiting for the first epoch"
}

// pairHeader writes the latest values of both kinds of rows with the direction they moved in, and marks those after
// which one came that is not finite. What decides comes first; rows of which nothing is told are left out.
// mirrored: what is written falls where the series rise.
func pairHeader(v *View, l *style.Line, train, validation, test *chart.Series, text func(float64) string,
	mirrored bool) {
	gap := ""
	for _, k := range []struct {
		name   string
		color  style.Token
		series *chart.Series
	}{{"valid ", style.Validation, validation}, {"train ", style.Train, train}, {"test ", style.Test, test}} {
		if k.series.Blank() {
			continue
		}
		parts := append([]style.Part{style.Muted.Of(gap + k.name)}, k.series.Now(k.color, text)...)
		if !k.series.Broken() {
			now, before := k.series.Last(), k.series.Before()
			if mirrored {
				now, before = before, now
			}
			parts = append(parts, style.Muted.Of(trend(now, before)))
		}
		l.Group(parts...)
		gap = "  "
	}
}

func scaleHeader(l *style.Line, log bool) {
	if !log {
		return
	}
	gap := "  "
	if l.Width == 0 {
		gap = ""
	}
	l.Group(style.Muted.Of(gap + "log"))
}

// pairStrip puts the values at the left and a small chart at the right.
func pairStrip(v *View, c *chart.Canvas, pl chart.Plot, name string, text func(float64) string, w, h int) []string {
	const column = 28
	rows := make([]string, h)
	pl.Waiting, pl.Marks, pl.Legend = "", nil, false
	told := []*chart.Curve{&pl.Curves[0], &pl.Curves[1]}
	if len(pl.Curves) > 2 && pl.Curves[2].Token == style.Validation {
		told = slices.Insert(told, 1, &pl.Curves[2])
	}
	if told = slices.DeleteFunc(told, func(k *chart.Curve) bool { return v.H.Missing(k.Series) }); len(told) == 0 {
		told = []*chart.Curve{&pl.Curves[0]}
	}
	picture := c.Draw(&v.Pen, pl, w-column-1, h)
	for i := range rows {
		l := v.Line(w)
		if i == 0 {
			v.Label(l, name)
		}
		if i < len(told) {
			k := told[i]
			l.To(11).Write(k.Token, k.Sign(v.Glyphs, 1)).Write(style.Muted, " "+style.Pad(k.Name, 6)).Group(
				nowOr(k.Series, k.Token, text)...)
		}
		l.To(column).Raw(picture[i], w-column-1)
		rows[i] = l.Full()
	}
	return rows
}

// nowOr writes the latest value of a curve, or a dash where nothing was reported.
func nowOr(s *chart.Series, color style.Token, text func(float64) string) []style.Part {
	if s.Blank() {
		return []style.Part{style.Muted.Of("–")}
	}
	return s.Now(color, text)
}

func (p *Loss) Figure(v *View) *figure.Chart {
	return RunFigure(v.H, figure.Chart{Title: LossName(v.H), Y: "mean " + LossName(v.H), LogY: true,
		Curves: trainAndTest(&v.H.Curves.Loss, &v.H.Curves.ValidationLoss, &v.H.Curves.TestLoss)})
}
