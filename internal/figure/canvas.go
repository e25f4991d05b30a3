package figure

import (
	"image/color"
	"io"
	"slices"
	"strings"
)

// canvas is what a figure is painted on. Lengths are in points (1/72 inch), from the upper left corner to the right and
// down.
type canvas interface {
	// path strokes a line that joins places, or fills what it encloses. A line that ends where it began is closed.
	path(p pen, along []position)
	circle(p pen, centre position, radius float64)
	text(t *words)
	// write writes the picture, the same bytes for the same picture. Nothing is painted after it.
	write(w io.Writer) error
}

// position is a place on a canvas.
type position struct{ x, y float64 }

// pen is how something is drawn.
type pen struct {
	color  color.Color
	width  float64   // 0: its inside is filled
	dashes []float64 // lengths of dash and gap; nil: solid
}

// label are a line of text.
type words struct {
	at      position // on the base line
	anchor  float64  // the share of the text that lies before at: 0, 0.5 or 1
	size    float64
	color   color.Color
	text    string
	upright bool // it runs upwards
}

// drawLabel writes words, if there are any.
func drawLabel(c canvas, t *words) {
	if t.text != "" {
		c.text(t)
	}
}

// closed reports whether a line ends where it began.
func closed(along []position) bool { return len(along) > 2 && along[0] == along[len(along)-1] }

// rgb returns the parts of an opaque colour, 0 to 255.
func rgb(c color.Color) (r, g, b int) {
	q := color.NRGBAModel.Convert(c).(color.NRGBA)
	return int(q.R), int(q.G), int(q.B)
}

const optionFormat = "figure format"

// formats are the ends of files' names that Write knows, without the dot.
var formats = []string{"svg", "png", "pdf"}

func newCanvas(format string, width, height float64) (canvas, error) {
	switch format {
	case "svg":
		return newSVG(width, height), nil
	case "png":
		return newPNG(width, height), nil
	case "pdf":
		return newPDF(width, height), nil
	}
	last := len(formats) - 1
	return nil, &OptionError{optionFormat, format, strings.Join(formats[:last], ", ") + " or " + formats[last]}
}

// shape is what a marker looks like.
type shape uint8

const (
	unmarked shape = iota
	disc
	square
	pyramid
	ring
	box
	triangle
	cross
	plus
)

// outlines are lines of the shapes that are no circles, by a radius of 1.
var outlines = [...][][]position{
	square:   {{{-0.85, -0.85}, {0.85, -0.85}, {0.85, 0.85}, {-0.85, 0.85}, {-0.85, -0.85}}},
	triangle: {{{0, -1.25}, {-1.08, 0.625}, {1.08, 0.625}, {0, -1.25}}},
	cross:    {{{-0.71, -0.71}, {0.71, 0.71}}, {{-0.71, 0.71}, {0.71, -0.71}}},
	plus:     {{{0, -1}, {0, 1}}, {{-1, 0}, {1, 0}}},
}

// draw draws a marker.
func (k shape) draw(c canvas, ink color.Color, at position, radius float64) {
	p := pen{color: ink, width: 0.5}
	switch k {
	case disc, box, pyramid:
		p.width = 0
	}
	switch k {
	case disc, ring:
		c.circle(p, at, radius)
		return
	case box:
		k = square
	case pyramid:
		k = triangle
	}
	for _, line := range outlines[k] {
		line = slices.Clone(line)
		for i, q := range line {
			line[i] = position{at.x + radius*q.x, at.y + radius*q.y}
		}
		c.path(p, line)
	}
}
