package tui

import (
	"math"
	"strings"

	"gonum.org/v1/plot/plotter"

	"newtop/trainer/krylov"
)

// figure collects what the picture of a pane shows, nil if it has no data that a chart can show.
func (v *view) figure(id paneID) *figure {
	h := v.h
	var f figure
	switch id {
	case paneLoss:
		f = figure{title: "loss", y: "mean loss", logY: true, curves: h.both(&h.loss, &h.testLoss)}
	case paneAccuracy:
		f = figure{title: "error", y: "share of rows classified wrongly", curves: h.both(&h.fault, &h.testFault)}
		if h.regression() {
			f.title, f.y = "RMSE", "root mean square error"
		}
	case paneRegion:
		f = h.regionFigure()
	case paneInner:
		f = h.innerFigure()
	case paneSpectrum:
		f = h.spectrumFigure()
	case paneWork:
		f = figure{title: "seconds an epoch", y: "seconds", curves: []figureCurve{{tok: tokTrain, points: pointsOf(&h.seconds)}}}
	default:
		return nil
	}
	f.x, f.marks = "epoch", h.marks()
	if h.run != nil {
		f.title = strings.Join(runWords(h.run)[:min(2, len(runWords(h.run)))], " ") + ": " + f.title
	}
	for _, c := range f.curves {
		if len(c.points) > 0 {
			return &f
		}
	}
	return nil
}

// pointsOf returns a series' points, of a merged bucket its least and greatest value.
func pointsOf(s *series) plotter.XYs {
	var out plotter.XYs
	for _, b := range s.buckets {
		if math.IsNaN(b.last) {
			continue
		}
		x0, x1 := b.x0, b.x1[xEpoch]
		if x0 != x1 {
			out = append(out, plotter.XY{X: x0, Y: b.min}, plotter.XY{X: (x0 + x1) / 2, Y: b.max})
		}
		out = append(out, plotter.XY{X: x1, Y: b.last})
	}
	return out
}

func (h *history) both(train, test *series) []figureCurve {
	return []figureCurve{
		{name: "training rows", tok: tokTrain, points: pointsOf(train)},
		{name: "test rows", tok: tokTest, dashed: true, points: pointsOf(test)},
	}
}

// regionFigure has the radius, or the rate of a method that has one.
func (h *history) regionFigure() figure {
	if h.radius.empty() && h.rate.empty() {
		f := figure{title: "figures of its own", y: "value"}
		for i := range h.figures[:min(len(h.figures), 4)] {
			k := &h.figures[i]
			f.curves = append(f.curves, figureCurve{name: k.Symbol, tok: racerInk(i), dashed: i%2 == 1, points: pointsOf(&k.series)})
		}
		return f
	}
	if h.radius.empty() {
		return figure{title: "learning rate", y: "rate", logY: true, curves: []figureCurve{{tok: tokTrain, points: pointsOf(&h.rate)}}}
	}
	return figure{title: "trust region", y: "radius and step", logY: true, curves: []figureCurve{
		{name: "radius", tok: tokTrain, points: pointsOf(&h.radius)},
		{name: "step norm", tok: tokTest, dashed: true, points: pointsOf(&h.step)},
	}}
}

// innerFigure has the inner iterations of each epoch by the reason why the solves ended, those without solves
// as empty places.
func (h *history) innerFigure() figure {
	f := figure{title: "inner iterations", y: "iterations"}
	if len(h.bars) == 0 {
		return f
	}
	first, last := h.bars[0].epoch, h.bars[len(h.bars)-1].epoch
	for _, s := range krylov.Stops() {
		c := figureCurve{name: s.Words(), tok: stopToken(s), bars: true, points: make(plotter.XYs, max(0, last-first+1))}
		for i := range c.points {
			c.points[i].X = float64(first + i)
		}
		some := 0
		for i := range h.bars {
			if k := h.bars[i].epoch - first; k >= 0 && k < len(c.points) && int(s) < len(h.bars[i].byStop) {
				c.points[k].Y = float64(h.bars[i].byStop[s])
				some += h.bars[i].byStop[s]
			}
		}
		if some > 0 {
			f.curves = append(f.curves, c)
		}
	}
	return f
}

// spectrumFigure has the extreme eigenvalues over the epochs, greatest first.
func (h *history) spectrumFigure() figure {
	f := figure{title: "spectrum", y: "eigenvalue"}
	if len(h.spectra) == 0 {
		return f
	}
	f.title += ", " + matrix(h.newestSpectrum())
	for i := range h.spectra {
		e := &h.spectra[i]
		for k, value := range e.Eigenvalues {
			if k == len(f.curves) {
				f.curves = append(f.curves, figureCurve{tok: tokTrain})
			}
			if y := float64(value); !math.IsNaN(y) && !math.IsInf(y, 0) {
				f.curves[k].points = append(f.curves[k].points, plotter.XY{X: float64(e.Epoch), Y: y})
			}
		}
	}
	named := map[string]bool{}
	for k := range f.curves {
		c := &f.curves[k]
		name := "positive"
		if n := len(c.points); n > 0 && c.points[n-1].Y < 0 {
			name, c.tok, c.dashed = "negative", tokNegativeCurvature, true
		}
		if !named[name] {
			c.name, named[name] = name, true
		}
	}
	return f
}
