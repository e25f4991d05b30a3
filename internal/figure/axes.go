package figure

// Lengths about the axes, in points.
const (
	tickLength = 3
	tickGap    = 2.5 // between a tick and its label
	nameGap    = 3   // between labels and the name of the axis
	panelGap   = 11
	labelLine  = labelSize * (ascent + descent)
)

// charts draws the panels, their areas aligned and of one size.
func (s *sheet) charts(c canvas, a area) {
	n := float64(len(s.panels))
	across, high := a.width()-1.5*centimeter, (a.height()-centimeter)/n-panelGap
	xs := s.x.ticks(max(2, int(across/36)))
	if s.x.names != nil {
		for i := range xs {
			xs[i].label = shorten(xs[i].label, tickSize, across/float64(len(xs)))
		}
	}
	widest, named := 0.0, false
	ys := make([][]tick, len(s.panels))
	for i := range s.panels {
		y := &s.panels[i].y
		ys[i] = y.ticks(max(2, int(high/20)))
		named = named || y.label != ""
		for _, t := range ys[i] {
			widest = max(widest, wide(t.label, tickSize))
		}
	}
	name := a.left + labelSize*ascent // the base line of the names of the y axes
	if named {
		a.left += labelLine + nameGap
	}
	a.left += widest + tickGap + tickLength
	a.top += tickSize / 2
	a.bottom -= tickLength + tickGap + tickSize*(ascent+descent)
	if s.x.label != "" {
		a.bottom -= labelLine + nameGap
	}
	for _, t := range xs { // the last labels reach beyond the axis
		if share := s.x.share(t.value); share > 0 && share <= 1 {
			a.right = min(a.right, a.left+(s.width-margin-wide(t.label, tickSize)/2-a.left)/share)
		}
	}
	marks, rows := s.positions(a.left, a.right)
	a.top += float64(rows) * tickSize * leading
	each := (a.height() - (n-1)*panelGap) / n
	for i := range s.panels {
		p := &plot{panel: &s.panels[i], x: &s.x, marks: s.marks, xs: xs, ys: ys[i], area: a, c: c}
		p.top += float64(i) * (each + panelGap)
		p.bottom = p.top + each
		p.draw()
		drawLabel(c, &words{at: position{name, (p.top + p.bottom) / 2}, anchor: 0.5, size: labelSize, color: black,
			upright: true,
			text:    shorten(p.y.label, labelSize, each+panelGap)})
	}
	s.under(c, &a, xs)
	for _, t := range marks {
		t.at.y += a.top
		drawLabel(c, &t)
	}
}

// under draws what stands below the lowest panel: the ticks of x and their labels.
func (s *sheet) under(c canvas, a *area, xs []tick) {
	line := a.bottom + tickLength + tickGap + tickSize*ascent
	for _, t := range xs {
		x := a.left + s.x.share(t.value)*a.width()
		if x < a.left-hair || x > a.right+hair {
			continue
		}
		c.path(pen{color: faint, width: thin}, []position{{x, a.bottom}, {x, a.bottom + t.length()}})
		drawLabel(c, &words{at: position{x, line}, anchor: 0.5, size: tickSize, color: black, text: t.label})
	}
	drawLabel(c, &words{at: position{(a.left + a.right) / 2, line + tickSize*descent + nameGap + labelSize*ascent},
		anchor: 0.5,
		size:   labelSize, color: black, text: s.x.label})
}

// positions finds room between two x for the names of the marks, in as few rows as possible; a name that finds none is
// left out. Their y is counted from the top of the panels.
func (s *sheet) positions(left, right float64) (names []words, rows int) {
	const most, apart = 3, 4
	var ends [most]float64
	for i := range s.marks {
		m := &s.marks[i]
		w := wide(m.text, tickSize)
		x := max(left, min(left+s.x.share(m.x)*(right-left)-w/2, right-w))
		row := 0
		for row < most && ends[row] > 0 && x < ends[row]+apart {
			row++
		}
		if row < most {
			ends[row] = x + w
			names = append(names, words{at: position{x, -tickGap - float64(row)*tickSize*leading}, size: tickSize,
				color: m.color, text: m.text})
			rows = max(rows, row+1)
		}
	}
	return names, rows
}

// plot is a panel with the part of a canvas that shows its data.
type plot struct {
	*panel
	area
	c      canvas
	x      *scale
	xs, ys []tick
	marks  []mark
}

// at maps a point to the canvas; a zero lies below a logarithmic axis.
func (p *plot) at(q Point) position {
	if p.y.log && q.Y < least {
		q.Y = p.y.min / 2
	}
	return position{p.left + p.x.share(q.X)*p.width(), p.bottom - p.y.share(q.Y)*p.height()}
}

const hair = 0.5 // what is less apart is on one line

func (p *plot) across(l pen, y float64)  { p.c.path(l, []position{{p.left, y}, {p.right, y}}) }
func (p *plot) upright(l pen, x float64) { p.c.path(l, []position{{x, p.top}, {x, p.bottom}}) }

