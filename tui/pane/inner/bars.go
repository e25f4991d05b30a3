package inner

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// chart draws the bars of all epochs, several in one where they are more than columns, with their letters and the
// epochs under them when there is room; dense ones stand without gaps when there are many.
func (p *Pane) chart(v *pane.View, w, h int, dense bool) []string {
	if key := (barsKey{w, h, v.H.Solves.Barred, v.H.Restarts + v.H.Solves.Cuts, p.marked, dense, v.H.Over(), v.Palette,
		v.Glyphs}); key != p.key || p.picture == nil {
		p.key, p.picture = key, p.draw(v, w, h, dense)
	}
	return p.picture
}

func (p *Pane) draw(v *pane.View, w, h int, dense bool) []string {
	p.bars.Resize(w, h)
	columns, gutter := p.groups(v, w, h)
	if all := v.H.Solves.All; columns == nil || p.marked.epoch < 0 && len(all) > 0 && columns[0].Epoch > all[0].Epoch {
		columns, gutter = p.epochs(v, w, dense)
	}
	top := 1
	for i := range columns {
		top = max(top, int(math.Ceil(columns[i].Mean())))
	}
	if step := chart.Nice(float64(top) / 10); step >= 1 {
		top = int(math.Ceil(float64(top)/step) * step) // the scale stays while the greatest changes little
	}
	room := h
	if h >= 2 {
		room-- // for the letters
	}
	letters := room
	p.unlabelled = ""
	if len(columns) > 0 {
		counted := v.H.Run.Counted() + "s"
		text := epochsText(columns, counted)
		if h >= 4 && gutter > 0 {
			room--
			letters--
			p.epochAxis(columns, text, gutter, w, h-1)
		} else {
			p.unlabelled = text
			if each := columns[0].Epochs; each > 1 {
				p.unlabelled = format.Count(each) + " " + counted + " a bar"
			}
		}
	}
	if gutter > 0 {
		p.scale(gutter, room, top)
	}
	for i := range columns {
		b := &columns[i]
		p.bar(v, b.Bar, b.x, b.w, room, float64(room)/float64(top))
		if letters < h {
			s := b.Stop()
			p.bars.Set(b.x+(b.w-1)/2, letters, rune(s.Letter()), history.StopToken(s))
		}
		if b.marked {
			y := room - 1 - int(math.Ceil(b.Mean()*float64(room)/float64(top)))
			p.bars.Set(b.x+(b.w-1)/2, max(y, 0), '▾', style.Focus)
		}
	}
	return p.bars.Rows(&v.Pen)
}

// barColumn is a bar at its place.
type barColumn struct {
	*history.Bar
	x, w   int
	marked bool // it has the solve that is shown
}

// markedSolve names the solve that is shown; epoch −1 is none.
type markedSolve struct{ epoch, member, block int }

// margin is the width of the bars' axis.
func (p *Pane) margin(v *pane.View, w int) int {
	switch {
	case w < 24:
		return 0
	case slices.ContainsFunc(v.H.Solves.All, func(b history.Bar) bool { return b.Mean() >= 1000 }):
		return 6 // "12.5k"
	}
	return 4
}

// epochs places a bar for each epoch or, where they are more than columns, for several.
func (p *Pane) epochs(v *pane.View, w int, dense bool) (columns []barColumn, gutter int) {
	gutter = p.margin(v, w)
	bars, room := v.H.Solves.All, max(w-gutter, 1)
	pitch := 1
	switch n := len(bars); {
	case n*6 <= room && dense:
		pitch = 6
	case n*3 <= room:
		pitch = 3
	case n*2 <= room:
		pitch = 2
	}
	if each := perColumn(len(bars), room, v.H.Over()); each > 1 {
		joined := make([]history.Bar, 0, room)
		for i := range bars {
			if i%each == 0 {
				joined = append(joined, bars[i])
			} else {
				joined[len(joined)-1].Join(&bars[i])
			}
		}
		bars = joined
	}
	for i := range bars {
		b := &bars[i]
		columns = append(columns, barColumn{b, gutter + i*pitch, max(pitch-1, 1), b.Epoch <= p.marked.epoch &&
			p.marked.epoch <= b.Last})
	}
	return columns, gutter
}

// perColumn is how many of n bars stand in a column of that many: while more come twice as many each time that they are
// filled, so that those before stand still.
func perColumn(n, columns int, over bool) int {
	if over {
		return (n + columns - 1) / columns
	}
	each := 1
	for n > each*columns {
		each *= 2
	}
	return each
}

