package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
)

// Chart is what a pane of the screen shows, for paper: one panel of curves, dots or bars. Its text need not be clean.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool     // what is not above zero is left out; without effect on Names and with Bars
	Names       []string // what the x 0, 1, 2, … stand for, where they are no numbers
	Curves      []Curve
	Marks       []Mark
}

// Curve is a line through points or, with Dots or Bars, what stands at them. Bars stand on those of the curves before.
type Curve struct {
	Name               string      // in the legend; empty: it is not there
	Color              color.Color // nil: black
	Dashed, Dots, Bars bool
	Points             []Point // by x; what is not finite is left out
}

// Mark is an event along x.
type Mark struct {
	X    float64
	Text string
}

const (
	chartWidth  = 16 * centimeter
	chartHeight = 10 * centimeter
)

// Empty reports whether the chart has nothing that can be drawn.
func (c *Chart) Empty() bool {
	for i := range c.Curves {
		if len(c.drawable(&c.Curves[i])) > 0 {
			return false
		}
	}
	return true
}

// logarithmic reports which axes are.
func (c *Chart) logarithmic() (x, y bool) {
	bars := slices.ContainsFunc(c.Curves, func(of Curve) bool { return of.Bars })
	return c.LogX && !bars && len(c.Names) == 0, c.LogY && !bars
}

// drawable returns the points that have a place on the axes.
func (c *Chart) drawable(of *Curve) (out []Point) {
	logX, logY := c.logarithmic()
	for _, p := range of.Points {
		if finite(p.X) && finite(p.Y) && (p.X >= least || !logX) && (p.Y >= least || !logY) {
			out = append(out, p)
		}
	}
	return out
}

// Draw draws the chart; format is "svg", "png" or "pdf". It returns an *OptionError for another one, and an error where
// the chart is empty.
func (c *Chart) Draw(w io.Writer, format string) error {
	if c.Empty() {
		return fmt.Errorf("%s has no finite value yet", printable(c.Title))
	}
	s := c.sheet()
	return s.write(w, format)
}

func (c *Chart) sheet() *sheet {
	s := &sheet{title: printable(c.Title), width: chartWidth, height: chartHeight}
	logX, logY := c.logarithmic()
	s.x = scale{log: logX, label: printable(c.X), whole: c.X == "epoch", names: c.Names}
	var p panel
	p.y = scale{log: logY, label: printable(c.Y)}
	x, y := newSpan(), newSpan()
	beside := 0.0 // what stands at a point reaches so far to its sides
	base := map[float64]float64{}
	for i := range c.Curves {
		of := &c.Curves[i]
		points := c.drawable(of)
		if len(points) == 0 {
			continue
		}
		d := curve{pieces: [][]Point{points}, style: pen{color: of.Color, width: heavy}}
		if of.Color == nil {
			d.style.color = color.Black
		}
		if of.Dashed {
			d.style.dashes = dashed
		}
		switch {
		case of.Bars:
			d.kind, beside = bars, 0.5
			y.add(0)
		case of.Dots:
			d.kind = dots
		}
		for _, q := range points {
			x.add(q.X)
			if of.Bars {
				d.base = append(d.base, base[q.X])
				base[q.X] += q.Y
				y.add(base[q.X])
			}
			y.add(q.Y)
		}
		p.curves = append(p.curves, d)
		if of.Name != "" {
			s.legend = append(s.legend, d.entry(printable(of.Name)))
		}
	}
	if len(c.Names) > 0 {
		x, beside = span{0, float64(len(c.Names) - 1)}, 0.5
	}
	s.x.min, s.x.max = x.low-beside, x.high+beside
	if beside <= 1e-9*max(math.Abs(x.low), math.Abs(x.high)) {
		s.x.widen(x.low, x.high)
	}
	p.y.widen(y.low, y.high)
	s.panels = []panel{p}
	for _, m := range c.Marks {
		if m.X >= s.x.min && m.X <= s.x.max {
			s.marks = append(s.marks, mark{m.X, printable(m.Text), faint})
		}
	}
	return s
}

// entry is the curve in the legend.
func (c *curve) entry(text string) entry {
	e := entry{line: c.style, text: text}
	switch c.kind {
	case dots:
		e.line.width, e.shape = 0, disc
	case bars:
		e.line.width, e.shape = 0, box
	}
	return e
}

// span is from the least to the greatest of some numbers.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }
