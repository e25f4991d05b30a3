package figure

import (
	"image/color"
	"io"
)

// hues tell the runs apart, with the shapes: those of Okabe and Ito ("Color Universal Design", 2008), which eyes that
// see fewer colours can tell apart too, but for the yellow, which is too pale for lines on white.
var hues = [MaxRuns]color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
	{0x7f, 0x7f, 0x7f, 0xff}, // grey
}

var shapes = [MaxRuns]shape{disc, square, pyramid, ring, box, triangle, cross, plus}

var (
	black = color.Gray{Y: 0x22}
	faint = color.Gray{Y: 0x66}
	grid  = color.Gray{Y: 0xe8}
)

// Lengths in points.
const (
	margin     = 8
	titleSize  = 11
	labelSize  = 8.5
	tickSize   = 7.5
	noteSize   = 6.5
	markerSize = 2.2
	dotSize    = 2
	sample     = 22 // a line in the legend
	heavy      = 1.2
	light      = 0.8
	thin       = 0.5
	centimeter = 72 / 2.54
)

var dashed = []float64{3.5, 2}

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
	width, height float64  // points
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
	x     float64
	text  string
	color color.Color
}

// entry is a piece of the legend.
type entry struct {
	line   pen // of width 0: none
	shape  shape
	text   string
	paired bool // it stands beside the one after it
}

// area is a part of a canvas.
type area struct{ left, top, right, bottom float64 }

func (a *area) width() float64  { return a.right - a.left }
func (a *area) height() float64 { return a.bottom - a.top }

// contains reports whether a place is in the area or on its edge.
func (a *area) contains(q position) bool {
	return q.x >= a.left && q.x <= a.right && q.y >= a.top && q.y <= a.bottom
}

// paint draws the sheet from the top: title, legend, names of switches, panels, notes.
func (s *sheet) paint(c canvas) {
	a := area{margin, margin, s.width - margin, s.height - margin}
	if s.title != "" {
		a.top += titleSize
		drawLabel(c, &words{at: position{a.left, a.top}, size: titleSize, color: black,
			text: shorten(s.title, titleSize, a.width())})
		a.top += titleSize * 0.7
	}
	a.top += s.key(c, a)
	a.bottom -= s.footnotes(c, a)
	s.charts(c, a)
}

// key writes the legend in rows and returns how much room it took.
func (s *sheet) key(c canvas, a area) float64 {
	if len(s.legend) == 0 {
		return 0
	}
	const gap, apart = 4, 14
	at := position{a.left, a.top + labelSize}
	for i, e := range s.legend {
		label := shorten(e.text, labelSize, a.width()-sample-gap)
		w := sample + gap + wide(label, labelSize)
		ahead := w
		if e.paired {
			ahead += apart + sample + gap + wide(s.legend[i+1].text, labelSize)
		}
		if at.x > a.left && at.x+ahead > a.right {
			at = position{a.left, at.y + labelSize*leading}
		}
		middle := at.y - labelSize*capital/2
		if e.line.width > 0 {
			c.path(e.line, []position{{at.x, middle}, {at.x + sample, middle}})
		}
		e.shape.draw(c, e.line.color, position{at.x + sample/2, middle}, markerSize)
		drawLabel(c, &words{at: position{at.x + sample + gap, at.y}, size: labelSize, color: black, text: label})
		at.x += w + apart
	}
	return at.y - a.top + labelSize*0.8
}

// footnotes writes the notes at the bottom and returns how much room they took.
func (s *sheet) footnotes(c canvas, a area) float64 {
	room := float64(len(s.notes)) * noteSize * leading
	for i, n := range s.notes {
		at := position{a.left, a.bottom - room + noteSize + float64(i)*noteSize*leading}
		drawLabel(c, &words{at: at, size: noteSize, color: faint, text: shorten(n, noteSize, a.width())})
	}
	return room + noteSize/2
}

// natural is the height that a sheet has if each panel has one.
func (s *sheet) natural(each float64) float64 {
	return each*float64(len(s.panels)) + 2.2*centimeter + float64(len(s.notes))*noteSize*leading
}

const minHeight = 1.4 * centimeter // of a panel

// defaultHeight is that of each of that many panels.
func defaultHeight(panels int) float64 {
	if panels == 1 {
		return 7 * centimeter
	}
	return 4.6 * centimeter
}

// write paints the sheet in a format.
func (s *sheet) write(w io.Writer, format string) error {
	c, err := newCanvas(format, s.width, s.height)
	if err != nil {
		return err
	}
	s.paint(c)
	return c.write(w)
}
