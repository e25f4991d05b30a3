package figure

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const (
	dpi   = 300
	pixel = 72.0 / dpi // in points
)

// pixels is a canvas.
type pixels struct {
	*image.RGBA
	raster vector.Rasterizer
	faces  map[float64]font.Face // by size
}

func newPNG(width, height float64) *pixels {
	c := &pixels{RGBA: image.NewRGBA(image.Rect(0, 0, int(math.Round(width/pixel)), int(math.Round(height/pixel)))),
		faces: map[float64]font.Face{}}
	draw.Draw(c, c.Rect, image.White, image.Point{}, draw.Src)
	return c
}

// fill fills what a line encloses that is closed to its beginning.
func (c *pixels) fill(ink color.Color, line []position) {
	area := image.Rectangle{}
	for _, q := range line {
		x, y := int(math.Floor(q.x/pixel)), int(math.Floor(q.y/pixel))
		area = area.Union(image.Rect(x, y, x+2, y+2))
	}
	if area = area.Intersect(c.Rect); area.Empty() {
		return
	}
	place := func(q position) (x, y float32) {
		return float32(q.x/pixel - float64(area.Min.X)), float32(q.y/pixel - float64(area.Min.Y))
	}
	c.raster.Reset(area.Dx(), area.Dy())
	c.raster.MoveTo(place(line[0]))
	for _, q := range line[1:] {
		c.raster.LineTo(place(q))
	}
	c.raster.ClosePath()
	c.raster.Draw(c, area, image.NewUniform(ink), image.Point{})
}

func (c *pixels) path(p pen, along []position) {
	if p.width == 0 {
		c.fill(p.color, along)
		return
	}
	if closed(along) { // a corner at its end like all others
		along = append(slices.Clip(along), along[1])
	}
	for _, dash := range dash(along, p.dashes) {
		c.fill(p.color, stroke(dash, p.width/2))
	}
}

func (c *pixels) circle(p pen, centre position, radius float64) {
	c.path(p, append(arc(nil, centre, radius, 0, 2*math.Pi), position{centre.x + radius, centre.y}))
}

// arc appends places on a circle from an angle on, in radians, so close that its corners cannot be seen.
func arc(to []position, centre position, radius, from, by float64) []position {
	n := max(1, int(math.Ceil(math.Abs(by)*(2+math.Sqrt(radius/pixel)))))
	for i := range n {
		sin, cos := math.Sincos(from + by*float64(i)/float64(n))
		to = append(to, position{centre.x + radius*cos, centre.y + radius*sin})
	}
	return to
}

// stroke returns the outline of a line of some half width, with round corners and flat ends.
func stroke(along []position, half float64) (out []position) {
	along = slices.CompactFunc(slices.Clone(along), func(a, b position) bool {
		return math.Hypot(
			a.x-b.x, a.y-b.y) < pixel/100
	})
	if len(along) < 2 {
		return nil
	}
	for range 2 { // there on one side and back on the other
		last := 0.0
		for i, to := range along[1:] {
			from := along[i]
			angle := math.Atan2(to.y-from.y, to.x-from.x) - math.Pi/2
			turn := math.Remainder(angle-last, 2*math.Pi)
			switch {
			case i == 0:
			case turn > 0: // this side is the outer one
				out = arc(out, from, half, last, turn)
			default:
				out = append(out, from)
			}
			sin, cos := math.Sincos(angle)
			out = append(out, position{from.x + half*cos, from.y + half*sin},
				position{to.x + half*cos, to.y + half*sin})
			last = angle
		}
		slices.Reverse(along)
	}
	return out
}

// dash cuts a line into dashes of lengths that follow one another, with gaps.
func dash(along []position, lengths []float64) (out [][]position) {
	if lengths == nil {
		return [][]position{along}
	}
	piece, k, left := []position{along[0]}, 0, lengths[0]
	for i, to := range along[1:] {
		from := along[i]
		far := math.Hypot(to.x-from.x, to.y-from.y)
		for done := 0.0; ; {
			if far-done < left {
				left -= far - done
				break
			}
			done += left
			cut := position{from.x + (to.x-from.x)*done/far, from.y + (to.y-from.y)*done/far}
			if k%2 == 0 {
				out = append(out, append(piece, cut))
			}
			k++
			piece, left = []position{cut}, lengths[k%len(lengths)]
		}
		piece = append(piece, to)
	}
	if k%2 == 0 {
		out = append(out, piece)
	}
	return out
}

func (c *pixels) text(t *words) {
	if c.faces[t.size] == nil {
		f, err := opentype.NewFace(face(), &opentype.FaceOptions{Size: t.size, DPI: dpi})
		if err != nil {
			panic(fmt.Sprintf("figure: embedded font: %v", err))
		}
		c.faces[t.size] = f
	}
	text, ink := known(t.text), image.NewUniform(t.color)
	before := t.anchor * wide(text, t.size) / pixel
	d := font.Drawer{Dst: c, Src: ink, Face: c.faces[t.size]}
	if !t.upright {
		d.Dot = dotAt(t.at.x/pixel-before, t.at.y/pixel)
		d.DrawString(text)
		return
	}
	d.Dot = dotAt(-before, 0)
	b, _ := d.BoundString(text) // around its Dot
	lying := image.NewAlpha(image.Rect(b.Min.X.Floor(), b.Min.Y.Floor(), b.Max.X.Ceil(), b.Max.Y.Ceil()))
	d.Dst, d.Src = lying, image.Opaque
	d.DrawString(text)
	x, y := int(math.Round(t.at.x/pixel)), int(math.Round(t.at.y/pixel))
	turned := image.NewAlpha(image.Rect(lying.Rect.Min.Y, -lying.Rect.Max.X, lying.Rect.Max.Y, -lying.Rect.Min.X))
	for i := lying.Rect.Min.X; i < lying.Rect.Max.X; i++ {
		for k := lying.Rect.Min.Y; k < lying.Rect.Max.Y; k++ {
			turned.SetAlpha(k, -i-1, lying.AlphaAt(i, k))
		}
	}
	draw.DrawMask(c, turned.Rect.Add(image.Pt(x, y)), ink, image.Point{}, turned, turned.Rect.Min, draw.Over)
}

// dotAt is a place in pixels as fonts have it.
func dotAt(x, y float64) fixed.Point26_6 {
	return fixed.Point26_6{X: fixed.Int26_6(math.Round(64 * x)), Y: fixed.Int26_6(math.Round(64 * y))}
}

func (c *pixels) write(w io.Writer) error { return png.Encode(w, c.RGBA) }
