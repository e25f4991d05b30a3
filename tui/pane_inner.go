package tui

import (
	"math"

	"newtop/trainer"
	"newtop/trainer/krylov"
)

// innerPane shows the inner CG solves: a bar for each epoch, as high as its iterations, in the colour
// and with the letter of the reason why it ended; how often each reason came; and the solve under way.
type innerPane struct {
	bars, live chart
	key        barsKey // of what bars shows
	picture    []string
}

// barsKey is what the picture of the bars depends on. The solve under way changes many times an epoch,
// they do not.
type barsKey struct {
	w, h, barred int
	dense        bool
	th           *theme
}

func (*innerPane) toggleLog() bool { return false }

func (*innerPane) name(*view) string { return "inner" }

func (*innerPane) seen(h *history) uint64 {
	return h.innerGen + h.epochGen + h.runGen
}

func (p *innerPane) head(v *view, l *line) {
	if len(v.h.bars) == 0 {
		return
	}
	b := &v.h.bars[len(v.h.bars)-1]
	s := b.stop()
	l.group(part{tokStrong, count(b.total)}, part{tokMuted, " it "}, part{stopToken(s), string(s.Letter())})
	if b.blocks > 1 {
		l.group(part{tokMuted, " in " + count(b.blocks) + " blocks"})
	}
	l.group(part{tokMuted, "  mean "}, part{tokText, tick(round(float64(v.h.inner)/float64(v.h.solves), 1))})
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
	if spare >= 14 && v.h.residual.points > 1 && !v.h.firstOrder() {
		curve = spare * 2 / 5
		spare -= curve
	}
	rows = append(rows, p.chart(v, w, spare, zoomed)...)
	switch {
	case table:
		rows = append(rows, p.table(v, w)...)
	case h >= 3:
		rows = append(rows, p.counts(v, w))
	}
	if h >= 4 {
		rows = append(rows, live)
	}
	if curve > 0 {
		rows = append(rows, p.residuals(v, w, curve)...)
	}
	return rows
}

// without is what the pane says of a method that has no inner solves, or before the first one.
func (p *innerPane) without(v *view, w, h int, live string) []string {
	text := "waiting for the first inner solve"
	if v.h.firstOrder() && v.h.latest.Epoch > 0 {
		text = "this optimizer has no inner solves"
	}
	rows := make([]string, h)
	rows[(h-1)/2] = v.th.line(w).to((w-cells(text))/2).put(tokMuted, text).full()
	if h >= 2 {
		rows[h-1] = live
	}
	if curve := h/2 - 1; curve >= 5 && v.h.residual.points > 1 {
		copy(rows[h-1-curve:], p.residuals(v, w, curve))
	}
	return rows
}

// residuals draws the residual of the solve under way, or of the last one, by iteration.
func (p *innerPane) residuals(v *view, w, h int) []string {
	pl := plot{
		curves: []plotCurve{{name: "‖r‖/‖g‖", tok: tokAccent, series: &v.h.residual, mark: '*'}},
		log:    true, whole: true,
	}
	return p.live.draw(v, pl, w, h)
}

// chart draws the newest bars that fit, with their letters under them when there is room; dense ones
// stand without gaps when there are many.
func (p *innerPane) chart(v *view, w, h int, dense bool) []string {
	if key := (barsKey{w, h, v.h.barred, dense, v.th}); key != p.key || p.picture == nil {
		p.key, p.picture = key, p.draw(v, w, h, dense)
	}
	return p.picture
}

