// Package inner is the pane of the inner solves: a bar for each with the reason it stopped, and, with the whole screen,
// a player that walks through their iterations and shows the loss along a step. Of a method without solves it shows the
// matrices by which that scales gradients, or the lengths of its steps.
package inner

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Pane shows the inner CG solves: a bar for each epoch, as high as its iterations, in the colour
// and with the letter of the reason why it ended; how often each reason came; and the solve under way.
// Of a method that scales gradients by matrices it shows these.
type Pane struct {
	solvePlayer
	factors     factorTable
	bars, steps chart.Canvas
	marked      markedSolve
	key         barsKey // of what bars shows
	picture     []string
	unlabelled  string // which epochs bars shows, where it has no axis that tells it
}

var (
	_ pane.Keyed     = (*Pane)(nil)
	_ pane.Moused    = (*Pane)(nil)
	_ pane.Pictured  = (*Pane)(nil)
	_ pane.Restarter = (*Pane)(nil)
)

// barsKey is what the picture of the bars depends on. The solve under way changes many times an epoch,
// they do not.
type barsKey struct {
	w, h, barred int
	restarts     int
	marked       markedSolve
	dense, done  bool
	th           *style.Palette
	gl           *style.GlyphSet
}

func (*Pane) ToggleLog() bool { return false }

func (*Pane) Name(v *pane.View) string {
	if factored(v.H) {
		return "factors"
	}
	return "inner"
}

func (p *Pane) Keys() []pane.Key {
	solves := p.solvePlayer.keys()
	for i := range solves {
		solves[i].Only = func(v *pane.View) bool { return !factored(v.H) }
	}
	return append(p.factors.keys(), solves...)
}

// HandleMouse gives what the mouse does to the factors or to the solve that is shown.
func (p *Pane) HandleMouse(v *pane.View, m tea.MouseMsg, x, y int) bool {
	if factored(v.H) {
		return p.factors.mouse(v, m, x, y)
	}
	return p.solvePlayer.mouse(v, m, x, y)
}

// Restart forgets the places in a run that began again.
func (p *Pane) Restart() {
	p.solvePlayer.restart()
	p.factors.chosen, p.factors.first = 0, 0
}

func (*Pane) Version(h *history.History) uint64 {
	return h.Gen.Inner + h.Gen.Epoch + h.Gen.Run + h.Gen.Setting + h.Gen.Spectrum + h.Steps.Gen
}

func (p *Pane) Header(v *pane.View, l *style.Line) {
	if factored(v.H) {
		p.factors.header(v, l)
		return
	}
	if len(v.H.Solves.Bars) == 0 {
		if pane.NoSolves(v.H) && !v.H.Curves.Step.Empty() {
			l.Group(style.Muted.Of("‖Δw‖ "), style.Text.Of(format.Number(v.H.Curves.Step.Last())))
		}
		return
	}
	b := &v.H.Solves.Bars[len(v.H.Solves.Bars)-1]
	s := b.Stop()
	l.Group(style.Strong.Of(format.Count(b.Total)), style.Muted.Of(" it "), history.StopToken(s).Of(string(s.Letter())))
	if in := barParts(b, v.H.Part()); in != "" {
		l.Group(style.Muted.Of(" in " + in))
	}
	if b.Epoch != v.H.Latest.Epoch {
		l.Group(style.Muted.Of(" at " + format.Count(b.Epoch)))
	}
	l.Group(style.Muted.Of("  mean "), style.Text.Of(strconv.FormatFloat(
		float64(v.H.Solves.Iterations)/float64(v.H.Solves.Count), 'f', 1, 64)))
	l.Group(style.Muted.Of("  total "), style.Text.Of(format.Count(v.H.Solves.Iterations)))
}

func (p *Pane) Body(v *pane.View, w, h int, zoomed bool) []string {
	p.marked.epoch = -1
	live := p.now(v, w)
	if factored(v.H) {
		return p.scaled(v, w, h, zoomed, live)
	}
	if s, ok := p.cursor(v.H); ok && zoomed && h >= 6 {
		return p.solvePlayer.body(v, p, &s, w, h)
	}
	if len(v.H.Solves.Bars) == 0 {
		return p.without(v, w, h, live)
	}
	rows := []string{}
	spare := h
	if h >= 4 {
		spare--
	}
	if h >= 3 {
		spare--
	}
	rows = append(rows, p.chart(v, w, spare, zoomed)...)
	if h >= 3 {
		l := p.counts(v, v.Line(w))
		if n := style.Cells(p.unlabelled); n > 0 && n+2 <= l.Left() {
			l.To(w-n).Write(style.Muted, p.unlabelled)
		}
		rows = append(rows, l.Full())
	}
	if h >= 4 {
		rows = append(rows, live)
	}
	return rows
}

// scaled is what the pane shows of a method that has factors: these, and how the epoch under way goes.
func (p *Pane) scaled(v *pane.View, w, h int, zoomed bool, live string) []string {
	switch {
	case zoomed:
		return p.factors.whole(v, p.stepPlot(v), w, h)
	case h < 4 || v.H.Over():
		return p.factors.small(v, w, h)
	}
	return append(style.Block(p.factors.small(v, w, h-1), w, h-1), live)
}

