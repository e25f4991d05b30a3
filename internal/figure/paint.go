package figure

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hues tell the runs apart, with the shapes: those of Okabe and Ito ("Color Universal Design", 2008), which eyes that
// see fewer colours can tell apart too, but for the yellow, which is too pale for lines on white.
var hues = [MostRuns]color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
	{0x7f, 0x7f, 0x7f, 0xff}, // grey
}

var shapes = [MostRuns]draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
	draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

var (
	ink   = color.Gray{Y: 0x22}
	faint = color.Gray{Y: 0x66}
	grid  = color.Gray{Y: 0xe8}
)

const (
	margin     = vg.Length(8)
	titleSize  = vg.Length(10)
	labelSize  = vg.Length(8.5)
	tickSize   = vg.Length(7.5)
	noteSize   = vg.Length(6.5)
	markerSize = vg.Length(2.2)
	dotSize    = vg.Length(2)
	sample     = vg.Length(22) // a line in the legend
	heavy      = vg.Length(1.2)
	light      = vg.Length(0.8)
	leading    = 1.35
)

var dashed = []vg.Length{vg.Points(3.5), vg.Points(2)}

func style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// pale mixes a colour with the paper.
func pale(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	mix := func(v uint32) uint8 { return uint8((int(v>>8) + 3*0xff) / 4) }
	return color.RGBA{mix(r), mix(g), mix(b), 0xff}
}

// sheet is a figure before it is painted: what stands on it and where. It knows no runs.
type sheet struct {
	title         string
	legend        []entry
	notes         []string // lines below the panels
	width, height vg.Length
	panels        []panel
	marks         []mark
	x             scale
}

// panel is some curves over one y axis, in the order in which they are drawn.
type panel struct {
	curves []curve
	y      scale
}

// mark is an event along x.
type mark struct {
	x    float64
	text string
	ink  color.Color
}

// entry is a piece of the legend.
type entry struct {
	line   draw.LineStyle   // of width 0: none
	shape  draw.GlyphDrawer // nil for none
	text   string
	paired bool // it stands beside the one after it
}

// paint draws the sheet from the top: title, legend, names of switches, panels, notes.
func (s *sheet) paint(to vg.CanvasSizer) {
	c := draw.New(to)
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if s.title != "" {
		c.Max.Y -= titleSize
		st := bold(style(titleSize, ink))
		c.FillText(st, vg.Point{X: c.Min.X, Y: c.Max.Y}, shorten(st, s.title, c.Size().X))
		c.Max.Y -= titleSize * 0.7
	}
	c.Max.Y -= s.key(c)
	c.Min.Y += s.footnotes(c)
	s.charts(c)
}

// key writes the legend in rows and returns how much room it took.
func (s *sheet) key(c draw.Canvas) vg.Length {
	if len(s.legend) == 0 {
		return 0
	}
	st := style(labelSize, ink)
	const gap, apart = vg.Length(4), vg.Length(14)
	x, y := c.Min.X, c.Max.Y-labelSize
	for i, e := range s.legend {
		label := shorten(st, e.text, c.Size().X-sample-gap)
		w := sample + gap + st.Width(label)
		ahead := w
		if e.paired {
			ahead += apart + sample + gap + st.Width(s.legend[i+1].text)
		}
		if x > c.Min.X && x+ahead > c.Max.X {
			x, y = c.Min.X, y-labelSize*leading
		}
		middle := y + labelSize*0.36
		if e.line.Width > 0 {
			c.StrokeLine2(e.line, x, middle, x+sample, middle)
		}
		if e.shape != nil {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: e.line.Color, Radius: markerSize, Shape: e.shape}, vg.Point{X: x + sample/2, Y: middle})
		}
		c.FillText(st, vg.Point{X: x + sample + gap, Y: y}, label)
		x += w + apart
	}
	return c.Max.Y - y + labelSize*0.8
}

// footnotes writes the notes at the bottom and returns how much room they took.
func (s *sheet) footnotes(c draw.Canvas) vg.Length {
	st := style(noteSize, faint)
	room := vg.Length(len(s.notes)) * noteSize * leading
	y := c.Min.Y + room - noteSize
	for _, n := range s.notes {
		c.FillText(st, vg.Point{X: c.Min.X, Y: y}, shorten(st, n, c.Size().X))
		y -= noteSize * leading
	}
	return room + noteSize/2
}

// natural is the height that a sheet has if each panel has one.
func (s *sheet) natural(each vg.Length) vg.Length {
	return each*vg.Length(len(s.panels)) + 2.2*vg.Centimeter + vg.Length(len(s.notes))*noteSize*leading
}

