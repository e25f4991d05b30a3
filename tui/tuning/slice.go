package tuning

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// slicedDim is the dimension that the slice is over; nil for none.
func slicedDim(m *model) *dimensionInfo {
	if at := dimension(m); at >= 0 {
		return &m.dims[at]
	}
	return nil
}

// dimension is the number of the one that was asked for, else of that which matters most if that is sure, else of the
// first range that a trial with a value lies in, else of the first range.
func dimension(m *model) int {
	if at := dimensionIndex(m, m.charts.dim); at >= 0 {
		return at
	}
	if len(m.leaderboard.Importances) > 0 {
		top := slices.MaxFunc(m.leaderboard.Importances, func(a, b tune.Importance) int {
			return cmp.Compare(a.Share, b.Share)
		})
		if at := dimensionIndex(m, tailOf(top.Key)); at >= 0 && !(top.Share <= top.Spread) {
			return at
		}
	}
	isRange := func(d dimensionInfo) bool { return d.names == nil }
	if at := slices.IndexFunc(m.dims, func(d dimensionInfo) bool { return isRange(d) && valued(m, &d) }); at >= 0 {
		return at
	}
	if at := slices.IndexFunc(m.dims, isRange); at >= 0 {
		return at
	}
	return min(0, len(m.dims)-1)
}

// valued reports whether a trial has a value over a dimension.
func valued(m *model, d *dimensionInfo) bool {
	for i := range m.leaderboard.Trials {
		if t := &m.leaderboard.Trials[i]; format.Finite(d.position(t)) && format.Finite(valueOf(m, t)) {
			return true
		}
	}
	return false
}

// dimensionIndex is the number of a dimension, −1 for none of that key.
func dimensionIndex(m *model, key string) int {
	return slices.IndexFunc(m.dims, func(d dimensionInfo) bool { return d.key == key })
}

// turnDimension moves to another dimension.
func turnDimension(m *model, by int) {
	if n := len(m.dims); n > 0 {
		m.charts.dim = m.dims[(dimension(m)+by+n)%n].key
	}
}

// drawSlice has every trial's value over one of its hyperparameters.
func drawSlice(m *model, r layout.Rect) (title []style.Part, rows []string) {
	if m.charts.parallel {
		return drawParallel(m, r)
	}
	d := slicedDim(m)
	if d == nil {
		return []style.Part{style.Strong.Of("over a hyperparameter")},
			[]string{m.Line(r.W).To(1).Write(style.Muted, "the trials differ in nothing that was searched").Full()}
	}
	name := ansi.Truncate(style.Clean(d.key), 20, "…")
	p := chart.Plot{Waiting: "no trial has a value yet"}
	if timed(m) {
		p.Waiting = "no trial has reached the target yet"
	}
	scalePlot(m, &p, tuneSlice, timed(m))
	title = []style.Part{style.Strong.Of("over " + name), style.Muted.Of("  " + valueName(m)), p.ScaleWord()}
	if d.names != nil {
		p.Window = [2]float64{-0.5, float64(len(d.names)) - 0.5}
		for _, s := range d.names {
			p.Names = append(p.Names, style.Clean(s))
		}
	} else {
		p.LogX, p.Window = d.log, [2]float64{d.low, d.high}
	}
	if d.log {
		title = append(title, style.Muted.Of("  log x"))
	}
	if len(m.dims) > 1 {
		title = append(title, style.Muted.Of("  "+m.Glyphs.Keys("←→")+" others"))
	}
	trials := slices.DeleteFunc(slices.Clone(m.charts.layers),
		func(i int) bool { return math.IsNaN(d.position(&m.leaderboard.Trials[i])) })
	for _, i := range trials {
		t := &m.leaderboard.Trials[i]
		x := d.position(t)
		if d.names != nil {
			x += jitter(t.Number)
		}
		p.Dots = append(p.Dots, dotOf(m, t, x, p.Log))
	}
	return title, drawDots(m, tuneSlice, p, trials, r)
}

// drawParallel has parallel coordinates: the measure and every hyperparameter as axes beside each other, and each
// trial as a line over them: the best ones in their colours over the others. A line has a gap where its trial has no
// such hyperparameter.
func drawParallel(m *model, r layout.Rect) (title []style.Part, rows []string) {
	p := chart.Plot{XAxis: chart.XAxis{By: chart.Epochs}, Waiting: "no trial has a value yet"}
	scalePlot(m, &p, tuneSlice, timed(m))
	p.Rules, p.Above = nil, ""
	axes := len(m.dims) + 1
	p.Window = [2]float64{-0.5, float64(axes) - 0.5}
	name := valueName(m)
	p.Names = append(p.Names, name[strings.LastIndexByte(name, ' ')+1:])
	for k := range m.dims {
		p.Names = append(p.Names, m.dims[k].label(r.W/axes-2))
	}
	low, high := math.NaN(), math.NaN()
	for _, i := range m.charts.layers {
		if v := levelOf(m, &m.leaderboard.Trials[i], p.Log); format.Finite(v) {
			low, high = chart.Lesser(low, v), -chart.Lesser(-high, -v)
		}
	}
	best := max(3, len(m.leaderboard.Order)/10)
	for _, i := range m.charts.layers[max(0, len(m.charts.layers)-maxCurves):] {
		t := &m.leaderboard.Trials[i]
		y := levelOf(m, t, p.Log)
		if !format.Finite(y) || t.State == tune.Diverged || t.State == tune.Failed {
			continue
		}
		tag := m.tag(t)
		c := chart.Curve{Token: style.Grid, Mark: '.'}
		switch rank := m.rank[i]; {
		case t.Number == m.number:
			c.Token, c.Thick, c.Mark = style.Strong, true, '#'
		case rank > 0 && rank <= best:
			c.Token, c.Mark = tag.Token, []rune(tag.Text)[0]
		}
		line := &chart.Series{}
		for x := range axes {
			if x > 0 {
				y = between(low, high, p.Log, m.dims[x-1].share(t))
			}
			if math.IsNaN(y) {
				c.Series, line = line, &chart.Series{}
				p.Add(c)
				continue
			}
			line.Append(chart.Position{float64(x), float64(x), float64(x)}, y)
		}
		c.Series = line
		p.Add(c)
	}
	title = []style.Part{style.Strong.Of("parallel coordinates"), style.Muted.Of("  " + name), p.ScaleWord()}
	return title, m.charts.chart[tuneSlice].Draw(&m.Pen, p, r.W, r.H)
}

