package inner

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// ritz shows the Ritz values of a solve in n rows: what they are in words, and where they stand.
func (s *solveCursor) ritz(v *pane.View, w, n int) []string {
	if n == 0 {
		return nil
	}
	rows := make([]string, n)
	l := v.Line(w)
	l.Put(style.Accent, "Ritz values ")
	told := s.Summary
	if told == nil && s.running && s.before != nil {
		told = s.before.Summary
		if w >= 60 {
			l.Put(style.Muted, "of epoch "+format.Count(s.before.Epoch)+": ")
		}
	}
	values := ritzValues(told)
	switch {
	case told == nil && s.running:
		l.Put(style.Muted, "come when the solve is over")
	case len(values) == 0:
		l.Put(style.Muted, "were not told")
	default:
		ritzWords(l, values)
		if n >= 4 {
			copy(rows[1:], ritzStrip(v, values, w))
		}
	}
	rows[0] = l.Full()
	return rows
}

// ritzValues are the finite ones, ascending.
func ritzValues(in *event.InnerSummary) []float64 {
	if in == nil {
		return nil
	}
	var out []float64
	for _, x := range in.Ritz {
		if format.Finite(float64(x)) {
			out = append(out, float64(x))
		}
	}
	slices.Sort(out)
	return out
}

// ritzWords writes their ends, how many are negative, and else what they say of the condition.
func ritzWords(l *style.Line, values []float64) {
	low, high := values[0], values[len(values)-1]
	t := style.Text
	if low < 0 {
		t = style.NegativeCurvature
	}
	l.Group(t.Of(format.Number(low)), style.Muted.Of(" to "), style.Text.Of(format.Number(high)))
	negative, least := 0, math.Inf(1)
	for _, x := range values {
		if x < 0 {
			negative++
		} else if x > 0 {
			least = math.Min(least, x)
		}
	}
	switch {
	case negative > 0:
		l.Group(style.NegativeCurvature.Of("  ○ " + format.Count(negative) + " negative"))
		if !math.IsInf(least, 1) {
			l.Group(style.Muted.Of("  the positive ones reach down to "), style.Text.Of(format.Number(least)))
		}
	case high > least:
		l.Group(style.Muted.Of("  condition number at least "), style.Text.Of(format.Number(high/least)))
	}
}

// ritzStrip draws them on a logarithmic axis, negative ones mirrored at the left of zero.
func ritzStrip(v *pane.View, values []float64, w int) []string {
	least, most := math.Inf(1), 0.0
	negative := false
	for _, x := range values {
		if a := math.Abs(x); a > 0 {
			least, most = math.Min(least, a), math.Max(most, a)
		}
		negative = negative || x < 0
	}
	if most == 0 || w < 24 {
		return nil
	}
	low, high := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	if high == low {
		high++
	}
	zero, room := -1, w // of positive ones alone the axis has no zero
	if negative {
		zero, room = w/2, w-1-w/2
	}
	column := func(x float64) int {
		at := 1 + int(math.Round((math.Log10(math.Abs(x))-low)/(high-low)*float64(room-1)))
		switch {
		case x == 0:
			return zero
		case x < 0:
			return zero - at
		}
		return zero + at
	}
	var c chart.Canvas
	c.Resize(w, 3)
	for x := range w {
		c.Set(x, 1, '─', style.Grid)
	}
	c.Set(zero, 1, '┼', style.Grid)
	c.Write(zero, 2, "0", style.Muted)
	ritzTicks(&c, column, low, high, negative, zero)
	for _, x := range values {
		at, y := column(x), 1
		if g := c.At(at, 1); g != nil && (g.R == '●' || g.R == '○') {
			y = 0 // two in a column stand one above the other
		}
		if x < 0 {
			c.Set(at, y, '○', style.NegativeCurvature)
		} else {
			c.Set(at, y, '●', style.Accent)
		}
	}
	return c.Rows(&v.Pen)
}

// ritzTicks labels powers of ten, as many as fit.
func ritzTicks(c *chart.Canvas, column func(float64) int, low, high float64, negative bool, zero int) {
	stride := math.Max(1, math.Ceil((high-low)*7/float64(max(c.W-1-zero, 1))))
	for e := low; e <= high; e += stride {
		for _, sign := range []float64{1, -1} {
			x := sign * math.Pow(10, e)
			if sign < 0 && !negative {
				continue
			}
			s := format.Tick(x)
			from := max(0, min(column(x)-(style.Cells(s)-1)/2, c.W-style.Cells(s)))
			free := true
			for i := max(from-1, 0); i < min(from+style.Cells(s)+1, c.W); i++ {
				free = free && c.At(i, 2).R == 0
			}
			if free {
				c.Write(from, 2, s, style.Muted)
				c.Set(column(x), 1, '┴', style.Grid)
			}
		}
	}
}
