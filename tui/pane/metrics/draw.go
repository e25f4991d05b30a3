package metrics

import (
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

var nan = math.NaN()

// cell is a chart as it was drawn last.
type cell struct {
	canvas chart.Canvas
	key    cellKey
	rows   []string
	area   chart.Area
	frame  uint64 // that it was drawn in
}

// cellKey is what the picture of a chart depends on.
type cellKey struct {
	pen                style.Pen
	w, h               int
	selected, labelled bool
	style              chart.Style
	span               [2]float64
	changes            uint64
	x                  string
	version            chart.Version // of its only curve
	many               uint64        // of several
}

// Draw returns the grid in h rows, none wider than w. active says that it has the keys: the selected chart is marked,
// and the last row says what is shown.
func (g *Grid) Draw(v *style.Pen, w, h int, active bool) []string {
	g.StartPicture()
	g.frame++
	defer func(wanted chart.Axis) { g.By = wanted }(g.By)
	g.By = g.Axis()
	g.place, g.status = layout.Rect{}, g.status[:0]
	if g.catalog == nil || w < 1 || h < 1 {
		return nil
	}
	footed := active && h >= 3
	if footed {
		h--
	}
	var rows []string
	switch m := g.selected(); {
	case len(g.items) == 0:
		rows = []string{v.Line(w).Write(style.Muted, g.nothing()).Full()}
	case g.whole && active && m != nil:
		rows = g.drawWhole(v, m, w, h)
	default:
		rows = g.drawPage(v, w, h, active)
	}
	if !footed {
		return rows
	}
	return append(style.Block(rows, w, h), g.statusLine(v, w, h))
}

// Axis is the x axis of the charts: the one that was chosen, or epochs where no run tells that.
func (g *Grid) Axis() chart.Axis {
	for i := range g.runs {
		if history.PositionOf(&g.runs[i].H.Latest)[g.By] > 0 {
			return g.By
		}
	}
	return chart.Epochs
}

// drawWhole gives the selected chart all the room.
func (g *Grid) drawWhole(v *style.Pen, m *metric, w, h int) []string {
	g.Fresh = false
	if now := apart(g, m); now != g.zoomedApart {
		g.zoomedApart, g.Window, g.On, g.Follow = now, [2]float64{}, false, false
	}
	g.lead([]*metric{m})
	m.x = ""
	p := g.plot(m)
	g.Dress(&p)
	if apart(g, m) {
		p.By, p.Over, p.Marks, p.AllMarks = chart.Epochs, m.own, nil, nil
	}
	const few = 8 // curves that a legend has room for
	p.Legend = w >= 24 && h >= 4 && len(m.curves) <= few
	p.Tabled = len(m.curves) > few
	g.place = layout.Rect{W: w, H: h}
	title := v.Line(w)
	g.title(v, title, m, true)
	return append([]string{title.Full()}, g.DrawAt(v, &g.zoom, p, 0, 1, w, h-1)...)
}

// drawPage draws the page of the selected item.
func (g *Grid) drawPage(v *style.Pen, w, h int, active bool) []string {
	labels := 0
	if h > chartH {
		labels = 1 // the row of x under the last charts
	}
	n, lines := 0, 0
	for i := range g.items {
		switch it := &g.items[i]; {
		case it.system && !g.items[0].system:
		case it.flat:
			lines++
		default:
			n++
		}
	}
	if g.grouping != Ungrouped {
		n, lines = 0, 0
	}
	all := maxShape(w, h)
	lines = min((lines+all.lines-1)/all.lines, h/4)
	if n > (h-labels-lines)/all.h*all.columns { // they come on the last page
		lines = min(lines, 1)
	}
	s := g.division.shape(shapeOf(n, w, h-labels-lines), n, w, h-labels-lines)
	g.paginate(s, w, h-labels)
	g.place = layout.Rect{W: w, H: h}
	shown := g.pages[g.page]
	var metrics []*metric
	for _, r := range shown {
		for i := r.first; i < r.end; i++ {
			if it := &g.items[i]; it.metric >= 0 && !it.flat && !apart(g, &g.catalog.all[it.metric]) {
				metrics = append(metrics, &g.catalog.all[it.metric])
			}
		}
	}
	g.Fresh = false
	g.lead(metrics)
	span := g.span(metrics)
	for _, m := range metrics {
		m.x = alone(g, m, span)
	}
	last := -1 // row of charts
	for i, r := range shown {
		if !r.heading && !g.items[r.first].flat {
			last = i
		}
	}
	rows := make([]string, 0, h)
	for i, r := range shown {
		if r.heading {
			rows = append(rows, g.heading(v, &g.items[r.first], w, active && g.at == r.first))
			continue
		}
		high := r.h
		if i == last {
			high += labels
		}
		rows = append(rows, g.drawRow(v, r, span, len(rows), high, active)...)
	}
	g.sweep()
	return rows
}

// drawRow draws a row of charts beside each other; the one that is h rows high and not r.h has the labels of x.
func (g *Grid) drawRow(v *style.Pen, r row, span [2]float64, y, h int, active bool) []string {
	rows := make([]string, h)
	x := 0
	for i := r.first; i < r.end; i++ {
		c := g.drawCell(v, &g.catalog.all[g.items[i].metric], span, r.w, h, h > r.h, active && i == g.at)
		if c.area.W > 0 && !apart(g, &g.catalog.all[g.items[i].metric]) {
			a := c.area
			a.X, a.Y = a.X+x, a.Y+y+1
			g.Shown = append(g.Shown, chart.Viewport{Area: a, Dots: v.Glyphs})
		}
		for k := range rows {
			if i > r.first {
				rows[k] += style.Spaces(gap)
			}
			rows[k] += c.rows[k]
		}
		x += r.w + gap
	}
	return rows
}

// drawCell returns a chart with its title, drawn only where it changed.
func (g *Grid) drawCell(v *style.Pen, m *metric, span [2]float64, w, h int, labelled, selected bool) *cell {
	if g.cells == nil {
		g.cells = map[string]*cell{}
	}
	c := g.cells[m.name]
	if c == nil {
		c = &cell{}
		g.cells[m.name] = c
	}
	c.frame = g.frame
	key := cellKey{pen: *v, w: w, h: h, selected: selected, labelled: labelled, style: g.Style(), span: span,
		changes: g.changes, x: m.x}
	key.version, key.many = g.version(m)
	if c.rows != nil && c.key == key {
		return c
	}
	c.key = key
	title := v.Line(w)
	g.title(v, title, m, selected)
	if h == 1 {
		c.rows, c.area = append(c.rows[:0], title.Full()), chart.Area{}
		return c
	}
	p := g.plot(m)
	if own := (chart.Controls{}); apart(g, m) {
		own.DressSmall(&p)
		span = g.span([]*metric{m})
		p.Over, p.Marks, p.AllMarks = m.own, nil, nil
	} else {
		g.DressSmall(&p)
	}
	if m.x != "" {
		span[0], span[1], _ = extent(g, m)
	}
	p.Span, p.Closed, p.NoX, p.Unit = span, true, !labelled, labelled
	p.Y.Margin = min(6, w/4)
	rows := c.canvas.Draw(v, p, w, h-1)
	c.area = c.canvas.Drawn
	c.rows = append(append(c.rows[:0], title.Full()), rows...)
	return c
}

// sweep forgets the pictures of charts that were not seen lately.
func (g *Grid) sweep() {
	const pages = 8
	for name, c := range g.cells {
		if c.frame+pages < g.frame && len(g.cells) > 64 {
			delete(g.cells, name)
		}
	}
}

// lead has the keys of the charts move along the curve with the most points of some metrics.
func (g *Grid) lead(metrics []*metric) {
	g.Main = &chart.Series{}
	for _, m := range metrics {
		for i := range m.curves {
			if s := g.over.line(g.runs[m.curves[i].run].H, &m.curves[i]); s.Points > g.Main.Points {
				g.Main = s
			}
		}
	}
	g.Advance()
}

// extent is the part of x that some metrics have values at, and whether all of their runs are over.
func extent(g *Grid, metrics ...*metric) (left, right float64, over bool) {
	left, right, over = math.Inf(1), math.Inf(-1), true
	for _, m := range metrics {
		for i := range m.curves {
			k := &m.curves[i]
			over = over && g.runs[k.run].H.Over()
			if first, last, ok := g.over.line(g.runs[k.run].H, k).Extent(); ok {
				left, right = math.Min(left, first[g.By]), math.Max(right, last[g.By])
			}
		}
	}
	return left, right, over
}

// span is the x axis that the charts of some metrics share.
func (g *Grid) span(metrics []*metric) [2]float64 {
	left, right, over := extent(g, metrics...)
	if !(left <= right) {
		return [2]float64{}
	}
	if !over {
		limit := 0.0
		if len(g.runs) == 1 && g.over.name == "" {
			limit = float64(g.runs[0].H.Status.EpochLimit)
		}
		right = chart.Ahead(g.By, right, limit)
	}
	return [2]float64{left, right}
}

// alone is the part of x that a metric's chart shows for itself, as it would be lost in what the charts share, "" for
// none: logs of 30 steps beside those of 500,000.
func alone(g *Grid, m *metric, span [2]float64) string {
	const small = 1.0 / 16
	left, right, _ := extent(g, m)
	if len(g.runs) < 2 || g.Zoomed() || g.LogX || !(right-left < small*(span[1]-span[0])) {
		return ""
	}
	return format.Tick(left) + " to " + format.Tick(right)
}

// partTokens are the inks of a single run's curves.
var partTokens = [...]style.Token{plain: style.Train, train: style.Train, held: style.Validation,
	test: style.Test}

var partNames = [...]string{plain: "train", train: "train", held: "valid", test: "test"}

// plot says what the chart of a metric shows.
func (g *Grid) plot(m *metric) chart.Plot {
	p := chart.Plot{XAxis: chart.XAxis{Whole: g.over.name == "", Counted: g.counted(), Over: style.Clean(g.over.name)},
		Log: g.log(m)}
	p.Value = func(v float64) string { return m.text(g.runs, v) }
	if m.share {
		p.Percent()
		p.Y.Complement = m.complement
	}
	for _, k := range g.drawn(m) {
		c := chart.Curve{Series: g.over.line(g.runs[k.run].H, k)}
		if len(g.runs) == 1 {
			c.Name, c.Token, c.Dashed, c.Mark = partNames[k.part], partTokens[k.part], k.part == test,
				rune("**+o"[k.part])
			if len(m.curves) == 1 {
				c.Name = m.name
			}
		} else {
			r := &g.runs[k.run]
			c.Name, c.Token, c.Dashed, c.Thick, c.Mark = ansi.Truncate(
				r.Name, 20, "…"), r.Token, r.Dashed, r.Thick, r.Mark
			if g.whole {
				c.Tag = r.Tag
			}
		}
		p.Curves = append(p.Curves, c)
	}
	if g.over.name != "" {
		// what is marked is at epochs
	} else if len(g.runs) == 1 {
		p.Marks = g.runs[0].H.Curves.Marks()
	} else if front := slices.IndexFunc(g.runs, func(r Run) bool { return r.Front }); front >= 0 && g.whole {
		p.AllMarks = g.runs[front].H.Curves.AllMarks
	}
	if k := &m.curves[0]; g.target > 0 && k.at == ^seriesOf(g.runs[k.run].H.Measure.Quantity) {
		p.Rules = []float64{g.target}
	}
	return p
}

// Figure is what a picture of the selected chart shows, nil without one.
func (g *Grid) Figure() *figure.Chart {
	m := g.selected()
	if m == nil {
		return nil
	}
	f := &figure.Chart{Title: style.Clean(m.name), X: XName(g), Y: style.Clean(m.name), LogX: g.LogX,
		LogY: g.log(m)}
	for _, k := range g.drawn(m) {
		c := figure.Curve{Name: g.runs[k.run].Name, Color: style.OnPaper(g.runs[k.run].Token),
			Dashed: g.runs[k.run].Dashed}
		for _, b := range g.over.line(g.runs[k.run].H, k).Fine() {
			if b.N > 0 {
				c.Points = append(c.Points, figure.Point{X: b.X1[g.By], Y: m.shown(b.Last)})
			}
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

// heading draws the row of a group.
func (g *Grid) heading(v *style.Pen, it *item, w int, selected bool) string {
	arrow, color := "▾ ", style.Accent
	if it.folded {
		arrow = "▸ "
	}
	if selected {
		color = style.Chosen
	}
	l := v.Line(w).Write(color, arrow+it.heading).Write(style.Muted, " "+format.Count(it.count)+" ")
	return l.Write(style.Grid, style.Repeat("─", l.Left())).Full()
}

// Aim marks a value in the chart of what the runs are judged by, 0 for none.
func (g *Grid) Aim(target float64) {
	if target != g.target {
		g.target = target
		g.changes++
	}
}

// Value is what a run, shown or not, has of the selected metric at the cursor, or latest; or the best of its values,
// the least where its name doesn't say which are better. It is NaN and "" for nothing.
func (g *Grid) Value(h *history.History, best bool) (v float64, text string) {
	m := g.selected()
	if m == nil {
		return nan, ""
	}
	k := m.curves[0]
	if k.at >= 0 {
		name := k.metric(g.runs[k.run].H).Symbol
		if k = named(h, k, name); k.at < 0 {
			return nan, ""
		}
	}
	v = m.shown(g.valueOf(m, g.over.line(h, &k)))
	if best {
		low, high, ok := m.bounds(k.of(h))
		if v = low; m.better == event.MoreBetter {
			v = high
		}
		if !ok {
			v = nan
		}
	}
	if v != v {
		return v, ""
	}
	return v, m.text(g.runs, v)
}

// ValueBeside is what a run of a group has of the selected metric at the cursor, or at the end of the group's curve;
// NaN for nothing.
func ValueBeside(g *Grid, group, h *history.History) float64 {
	m := g.selected()
	if m == nil {
		return nan
	}
	k, of := m.curves[0], m.curves[0]
	if k.at >= 0 {
		name := k.metric(g.runs[k.run].H).Symbol
		if k, of = named(group, k, name), named(h, k, name); k.at < 0 || of.at < 0 {
			return nan
		}
	}
	_, end, _ := g.over.line(group, &k).Extent()
	by, x := chart.Epochs, end[chart.Epochs]
	if g.On && (g.whole || !apart(g, m)) {
		by, x = g.By, g.Cursor[g.By]
	}
	return m.shown(g.over.line(h, &of).At(by, x))
}

// named is a curve of the same kind and name in another history; its at is below 0 where that has none.
func named(h *history.History, k curve, name string) curve {
	if k.kind == machine {
		k.at = slices.IndexFunc(h.Curves.Machine.Series, func(f *history.MetricSeries) bool { return f.Symbol == name })
	} else {
		k.at = slices.IndexFunc(h.Curves.Metrics, func(f history.MetricSeries) bool { return f.Symbol == name })
	}
	return k
}

// Text writes a value of the selected metric, "" for none.
func (g *Grid) Text(v float64) string {
	if m := g.selected(); m != nil && v == v {
		return m.text(g.runs, v)
	}
	return ""
}

// value is that of a curve at the cursor, or its latest.
func (g *Grid) value(m *metric, k *curve) float64 {
	return m.shown(g.valueOf(m, g.over.line(g.runs[k.run].H, k)))
}

func (g *Grid) valueOf(m *metric, s *chart.Series) float64 {
	if g.On && (g.whole || !apart(g, m)) {
		return s.At(g.By, g.Cursor[g.By])
	}
	return s.Last()
}

// title names a metric, and what its curves have at the cursor or latest.
func (g *Grid) title(v *style.Pen, l *style.Line, m *metric, selected bool) {
	var values []style.Part
	width := 0
	own := ""
	if apart(g, m) && !m.flat {
		own = "  [x: " + style.Clean(m.own) + "]"
	} else if m.x != "" && !m.flat {
		own = "  [x: " + m.x + "]"
	}
	room := max(l.Room/2, l.Room-style.Cells(m.name)-4) - style.Cells(own)
	put := func(parts ...style.Part) bool {
		n := style.Width(parts)
		if width+n > room {
			return false
		}
		values, width = append(values, parts...), width+n
		return true
	}
	curves := g.drawn(m)
	if len(g.runs) > 1 {
		slices.Reverse(curves) // those that stand over the others first
	}
	for _, k := range curves {
		color := partTokens[k.part]
		if len(g.runs) > 1 {
			color = g.runs[k.run].Token
		}
		if v := g.value(m, k); v != v && len(g.runs) > 1 {
			continue
		}
		text := m.text(g.runs, g.value(m, k))
		if m.flat && slices.ContainsFunc(values, func(p style.Part) bool { return p.Text == text }) {
			continue // a value that several runs have
		}
		if !put(style.Text.Of(" "), color.Of(text)) {
			break
		}
	}
	best := ""
	if len(g.runs) == 1 && !m.flat {
		if best = g.best(m); width+style.Cells(best)+style.Cells(m.name)+1 > l.Room {
			best = ""
		}
	}
	color, sign := style.Strong, ""
	if selected {
		color, sign = style.Focus, "▸"
	}
	if slices.Contains(g.pinned, m.name) {
		sign += "■ "
	}
	name := style.Clean(m.name)
	space := l.Room - width - style.Cells(best) - style.Cells(sign) - style.Cells(own)
	l.Write(color, sign+widget.Cut(name, max(space, 1), g.Names()))
	l.Group(style.Muted.Of(own))
	if !m.flat && g.log(m) && l.Left() > width+style.Cells(best)+5 {
		l.Write(style.Muted, " log")
	}
	l.Write(style.Muted, best)
	if rule := l.Left() - width; rule > 1 {
		l.Write(style.Text, " ").Write(style.Grid, style.Repeat("─", rule-1))
	}
	for _, p := range values {
		l.Write(p.Token, p.Text)
	}
}