// epochsText says how many epochs, or what the run counts, the columns are of.
func epochsText(columns []barColumn, counted string) string {
	text := format.Count(columns[len(columns)-1].Last) + " " + counted
	if each := columns[0].Epochs; each > 1 {
		text += ", " + format.Count(each) + " a bar"
	}
	return text
}

// epochAxis labels the columns with their epochs, the last, with a text, and the first before others.
func (p *Pane) epochAxis(columns []barColumn, text string, gutter, w, row int) {
	first, last := &columns[0], &columns[len(columns)-1]
	a := chart.Area{X: gutter, W: w - gutter}
	put := func(b *barColumn, label string) {
		chart.DrawLabel(&p.bars, a, b.x+(b.w-1)/2, row, label, style.Muted)
	}
	put(last, text)
	put(first, format.Count(first.Epoch))
	const apart = 10 // columns
	step := int(chart.Nice(math.Max(1, float64(last.Last-first.Epoch)*apart/float64(max(last.x-first.x, 1)))))
	for i := range columns {
		b := &columns[i]
		if e := (b.Epoch + step - 1) / step * step; e <= b.Last && (i == 0 || columns[i-1].Last < e) {
			put(b, format.Count(e))
		}
	}
}

// recent is how many epochs tell whether epochs have several solves: one through all rows may come in between.
const recent = 8

// groups places a bar for each solve of the latest epochs side by side, when epochs have several and three
// epochs fit; nil otherwise. A marked epoch that is older is among them.
func (p *Pane) groups(v *pane.View, w, h int) (columns []barColumn, gutter int) {
	works := v.H.Steps.Works
	if len(works) == 0 || h < 5 {
		return nil, 0
	}
	gutter = p.margin(v, w)
	each, all := 1, 0
	for _, work := range works {
		all += len(work.Parts)
	}
	for _, work := range works[max(0, len(works)-recent):] {
		each = max(each, len(work.Parts)+1)
	}
	n := (w - gutter + 1) / each
	if each < 3 || n < 3 {
		return nil, 0
	}
	wide := max(1, min(3, (w-gutter-len(works))/max(all, 1)))
	from := max(0, (len(works)-1)/max(n/2, 1)*max(n/2, 1)-n/2)
	switch {
	case wide > 1: // all fit
		from = 0
	case v.H.Over():
		from = max(0, len(works)-n)
	}
	for i := range works[:from] {
		if works[i].Epoch == p.marked.epoch {
			from = i
		}
	}
	x := gutter
	for _, work := range works[from:] {
		for _, part := range work.Parts {
			if x+wide > w {
				return columns, gutter
			}
			columns = append(columns, barColumn{workBar(part, work.Epoch), x, wide,
				p.marked == markedSolve{work.Epoch, part.Member, part.Block}})
			x += wide
		}
		x++
	}
	return columns, gutter
}

// workBar is a solve as a bar of its own.
func workBar(s history.SolveWork, epoch int) *history.Bar {
	b := &history.Bar{Epoch: epoch, Last: epoch, Epochs: 1, Total: s.Iterations}
	b.ByStop[s.Stop], b.Solves[s.Stop] = s.Iterations, 1
	return b
}

// scale labels the bars' axis: 1-2-5 steps, above zero.
func (p *Pane) scale(gutter, room, top int) {
	ticks := chart.Steps(0, float64(top), max(1, room/3))
	if len(ticks) == 0 || ticks[len(ticks)-1] == 0 {
		ticks = []float64{float64(top)}
	}
	var rows []int
	var labels []string
	for _, t := range ticks {
		if t >= 1 {
			rows = append(rows, room-int(math.Ceil(t*float64(room)/float64(top))))
			labels = append(labels, format.Tick(t))
		}
	}
	chart.DrawYAxis(&p.bars, chart.Area{X: gutter, H: room}, rows, labels)
}

// bar draws an epoch or several, its reasons stacked in the order of their letters.
func (p *Pane) bar(v *pane.View, b *history.Bar, x, w, room int, scale float64) {
	height := b.Mean() * scale
	chart.DrawBar(&p.bars, v.Glyphs, x, room-1, w, height, func(y int) (style.Token, rune) {
		// The reason at this height is the one whose stacked share contains it.
		at := int((float64(y) + math.Min(0.5, (height-float64(y))/2)) / math.Max(height, 1e-9) * float64(b.Total))
		s, sum := krylov.Stop(0), 0
		for k, n := range b.ByStop {
			sum += n
			if at < sum {
				s = krylov.Stop(k)
				break
			}
		}
		return history.StopToken(s), rune(s.Letter())
	})
}