// draw draws the grid, a pale line at each labelled tick that is not on an axis, then marks, axes and curves.
func (p *plot) draw() {
	pale, edge := pen{color: grid, width: thin}, pen{color: faint, width: 0.6}
	for _, t := range p.xs {
		if x := p.at(Point{X: t.value, Y: p.y.min}).x; t.label != "" && x > p.left+hair && x <= p.right+hair {
			p.upright(pale, x)
		}
	}
	for _, t := range p.ys {
		y := p.at(Point{X: p.x.min, Y: t.value}).y
		if y < p.top-hair || y > p.bottom+hair {
			continue
		}
		if t.label != "" && y < p.bottom-hair {
			p.across(pale, y)
		}
		p.c.path(pen{color: faint, width: thin}, []position{{p.left - t.length(), y}, {p.left, y}})
		drawLabel(p.c, &words{at: position{p.left - tickLength - tickGap, y + tickSize*capital/2}, anchor: 1,
			size:  tickSize,
			color: black, text: t.label})
	}
	for _, m := range p.marks {
		p.upright(pen{color: m.color, width: 0.6, dashes: []float64{1, 1.5}}, p.at(Point{X: m.x, Y: p.y.min}).x)
	}
	p.across(edge, p.bottom)
	p.upright(edge, p.left)
	for _, over := range []bool{false, true} { // markers and what is smoothed stand over all lines
		for i := range p.curves {
			p.curve(&p.curves[i], over)
		}
	}
}

// curve draws the lines of a curve, or with over what stands above all lines.
func (p *plot) curve(k *curve, over bool) {
	switch {
	case k.kind == bars:
		if !over {
			p.bars(k)
		}
		return
	case k.kind == dots:
		if over {
			for _, piece := range k.pieces {
				p.markers(k, disc, dotSize, piece)
			}
		}
		return
	case !over:
		l := k.style
		if k.soft != nil {
			l = pen{color: pale(l.color), width: light}
		}
		p.lines(l, k.pieces)
		return
	}
	main := k.pieces
	if k.soft != nil {
		main = k.soft
		p.lines(k.style, main)
	}
	if k.shape != unmarked {
		p.mark(k, main)
	}
	p.markers(k, cross, markerSize*2, k.broken)
}

// markers draws a shape at each point that is in the area.
func (p *plot) markers(k *curve, s shape, radius float64, at []Point) {
	for _, q := range at {
		if q := p.at(q); p.contains(q) {
			s.draw(p.c, k.style.color, q, radius)
		}
	}
}

// bars draws a bar at each point, on those below it, three quarters as wide as the points are apart.
func (p *plot) bars(k *curve) {
	const share = 0.75
	for _, piece := range k.pieces {
		for i, q := range piece {
			one, two := p.inside(p.at(Point{q.X - share/2, k.base[i]})),
				p.inside(p.at(Point{q.X + share/2, k.base[i] + q.Y}))
			p.c.path(pen{color: k.style.color}, []position{one, {two.x, one.y}, two, {one.x, two.y}, one})
		}
	}
}

// inside returns the place of the area that is nearest.
func (a *area) inside(q position) position {
	return position{min(max(q.x, a.left), a.right), min(max(q.y, a.top), a.bottom)}
}

// lines draws pieces; one of a single point is a dot.
func (p *plot) lines(l pen, pieces [][]Point) {
	for _, piece := range pieces {
		if len(piece) == 1 {
			p.markers(&curve{style: l}, disc, max(l.width, 1), piece)
			continue
		}
		along := make([]position, len(piece))
		for i, q := range piece {
			along[i] = p.at(q)
		}
		for _, part := range p.within(along) {
			p.c.path(l, part)
		}
	}
}

// within returns the parts of a line that are in the area.
func (a *area) within(along []position) (parts [][]position) {
	var part []position
	end := func() {
		if len(part) > 1 {
			parts = append(parts, part)
		}
		part = nil
	}
	for i, to := range along[1:] {
		from := along[i]
		in, out, ok := a.cut(from, to)
		if !ok {
			end()
			continue
		}
		if part == nil || in != from {
			end()
			part = []position{in}
		}
		if part = append(part, out); out != to {
			end()
		}
	}
	end()
	return parts
}

// cut returns the part of a straight line that is in the area (Liang and Barsky, 1984).
func (a *area) cut(from, to position) (in, out position, ok bool) {
	begin, end := 0.0, 1.0
	dx, dy := to.x-from.x, to.y-from.y
	for _, edge := range [...]struct{ toward, room float64 }{
		{-dx, from.x - a.left}, {dx, a.right - from.x}, {-dy, from.y - a.top}, {dy, a.bottom - from.y},
	} {
		switch {
		case edge.toward > 0:
			end = min(end, edge.room/edge.toward)
		case edge.toward < 0:
			begin = max(begin, edge.room/edge.toward)
		case edge.room < 0:
			return in, out, false
		}
	}
	if begin > end {
		return in, out, false
	}
	in, out = from, to
	if begin > 0 {
		in = a.inside(position{from.x + begin*dx, from.y + begin*dy})
	}
	if end < 1 {
		out = a.inside(position{from.x + end*dx, from.y + end*dy})
	}
	return in, out, true
}

// mark puts a curve's shape on it every so often, at the points nearest to places that each curve has for
// itself, so that the shapes of curves over one another stay apart.
func (p *plot) mark(k *curve, pieces [][]Point) {
	const every = 60.0
	next := p.left + every*(float64(k.markers[0])+0.5)/float64(k.markers[1])
	for _, piece := range pieces {
		for i, q := range piece {
			x := p.at(q).x
			nearest := i == len(piece)-1 || p.at(piece[i+1]).x-next > next-x
			if x < next-every/2 || !nearest {
				continue
			}
			p.markers(k, k.shape, markerSize, []Point{q})
			for next <= x+every/2 {
				next += every
			}
		}
	}
}