func (p *innerPane) draw(v *view, w, h int, dense bool) []string {
	p.bars.resize(w, h)
	letters := 0
	if h >= 2 {
		letters = 1
	}
	gutter := 0
	if w >= 24 {
		gutter = 4
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
	room := h - letters
	if gutter > 0 {
		p.scale(v, gutter, room, top)
	}
	for i := range bars {
		x := gutter + i*pitch
		p.bar(v, &bars[i], x, max(pitch-1, 1), room, float64(room)/float64(top))
		if letters > 0 {
			s := bars[i].stop()
			p.bars.set(x+(max(pitch-1, 1)-1)/2, h-1, rune(s.Letter()), stopToken(s))
		}
	}
	return p.bars.text(v.th)
}

// first returns which bar stands at the left when n fit. The window moves on by a quarter at a time: the
// bars stand still in between, and a screen far away gets few bytes.
func (p *innerPane) first(h *history, n int) int {
	stride := max(n/4, 1)
	dropped := h.barred - len(h.bars)
	start := (h.barred - n + stride - 1) / stride * stride
	return max(0, min(start-dropped, len(h.bars)-1))
}

// scale labels the bars' axis: 1-2-5 steps, above zero.
func (p *innerPane) scale(v *view, gutter, room, top int) {
	for y := range room {
		p.bars.set(gutter-1, y, '│', tokGrid)
	}
	for _, t := range steps(0, float64(top), max(1, room/3)) {
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
	done := 0
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
		done++
	}
}

// counts is how many solves ended for each reason, on one line.
func (p *innerPane) counts(v *view, w int) string {
	l := v.th.line(w)
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
		if w >= 100 {
			l.group(part{tokText, gap}, part{stopToken(s), string(s.Letter())}, part{tokMuted, " " + s.Words()}, part{tokText, " " + count(n)})
			continue
		}
		l.group(part{tokText, gap}, part{stopToken(s), string(s.Letter())}, part{tokText, " " + count(n)})
	}
	return l.full()
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

// now is the solve or the pass through batches that is under way.
func (p *innerPane) now(v *view, w int) string {
	l := v.th.line(w)
	s := &v.h.status
	switch {
	case v.h.solving:
		p.solve(v, l)
	case s.Phase != trainer.Ended && s.Units > 0 && s.Unit > 0:
		l.put(tokMuted, "batch ").put(tokText, count(s.Unit)).put(tokMuted, " of "+count(s.Units)+" ")
		v.progress(l, float64(s.Unit)/float64(s.Units), l.left())
	case len(v.h.bars) > 0:
		p.finished(v, l)
	}
	return l.full()
}

// solve writes the state of the solve under way, what matters most first.
func (p *innerPane) solve(v *view, l *line) {
	e := &v.h.live
	l.put(tokAccent, "▸ ")
	if e.Block > 0 || len(v.h.bars) > 0 && v.h.bars[len(v.h.bars)-1].blocks > 1 {
		l.put(tokMuted, "block ").put(tokText, count(e.Block)+" ")
	}
	l.put(tokMuted, "it ").put(tokText, pad(count(e.Iteration), 3))
	l.group(part{tokMuted, " ‖r‖/‖g‖ "}, part{tokText, pad(number(float64(e.Residual)), 6)})
	if r := float64(e.StepNorm) / float64(e.Radius); !math.IsNaN(r) && !math.IsInf(r, 0) {
		l.group(part{tokMuted, " ‖s‖/R "}, part{tokText, pad(short(r), 4)})
	}
	t := tokText
	if e.Curvature <= 0 {
		t = tokNegativeCurvature
	}
	l.group(part{tokMuted, " curv "}, part{t, pad(number(float64(e.Curvature)), 6)})
	l.group(part{tokMuted, " q "}, part{tokText, number(float64(e.Model))})
}

// finished says in words why the newest solve ended.
func (p *innerPane) finished(v *view, l *line) {
	b := &v.h.bars[len(v.h.bars)-1]
	s := b.stop()
	l.put(tokMuted, "epoch "+count(b.epoch)+": ").put(stopToken(s), s.Words())
	if in := v.h.latest.Inner; len(in) > 0 {
		last := &in[len(in)-1]
		l.group(part{tokMuted, "  ‖r‖/‖g‖ "}, part{tokText, number(float64(last.Residual))})
		l.group(part{tokMuted, "  curv "}, part{tokText, number(float64(last.Curvature))})
	}
}

// progress draws a share of w columns as a bar.
func (v *view) progress(l *line, share float64, w int) {
	w = min(w, l.left())
	n := int(math.Round(math.Max(0, math.Min(share, 1)) * float64(w)))
	l.put(tokAccent, repeat("━", n)).put(tokGrid, repeat("─", w-n))
}

func pad(s string, w int) string { return s + spaces(w-cells(s)) }

func (p *innerPane) strip(v *view, w, h int) []string {
	const column = 32
	rows := make([]string, h)
	picture := make([]string, h)
	if len(v.h.bars) > 0 {
		picture = p.chart(v, w-column-1, h-1, false)
	}
	for i := range rows {
		l := v.th.line(w)
		if i == h-1 {
			v.label(l, "")
			l.raw(p.now(v, w-11), w-11)
			rows[i] = l.full()
			continue
		}
		if i == 0 {
			v.label(l, "inner")
			head := v.th.line(column - 12)
			p.head(v, head)
			l.raw(head.b.String(), head.w)
		} else if i == 1 {
			l.to(11).raw(p.counts(v, column-12), column-12)
		}
		l.to(column)
		if picture[i] != "" {
			l.raw(picture[i], w-column-1)
		}
		rows[i] = l.full()
	}
	return rows
}