// without is what the pane shows before the first inner solve: how it goes, or of a method that has none
// the lengths of its steps.
func (p *Pane) without(v *pane.View, w, h int, live string) []string {
	rows := make([]string, h)
	free := h
	if h >= 2 && !v.H.Over() {
		free--
		rows[free] = live
	}
	if pane.NoSolves(v.H) && free >= 4 && !v.H.Curves.Step.Empty() {
		l := v.Line(w)
		l.Write(style.Accent, "‖Δw‖").Group(style.Muted.Of("  length of each epoch's step"))
		l.Group(style.Muted.Of("; no inner solves here"))
		rows[0] = l.Full()
		copy(rows[1:], p.steps.Draw(&v.Pen, p.stepPlot(v), w, free-1))
		return rows
	}
	text := "waiting for the first inner solve"
	switch {
	case v.H.External() && v.H.Epochs > 0:
		text = "the record has no inner solves"
	case pane.NoSolves(v.H):
		text = "this optimizer has no inner solves"
	case v.H.Over():
		text = "there were no inner solves"
	}
	rows[(free-1)/2] = v.Line(w).To((w-style.Cells(text))/2).Write(style.Muted, text).Full()
	return rows
}

// stepPlot is the length of the steps of a method without inner solves.
func (p *Pane) stepPlot(v *pane.View) chart.Plot {
	pl := pane.EpochPlot(v.H, chart.Curve{Token: style.Accent, Series: &v.H.Curves.Step, Mark: '*'})
	pl.Log = true
	return pl
}

// barParts says of how many nets, and blocks of rows or steps, a bar reports, "" for one of one.
func barParts(b *history.Bar, part string) string {
	nets, parts := format.Count(b.Nets)+" nets", format.Count(b.Blocks)+" "+part+"s"
	switch {
	case b.Nets > 1 && b.Blocks > 1:
		return nets + " × " + parts
	case b.Nets > 1:
		return nets
	case b.Blocks > 1:
		return parts
	}
	return ""
}

// counts writes how many solves ended for each reason.
func (p *Pane) counts(v *pane.View, l *style.Line) *style.Line {
	for _, s := range krylov.Stops() {
		n := v.H.Solves.Stops[s]
		rare := s == krylov.NotFinite || s == krylov.Interrupted || s == krylov.Progress
		if rare && n == 0 {
			continue
		}
		gap := ""
		if l.Width > 0 {
			gap = "  "
		}
		if l.Room >= 100 {
			l.Group(style.Text.Of(gap), history.StopToken(s).Of(string(s.Letter())), style.Muted.Of(" "+s.Text()),
				style.Text.Of(" "+format.Count(n)))
			continue
		}
		l.Group(style.Text.Of(gap), history.StopToken(s).Of(string(s.Letter())), style.Text.Of(" "+format.Count(n)))
	}
	return l
}

// Strip puts the figures at the left, a small chart at the right, and what is under way beneath.
func (p *Pane) Strip(v *pane.View, w, h int) []string {
	const margin, column = 11, 32
	var picture []string
	text := [2]*style.Line{v.Line(column - margin - 1), v.Line(column - margin - 1)}
	switch room := w - column - 1; {
	case factored(v.H):
		return p.factors.strip(v, p.Name(v), p.now(v, column-margin-1), w, h)
	case len(v.H.Solves.Bars) > 0:
		p.Header(v, text[0])
		p.counts(v, text[1])
		picture = p.chart(v, room, h-1, false)
	case pane.NoSolves(v.H):
		p.Header(v, text[0])
		if text[1].Write(style.Muted, "no inner solves"); v.H.Curves.Step.Empty() {
			break
		}
		picture = p.steps.Draw(&v.Pen, p.stepPlot(v), room, h-1)
	}
	rows := make([]string, 0, h)
	for i, name := range []string{"inner", ""} {
		l := v.Label(v.Line(w), name).Raw(text[i].Full(), column-margin-1).To(column)
		if i < len(picture) {
			l.Raw(picture[i], w-column-1)
		}
		rows = append(rows, l.Full())
	}
	for _, row := range picture[min(len(picture), 2):] {
		rows = append(rows, v.Line(w).To(column).Raw(row, w-column-1).Full())
	}
	for len(rows) < h-1 {
		rows = append(rows, "")
	}
	now := v.Label(v.Line(w), "")
	return append(rows[:h-1], now.Raw(p.now(v, w-margin), w-margin).Full())
}

// Figure has the inner iterations of each epoch by the reason why the solves ended, those without solves
// as empty places.
func (p *Pane) Figure(v *pane.View) *figure.Chart {
	h := v.H
	f := figure.Chart{Title: "inner iterations", Y: "iterations"}
	switch {
	case factored(h):
		return p.factors.figure(v)
	case len(h.Solves.Bars) == 0:
		return nil
	}
	first, last := h.Solves.Bars[0].Epoch, h.Solves.Bars[len(h.Solves.Bars)-1].Epoch
	for _, s := range krylov.Stops() {
		c := figure.Curve{Name: s.Text(), Color: style.OnPaper(history.StopToken(s)), Bars: true,
			Points: make([]figure.Point, max(0, last-first+1))}
		for i := range c.Points {
			c.Points[i].X = float64(first + i)
		}
		some := 0
		for i := range h.Solves.Bars {
			if k := h.Solves.Bars[i].Epoch - first; k >= 0 && k < len(c.Points) &&
				int(s) < len(h.Solves.Bars[i].ByStop) {
				c.Points[k].Y = float64(h.Solves.Bars[i].ByStop[s])
				some += h.Solves.Bars[i].ByStop[s]
			}
		}
		if some > 0 {
			f.Curves = append(f.Curves, c)
		}
	}
	return pane.RunFigure(h, f)
}
