package analyses

import (
	"fmt"
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Topology draws the network: a column of nodes for each layer, taller for more nodes, fans of lines
// for the blocks of weights between them, arcs beneath for connections that skip layers, and the norms of
// the blocks when there is room.
//
// Of a model that another program has it lists the tensors instead.
//
// Zoomed, a block can be chosen, whose weights are shown on request.
type Topology struct {
	pane.Linear
	chart chart.Canvas
	view  blockView
}

var (
	_ pane.Keyed  = (*Topology)(nil)
	_ pane.Moused = (*Topology)(nil)
	_ pane.Asker  = (*Topology)(nil)
)

func (*Topology) Name(*pane.View) string { return "network" }

func (*Topology) Version(h *history.History) uint64 {
	return h.Gen.Run + h.Gen.Epoch + h.Analyses.WeightsGen
}

func (*Topology) Header(v *pane.View, l *style.Line) {
	if v.H.Run == nil {
		return
	}
	m := &v.H.Run.Model
	if len(m.Layers) == 0 {
		if m.Program != "" {
			tensorHeader(v, l)
		}
		return
	}
	l.Group(style.Strong.Of(m.Shape()))
	if g := v.H.Latest.Gates; m.Experts > 0 && len(g) > 0 {
		low, high := g[0].Share, g[0].Share
		for _, x := range g {
			low, high = min(low, x.Share), max(high, x.Share)
		}
		l.Group(style.Muted.Of("  shares "), style.Text.Of(format.Percent(float64(low))+" to "+format.Percent(
			float64(high))))
	}
	l.Group(style.Muted.Of("  " + format.Count(m.Parameters) + " weights"))
	if m.Loss != "" {
		l.Group(style.Muted.Of("  " + style.Clean(m.Loss)))
	}
}

// drawing is where the parts of a network stand.
type drawing struct {
	layers []int                    // which are shown, in order
	x      []int                    // column of each of them
	top, h int                      // rows of the graph
	labels int                      // row of the activations
	counts int                      // row of the numbers of weights; the same where there is no other
	arcs   int                      // rows for arcs, under the labels
	lanes  [][]event.ConnectionInfo // the connections that skip layers, by the row that there is for them
	norms  int                      // rows of the table of blocks
}

func (p *Topology) Body(v *pane.View, w, h int, zoomed bool) []string {
	p.chart.Resize(w, h)
	if v.H.Run != nil && len(v.H.Run.Model.Layers) == 0 && len(v.H.Run.Model.Blocks) > 0 {
		if zoomed && h > 6 && p.view.open {
			return p.weightsBody(v, w, h)
		}
		return p.tensorBody(v, w, h, zoomed)
	}
	if v.H.Run == nil || len(v.H.Run.Model.Layers) < 2 {
		text := pane.Waiting(v)
		if v.H.Elsewhere() {
			text = "the program does not tell its tensors"
		} else if v.H.External() {
			text = "the record does not tell the network"
		}
		p.chart.Write(max(0, (w-style.Cells(text))/2), (h-1)/2, text, style.Muted)
		return p.chart.Rows(&v.Pen)
	}
	if _, _, ok := p.block(v.H); zoomed && ok && h > 6 {
		if p.view.open {
			return p.weightsBody(v, w, h)
		}
		h--
		networkKeys(p, v, h, w)
	}
	m := oneExpert(&v.H.Run.Model)
	d := p.arrange(v, m, w, h, zoomed)
	for _, c := range m.Connections {
		if c.To-c.From == 1 {
			p.fan(v, m, d, c, strength(p, v, c, zoomed))
		}
	}
	p.nodes(m, d)
	p.names(v, m, d, w)
	drawSteps(p, v, m, d)
	p.skips(m, d, w)
	switch {
	case d.norms > 0 && m.Experts > 0:
		drawGates(p, v, h-d.norms, w)
	case d.norms > 0:
		normTable(p, v, h-d.norms, w, zoomed)
	}
	return p.chart.Rows(&v.Pen)
}

// arrange shares the rows out: the graph first, then arcs, then the norms. Zoomed, the table needs less left
// over: whoever zooms wants to read it.
func (p *Topology) arrange(v *pane.View, m *event.ModelInfo, w, h int, zoomed bool) drawing {
	d := drawing{layers: make([]int, len(m.Layers))}
	for i := range d.layers {
		d.layers[i] = i
	}
	if most := max(2, w/7); len(d.layers) > most {
		head := (most + 1) / 2
		d.layers = append(d.layers[:head:head], d.layers[len(d.layers)-(most-head):]...)
	}
	margin := min(4, w/8)
	d.x = make([]int, len(d.layers))
	for i := range d.x {
		d.x[i] = margin + i*(w-1-2*margin)/(len(d.x)-1)
	}
	d.share(m)
	rest := h - 2 // counts and activations
	n, least := len(v.H.Latest.Blocks), 8
	if m.Experts > 0 {
		n = len(v.H.Latest.Gates)
	}
	if zoomed {
		least = 3
	}
	if n > 0 && rest-n-1 >= least {
		d.norms = n + 1
		rest -= d.norms + 1
	}
	d.arcs = min(len(d.lanes), (rest-1)/2, max(0, rest-3))
	under := 0
	if rest-d.arcs >= 6 {
		under = 1
	}
	d.top, d.h = 1, max(0, rest-d.arcs-under)
	d.labels = d.top + d.h
	d.counts = d.labels + under
	return d
}

// tall is how many rows of nodes a layer has: in proportion to the logarithm of its size.
func (d *drawing) tall(m *event.ModelInfo, layer int) int {
	most := 2
	for _, n := range m.Layers {
		most = max(most, n)
	}
	n := max(m.Layers[layer], 1)
	t := 1 + int(math.Round(float64(d.h-1)*math.Log(float64(n))/math.Log(float64(most))))
	return max(0, min(t, d.h, n))
}

// column returns the place of a layer among those shown, −1 if it is not.
func (d *drawing) column(layer int) int { return slices.Index(d.layers, layer) }

// fan draws the lines between two neighbouring layers, from a few nodes of one to a few of the other.
func (p *Topology) fan(v *pane.View, m *event.ModelInfo, d drawing, c event.ConnectionInfo, t style.Token) {
	from, to := d.column(c.From), d.column(c.To)
	if from < 0 || to < 0 || d.h < 1 {
		return
	}
	a := chart.Area{X: d.x[from] + 1, Y: d.top, W: d.x[to] - d.x[from] - 1, H: d.h}
	if a.W < 1 {
		return
	}
	g := v.Glyphs
	ends := func(layer int) []int {
		t := d.tall(m, layer)
		rows := min(t, 4)
		ys := make([]int, 0, rows)
		for i := range rows {
			r := (d.h-t)/2 + i*(t-1)/max(rows-1, 1)
			ys = append(ys, r*g.DotsY+g.DotsY/2)
		}
		return ys
	}
	sources, targets := ends(c.From), ends(c.To)
	for i, y1 := range targets {
		for _, y0 := range near(sources, i, len(targets), density(m, c)) {
			p.chart.Segment(a, g, 0, y0, a.W*g.DotsX-1, y1, false)
		}
	}
	p.chart.Flush(a, g, t, '.')
}

// density is the part of all pairs of nodes that a connection joins.
func density(m *event.ModelInfo, c event.ConnectionInfo) float64 {
	pairs := float64(m.Layers[c.From]) * float64(m.Layers[c.To])
	if pairs == 0 || float64(c.Weights) > pairs {
		return 1
	}
	return float64(c.Weights) / pairs
}

// near returns the part of the sources that a picture joins to the target with an index among n: those at its
// height, so that a sparse connection looks like one.
func near(sources []int, i, n int, part float64) []int {
	k := max(1, int(math.Round(part*float64(len(sources)))))
	first := int(math.Round(float64(i*(len(sources)-k)) / float64(max(n-1, 1))))
	return sources[first : first+k]
}

// weights writes how many a connection has, and of how many if it is sparse and there is room.
func weights(m *event.ModelInfo, c event.ConnectionInfo, room int) string {
	s := format.Count(c.Weights)
	if density(m, c) < 1 {
		if long := s + " of " + format.Count(m.Layers[c.From]*m.Layers[c.To]); style.Cells(long) <= room {
			return long
		}
	}
	return s
}

// nodes draws the columns of nodes, with an ellipsis where some are left out.
func (p *Topology) nodes(m *event.ModelInfo, d drawing) {
	for i, layer := range d.layers {
		t := d.tall(m, layer)
		first := d.top + (d.h-t)/2
		color := style.Accent
		if layer == 0 {
			color = style.Muted
		}
		for r := range t {
			glyph := '●'
			if m.Layers[layer] > t && t >= 3 && r == t/2 {
				glyph = '┊'
			}
			p.chart.Set(d.x[i], first+r, glyph, color)
		}
	}
}

// names writes the layers' sizes above, their activations beneath, and the numbers of weights between
// the activations where they fit.
func (p *Topology) names(v *pane.View, m *event.ModelInfo, d drawing, w int) {
	free := 0
	type label struct{ from, to int }
	var taken []label
	for i, layer := range d.layers {
		p.centred(d.x[i], 0, format.Count(m.Layers[layer]), style.Strong, w)
		name := "input"
		if layer > 0 {
			name = ""
			if layer-1 < len(m.Activations) {
				name = style.Clean(m.Activations[layer-1])
			}
		}
		if from, to := span1(d.x[i], style.Cells(name), w); name != "" && from >= free && d.fits(i, style.Cells(name)) {
			p.chart.Write(from, d.labels, name, style.Text)
			taken = append(taken, label{from, to})
			free = to + 1
		}
	}
	for _, c := range m.Connections {
		from, to := d.column(c.From), d.column(c.To)
		if c.To-c.From != 1 || from < 0 || to < 0 {
			continue
		}
		texts := []string{weights(m, c, d.x[to]-d.x[from]-1), format.Count(c.Weights)}
		if m.Experts > 0 && c.To == len(m.Layers)-1 {
			texts = []string{"gates"}
		}
		for _, s := range texts {
			left, right := span1((d.x[from]+d.x[to])/2, style.Cells(s), w)
			ok := style.Cells(s) < d.x[to]-d.x[from]
			for _, t := range taken {
				ok = ok && (d.counts != d.labels || right < t.from-1 || left > t.to+1)
			}
			if ok {
				p.chart.Write(left, d.counts, s, style.Muted)
				break
			}
		}
	}
	if skipped := len(m.Layers) - len(d.layers); skipped > 0 {
		i := (len(d.layers) + 1) / 2
		p.centred((d.x[i-1]+d.x[i])/2, d.top+d.h/2, "…", style.Muted, w)
	}
}

// fits reports whether a label of n columns under column i keeps clear of the next column's.
func (d *drawing) fits(i, n int) bool {
	return len(d.x) < 2 || n < d.x[1]-d.x[0] || i == 0 || i == len(d.x)-1
}

// span1 centres n columns on x within [0, w) and returns [from, to).
func span1(x, n, w int) (from, to int) {
	from = max(0, min(x-(n-1)/2, w-n))
	return from, from + n
}

func (p *Topology) centred(x, y int, s string, t style.Token, w int) {
	from, _ := span1(x, style.Cells(s), w)
	p.chart.Write(from, y, s, t)
}

func (p *Topology) Strip(v *pane.View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, "network")
	p.Header(v, l)
	return []string{l.Full()}
}

// skips draws the connections that pass over layers as arcs, and says how many it has no row for.
func (p *Topology) skips(m *event.ModelInfo, d drawing, w int) {
	left := 0
	for lane, cs := range d.lanes {
		if lane >= d.arcs {
			left += len(cs)
			continue
		}
		for _, c := range cs {
			a, b := d.x[d.column(c.From)], d.x[d.column(c.To)]
			p.arc(a, b, d.counts+1+lane, weights(m, c, b-a-4), w)
		}
	}
	if left > 0 {
		s := fmt.Sprintf("+%d skips", left)
		p.chart.Write(max(0, w-style.Cells(s)), 0, s, style.Muted)
	}
}

// arc draws one connection with its number of weights.
func (p *Topology) arc(a, b, row int, weights string, w int) {
	p.chart.Set(a, row, '╰', style.Grid)
	for x := a + 1; x < b; x++ {
		p.chart.Set(x, row, '─', style.Grid)
	}
	p.chart.Set(b, row, '╯', style.Grid)
	if s := " " + weights + " "; style.Cells(s) < b-a-1 {
		p.centred((a+b)/2, row, s, style.Muted, w)
	}
}
