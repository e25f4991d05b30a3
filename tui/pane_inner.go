package tui

import (
	"math"
	"slices"
	"strconv"

	"newtop/trainer/krylov"
)

// innerPane shows the inner CG solves: a bar for each epoch, as high as its iterations, in the colour
// and with the letter of the reason why it ended; how often each reason came; and the solve under way.
type innerPane struct {
	bars, live, steps chart
	key               barsKey // of what bars shows
	picture           []string
}

// barsKey is what the picture of the bars depends on. The solve under way changes many times an epoch,
// they do not.
type barsKey struct {
	w, h, barred int
	dense, done  bool
	th           *theme
}

func (*innerPane) toggleLog() bool { return false }

func (*innerPane) name(*view) string { return "inner" }

func (*innerPane) seen(h *history) uint64 {
	return h.innerGen + h.epochGen + h.runGen + h.settingGen
}

func (p *innerPane) head(v *view, l *line) {
	if len(v.h.bars) == 0 {
		if v.h.solveless() && !v.h.step.empty() {
			l.group(part{tokMuted, "‖Δw‖ "}, part{tokText, number(v.h.step.last())})
		}
		return
	}
	b := &v.h.bars[len(v.h.bars)-1]
	s := b.stop()
	l.group(part{tokStrong, count(b.total)}, part{tokMuted, " it "}, part{stopToken(s), string(s.Letter())})
	if in := b.parts(); in != "" {
		l.group(part{tokMuted, " in " + in})
	}
	if b.epoch != v.h.latest.Epoch {
		l.group(part{tokMuted, " at " + count(b.epoch)})
	}
	l.group(part{tokMuted, "  mean "}, part{tokText, strconv.FormatFloat(float64(v.h.inner)/float64(v.h.solves), 'f', 1, 64)})
}

func (p *innerPane) body(v *view, w, h int, zoomed bool) []string {
	live := p.now(v, w)
	if len(v.h.bars) == 0 {
		return p.without(v, w, h, live)
	}
	rows := []string{}
	spare := h
	table := zoomed && h >= 24
	if h >= 4 {
		spare--
	}
	if table {
		spare -= len(krylov.Stops()) + 1
	} else if h >= 3 {
		spare--
	}
	curve := 0
	if spare >= 14 && v.h.residual.points > 1 && !v.h.solveless() {
		curve = spare * 2 / 5
		spare -= curve
	}
	rows = append(rows, p.chart(v, w, spare, zoomed)...)
	switch {
	case table:
		rows = append(rows, p.table(v, w)...)
	case h >= 3:
		rows = append(rows, p.counts(v, v.th.line(w)).full())
	}
	if h >= 4 {
		rows = append(rows, live)
	}
	if curve > 0 {
		rows = append(rows, p.residuals(v, w, curve)...)
	}
	return rows
}

// without is what the pane shows before the first inner solve: how it goes, or of a method that has none
// the lengths of its steps.
func (p *innerPane) without(v *view, w, h int, live string) []string {
	rows := make([]string, h)
	free := h
	if h >= 2 {
		free--
		rows[free] = live
	}
	if v.h.solveless() && free >= 4 && !v.h.step.empty() {
		l := v.th.line(w)
		l.put(tokAccent, "‖Δw‖").group(part{tokMuted, "  length of each epoch's step"})
		l.group(part{tokMuted, "; no inner solves here"})
		rows[0] = l.full()
		copy(rows[1:], p.steps.draw(v, p.stepPlot(v), w, free-1))
		return rows
	}
	text := "waiting for the first inner solve"
	switch {
	case v.h.solveless():
		text = "this optimizer has no inner solves"
	case v.h.over():
		text = "there were no inner solves"
	}
	rows[(free-1)/2] = v.th.line(w).to((w-cells(text))/2).put(tokMuted, text).full()
	if curve := h/2 - 1; curve >= 5 && v.h.residual.points > 1 {
		copy(rows[h-1-curve:], p.residuals(v, w, curve))
	}
	return rows
}

// stepPlot is the length of the steps of a method without inner solves.
func (p *innerPane) stepPlot(v *view) plot {
	pl := epochPlot(v.h, plotCurve{tok: tokAccent, series: &v.h.step, mark: '*'})
	pl.log = true
	return pl
}

