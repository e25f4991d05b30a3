// Package chart draws curves of any length in cells: series, plots with axes, a cursor and zoom, rasters in shades, and
// what a user has set on them. It is the only package that imports ntcharts.
package chart

import (
	"cmp"
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Plot says what a chart shows; its zero value is a linear chart scaled to its data.
type Plot struct {
	XAxis
	Curves   []Curve
	Dots     []Dot
	Planned  Planned
	Y        YAxis
	Log      bool
	Value    func(float64) string // of the legend; nil for plain numbers
	Best     bool                 // less is better: the legend says what was least
	Rules    []float64            // y of guide lines
	Marks    []Mark               // x of events
	AllMarks func(Axis) []Mark    // along another axis, the minor ones too; nil: marks are all there are
	Above    string               // what the dots are that have no place on the y axis
	Closed   bool                 // no more points will come
	Legend   bool
	Signs    bool     // the legend says which curve is which, and no values
	Note     []string // what the curves tell, for the legend, ever shorter
	Waiting  string   // what to say while there is nothing to draw
	Detail   bool     // there is room and leisure: the latest points one by one, units, small ticks
	Tabled   bool     // a table tells the values at the cursor, and no box beside it
	small    bool     // it is one of many: few buckets are enough
	user     view
}

// XAxis is what a plot has along x, and how that is labelled.
type XAxis struct {
	By      Axis
	LogX    bool
	Window  [2]float64 // the part of x to show, when the second is above the first
	Span    [2]float64 // what the axis has whatever the data, likewise, so that plots beside each other share theirs
	Limit   float64    // an epoch that the axis ends at or before, if the data do; 0 for none
	Whole   bool       // epochs are whole numbers
	Counted string     // what the run counts, "step"; "" is "epoch"
	Over    string     // what stands in place of the epochs, "" for nothing
	Unit    bool       // the last label has the unit
	NoX     bool       // a chart beneath has the labels
	Names   []string   // what the x 0, 1, 2, … stand for, where they are no numbers
}

// YAxis is how a plot scales and labels y.
type YAxis struct {
	Zero bool       // a linear axis starts at zero
	Clip [2]float64 // bounds, when the second is above the first
	Show [2]float64 // what is within the axis whatever the data, likewise
	Unit string     // of its labels, as format.AxisLabels takes it
	// Complement turns an error into an accuracy: what is written are the values' distances from 1, and y grows
	// downwards, so that a logarithmic axis has 90 %, 99 % and 99.9 % as far from each other.
	Complement bool
	Floor      float64 // where a logarithmic axis has what is not above zero; 0 for nowhere
	Bottom     string  // its label
	Name       string  // in the corner where there is room
	Margin     int     // its least width, to align charts
}

// Curve is one line of a plot.
type Curve struct {
	Name   string
	Token  style.Token
	Series *Series
	Dashed bool
	Thick  bool   // two dots high, to stand out among others
	Mark   rune   // stands for its dots in ASCII
	Tag    string // written at its latest point, to tell many curves apart
}

// Mark is something that happened at an x.
type Mark struct {
	X    float64
	Text string
}

// Dot is a point of a plot that no line joins, at an x of the axis that is shown. One whose y has no place on the
// axis stands in a lane over it.
type Dot struct {
	X, Y  float64
	R     rune
	Token style.Token
}

// Planned is what a curve will do after its latest point, as far as that is settled: a dotted line over the epochs to
// come, which widens both axes and has no cursor.
type Planned struct {
	Name   string
	Token  style.Token
	Points []Point
}

// Point is one of a line's.
type Point struct{ X, Y float64 }

// view is what only the controls of a zoomed chart set.
type view struct {
	half     float64   // half-life in epochs that curves are smoothed with; 0 for not at all
	outliers bool      // the y axis leaves out what lies far from most values
	cursor   *Position // where the values are reported; nil for nowhere
}

func (k *Curve) stroke() stroke {
	return stroke{k.Token, k.Mark, k.Dashed, k.Thick, k.Series != nil && k.Series.banded}
}

// items are the buckets of a curve that a chart draws.
func (p *Plot) items(k *Curve) []Bucket {
	switch {
	case p.Detail:
		return k.Series.Fine()
	case p.small && !(p.Window[1] > p.Window[0]):
		return k.Series.Coarse()
	}
	return k.Series.Buckets
}

// within returns the buckets that the area shows some of.
func (p *Plot) within(a Area, items []Bucket) []Bucket {
	if p.Window[1] <= p.Window[0] && !p.LogX {
		return items
	}
	return Visible(items, p.By, a.back(a.Left), a.back(a.Right))
}

// inside leaves out the neighbours of what is within.
func inside(a Area, items []Bucket) []Bucket {
	for len(items) > 0 && a.across(items[0].X1[a.By]) < a.Left {
		items = items[1:]
	}
	for len(items) > 0 && a.across(items[len(items)-1].X1[a.By]) > a.Right {
		items = items[:len(items)-1]
	}
	return items
}

// positive returns a curve's first x above zero, +Inf if it has none.
func (p *Plot) positive(k *Curve) float64 {
	items := p.items(k)
	i := slices.IndexFunc(items, func(b Bucket) bool { return b.X1[p.By] > 0 })
	if i < 0 {
		return math.Inf(1)
	}
	return items[i].X1[p.By]
}

// FitsLog reports whether a logarithmic axis shows the curves: one has values above zero, and unless the user chose the
// axis none has values below. So it does as long as there are none.
func FitsLog(curves []Curve, chosen bool) bool {
	least, greatest := math.Inf(1), math.Inf(-1)
	for i := range curves {
		if low, high, ok := curves[i].Series.Bounds(false); ok {
			least, greatest = math.Min(least, low), math.Max(greatest, high)
		}
	}
	return least > greatest || greatest > 0 && (chosen || least >= 0)
}

// ScaleWord says in a title that a chart is logarithmic.
func (p *Plot) ScaleWord() style.Part {
	if p.Log {
		return style.Muted.Of("  log")
	}
	return style.Part{}
}

// Add appends a curve that has something to draw.
func (p *Plot) Add(k Curve) {
	if _, _, ok := k.Series.Bounds(p.Log); ok {
		p.Curves = append(p.Curves, k)
	}
}

// text writes one of the plot's values.
func (p *Plot) text(y float64) string {
	if p.Y.Complement {
		y = 1 - y
	}
	if p.Value != nil {
		return p.Value(y)
	}
	return format.Number(y)
}

// Percent writes the values as such.
func (p *Plot) Percent() {
	p.Value, p.Y.Unit = format.Percent, format.PercentUnit
}

// Sign is a short stretch of the dotted line with its name.
func (k *Planned) Sign(g *style.GlyphSet) style.Part {
	dots := "···"
	if g.ASCII {
		dots = "..."
	}
	return k.Token.Of(dots + " " + k.Name)
}

// placed reports whether a y has a place on the axis.
func (p *Plot) placed(y float64) bool { return format.Finite(y) && (y > 0 || !p.Log) }

// counted is what the run counts.
func (x *XAxis) counted() string { return cmp.Or(x.Counted, "epoch") }

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

// plan is what of the plan is shown: all of it, but along other axes than the epochs, and where x is logarithmic,
// nothing.
func (p *Plot) plan() []Point {
	if p.By != Epochs || p.LogX || p.Closed {
		return nil
	}
	return p.Planned.Points
}
