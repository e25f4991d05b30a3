package render

import (
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"
	"sync"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"newtop/tui/style"
)

// A cell of the raster, in pixels.
const (
	rasterWidth    = 18
	rasterHeight   = 40
	rasterFont     = 30 // its letters are as wide as a cell
	rasterBaseline = 30
	rasterMargin   = 24
)

// goMono is the font of letters.
var goMono = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(gomono.TTF) })

// WritePNG draws a frame's rows as WriteSVG does, in Go Mono, bold letters twice, a pixel and a half apart: the bold
// font would take 180 kB of the program. What the font has not stands as its ASCII.
func WritePNG(w io.Writer, rows []string, columns int, dark bool) error {
	letters, err := goMono()
	if err != nil {
		return err
	}
	m := masks{font: letters, made: map[maskKey]*image.Alpha{}}
	if m.face, err = opentype.NewFace(letters, &opentype.FaceOptions{Size: rasterFont, DPI: 72}); err != nil {
		return err
	}
	defer m.face.Close()
	sheet := newSheet(dark)
	picture := image.NewRGBA(image.Rect(0, 0, columns*rasterWidth+2*rasterMargin,
		len(rows)*rasterHeight+2*rasterMargin))
	draw.Draw(picture, picture.Rect, image.NewUniform(sheet.ground), image.Point{}, draw.Src)
	grid := gridOf(rows, columns)
	for y := range rows {
		for x := range columns {
			c := grid.CellAt(x, y)
			if c == nil || c.Width == 0 {
				continue
			}
			left, top := rasterMargin+x*rasterWidth, rasterMargin+y*rasterHeight
			at := image.Rect(left, top, left+c.Width*rasterWidth, top+rasterHeight)
			fore, back := sheet.colors(&c.Style)
			if back != nil {
				draw.Draw(picture, at, image.NewUniform(back), image.Point{}, draw.Src)
			}
			if c.Content == " " {
				continue
			}
			mask := m.of(maskKey{c.Content, c.Width, c.Style.Attrs&uv.AttrBold != 0, c.Style.Attrs&uv.AttrFaint != 0})
			draw.DrawMask(picture, at, image.NewUniform(fore), image.Point{}, mask, image.Point{}, draw.Over)
		}
	}
	return png.Encode(w, picture)
}

// masks has what was drawn of the characters of a picture.
type masks struct {
	font *sfnt.Font
	face font.Face
	made map[maskKey]*image.Alpha
}

type maskKey struct {
	content     string
	columns     int
	bold, faint bool
}

// of draws a cell's content.
func (m *masks) of(k maskKey) *image.Alpha {
	if mask := m.made[k]; mask != nil {
		return mask
	}
	mask := image.NewAlpha(image.Rect(0, 0, k.columns*rasterWidth, rasterHeight))
	m.made[k] = mask
	if r, n := utf8.DecodeRuneInString(k.content); n < len(k.content) || !drawShape(rasterPencil{mask}, r) {
		m.letters(mask, k)
	}
	if k.faint {
		for i, a := range mask.Pix {
			mask.Pix[i] = uint8(int(a) * 6 / 10)
		}
	}
	return mask
}

// letters writes a cell's content.
func (m *masks) letters(mask *image.Alpha, k maskKey) {
	var buffer sfnt.Buffer
	text := ""
	for _, r := range k.content {
		s := string(r)
		if index, err := m.font.GlyphIndex(&buffer, r); index == 0 || err != nil {
			s = style.ToASCII(s)
		}
		text += s
	}
	d := font.Drawer{Dst: mask, Src: image.Opaque, Face: m.face, Dot: fixed.P(0, rasterBaseline)}
	d.DrawString(text)
	if k.bold {
		d.Dot = fixed.Point26_6{X: 96, Y: fixed.I(rasterBaseline)}
		d.DrawString(text)
	}
}

// rasterPencil draws the shapes of a cell.
type rasterPencil struct{ *image.Alpha }

// box has whole pixels, so that its edges are sharp.
func (p rasterPencil) box(left, top, right, bottom float64) {
	px := func(part float64, of int) int { return int(math.Round(part * float64(of))) }
	at := image.Rect(px(left, rasterWidth), px(top, rasterHeight), px(right, rasterWidth), px(bottom, rasterHeight))
	draw.Draw(p, at, image.Opaque, image.Point{}, draw.Src)
}

func (p rasterPencil) dot(x, y float64) {
	const r = 2.4
	o := newOutline(x*rasterWidth, y*rasterHeight, 1, 1)
	o.line(r, 0)
	o.curve(r, r, 0, r)
	o.curve(-r, r, -r, 0)
	o.curve(-r, -r, 0, -r)
	o.curve(r, -r, r, 0)
	o.fill(p.Alpha)
}

// rasterThin and rasterThick are half the widths of lines.
const rasterThin, rasterThick = 1, 2

func (p rasterPencil) halves(thick bool) (w, h float64) {
	half := float64(rasterThin)
	if thick {
		half = rasterThick
	}
	return half / rasterWidth, half / rasterHeight
}

func (p rasterPencil) corner(sx, sy float64) {
	const radius, end = rasterWidth / 2, rasterHeight / 2
	o := newOutline(rasterWidth/2, rasterHeight/2, sx, sy)
	o.line(-rasterThin, end)
	o.line(-rasterThin, radius)
	o.curve(-rasterThin, -rasterThin, radius, -rasterThin)
	o.line(radius, rasterThin)
	o.curve(rasterThin, rasterThin, rasterThin, radius)
	o.line(rasterThin, end)
	o.fill(p.Alpha)
}

// outline is a shape whose points are told from a place in the cell, in pixels, mirrored where a sign is −1.
type outline struct {
	*vector.Rasterizer
	x, y, sx, sy float64
	started      bool
	last         [2]float64
}

func newOutline(x, y, sx, sy float64) *outline {
	return &outline{Rasterizer: vector.NewRasterizer(rasterWidth, rasterHeight), x: x, y: y, sx: sx, sy: sy}
}

func (o *outline) point(x, y float64) (float32, float32) {
	return float32(o.x + o.sx*x), float32(o.y + o.sy*y)
}

// line goes straight to a point; the first one begins there.
func (o *outline) line(x, y float64) {
	px, py := o.point(x, y)
	if o.started {
		o.LineTo(px, py)
	} else {
		o.MoveTo(px, py)
	}
	o.started, o.last = true, [2]float64{x, y}
}

// curve goes to a point by a quarter circle, whose tangents at both ends meet in (tx, ty).
func (o *outline) curve(tx, ty, x, y float64) {
	const k = 0.5523 // of the way to that point: the cubic is then a circle within 0.03 %
	ax, ay := o.point(o.last[0]+k*(tx-o.last[0]), o.last[1]+k*(ty-o.last[1]))
	bx, by := o.point(x+k*(tx-x), y+k*(ty-y))
	px, py := o.point(x, y)
	o.CubeTo(ax, ay, bx, by, px, py)
	o.last = [2]float64{x, y}
}

func (o *outline) fill(mask *image.Alpha) {
	o.ClosePath()
	o.Draw(mask, mask.Rect, image.Opaque, image.Point{})
}