// residuals draws the residual of the solve under way, or of the last one, by iteration.
func (p *innerPane) residuals(v *view, w, h int) []string {
	l := v.th.line(w)
	l.put(tokAccent, "‖r‖/‖g‖").group(part{tokMuted, "  residual by iteration"})
	pl := plot{curves: []plotCurve{{tok: tokAccent, series: &v.h.residual, mark: '*'}}, log: true, whole: true}
	return append([]string{l.full()}, p.live.draw(v, pl, w, h-1)...)
}

// chart draws the newest bars that fit, with their letters under them when there is room; dense ones
// stand without gaps when there are many.
func (p *innerPane) chart(v *view, w, h int, dense bool) []string {
	if key := (barsKey{w, h, v.h.barred, dense, v.h.over(), v.th}); key != p.key || p.picture == nil {
		p.key, p.picture = key, p.draw(v, w, h, dense)
	}
	return p.picture
}

func (p *innerPane) draw(v *view, w, h int, dense bool) []string {
	p.bars.resize(w, h)
	gutter := 0
	if w >= 24 {
		gutter = 4
		if slices.ContainsFunc(v.h.bars, func(b innerBar) bool { return b.total >= 1000 }) {
			gutter = 6 // "12.5k"
		}
	}
	pitch := 2
	switch n := len(v.h.bars); {
	case n*6 <= w-gutter && dense:
		pitch = 6
	case n*3 <= w-gutter:
		pitch = 3
	case n*2 > w-gutter && dense:
		pitch = 1
	}
	bars := v.h.bars
	if n := max((w-gutter)/pitch, 1); len(bars) > n {
		bars = bars[p.first(v.h, n):]
	}
	top := 1
	for i := range bars {
		top = max(top, bars[i].total)
	}
	if step := nice(float64(top) / 10); step >= 1 {
		top = int(math.Ceil(float64(top)/step) * step) // the scale stays while the greatest changes little
	}
	room := h
	if h >= 2 {
		room-- // for the letters
	}
	if gutter > 0 {
		p.scale(v, gutter, room, top)
	}
	wide := max(pitch-1, 1)
	for i := range bars {
		x := gutter + i*pitch
		p.bar(v, &bars[i], x, wide, room, float64(room)/float64(top))
		if room < h {
			s := bars[i].stop()
			p.bars.set(x+(wide-1)/2, h-1, rune(s.Letter()), stopToken(s))
		}
	}
	return p.bars.text(v.th)
}

// first returns which bar stands at the left when n fit. The window moves on by a quarter at a time: the
// bars stand still in between, and a screen far away gets few bytes. When no more come it is filled.
func (p *innerPane) first(h *history, n int) int {
	stride := max(n/4, 1)
	if h.over() {
		stride = 1
	}
	dropped := h.barred - len(h.bars)
	start := (h.barred - n + stride - 1) / stride * stride
	return max(0, min(start-dropped, len(h.bars)-1))
}

// scale labels the bars' axis: 1-2-5 steps, above zero.
func (p *innerPane) scale(v *view, gutter, room, top int) {
	for y := range room {
		p.bars.set(gutter-1, y, '│', tokGrid)
	}
	ticks := steps(0, float64(top), max(1, room/3))
	if len(ticks) == 0 || ticks[len(ticks)-1] == 0 {
		ticks = []float64{float64(top)}
	}
	for _, t := range ticks {
		if row := room - int(math.Ceil(t*float64(room)/float64(top))); t >= 1 && row >= 0 {
			s := tick(t)
			p.bars.write(max(gutter-1-cells(s), 0), row, s, tokMuted)
			p.bars.set(gutter-1, row, '┤', tokGrid)
		}
	}
}