// between is the value at a share of a scale.
func between(low, high float64, log bool, share float64) float64 {
	if log {
		return math.Exp(math.Log(low) + share*(math.Log(high)-math.Log(low)))
	}
	return low + share*(high-low)
}

// share is where a trial's choice lies between the ends of the dimension's axis, NaN where the dimension is not its
// own.
func (d *dimensionInfo) share(t *tune.Trial) float64 {
	v, low, high := d.position(t), d.low, d.high
	switch {
	case d.names != nil:
		return (v + 0.5) / float64(len(d.names))
	case d.log:
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return (v - low) / (high - low)
}

// label is a dimension's key, with its ends or names where that fits.
func (d *dimensionInfo) label(w int) string {
	key, ends := style.Clean(d.key), strings.Join(d.names, " ")
	if d.names == nil {
		ends = format.Number(d.low) + "–" + format.Number(d.high)
	}
	if long := key + " " + style.Clean(ends); style.Cells(long) <= w {
		return long
	}
	return key
}

// jitter spreads the trials that made one choice by the golden ratio, so that those of near numbers stand apart.
func jitter(number int) float64 {
	_, f := math.Modf(float64(number) * (math.Phi - 1))
	return 0.7 * (f - 0.5)
}

// drawMatters has how much of the differences between the trials each dimension explains.
func drawMatters(m *model, r layout.Rect) (title []style.Part, rows []string) {
	title = []style.Part{style.Strong.Of("what matters"), style.Muted.Of("  share of the differences it explains")}
	list := slices.Clone(m.leaderboard.Importances)
	sort.SliceStable(list, func(i, j int) bool { return cmp.Less(list[j].Share, list[i].Share) })
	m.charts.matters, m.charts.shares = r, m.charts.shares[:0]
	if len(list) == 0 {
		return title, []string{m.Line(r.W).To(1).Write(style.Muted, "known once about eight trials have ended").Full()}
	}
	names, trends := 4, 0
	for i := range list {
		names = min(max(names, style.Cells(style.Clean(list[i].Key))), 18)
		trends = max(trends, style.Cells(style.Clean(list[i].Trend)))
	}
	const lead, figures = 2, 13 // "100 % ± 100"
	bar := r.W - lead - names - 1 - 1 - figures
	below := trends > 0 && bar-trends-1 < 8 // the trends have rows of their own, or none
	if trends > 0 && !below {
		bar -= trends + 1
	}
	bar = max(4, min(bar, 40))
	for i := range list {
		k := &list[i]
		arrow, color := " ", style.Text
		if d := slicedDim(m); d != nil && d.key == tailOf(k.Key) {
			arrow, color = "▸", style.Strong
		}
		l := m.Line(r.W).Write(style.Accent, arrow+" ").Write(color, ansi.Truncate(style.Clean(k.Key), names, "…")).To(
			lead + names + 1)
		shareBar(m, l, k, bar)
		l.Write(color, " "+shareText(k)).To(lead + names + 1 + bar + 1 + figures)
		if !below {
			l.Write(style.Muted, style.Clean(k.Trend))
		}
		rows, m.charts.shares = append(rows, l.Full()), append(m.charts.shares, tailOf(k.Key))
		if below && k.Trend != "" && r.H >= 2*len(list) {
			rows = append(rows, m.Line(r.W).To(lead+names+1).Write(style.Muted, style.Clean(k.Trend)).Full())
			m.charts.shares = append(m.charts.shares, tailOf(k.Key))
		}
	}
	return title, rows
}

// shareBar draws a share: full as far as its standard error leaves it, dashed as far as that reaches.
func shareBar(m *model, l *style.Line, k *tune.Importance, w int) {
	at := func(v float64) int {
		if math.IsNaN(v) {
			return 0
		}
		return int(math.Round(max(0, min(v, 1)) * float64(w)))
	}
	spread := k.Spread
	if !(spread > 0) {
		spread = 0
	}
	sure, most := at(k.Share-spread), at(k.Share+spread)
	unsure := "╌"
	if m.Glyphs.ASCII {
		unsure = "~"
	}
	l.Write(style.Accent, style.Repeat("━", sure)).Write(style.Accent, style.Repeat(unsure, most-sure)).Write(
		style.Grid, style.Repeat("─", w-most))
}

// shareText writes a share with its standard error.
func shareText(k *tune.Importance) string {
	if !format.Finite(k.Share) {
		return "–"
	}
	whole := func(v float64) string { return format.Count(int(math.Round(100 * max(-1, min(v, 1))))) }
	s := style.Right(whole(k.Share), 3) + " %"
	if format.Finite(k.Spread) {
		s += " ± " + whole(k.Spread)
	}
	return s
}