const leastHeight = 1.4 * vg.Centimeter // of a panel

// defaultHeight is that of each of so many panels.
func defaultHeight(panels int) vg.Length {
	if panels == 1 {
		return 7 * vg.Centimeter
	}
	return 4.6 * vg.Centimeter
}

// charts draws the panels, their areas aligned and of one size.
func (s *sheet) charts(c draw.Canvas) {
	const apart = vg.Length(11)
	n := vg.Length(len(s.panels))
	wide, high := c.Size().X-1.5*vg.Centimeter, (c.Size().Y-vg.Centimeter)/n-apart
	plots := make([]*plot.Plot, len(s.panels))
	widest := vg.Length(0)
	for i := range plots {
		plots[i] = s.axes(&s.panels[i], i == len(plots)-1, wide, high)
		widest = max(widest, tickWidth(plots[i]))
	}
	var left, right, below vg.Length
	for _, p := range plots {
		p.Y.Label.Padding += widest - tickWidth(p) // so that the axes' names stand in one column
		d := p.DataCanvas(c)
		left, right, below = max(left, d.Min.X-c.Min.X), max(right, c.Max.X-d.Max.X), max(below, d.Min.Y-c.Min.Y)
	}
	c = draw.Crop(c, left, -right, below, -tickSize/2)
	names, rows := s.place(c.Min.X, c.Max.X)
	c.Max.Y -= vg.Length(rows) * tickSize * leading
	each := (c.Size().Y - (n-1)*apart) / n
	for i, p := range plots {
		area := c
		area.Max.Y -= vg.Length(i) * (each + apart)
		area.Min.Y = area.Max.Y - each
		p.Y.Label.Text = shorten(p.Y.Label.TextStyle, p.Y.Label.Text, each+apart)
		p.Draw(around(p, area))
	}
	for _, k := range names {
		c.FillText(k.style, vg.Point{X: k.x, Y: c.Max.Y + vg.Points(2.5) + vg.Length(k.row)*tickSize*leading}, k.text)
	}
}

// around returns the canvas on which a plot has its data in an area.
func around(p *plot.Plot, area draw.Canvas) draw.Canvas {
	c := area
	for range 4 { // labels that reach beyond the area scale with it, a little
		d := p.DataCanvas(c)
		c.Min.X, c.Min.Y = c.Min.X+area.Min.X-d.Min.X, c.Min.Y+area.Min.Y-d.Min.Y
		c.Max.X, c.Max.Y = c.Max.X+area.Max.X-d.Max.X, c.Max.Y+area.Max.Y-d.Max.Y
	}
	return c
}

// axes makes the plot of a panel.
func (s *sheet) axes(pl *panel, last bool, wide, high vg.Length) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	s.x.apply(&p.X)
	pl.y.apply(&p.Y)
	x, y := s.x.ticks(max(2, int(wide/36))), pl.y.ticks(max(2, int(high/20)))
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding, a.LineStyle.Width, a.LineStyle.Color = 0, vg.Points(0.6), faint
		a.Tick.LineStyle, a.Tick.Length = draw.LineStyle{Color: faint, Width: vg.Points(0.5)}, vg.Points(3)
		for _, st := range []*text.Style{&a.Tick.Label, &a.Label.TextStyle} {
			size := tickSize
			if st == &a.Label.TextStyle {
				size = labelSize
			}
			st.Font, st.Color = style(size, ink).Font, ink
		}
		a.Label.Padding = vg.Points(3)
	}
	p.Y.Label.Text = pl.y.label
	p.Y.Tick.Marker = plot.ConstantTicks(y)
	p.Add(lines{x: x, y: y}, marks{s})
	p.X.Tick.Marker = plot.ConstantTicks(nil)
	if last {
		p.X.Label.Text, p.X.Tick.Marker = s.x.label, plot.ConstantTicks(x)
	}
	for _, over := range []bool{false, true} { // markers and what is smoothed stand over all lines
		for i := range pl.curves {
			p.Add(stroke{&pl.curves[i], over})
		}
	}
	return p
}

// tickWidth is the width of the widest label on the y axis.
func tickWidth(p *plot.Plot) (widest vg.Length) {
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		widest = max(widest, p.Y.Tick.Label.Width(t.Label))
	}
	return widest
}

// shorten cuts a text that is wider than its room.
func shorten(st text.Style, s string, room vg.Length) string {
	if st.Width(s) <= room {
		return s
	}
	r := []rune(s)
	low, high := 0, len(r)
	for low < high {
		if mid := (low + high + 1) / 2; st.Width(string(r[:mid])+"…") <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.TrimRight(string(r[:low]), " ") + "…"
}