// bar draws one epoch, its reasons stacked in the order of their letters.
func (p *innerPane) bar(v *view, b *innerBar, x, w, room int, scale float64) {
	height := float64(b.total) * scale
	for y := range room {
		free := height - float64(y)
		if free <= 0 && (y > 0 || b.total == 0) {
			return
		}
		// The reason at this height is the one whose stacked share contains it.
		at := int((float64(y) + math.Min(0.5, free/2)) / math.Max(height, 1e-9) * float64(b.total))
		s, sum := krylov.Stop(0), 0
		for k, n := range b.byStop {
			sum += n
			if at < sum {
				s = krylov.Stop(k)
				break
			}
		}
		r := v.gl.levels[len(v.gl.levels)-1]
		if free < 1 {
			r = v.gl.levels[max(1, int(math.Round(free*float64(len(v.gl.levels)-1))))]
		}
		if v.gl.ascii {
			r = rune(s.Letter())
		}
		for dx := range w {
			p.bars.set(x+dx, room-1-y, r, stopToken(s))
		}
	}
}

// parts says of how many nets and blocks of rows a bar tells, "" for one of one.
func (b *innerBar) parts() string {
	nets, blocks := count(b.nets)+" nets", count(b.blocks)+" blocks"
	switch {
	case b.nets > 1 && b.blocks > 1:
		return nets + " × " + blocks
	case b.nets > 1:
		return nets
	case b.blocks > 1:
		return blocks
	}
	return ""
}

// counts writes how many solves ended for each reason.
func (p *innerPane) counts(v *view, l *line) *line {
	for _, s := range krylov.Stops() {
		n := v.h.stops[s]
		rare := s == krylov.NotFinite || s == krylov.Interrupted
		if rare && n == 0 {
			continue
		}
		gap := ""
		if l.w > 0 {
			gap = "  "
		}
		if l.room >= 100 {
			l.group(part{tokText, gap}, part{stopToken(s), string(s.Letter())}, part{tokMuted, " " + s.Words()}, part{tokText, " " + count(n)})
			continue
		}
		l.group(part{tokText, gap}, part{stopToken(s), string(s.Letter())}, part{tokText, " " + count(n)})
	}
	return l
}

// table is the counts with the reasons in words.
func (p *innerPane) table(v *view, w int) []string {
	rows := []string{""}
	for _, s := range krylov.Stops() {
		n := v.h.stops[s]
		l := v.th.line(w)
		l.put(stopToken(s), string(s.Letter())).put(tokText, "  "+s.Words()).to(28)
		l.put(tokText, right(count(n), 8))
		share := 0.0
		if v.h.solves > 0 {
			share = float64(n) / float64(v.h.solves)
		}
		l.put(tokMuted, right(percent(share), 9)).put(tokText, "  ")
		l.put(stopToken(s), repeat("━", int(math.Round(share*float64(min(w-48, 60))))))
		rows = append(rows, l.full())
	}
	return rows
}

func right(s string, w int) string { return spaces(w-cells(s)) + s }

// progress draws a share of w columns as a bar.
func (v *view) progress(l *line, share float64, w int) {
	w = min(w, l.left())
	n := int(math.Round(math.Max(0, math.Min(share, 1)) * float64(w)))
	l.put(tokAccent, repeat("━", n)).put(tokGrid, repeat("─", w-n))
}

func pad(s string, w int) string { return s + spaces(w-cells(s)) }

// strip puts the figures at the left, a small chart at the right, and what is under way beneath.
func (p *innerPane) strip(v *view, w, h int) []string {
	const margin, column = 11, 32
	var picture []string
	text := [2]*line{v.th.line(column - margin - 1), v.th.line(column - margin - 1)}
	switch room := w - column - 1; {
	case len(v.h.bars) > 0:
		p.head(v, text[0])
		p.counts(v, text[1])
		picture = p.chart(v, room, h-1, false)
	case v.h.solveless():
		p.head(v, text[0])
		text[1].put(tokMuted, "no inner solves")
		picture = p.steps.draw(v, p.stepPlot(v), room, h-1)
	}
	rows := make([]string, 0, h)
	for i, name := range []string{"inner", ""} {
		l := v.label(v.th.line(w), name).raw(text[i].full(), column-margin-1).to(column)
		if i < len(picture) {
			l.raw(picture[i], w-column-1)
		}
		rows = append(rows, l.full())
	}
	for _, row := range picture[min(len(picture), 2):] {
		rows = append(rows, v.th.line(w).to(column).raw(row, w-column-1).full())
	}
	for len(rows) < h-1 {
		rows = append(rows, "")
	}
	now := v.label(v.th.line(w), "")
	return append(rows[:h-1], now.raw(p.now(v, w-margin), w-margin).full())
}
