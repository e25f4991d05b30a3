package tui

import (
	"math"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// lossPane shows the mean loss over the training and the test rows.
type lossPane struct {
	chartPane
	chart chart.Canvas
	log   bool
}

func (*lossPane) name(*view) string { return "loss" }

func (p *lossPane) seen(h *history.History) uint64 { return h.Gen.Epoch + h.Gen.Run }

func (p *lossPane) toggleLog() bool { p.log = !p.log; return true }

func (p *lossPane) head(v *view, l *style.Line) {
	pairHead(v, l, float64(v.h.Latest.Loss), float64(v.h.Before.Loss),
		float64(v.h.Latest.TestLoss), float64(v.h.Before.TestLoss), v.h.Missing(&v.h.Curves.Loss), format.Number)
	scaleHead(l, p.log)
}

func (p *lossPane) body(v *view, w, h int, zoomed bool) []string {
	pl := pairPlot(v, &v.h.Curves.Loss, &v.h.Curves.TestLoss)
	pl.Log, pl.Best, pl.Waiting = p.log, true, v.without("loss")
	if zoomed {
		return p.Whole(&v.Pen, &p.chart, pl, w, h)
	}
	return p.chart.Draw(&v.Pen, pl, w, h)
}

func (p *lossPane) strip(v *view, w, h int) []string {
	pl := pairPlot(v, &v.h.Curves.Loss, &v.h.Curves.TestLoss)
	pl.Log = p.log
	return pairStrip(v, &p.chart, pl, "loss", format.Number, w, h)
}

// pairPlot is a chart of a quantity over the training rows (solid) and the test rows (dashed).
func pairPlot(v *view, train, test *chart.Series) chart.Plot {
	pl := epochPlot(v.h,
		chart.Curve{Name: "train", Token: style.Train, Series: train, Alarm: true, Mark: '*'},
		chart.Curve{Name: "test", Token: style.Test, Series: test, Dashed: true, Mark: 'o'})
	pl.Waiting = waiting(v)
	return pl
}

// waiting says why a chart is empty.
func waiting(v *view) string {
	if _, loading := v.h.Loading(); loading {
		return "reading the record"
	}
	if v.h.Run == nil {
		return "waiting for the run"
	}
	return "waiting for the first epoch"
}

// without says why there is nothing of a kind: it is still to come, or the record does not have it.
func (v *view) without(what string) string {
	if _, loading := v.h.Loading(); loading || !v.h.Watched() || v.h.Epochs == 0 {
		return waiting(v)
	}
	return "the record has no " + what
}

// pairHead writes the current values of both kinds of rows with the direction they moved in. untold says that those of
// the training rows are not numbers because nobody tells them.
func pairHead(v *view, l *style.Line, train, trainBefore, test, testBefore float64, untold bool, text func(float64) string) {
	if v.h.Epochs == 0 {
		return
	}
	if v.h.Epochs == 1 {
		trainBefore, testBefore = math.NaN(), math.NaN()
	}
	now, gap := style.Train.Of(text(train)), ""
	if train != train {
		now = style.Bad.Of("NaN")
	}
	if !untold {
		l.Group(style.Muted.Of("train "), now, style.Muted.Of(trend(train, trainBefore)))
		gap = "  "
	}
	if test == test {
		l.Group(style.Muted.Of(gap+"test "), style.Test.Of(text(test)), style.Muted.Of(trend(test, testBefore)))
	}
}

func scaleHead(l *style.Line, log bool) {
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
func pairStrip(v *view, c *chart.Canvas, pl chart.Plot, name string, text func(float64) string, w, h int) []string {
	const column = 24
	rows := make([]string, h)
	pl.Waiting, pl.Marks = "", nil
	picture := c.Draw(&v.Pen, pl, w-column-1, h)
	for i := range rows {
		l := v.Line(w)
		switch {
		case i == 0:
			v.Label(l, name)
			l.Put(style.Muted, "train ").Put(style.Train, text(pl.Curves[0].Series.Last()))
		case i == 1:
			l.To(11).Put(style.Muted, "test  ").Put(style.Test, text(pl.Curves[1].Series.Last()))
		}
		l.To(column).Raw(picture[i], w-column-1)
		rows[i] = l.Full()
	}
	return rows
}

func (p *lossPane) figure(v *view) *figure.Chart {
	return runFigure(v.h, figure.Chart{Title: "loss", Y: "mean loss", LogY: true, Curves: trainAndTest(&v.h.Curves.Loss, &v.h.Curves.TestLoss)})
}
