package tui

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"charm.land/lipgloss/v2"
	paper "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// figure is a chart for paper: the data of a pane, apart from the terminal's cells and colours.
type figure struct {
	title, x, y string
	logX, logY  bool
	names       []string // what the x 0, 1, 2, … stand for, where they are no numbers
	curves      []figureCurve
	marks       []chart.Mark // x of events
}

// figurePoints are the points of a curve.
type (
	figurePoint  = plotter.XY
	figurePoints = plotter.XYs
)

// figureCurve is a line or, as bars, the heights at its points.
type figureCurve struct {
	name   string
	tok    style.Token
	dashed bool
	dots   bool // points that no line joins
	bars   bool // stacked on the bars before
	points plotter.XYs
}

const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 10 * vg.Centimeter
	figureDPI    = 200
)

// write draws the figure as svg, png or pdf.
func (f *figure) write(w io.Writer, format string) error {
	p, err := f.plot()
	if err != nil {
		return err
	}
	var to vg.CanvasWriterTo
	if format == "png" {
		to = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(figureDPI))}
	} else if to, err = draw.NewFormattedCanvas(figureWidth, figureHeight, format); err != nil {
		return err
	}
	c := draw.New(to)
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	const edge = 8
	p.Draw(draw.Crop(c, edge, -2*edge, edge, -edge))
	_, err = to.WriteTo(w)
	return err
}

func (f *figure) plot() (*paper.Plot, error) {
	p := paper.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.x, f.y
	p.Title.Padding = vg.Points(6)
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	// Fonts differ in width from where they were measured: text that runs away from its line can't cross it.
	p.Legend.Left, p.Legend.Padding, p.Legend.XOffs = true, vg.Points(2), vg.Points(6)
	grid := plotter.NewGrid()
	pale := color.Gray{Y: 225}
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	p.Add(grid)
	if f.logX {
		p.X.Scale = paper.LogScale{}
	}
	if f.logY {
		p.Y.Scale = paper.LogScale{}
	}
	p.X.Tick.Marker = f.xTicks()
	p.Y.Tick.Marker = figureTicks(func(low, high float64) []float64 {
		if f.logY {
			return chart.Decades(math.Log10(low), math.Log10(high), 8)
		}
		return chart.Steps(low, high, 7)
	})
	drawn := 0
	var below *plotter.BarChart
	for _, c := range f.curves {
		points := f.drawable(c.points)
		if len(points) == 0 {
			continue
		}
		drawn++
		switch {
		case c.bars:
			bars, err := c.stack(p, below)
			if err != nil {
				return nil, err
			}
			below = bars
		case c.dots || len(points) == 1:
			if err := c.scatter(p, points); err != nil {
				return nil, err
			}
		default:
			if err := c.line(p, points); err != nil {
				return nil, err
			}
		}
	}
	if drawn == 0 {
		return nil, fmt.Errorf("%s has no finite value yet", f.title)
	}
	if f.logY && p.Y.Min <= 0 {
		p.Y.Min = math.SmallestNonzeroFloat64
	}
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = p.Y.Min-math.Abs(p.Y.Min)/10, p.Y.Max+math.Abs(p.Y.Max)/10
	}
	f.annotate(p)
	if p.Legend.Top = f.low(p); p.Legend.Top {
		f.headroom(p)
	}
	return p, nil
}

// xTicks labels the x axis with numbers, or with the names of choices.
func (f *figure) xTicks() paper.Ticker {
	if len(f.names) > 0 {
		ticks := make(paper.ConstantTicks, len(f.names))
		for i, s := range f.names {
			ticks[i] = paper.Tick{Value: float64(i), Label: style.Clean(s)}
		}
		return ticks
	}
	return figureTicks(func(low, high float64) []float64 {
		if f.logX {
			return chart.Decades(math.Log10(low), math.Log10(high), 8)
		}
		return chart.Steps(low, high, 8)
	})
}

