package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines is the grid: a pale line at each labelled tick that is not on an axis.
type lines struct{ x, y []plot.Tick }

// Plot implements plot.Plotter.
func (l lines) Plot(c draw.Canvas, p *plot.Plot) {
	st := draw.LineStyle{Color: grid, Width: vg.Points(0.5)}
	const near = vg.Length(0.5)
	x, y := p.Transforms(&c)
	for _, t := range l.x {
		if at := x(t.Value); !t.IsMinor() && at > c.Min.X+near && at <= c.Max.X {
			c.StrokeLine2(st, at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range l.y {
		if at := y(t.Value); !t.IsMinor() && at > c.Min.Y+near && at <= c.Max.Y {
			c.StrokeLine2(st, c.Min.X, at, c.Max.X, at)
		}
	}
}

// marks are the lines of events.
type marks struct{ *sheet }

// Plot implements plot.Plotter.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	st := draw.LineStyle{Width: vg.Points(0.6), Dashes: []vg.Length{vg.Points(1), vg.Points(1.5)}}
	for i := range m.marks {
		k := &m.marks[i]
		st.Color = k.ink
		at := x(k.x)
		c.StrokeLine2(st, at, c.Min.Y, at, c.Max.Y)
	}
}

// name is what the line of a mark is, above the panels.
type name struct {
	text  string
	style text.Style
	x     vg.Length
	row   int
}

// place finds room between two x for the names of the marks, in as few rows as possible; a name that finds none is
// left out.
func (s *sheet) place(left, right vg.Length) (names []name, rows int) {
	const most, apart = 3, vg.Length(4)
	var axis plot.Axis
	s.x.apply(&axis)
	var ends [most]vg.Length
	for i := range s.marks {
		m := &s.marks[i]
		k := name{text: m.text, style: style(tickSize, m.ink)}
		w := k.style.Width(k.text)
		k.x = max(left, min(left+vg.Length(axis.Norm(m.x))*(right-left)-w/2, right-w))
		for k.row < most && ends[k.row] > 0 && k.x < ends[k.row]+apart {
			k.row++
		}
		if k.row < most {
			ends[k.row] = k.x + w
			names, rows = append(names, k), max(rows, k.row+1)
		}
	}
	return names, rows
}

// stroke is a curve as it is drawn: its lines, or with over what stands above all lines.
type stroke struct {
	*curve
	over bool
}

// Plot implements plot.Plotter.
func (k stroke) Plot(c draw.Canvas, p *plot.Plot) {
	switch {
	case k.kind == bars:
		if !k.over {
			k.bars(c, p)
		}
		return
	case k.kind == dots:
		for _, piece := range k.pieces {
			for _, at := range place(c, p, piece) {
				if k.over {
					c.DrawGlyph(draw.GlyphStyle{Color: k.style.Color, Radius: dotSize, Shape: draw.CircleGlyph{}}, at)
				}
			}
		}
		return
	case !k.over:
		st := k.style
		if k.soft != nil {
			st.Color, st.Width, st.Dashes = pale(st.Color), light, nil
		}
		k.lines(c, p, k.pieces, st)
		return
	}
	main := k.pieces
	if k.soft != nil {
		main = k.soft
		k.lines(c, p, main, k.style)
	}
	if k.shape != nil {
		k.mark(c, p, main)
	}
	for _, at := range place(c, p, k.broken) {
		c.DrawGlyph(draw.GlyphStyle{Color: k.style.Color, Radius: markerSize * 2, Shape: draw.CrossGlyph{}}, at)
	}
}

// bars draws a bar at each point, on those below it, three quarters as wide as the points are apart.
func (k stroke) bars(c draw.Canvas, p *plot.Plot) {
	const share = 0.75
	for _, piece := range k.pieces {
		for i, q := range piece {
			wide, base := share/2, k.base[i]
			corners := place(c, p, plotter.XYs{{X: q.X - wide, Y: base}, {X: q.X - wide, Y: base + q.Y}, {X: q.X + wide, Y: base + q.Y}, {X: q.X + wide, Y: base}})
			c.FillPolygon(k.style.Color, c.ClipPolygonXY(corners))
		}
	}
}

// lines draws pieces; one of a single point is a dot.
func (k stroke) lines(c draw.Canvas, p *plot.Plot, pieces []plotter.XYs, st draw.LineStyle) {
	for _, piece := range pieces {
		at := place(c, p, piece)
		if len(at) == 1 {
			c.DrawGlyph(draw.GlyphStyle{Color: st.Color, Radius: max(st.Width, 1), Shape: draw.CircleGlyph{}}, at[0])
			continue
		}
		c.StrokeLines(st, c.ClipLinesXY(at)...)
	}
}

// place maps points to the canvas; a zero lies below a logarithmic axis.
func place(c draw.Canvas, p *plot.Plot, points plotter.XYs) []vg.Point {
	x, y := p.Transforms(&c)
	out := make([]vg.Point, len(points))
	_, logarithmic := p.Y.Scale.(plot.LogScale)
	for i, at := range points {
		if logarithmic && at.Y < least {
			at.Y = p.Y.Min / 2
		}
		out[i] = vg.Point{X: x(at.X), Y: y(at.Y)}
	}
	return out
}

// mark puts a curve's shape on it every so often, at the points nearest to places that each curve has for
// itself, so that the shapes of curves over one another stay apart.
func (k stroke) mark(c draw.Canvas, p *plot.Plot, pieces []plotter.XYs) {
	const every = vg.Length(60)
	st := draw.GlyphStyle{Color: k.style.Color, Radius: markerSize, Shape: k.shape}
	next := c.Min.X + every*(vg.Length(k.markers[0])+0.5)/vg.Length(k.markers[1])
	for _, piece := range pieces {
		at := place(c, p, piece)
		for i, q := range at {
			nearest := i == len(at)-1 || at[i+1].X-next > next-q.X
			if q.X < next-every/2 || !nearest {
				continue
			}
			c.DrawGlyph(st, q)
			for next <= q.X+every/2 {
				next += every
			}
		}
	}
}
