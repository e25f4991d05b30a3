package inner

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// factorView is what the chart of the zoomed pane shows.
type factorView uint8

const (
	byEpoch factorView = iota // condition numbers over the epochs
	byRank                    // the latest spectra
	ofSteps                   // the length of each epoch's step
	factorViews
)

// text name a view.
func (f factorView) text() string {
	return [factorViews]string{"condition numbers", "spectra by rank", "‖Δw‖"}[f]
}

// whole draws the pane that has the screen: the table, and a chart beside or beneath it.
func (p *factorTable) whole(v *pane.View, steps chart.Plot, w, h int) []string {
	p.StartPicture()
	rows := factorRows(v.H)
	if len(rows) == 0 {
		return centred(v, factorsToCome, w, h)
	}
	p.chosen = min(p.chosen, scaledRows(rows))
	const side, wide, leastChart = 68, 130, 11
	if w >= wide && h >= 8 {
		table := p.list(v, rows, side, h-1)
		drawn := p.chart(v, rows, steps, side+2, 0, w-side-2, h-1)
		return append(style.Beside(style.Block(table, side, h-1), side, drawn), p.keyLine(v, w))
	}
	room := min(len(rows)+2, max(h*2/5, h-leastChart))
	if h < 12 {
		room = 0
	}
	var out []string
	if p.point = (rowArea{}); room >= 3 {
		out = p.list(v, rows, w, room)
	}
	keys := min(1, max(0, h-7))
	out = append(out, p.chart(v, rows, steps, 0, len(out), w, h-len(out)-keys)...)
	if keys > 0 {
		out = append(out, p.keyLine(v, w))
	}
	return out
}

// list draws the table into h rows, which go with the chosen factor where there are more.
func (p *factorTable) list(v *pane.View, rows []factorRow, w, h int) []string {
	p.table.Resize(w, h)
	d := factorDrawing{v: v, c: &p.table, rows: rows, scale: scaleOf(rows), w: w, chosen: p.chosen, marked: true}
	columns, ok := d.columns(rows)
	if !ok {
		d.marked = false
		d.pairs(0, h, true)
		return p.table.Rows(&v.Pen)
	}
	shown := min(len(rows), h-2)
	p.first = max(0, min(p.first, len(rows)-shown))
	if at := slices.IndexFunc(rows, func(r factorRow) bool { return r.is(p.chosen) }); at >= 0 {
		p.first = max(min(p.first, at), at-shown+1)
	}
	d.title(columns, 0)
	each := max(1, min(3, (h-2)/len(rows)))
	for i := range shown {
		d.row(p.first+i, columns, 1+i*each, each)
	}
	d.footer(h - 1)
	if shown < len(rows) {
		d.right(w, h-1, style.Muted, format.Count(p.first+1)+" to "+format.Count(p.first+shown)+" of "+format.Count(
			len(rows)))
	}
	p.point = rowArea{1, w, each, shown}
	return p.table.Rows(&v.Pen)
}

// chart draws what the view shows, its top left corner at a cell of the body.
func (p *factorTable) chart(v *pane.View, rows []factorRow, steps chart.Plot, x, y, w, h int) []string {
	if w < 1 || h < 1 {
		return nil
	}
	var body []string
	switch p.view {
	case byRank:
		body = p.plot.Draw(&v.Pen, rankPlot(rows, p.chosen), w, h-1)
	case ofSteps:
		body = p.Show(&v.Pen, &p.plot, steps, x, y+1, w, h-1)
	default:
		pl := conditionPlot(v, rows, p.chosen)
		p.Dress(&pl)
		pl.Legend = false // the table has the names
		body = p.DrawAt(&v.Pen, &p.plot, pl, x, y+1, w, h-1)
	}
	return append([]string{p.caption(v, rows, w)}, body...)
}

// caption says what the chart under it shows, and of the chosen factor which it is.
func (p *factorTable) caption(v *pane.View, rows []factorRow, w int) string {
	l := v.Line(w).Write(style.Accent, p.view.text())
	switch {
	case p.view == ofSteps:
		l.Group(style.Muted.Of("  length of each epoch's step"))
	case p.chosen > 0:
		r := &rows[slices.IndexFunc(rows, func(r factorRow) bool { return r.is(p.chosen) })]
		l.Group(style.Muted.Of("  of "), style.Focus.Of(strings.TrimLeft(r.tag()+" ", " ")+r.name()))
	default:
		l.Group(style.Muted.Of("  outputs solid, inputs dashed"))
	}
	l.Group(style.Muted.Of("  log"))
	return l.Full()
}

// curve is how a factor's is drawn: with its letter, and where another factor is chosen in the background.
func (r *factorRow) curve(s *chart.Series, chosen int) chart.Curve {
	k := chart.Curve{Name: r.name(), Token: r.token(), Series: s, Dashed: r.Side == event.SideInputs, Mark: '*',
		Tag: r.tag()}
	if k.Tag != "" {
		k.Name, k.Mark = k.Tag+" "+k.Name, rune(k.Tag[0])
	}
	switch {
	case r.is(chosen):
		k.Token, k.Thick = style.Focus, true
	case chosen > 0:
		k.Token = style.Grid
	}
	return k
}

// is reports whether the factor is the chosen one.
func (r *factorRow) is(chosen int) bool { return chosen > 0 && !r.leftOut() && r.letter == chosen-1 }

// scaledRows is how many rows are not left out.
func scaledRows(rows []factorRow) (n int) {
	for i := range rows {
		if !rows[i].leftOut() {
			n++
		}
	}
	return n
}

// lastChosen moves the chosen curve behind the others, so that it lies on them.
func lastChosen(curves []chart.Curve) []chart.Curve {
	if i := slices.IndexFunc(curves, func(k chart.Curve) bool { return k.Thick }); i >= 0 {
		k := curves[i]
		curves = append(slices.Delete(curves, i, i+1), k)
	}
	return curves
}

