package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Dot is a point of a plot that no line joins, at an x of the axis that is shown. One whose y has no place on the
// axis stands in a lane over it.
type Dot struct {
	X, Y  float64
	R     rune
	Token style.Token
}

// placed reports whether a y has a place on the axis.
func (p *Plot) placed(y float64) bool { return format.Finite(y) && (y > 0 || !p.Log) }

// lane is how many of h rows are for the dots that have no place on the axis.
func (p *Plot) lane(h int) int {
	const least = 5
	if h < least || !slices.ContainsFunc(p.Dots, func(d Dot) bool { return format.Finite(d.X) && !p.placed(d.Y) }) {
		return 0
	}
	return 1
}

// dotReach widens a range of x, the axis' logarithm not taken, by the dots.
func (p *Plot) dotReach(left, right float64) (float64, float64) {
	for i := range p.Dots {
		d := &p.Dots[i]
		if p.placed(d.Y) && format.Finite(d.X) && (d.X > 0 || !p.LogX) {
			left, right = math.Min(left, d.X), math.Max(right, d.X)
		}
	}
	return left, right
}

// dotSpan widens a range of y by the dots.
func (p *Plot) dotSpan(low, high float64) (float64, float64) {
	for i := range p.Dots {
		if y := p.Dots[i].Y; p.placed(y) {
			low, high = math.Min(low, y), math.Max(high, y)
		}
	}
	return low, high
}

// drawPoints draws the dots over the curves; of several in one cell the last one shows.
func drawPoints(c *Canvas, v *style.Pen, p *Plot, a Area) {
	if a.Y > 0 && a.X > style.Cells(p.Above) {
		c.Write(a.X-1-style.Cells(p.Above), 0, p.Above, style.Muted)
	}
	for i := range p.Dots {
		if x, y, ok := p.DotCell(v.Glyphs, &a, &p.Dots[i]); ok {
			c.Set(x, y, p.Dots[i].R, p.Dots[i].Token)
		}
	}
}

// DrawDot sets the cell of a point within an area.
func DrawDot(c *Canvas, g *style.GlyphSet, a Area, d Dot) {
	if x, y := a.CellX(g, d.X), a.Row(g, d.Y); a.Covers(x, y) {
		c.Set(x, y, d.R, d.Token)
	}
}

// DotCell is the cell that a dot stands in; false if it lies outside, or in a lane for which there is no room.
func (p *Plot) DotCell(g *style.GlyphSet, a *Area, d *Dot) (x, y int, ok bool) {
	if !format.Finite(d.X) || p.LogX && d.X <= 0 || a.Right > a.Left && !a.has(d.X) {
		return 0, 0, false
	}
	x, y = a.CellX(g, d.X), 0
	if p.placed(d.Y) {
		y = a.Row(g, d.Y)
		return x, y, a.Covers(x, y)
	}
	return x, y, a.Y > 0 && x >= a.X && x < a.X+a.W
}

// drawNames writes the names of the x 0, 1, 2, …
func drawNames(c *Canvas, v *style.Pen, p *Plot, a Area, row int) {
	room := a.W/len(p.Names) - 1
	if room < 1 {
		return
	}
	for i, s := range p.Names {
		s = ansi.Truncate(s, room, "…")
		n := style.Cells(s)
		x := a.CellX(v.Glyphs, float64(i)) - (n-1)/2
		c.Write(max(a.X, min(x, a.X+a.W-n)), row, s, style.Muted)
	}
}

// Plot says what a chart shows; its zero value is a linear chart scaled to its data.
type Plot struct {
	Curves   []Curve
	Dots     []Dot
	Planned  Planned
	Y        YAxis
	Log      bool
	Whole    bool                 // epochs are whole numbers
	Value    func(float64) string // of the legend; nil for plain numbers
	Best     bool                 // less is better: the legend says what was least
	NoX      bool                 // a chart beneath has the labels of x
	Rules    []float64            // y of guide lines
	Marks    []Mark               // x of events
	AllMarks func(Axis) []Mark    // along another axis, the minor ones too; nil: marks are all there are
	Above    string               // what the dots are that have no place on the y axis
	Names    []string             // what the x 0, 1, 2, … stand for, where they are no numbers
	Limit    float64              // an epoch that the axis ends at or before, if the data do; 0 for none
	Closed   bool                 // no more points will come
	Legend   bool
	Signs    bool     // the legend says which curve is which, and no values
	Note     []string // what the curves tell, for the legend, ever shorter
	Unit     bool     // the last label of x has the unit
	Counted  string   // what the run counts along x, "step"; "" is "epoch"
	Waiting  string   // what to say while there is nothing to draw

	By     Axis
	LogX   bool
	Window [2]float64 // the part of x to show, when the second is above the first
	Span   [2]float64 // what the x axis has whatever the data, likewise, so that plots beside each other share theirs
	Detail bool       // there is room and leisure: the newest points one by one, units, small ticks
	Told   bool       // a table tells the values at the cursor, and no box beside it
	small  bool       // it is one of many: few buckets are enough
	user   view
}

// Curve is one line of a plot.
type Curve struct {
	Name   string
	Token  style.Token
	Series *Series
	Dashed bool
	Thick  bool   // two dots high, to stand out among others
	Mark   rune   // stands for its dots in ASCII
	Tag    string // written at its newest point, to tell many curves apart
}

// Mark is something that happened at an x.
type Mark struct {
	X    float64
	Text string
}

// YAxis is how a plot scales and labels y.
type YAxis struct {
	Zero   bool       // a linear axis starts at zero
	Clip   [2]float64 // bounds, when the second is above the first
	Show   [2]float64 // what is within the axis whatever the data, likewise
	Unit   string     // of its labels, as format.AxisLabels takes it
	Name   string     // in the corner where there is room
	Margin int        // its least width, to align charts
}

// counted is what the run counts.
func (p *Plot) counted() string { return cmp.Or(p.Counted, "epoch") }
