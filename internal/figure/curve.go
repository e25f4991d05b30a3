package figure

import (
	"math"
	"slices"

	"newtop/trainer/event"
)

// columns is how many places along x a figure can tell apart: what is finer is downsampled, keeping extremes.
const columns = 1500

// curve is a line of a panel.
type curve struct {
	run    int
	train  bool // of the training rows, where a quantity has both
	pieces [][]Point
	soft   [][]Point // smoothed; then pieces are drawn pale
	broken []Point   // the last points before values that are not finite, or of a run that diverged

	kind    kind
	style   pen
	shape   shape     // of markers
	markers [2]int    // which of how many curves with markers it is
	base    []float64 // of bars, where each stands on those below it
}

// kind is how the points of a curve are drawn.
type kind uint8

const (
	line kind = iota
	dots      // that no line joins
	bars
)

// diverge marks where the curves of runs end that diverged.
func (p *quantityPanel) diverge(runs []Run) {
	for i := range p.curves {
		c := &p.curves[i]
		if !p.quantity.alarm || runs[c.run].Diverged == nil {
			continue
		}
		last := c.pieces[len(c.pieces)-1]
		if end := last[len(last)-1]; !slices.Contains(c.broken, end) {
			c.broken = append(c.broken, end)
		}
	}
}

// path returns the epochs that led to the newest weights: a run that went back leaves what it did after that.
func path(epochs []epoch) []*epoch {
	out := make([]*epoch, 0, len(epochs))
	for i := range epochs {
		for len(out) > 0 && out[len(out)-1].Epoch >= epochs[i].Epoch {
			out = out[:len(out)-1]
		}
		out = append(out, &epochs[i])
	}
	return out
}

// point is a value with its epoch, of which half-lives are counted; y is NaN where it is not finite, and Absent where
// nothing is reported.
type point struct{ epoch, x, y float64 }

// points returns the values of a run that have a place on the x axis, and whether one is finite. Absent ones of a
// quantity that may be told now and then only are left out: the curve continues.
func points(epochs []*epoch, x, y func(*epoch) Float, logX, sparse bool) (out []point, some bool) {
	last := math.Inf(-1)
	for _, e := range epochs {
		p := point{float64(e.Epoch), float64(x(e)), float64(y(e))}
		if !finite(p.x) || p.x < last || logX && p.x < least {
			continue
		}
		absent := y(e).Absent()
		switch {
		case absent && sparse:
			continue
		case absent:
		case !finite(p.y):
			p.y = float64(event.NotFinite)
		default:
			some = true
		}
		last = p.x
		out = append(out, p)
	}
	return out, some
}

// smooth returns the exponential average of points: each counts half as much with every half-life that it lies back.
// It is weighted so that its beginning is not drawn towards zero.
func smooth(ps []point, half float64) []point {
	out := make([]point, len(ps))
	sum, weight, at := 0.0, 0.0, math.NaN()
	for i, p := range ps {
		if !math.IsNaN(p.y) {
			if fade := math.Exp2(-(p.epoch - at) / half); fade < 1 {
				sum, weight = sum*fade, weight*fade
			}
			at = p.epoch
			sum, weight = sum+p.y, weight+1
			p.y = sum / weight
		}
		out[i] = p
	}
	return out
}

// pieces cuts points at those that are not finite, and downsamples what no figure can tell apart.
func pieces(ps []point, logX bool) (out [][]Point, broken []Point) {
	ps = downsample(ps, logX)
	var piece []Point
	for _, p := range ps {
		if !math.IsNaN(p.y) {
			piece = append(piece, Point{p.x, p.y})
			continue
		}
		if len(piece) > 0 {
			if event.Float(p.y).NonFinite() {
				broken = append(broken, piece[len(piece)-1])
			}
			out, piece = append(out, piece), nil
		}
	}
	if len(piece) > 0 {
		out = append(out, piece)
	}
	return out, broken
}

// downsample keeps of the points that share a place along x the first, the least, the greatest, the last and one that
// is not finite, in order.
func downsample(ps []point, logX bool) []point {
	if len(ps) <= 4*columns {
		return ps
	}
	place := func(x float64) float64 { return x }
	if logX {
		place = math.Log
	}
	from, to := place(ps[0].x), place(ps[len(ps)-1].x)
	column := func(i int) int {
		if to <= from {
			return i * columns / len(ps)
		}
		return int((place(ps[i].x) - from) / (to - from) * columns)
	}
	var out []point
	for i := 0; i < len(ps); {
		least, most, hole, end := i, i, i, i
		for c := column(i); end < len(ps) && column(end) == c; end++ {
			y := ps[end].y
			switch {
			case math.IsNaN(y):
				hole = end
			case !(ps[least].y <= y):
				least = end
			}
			if !math.IsNaN(y) && !(ps[most].y >= y) {
				most = end
			}
		}
		retained := []int{i, least, most, hole, end - 1}
		slices.Sort(retained)
		for _, k := range slices.Compact(retained) {
			out = append(out, ps[k])
		}
		i = end
	}
	return out
}

// Bounds of what can be drawn: beyond them arithmetic on an axis leaves the range of numbers.
const (
	greatest = 1e150
	least    = 1 / greatest // of a logarithmic axis
)

// finite reports whether a value has a place on an axis.
func finite(v float64) bool { return math.Abs(v) <= greatest }

// Point is a value.
type Point struct{ X, Y float64 }