// conditionPlot has the condition numbers over the epochs.
func conditionPlot(v *pane.View, rows []factorRow, chosen int) chart.Plot {
	var curves []chart.Curve
	list := v.H.Factors.Conditions
	for i := range list {
		if at := list[i].At; at < len(rows) && !list[i].Series.Empty() {
			curves = append(curves, rows[at].curve(&list[i].Series, chosen))
		}
	}
	if len(curves) == 0 {
		curves = []chart.Curve{{Series: &chart.Series{}}}
	}
	pl := pane.EpochPlot(v.H, lastChosen(curves)...)
	pl.Log, pl.Waiting = true, "all factors are singular"
	pl.Value = func(k float64) string { return conditionText(k, 7) }
	return pl
}

// rankPlot has the latest spectra, the greatest eigenvalue at the left, and the damping of the chosen one as a line.
func rankPlot(rows []factorRow, chosen int) chart.Plot {
	pl := chart.Plot{XAxis: chart.XAxis{Whole: true}, Y: chart.YAxis{Name: "rank"}, Log: true, Closed: true,
		Detail: true, Waiting: "all factors are zero"}
	for i := range rows {
		r, s := &rows[i], &chart.Series{}
		for k, x := range r.Eigenvalues {
			if r.Ends && k == (len(r.Eigenvalues)+1)/2 {
				s.Gap(chart.Position{float64(r.rank(k - 1))})
			}
			if x := float64(x); x > r.zeroBound() && format.Finite(x) {
				s.Add(float64(r.rank(k)), x)
			}
		}
		if !s.Empty() {
			pl.Curves = append(pl.Curves, r.curve(s, chosen))
		}
		if r.is(chosen) && r.Damping > 0 {
			pl.Rules = []float64{float64(r.Damping)}
		}
	}
	if pl.Curves = lastChosen(pl.Curves); len(pl.Curves) == 0 {
		pl.Curves = []chart.Curve{{Series: &chart.Series{}}}
	}
	return pl
}

// rank is that of an eigenvalue among all of the factor's, of which some are reported, evenly spaced or at the ends.
func (r *factorRow) rank(k int) int {
	n := len(r.Eigenvalues)
	size := max(r.Size, n)
	switch {
	case r.Ends && k < (n+1)/2, n < 2:
		return 1 + k
	case r.Ends:
		return size - n + 1 + k
	}
	return 1 + k*(size-1)/(n-1)
}

// keyLine names the pane's keys, and behind them the chart's.
func (p *factorTable) keyLine(v *pane.View, w int) string {
	l := v.Line(w)
	l.Group(style.Accent.Of("v"), style.Muted.Of(" "+((p.view+1)%factorViews).text()+"  "))
	l.Group(style.Accent.Of(v.Glyphs.Keys("↑↓")), style.Muted.Of(" factor  "))
	if p.view == byRank {
		return l.Full()
	}
	return l.Raw(p.KeyLine(&v.Pen, l.Left()), l.Left()).Full()
}

// keys are those of the zoomed pane.
func (p *factorTable) keys() (out []pane.Key) {
	only := func(v *pane.View) bool { return factored(v.H) }
	out = []pane.Key{
		{Show: "v", Help: "condition numbers, spectra, length of the steps", Names: []string{"v"}, Only: only,
			Do: func(*pane.View, string) (tea.Cmd, bool) {
				p.view = (p.view + 1) % factorViews
				return nil, true
			}},
		{Show: "↑ ↓", Help: "choose a factor, or none", Names: []string{"up", "down"}, Only: only,
			Do: func(v *pane.View, k string) (tea.Cmd, bool) {
				n := scaledRows(factorRows(v.H)) + 1
				p.chosen = (p.chosen + map[string]int{"up": n - 1, "down": 1}[k]) % n
				return nil, true
			}},
	}
	for _, k := range p.Keys() {
		out = append(out, pane.Key{Show: k.Show, Help: k.Help, Names: k.Names, Only: only,
			Do: func(_ *pane.View, name string) (tea.Cmd, bool) { return nil, p.HandleKey(name) }})
	}
	return append(out, pane.Key{Names: []string{"esc"}, Only: only, Do: func(*pane.View, string) (tea.Cmd, bool) {
		some := p.chosen > 0
		p.chosen = 0
		return nil, some
	}})
}

// mouse chooses the factor whose row is at a cell, or gives the event to the chart.
func (p *factorTable) mouse(v *pane.View, m tea.MouseMsg, x, y int) bool {
	row := y - p.point.y
	c, ok := m.(tea.MouseClickMsg)
	if ok && c.Button == tea.MouseLeft && x < p.point.w && row >= 0 && row < p.point.n*p.point.each {
		rows := factorRows(v.H)
		if at := p.first + row/p.point.each; at < len(rows) && !rows[at].leftOut() {
			p.chosen = rows[at].letter + 1
		}
		return true
	}
	return p.HandleMouse(m, x, y)
}

// figure has the condition numbers over the epochs.
func (p *factorTable) figure(v *pane.View) *figure.Chart {
	f := figure.Chart{Title: "condition numbers of factors", Y: "condition number", LogY: true}
	rows := factorRows(v.H)
	list := v.H.Factors.Conditions
	for i := range list {
		if list[i].At >= len(rows) || list[i].Series.Empty() {
			continue
		}
		r := &rows[list[i].At]
		f.Curves = append(f.Curves, figure.Curve{Name: r.name(), Color: style.OnPaper(r.token()),
			Dashed: r.Side == event.SideInputs, Points: pane.PointsOf(&list[i].Series)})
	}
	return pane.RunFigure(v.H, f)
}
