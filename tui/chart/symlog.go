package chart

import (
	"maps"
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Symlog is an axis of y that is linear near zero, up to about a unit, and logarithmic on both sides of it.
type Symlog struct{ Unit, Low, High float64 } // low and high with the logarithm taken

// Up takes the logarithm.
func (s Symlog) Up(x float64) float64 {
	return math.Copysign(math.Log10(1+math.Abs(x)/s.Unit), x)
}

// Back is the inverse of Up.
func (s Symlog) Back(y float64) float64 {
	return math.Copysign(s.Unit*(math.Pow(10, math.Abs(y))-1), y)
}

// Row is the place of a value among n rows, the highest first.
func (s Symlog) Row(x float64, n int) int {
	return int(math.Floor((s.High - s.Up(x)) / (s.High - s.Low) * float64(n)))
}

// DrawTicks labels zero and powers of ten at the left of n rows, those nearest to zero last, where they keep clear of
// each other.
func (s Symlog) DrawTicks(m *CellGrid, gutter, n int, color func(x float64) style.Token) {
	values := []float64{0}
	for e := min(308, math.Ceil(math.Log10(max(s.Back(s.High), -s.Back(s.Low))))); e >= math.Log10(s.Unit)-1e-9; e-- {
		values = append(values, math.Pow(10, e), -math.Pow(10, e))
	}
	taken, at := map[int]bool{}, map[float64]int{}
	for _, x := range values {
		y := s.Row(x, n)
		if y < 0 || y >= n || taken[y] || taken[y-1] || taken[y+1] {
			continue
		}
		taken[y], at[x] = true, y
	}
	labels := format.AxisLabels(slices.Collect(maps.Keys(at)), "")
	for x, y := range at {
		m.Write(0, y, color(x), style.Right(labels.Of(x), gutter-2))
		m.Write(gutter-1, y, style.Grid, "┤")
	}
	for y := range n {
		if !taken[y] {
			m.Write(gutter-1, y, style.Grid, "│")
		}
	}
}
