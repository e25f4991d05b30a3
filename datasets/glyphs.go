package datasets

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"image"
	"image/draw"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"golang.org/x/image/vector"

	"newtop/internal/routine"
)

//go:generate go run ./gen glyphs.bin.gz

// outlines are those of the Go fonts, as gen wrote and packed them: in the program the fonts would take 2 MB.
//
//go:embed glyphs.bin.gz
var outlines []byte

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

// glyphs[i] are the outlines of the i-th capital in every face, and then those of the digits 0 to 9 in every face that
// has digits of its own.
var glyphs = sync.OnceValue(func() [][]glyph {
	all := make([][]glyph, 26+10)
	packed, err := gzip.NewReader(bytes.NewReader(outlines))
	if err != nil {
		panic("datasets: glyphs.bin.gz: " + err.Error())
	}
	rest, err := io.ReadAll(packed)
	if err != nil {
		panic("datasets: glyphs.bin.gz: " + err.Error())
	}
	next := func() float64 {
		v := int16(binary.LittleEndian.Uint16(rest))
		rest = rest[2:]
		return float64(v)
	}
	for i := 0; len(rest) > 0; i++ {
		g := make(glyph, int(next()))
		if len(g) == 0 {
			continue
		}
		left, top, right, bottom := next(), next(), next(), next()
		unit := (bottom - top) / 2
		for k := range g {
			c := &g[k]
			c.n = int(next())
			for j := range max(1, c.n) {
				x, y := next(), next()
				c.p[j] = point{(x - (left+right)/2) / unit, ((top+bottom)/2 - y) / unit}
			}
		}
		all[i%len(all)] = append(all[i%len(all)], g)
	}
	return all
})

func letterGlyphs() [][]glyph { return glyphs()[:26] }

func digitGlyphs() [][]glyph { return glyphs()[26:] }

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
		wait.Go(routine.Guard(func() {
			p := newPen(side)
			for i := k * n / workers; i < (k+1)*n/workers; i++ {
				p.pcg.Seed(seed, uint64(i))
				sample(p, i)
			}
		}))
	}
	wait.Wait()
}
