package chart

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

// drawLegend names the curves, with their current and best values, and says what of them is not as it was measured. It
// stands in the corner where it hides least: at first the top right one, the emptiest for quantities that training
// drives down. Where there is little room, or it would hide much of the curves, it says less.
func drawLegend(c *Canvas, v *style.Pen, p *Plot, a Area, m missing) {
	const bearable = 8
	var best struct {
		at   [2]int
		w    int
		rows [][]style.Part
	}
	least := math.MaxInt
	first, last := 0, 2
	if p.Signs {
		first, last = 2, 3
	}
	for brevity := first; brevity <= last; brevity++ {
		rows := legendRows(p, v, a, m, brevity)
		w := widestRow(rows)
		if w+3 > a.W || len(rows) > a.H-2 {
			continue
		}
		at, hidden := emptiest(c, w, len(rows), legendPlaces(p, a, w, len(rows)))
		if hidden < least {
			best.at, best.w, best.rows, least = at, w, rows, hidden
		}
		if least <= bearable {
			break
		}
	}
	drawBlock(c, best.at, best.rows, best.w)
}

// legendPlaces are where a legend may stand, the corners first; a small one anywhere at the sides.
func legendPlaces(p *Plot, a Area, w, h int) [][2]int {
	right, left := a.X+a.W-w-1, a.X+1
	top, bottom := a.Y, a.Y+a.H-h-1
	places := [][2]int{{right, top}, {left, bottom}, {right, bottom}, {left, top}}
	for y := top + 1; p.Signs && y <= bottom+1; y++ {
		places = append(places, [2]int{right, y}, [2]int{left, y})
	}
	return places
}

// legendRows are the rows of a legend that leaves out the more the briefer it is.
func legendRows(p *Plot, v *style.Pen, a Area, m missing, brevity int) (rows [][]style.Part) {
	var one []style.Part
	for i := range p.Curves {
		k := &p.Curves[i]
		if k.Series.Blank() {
			continue
		}
		s := k.Sign(v.Glyphs, 3) + " " + k.Name
		var sign style.Part
		if k.Series.Broken() {
			sign = style.NotFinite.Of(" ×")
		}
		if brevity < 2 && !k.Series.Empty() {
			s += "  now " + p.text(k.Series.Last())
		}
		best := ""
		if p.Best && brevity == 0 && !k.Series.Empty() {
			best = "  best " + p.text(k.Series.min) + " at " + format.Count(int(k.Series.minAt))
		}
		if brevity == 3 { // all in a row
			if one != nil {
				one = append(one, style.Text.Of("  "))
			}
			one = append(one, k.Token.Of(s), sign)
			continue
		}
		rows = append(rows, []style.Part{k.Token.Of(s), sign, k.Token.Of(best)})
	}
	var plan []style.Part
	if len(p.plan()) > 0 {
		plan = []style.Part{p.Planned.Sign(v.Glyphs)}
	}
	if one != nil && plan != nil {
		one, plan = append(one, style.Text.Of("  "), plan[0]), nil
	}
	for _, r := range [][]style.Part{one, plan} {
		if r != nil {
			rows = append(rows, r)
		}
	}
	if n := len(p.Note); n > 0 {
		i := slices.IndexFunc(p.Note, func(s string) bool { return style.Cells(s)+3 <= a.W })
		if i < 0 {
			i = n - 1
		}
		rows = append(rows, []style.Part{style.Warn.Of(p.Note[i])})
	}
	if p.user.half > 0 {
		rows = append(rows, []style.Part{style.Muted.Of("smoothed, half-life " + p.spanOf(p.user.half))})
	}
	return append(rows, missingRows(p, a, m)...)
}

// missingRows say what a y axis by quantiles leaves out.
func missingRows(p *Plot, a Area, m missing) (rows [][]style.Part) {
	say := func(n int, sign, where string, y float64) {
		if n == 0 {
			return
		}
		points := " points "
		if n == 1 && !m.more {
			points = " point "
		}
		if m.more {
			points = "+" + points
		}
		if a.log {
			y = math.Pow(10, y)
		}
		rows = append(rows, []style.Part{style.Warn.Of(sign + " " + format.Count(n) + points + where + " " + p.text(y) +
			" not shown")})
	}
	if p.user.outliers {
		high, low := a.High, a.Low
		if a.down {
			high, low = low, high
		}
		say(m.above, "▴", "above", high)
		say(m.below, "▾", "below", low)
	}
	return rows
}

// Sign is a short stretch of a curve, w columns wide.
func (k *Curve) Sign(g *style.GlyphSet, w int) string {
	switch {
	case g.ASCII:
		return style.Repeat(string(k.Mark), w)
	case k.Dashed:
		return style.Repeat("╌", w)
	case k.Thick:
		return style.Repeat("━", w)
	}
	return style.Repeat("─", w)
}

// emptiest returns the place of those given where a block hides least, the first one of several. Text counts for
// more than a curve, of which one sees how it continues.
func emptiest(c *Canvas, w, h int, places [][2]int) (best [2]int, least int) {
	least = math.MaxInt
	for _, at := range places {
		hidden := 0
		for y := range h {
			for x := range w {
				switch g := c.At(at[0]+x, at[1]+y); {
				case g == nil:
					hidden += 9
				case g.lit != 0:
					hidden++
				case g.R != 0 && g.R != '┊' && (g.R != '╌' || g.color != style.Grid):
					hidden += 3
				}
			}
		}
		if hidden < least {
			best, least = at, hidden
		}
	}
	return best, least
}

// widestRow is the width of the widest of some rows.
func widestRow(rows [][]style.Part) int {
	w := 0
	for _, r := range rows {
		w = max(w, style.Width(r))
	}
	return w
}

// drawBlock writes rows, all w wide.
func drawBlock(c *Canvas, at [2]int, rows [][]style.Part, w int) {
	for i, r := range rows {
		x := at[0]
		for _, s := range r {
			c.Write(x, at[1]+i, s.Text, s.Token)
			x += style.Cells(s.Text)
		}
		c.Write(x, at[1]+i, style.Spaces(at[0]+w-x), style.Text)
	}
}