// figureTicks labels an axis as the screen does.
type figureTicks func(low, high float64) []float64

// Ticks implements plot.Ticker.
func (t figureTicks) Ticks(low, high float64) (out []paper.Tick) {
	for _, v := range t(low, high) {
		out = append(out, paper.Tick{Value: v, Label: format.Tick(v)})
	}
	return out
}

// headroom makes place for the legend above the curves.
func (f *figure) headroom(p *paper.Plot) {
	named := 0
	for _, c := range f.curves {
		if c.name != "" {
			named++
		}
	}
	more := min(0.4, 0.08*float64(named))
	if f.logY {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, more)
	} else {
		p.Y.Max += (p.Y.Max - p.Y.Min) * more
	}
}

// low reports whether the curves begin in the lower half, so that the legend has the upper one.
func (f *figure) low(p *paper.Plot) bool {
	low, high := 0, 0
	for _, c := range f.curves {
		points := f.drawable(c.points)
		for _, q := range points[:(len(points)+3)/4] {
			if p.Y.Norm(q.Y) < 0.5 {
				low++
			} else {
				high++
			}
		}
	}
	return low >= high
}

// drawable leaves out what the axes have no place for.
func (f *figure) drawable(points plotter.XYs) plotter.XYs {
	out := make(plotter.XYs, 0, len(points))
	for _, q := range points {
		if format.Finite(q.Y) && (q.Y > 0 || !f.logY) && (q.X > 0 || !f.logX) {
			out = append(out, q)
		}
	}
	return out
}

func (c *figureCurve) line(p *paper.Plot, points plotter.XYs) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Width = paperColour(c.tok), vg.Points(1.3)
	if c.dashed {
		l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(l)
	c.legend(p, l)
	return nil
}

func (c *figureCurve) scatter(p *paper.Plot, points plotter.XYs) error {
	s, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	s.Color, s.Radius, s.Shape = paperColour(c.tok), vg.Points(2), draw.CircleGlyph{}
	p.Add(s)
	c.legend(p, s)
	return nil
}

func (c *figureCurve) stack(p *paper.Plot, below *plotter.BarChart) (*plotter.BarChart, error) {
	heights := make(plotter.Values, len(c.points))
	for i, q := range c.points {
		heights[i] = q.Y
	}
	width := max(figureWidth*0.75/vg.Length(len(heights)+1), vg.Points(0.5))
	b, err := plotter.NewBarChart(heights, width)
	if err != nil {
		return nil, err
	}
	b.Color, b.LineStyle.Width, b.XMin = paperColour(c.tok), 0, c.points[0].X
	if below != nil {
		b.StackOn(below)
	}
	p.Add(b)
	c.legend(p, b)
	return b, nil
}

func (c *figureCurve) legend(p *paper.Plot, t paper.Thumbnailer) {
	if c.name != "" {
		p.Legend.Add(c.name, t)
	}
}

// annotate names the events along x.
func (f *figure) annotate(p *paper.Plot) {
	for _, m := range f.marks {
		if m.X < p.X.Min || m.X > p.X.Max {
			continue
		}
		l, err := plotter.NewLine(plotter.XYs{{X: m.X, Y: p.Y.Min}, {X: m.X, Y: p.Y.Max}})
		if err != nil {
			continue
		}
		l.Color, l.Dashes = color.Gray{Y: 120}, []vg.Length{vg.Points(2), vg.Points(2)}
		p.Add(l)
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: m.X, Y: p.Y.Min}}, Labels: []string{" " + m.Text}})
		if err != nil {
			continue
		}
		label.TextStyle[0].Color = color.Gray{Y: 90}
		p.Add(label)
	}
}

// paperColour is a token's colour on a light ground.
func paperColour(t style.Token) color.Color {
	if hex := t.OnLight(); hex != "" {
		return lipgloss.Color(hex)
	}
	return color.Black
}
