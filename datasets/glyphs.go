package datasets

import (
	"fmt"
	"image"
	"image/draw"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/gofont/gosmallcapsitalic"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// faces are the Go fonts. The small capitals are what their fonts have in place of lower case; their
// upper case and digits are those of the regular fonts.
var faces = []struct {
	ttf   []byte
	small bool
}{
	{goregular.TTF, false}, {goitalic.TTF, false}, {gomedium.TTF, false}, {gomediumitalic.TTF, false},
	{gobold.TTF, false}, {gobolditalic.TTF, false}, {gomono.TTF, false}, {gomonoitalic.TTF, false},
	{gomonobold.TTF, false}, {gomonobolditalic.TTF, false}, {gosmallcaps.TTF, true}, {gosmallcapsitalic.TTF, true},
}

// point is a point of the plane, y upwards.
type point struct{ x, y float64 }

// curve is one piece of an outline: n points follow the current one, 1 a line and 2 a quadratic Bézier
// curve; n = 0 starts a contour at p[0].
type curve struct {
	n int
	p [2]point
}

// glyph is a character's outline with the centre of its box in the origin and the box 2 high.
type glyph []curve

// letterGlyphs[i] are the outlines of the i-th capital in every face, digitGlyphs[i] those of the digit i
// in every face that has digits of its own.
var (
	letterGlyphs = sync.OnceValue(func() [][]glyph {
		return outlines(26, func(i int, small bool) (rune, bool) {
			if small {
				return 'a' + rune(i), true
			}
			return 'A' + rune(i), true
		})
	})
	digitGlyphs = sync.OnceValue(func() [][]glyph {
		return outlines(10, func(i int, small bool) (rune, bool) { return '0' + rune(i), !small })
	})
)

// outlines reads n characters from every face that has them. The fonts are part of the program, so a
// fault in them is a fault of the program.
func outlines(n int, char func(i int, small bool) (rune, bool)) [][]glyph {
	all := make([][]glyph, n)
	var buf sfnt.Buffer
	for _, face := range faces {
		f, err := sfnt.Parse(face.ttf)
		if err != nil {
			panic(fmt.Sprintf("datasets: embedded font: %v", err))
		}
		for i := range all {
			c, ok := char(i, face.small)
			if !ok {
				continue
			}
			g, err := outline(f, &buf, c)
			if err != nil {
				panic(fmt.Sprintf("datasets: embedded font: %q: %v", c, err))
			}
			all[i] = append(all[i], g)
		}
	}
	return all
}

func outline(f *sfnt.Font, buf *sfnt.Buffer, c rune) (glyph, error) {
	index, err := f.GlyphIndex(buf, c)
	if err != nil {
		return nil, err
	}
	segments, err := f.LoadGlyph(buf, index, fixed.I(int(f.UnitsPerEm())), nil)
	if err != nil {
		return nil, err
	}
	bounds, _, err := f.GlyphBounds(buf, index, fixed.I(int(f.UnitsPerEm())), font.HintingNone)
	if err != nil {
		return nil, err
	}
	centreX, centreY := float64(bounds.Min.X+bounds.Max.X)/2, float64(bounds.Min.Y+bounds.Max.Y)/2
	unit := float64(bounds.Max.Y-bounds.Min.Y) / 2
	place := func(p fixed.Point26_6) point {
		return point{(float64(p.X) - centreX) / unit, (centreY - float64(p.Y)) / unit}
	}
	g := make(glyph, 0, len(segments))
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g = append(g, curve{0, [2]point{place(s.Args[0])}})
		case sfnt.SegmentOpLineTo:
			g = append(g, curve{1, [2]point{place(s.Args[0])}})
		case sfnt.SegmentOpQuadTo:
			g = append(g, curve{2, [2]point{place(s.Args[0]), place(s.Args[1])}})
		default:
			return nil, fmt.Errorf("segment %d: TrueType outlines have no cubic curves", s.Op)
		}
	}
	return g, nil
}

// distortion moves the points of a glyph. In this order: every point is jittered, the plane is bent,
// sheared, turned, stretched, magnified and moved to its place on the raster.
type distortion struct {
	jitter       float64 // standard deviation of each point's own displacement, in half heights
	bendX, bendY float64 // x += bendX·y², y += bendY·x²
	tiltX, tiltY float64 // x *= 1 + tiltX·y, y *= 1 + tiltY·x: a trapezium
	shear        float64 // x += shear·y
	angle        float64 // radians, counterclockwise
	stretch      float64 // width to height, relative to the glyph's own
	size         float64 // half the height in pixels
	x, y         float64 // the centre, in pixels from the left and from the top
}

// pen draws distorted glyphs on a raster of its own. It belongs to one goroutine.
type pen struct {
	raster vector.Rasterizer
	alpha  *image.Alpha
	pcg    rand.PCG
	rand   *rand.Rand
}

func newPen(side int) *pen {
	p := &pen{alpha: image.NewAlpha(image.Rect(0, 0, side, side))}
	p.rand = rand.New(&p.pcg)
	return p
}

// normal draws from N(0, σ²), cut off at three σ so that no sample is beyond recognition.
func (p *pen) normal(sigma float64) float64 {
	return sigma * min(max(p.rand.NormFloat64(), -3), 3)
}

// around draws from [−width, width).
func (p *pen) around(width float64) float64 { return p.uniform(-width, width) }

// uniform draws from [low, high).
func (p *pen) uniform(low, high float64) float64 { return low + (high-low)*p.rand.Float64() }

// draw renders a glyph into p.alpha, one byte of coverage a pixel, the top row first.
func (p *pen) draw(g glyph, d *distortion) {
	side := p.alpha.Rect.Dx()
	p.raster.Reset(side, side)
	sin, cos := math.Sincos(d.angle)
	width := d.size * math.Sqrt(d.stretch)
	height := d.size / math.Sqrt(d.stretch)
	place := func(q point) (float32, float32) {
		x, y := q.x+d.jitter*p.rand.NormFloat64(), q.y+d.jitter*p.rand.NormFloat64()
		x, y = x*(1+d.tiltX*y)+d.bendX*y*y, y*(1+d.tiltY*x)+d.bendY*x*x
		x += d.shear * y
		x, y = cos*x-sin*y, sin*x+cos*y
		return float32(d.x + width*x), float32(d.y - height*y)
	}
	for i, c := range g {
		switch c.n {
		case 0:
			if i > 0 {
				p.raster.ClosePath()
			}
			p.raster.MoveTo(place(c.p[0]))
		case 1:
			p.raster.LineTo(place(c.p[0]))
		case 2:
			bx, by := place(c.p[0])
			cx, cy := place(c.p[1])
			p.raster.QuadTo(bx, by, cx, cy)
		}
	}
	p.raster.ClosePath()
	p.raster.DrawOp = draw.Src
	p.raster.Draw(p.alpha, p.alpha.Rect, image.Opaque, image.Point{})
}

// render calls sample(pen, i) for every i in [0, n), on all cores. The pen's generator is set to
// PCG(seed, i) before each call, so that a sample does not depend on who makes it.
func render(n, side int, seed uint64, sample func(p *pen, i int)) {
	workers := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for k := range workers {
		wait.Go(func() {
			p := newPen(side)
			for i := k * n / workers; i < (k+1)*n/workers; i++ {
				p.pcg.Seed(seed, uint64(i))
				sample(p, i)
			}
		})
	}
	wait.Wait()
}
