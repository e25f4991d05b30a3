package figure

import (
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
)

// crooked is a line of random places in a square of a side, with corners of all kinds.
func crooked(r *rand.Rand, n int, side float64) (out []position) {
	for range n {
		out = append(out, position{r.Float64() * side, r.Float64() * side})
	}
	return out
}

// distance is how far a place is from a piece of a straight line, and how far along it the nearest place is, from 0 to 1.
func distance(q, from, to position) (far, along float64) {
	dx, dy := to.x-from.x, to.y-from.y
	along = min(max(((q.x-from.x)*dx+(q.y-from.y)*dy)/(dx*dx+dy*dy), 0), 1)
	return math.Hypot(q.x-from.x-along*dx, q.y-from.y-along*dy), along
}

// TestStroke: a line covers the pixels that are nearer to it than half its width, and no others.
func TestStroke(t *testing.T) {
	const side, width, slack = 24.0, 2.5, 0.75 * pixel
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		line := crooked(r, 2+n%4, side)
		c := newPNG(side, side)
		c.path(pen{color: color.Black, width: width}, line)
		last := len(line) - 2
		for y := range c.Rect.Dy() {
			for x := range c.Rect.Dx() {
				q := position{(float64(x) + 0.5) * pixel, (float64(y) + 0.5) * pixel}
				near, beyond := math.Inf(1), false
				for i := range line[1:] {
					far, along := distance(q, line[i], line[i+1])
					near = min(near, far)
					beyond = beyond || far < width/2+slack && (i == 0 && along < 0.2 || i == last && along > 0.8) // ends are flat
				}
				switch grey := c.RGBAAt(x, y).R; {
				case near > width/2+slack && grey != 0xff:
					t.Fatalf("%v: pixel %d, %d is %d, %.2f points from the line", line, x, y, grey, near)
				case near < width/2-slack && !beyond && grey != 0:
					t.Fatalf("%v: pixel %d, %d is %d, %.2f points from the line", line, x, y, grey, near)
				}
			}
		}
	}
}

// TestDash: dashes have their lengths and lie on the line, gaps between them.
func TestDash(t *testing.T) {
	line := crooked(rand.New(rand.NewPCG(2, 2)), 9, 30)
	length := func(along []position) (sum float64) {
		for i := range along[1:] {
			sum += math.Hypot(along[i+1].x-along[i].x, along[i+1].y-along[i].y)
		}
		return sum
	}
	all, sum := dash(line, []float64{3, 2}), 0.0
	for i, d := range all {
		if l := length(d); l > 3+1e-9 || l < 3-1e-9 && i < len(all)-1 {
			t.Errorf("dash %d has the length %g", i, l)
		}
		sum += length(d)
	}
	if whole := length(line); math.Abs(sum-(math.Floor(whole/5)*3+min(math.Mod(whole, 5), 3))) > 1e-6 {
		t.Errorf("%d dashes of %g on a line of %g", len(all), sum, whole)
	}
	if d := dash(line, nil); len(d) != 1 || len(d[0]) != len(line) {
		t.Errorf("a solid line has %d pieces", len(d))
	}
}

// TestWithin holds cutting against looking at many places of a line: those in the area are on one of its parts.
func TestWithin(t *testing.T) {
	a := area{10, 12, 30, 20}
	r := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		line := crooked(r, 2+r.IntN(4), 40)
		parts := a.within(line)
		on := func(q position) bool {
			for _, p := range parts {
				for i := range p[1:] {
					if far, _ := distance(q, p[i], p[i+1]); far < 1e-9 {
						return true
					}
				}
			}
			return false
		}
		for i := range line[1:] {
			for k := range 51 {
				u := float64(k) / 50
				q := position{line[i].x + u*(line[i+1].x-line[i].x), line[i].y + u*(line[i+1].y-line[i].y)}
				if in := a.contains(q); in != on(q) {
					t.Fatalf("%v: %v is in the area: %t, but the parts are %v", line, q, in, parts)
				}
			}
		}
	}
	if parts := a.within([]position{{15, 15}, {15, 15}}); len(parts) != 1 {
		t.Errorf("a line without a length has %d parts", len(parts))
	}
	if parts := a.within([]position{{-1e150, 15}, {1e150, 16}}); len(parts) != 1 || !a.contains(parts[0][0]) || !a.contains(parts[0][1]) {
		t.Errorf("a very long line becomes %v", parts)
	}
}

// TestUpright: a text that runs upwards is the same text, turned about its place.
func TestUpright(t *testing.T) {
	const side = 36
	at := position{75 * pixel, 75 * pixel} // on a corner of pixels
	var turned [2]*pixels
	for i := range turned {
		turned[i] = newPNG(side, side)
		turned[i].text(&words{at: at, anchor: 0.5, size: 10, color: color.Black, text: "Tög", upright: i == 1})
	}
	dark := 0
	for y := range turned[0].Rect.Dy() {
		for x := range turned[0].Rect.Dx() {
			lying, upright := turned[0].RGBAAt(x, y), turned[1].RGBAAt(y, 149-x)
			if lying.R < 0x80 {
				dark++
			}
			if d := int(lying.R) - int(upright.R); d < -1 || d > 1 {
				t.Fatalf("pixel %d, %d is %v, and %v upright", x, y, lying, upright)
			}
		}
	}
	if dark < 200 {
		t.Errorf("%d pixels of a text are dark", dark)
	}
}
