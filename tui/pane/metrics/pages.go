package metrics

import (
	"fmt"
	"strings"
)

// row is a row of charts, or a heading, of the items from first to before end.
type row struct {
	first, end int
	heading    bool
	h, w       int // of one of them
}

// page is what is shown at once.
type page []row

// shape is how charts fill a page.
type shape struct {
	columns, w, h int
	spare         int // rows of charts that are one higher, as the page has rows left
	lines         int // what is no chart in a row
}

const (
	gap    = 2 // columns between charts
	chartW = 24
	chartH = 5
)

// maxShape is the shape of a page of as many charts as can be read: on a large screen they are larger, too.
func maxShape(w, h int) shape {
	wide, high := chartW+max(0, w-40)/20, chartH+h/24
	columns := max(1, (w+gap)/(wide+gap))
	return shape{columns, wideOf(columns, w), max(1, min(h, high)), 0, columns}
}

// wideOf is the width of each of some columns.
func wideOf(columns, w int) int { return (w - gap*(columns-1)) / columns }

// shapeOf is the shape of a page for n charts. Those that all fit take what room there is, about four times as wide as
// high.
func shapeOf(n, w, h int) shape {
	s := maxShape(w, h)
	rows := max(1, h/s.h)
	if n == 0 || n > rows*s.columns {
		s.h, s.spare = max(1, h/rows), h%rows
		return s
	}
	best, least := s, -1.0
	for columns := 1; columns <= min(s.columns, n); columns++ {
		high := h / ((n + columns - 1) / columns)
		wide := wideOf(columns, w)
		if high < min(s.h, h) {
			continue
		}
		squeeze := float64(wide) / float64(4*high)
		if squeeze < 1 {
			squeeze = 1 / squeeze
		}
		if empty := (columns - n%columns) % columns; empty > 0 {
			squeeze *= 1 + 2*float64(empty)/float64(n)
		}
		if least < 0 || squeeze < least {
			best, least = shape{columns, wide, high, 0, s.lines}, squeeze
		}
	}
	return best
}

// paginate lays the items out in pages of w × h. A heading never stands last on a page while it has charts.
func (g *gallery) paginate(s shape, w, h int) {
	g.pages = g.pages[:0]
	var now page
	used := 0
	put := func(r row, with int) {
		if len(now) < s.spare && used+r.h < h && g.grouping == Ungrouped && !g.items[r.first].flat {
			r.h++
		}
		if used+r.h+with > h && len(now) > 0 {
			g.pages, now, used = append(g.pages, now), nil, 0
		}
		now = append(now, r)
		used += r.h
	}
	for i := 0; i < len(g.items); {
		if it := &g.items[i]; it.metric < 0 {
			with := s.h
			if it.folded {
				with = 0
			}
			put(row{i, i + 1, true, 1, w}, with)
			i++
			continue
		}
		if g.items[i].system && i > 0 && !g.items[i-1].system && len(now) > 0 {
			g.pages, now, used = append(g.pages, now), nil, 0
		}
		end, columns, high := i, s.columns, s.h
		if g.items[i].flat {
			columns, high = s.lines, 1
		}
		for end < len(g.items) && end-i < columns && g.items[end].metric >= 0 &&
			g.items[end].flat == g.items[i].flat && g.items[end].system == g.items[i].system {
			end++
		}
		put(row{i, end, false, high, wideOf(columns, w)}, 0)
		i = end
	}
	if len(now) > 0 {
		g.pages = append(g.pages, now)
	}
	g.page = 0
	for p := range g.pages {
		if g.pages[p][0].first <= g.at {
			g.page = p
		}
	}
}

// turn goes to the first item of another page.
func (g *gallery) turn(by int) {
	if len(g.pages) == 0 {
		return
	}
	to := max(0, min(g.page+by, len(g.pages)-1))
	if to == g.page {
		if by > 0 {
			g.choose(len(g.items) - 1)
		} else {
			g.choose(0)
		}
		return
	}
	at := g.pages[to][0].first
	if g.items[at].metric < 0 && at+1 < len(g.items) && g.items[at+1].metric >= 0 {
		at++
	}
	g.choose(at)
}

// climb moves to the row above or below, to what stands in the same column there.
func (g *gallery) climb(by int) {
	var rows []row
	here := -1
	for _, p := range g.pages {
		for _, r := range p {
			if g.at >= r.first && g.at < r.end {
				here = len(rows)
			}
			rows = append(rows, r)
		}
	}
	if here < 0 || here+by < 0 || here+by >= len(rows) {
		return
	}
	to := rows[here+by]
	g.choose(min(to.first+g.at-rows[here].first, to.end-1))
}

// division is into how many columns and rows of charts the user divides a page; 0: as many as fit well.
type division struct{ columns, rows int }

// The least size of a chart that the user wants so.
const (
	leastW = 16
	leastH = 3
)

// shape is that of a page of w × h for n charts, which would be s.
func (d division) shape(s shape, n, w, h int) shape {
	if d == (division{}) {
		return s
	}
	rows := max(1, h/s.h)
	if d.rows > 0 {
		rows = max(1, min(d.rows, h/leastH))
	}
	switch widest := max(1, (w+gap)/(leastW+gap)); {
	case d.columns > 0:
		s.columns = min(d.columns, widest)
		if need := (n + s.columns - 1) / s.columns; d.rows == 0 {
			rows = max(1, min(need, h/(chartH+h/24)))
		}
	case n > 0:
		s.columns = max(1, min((n+rows-1)/rows, (w+gap)/(chartW+gap)))
	}
	s.w, s.h, s.spare = wideOf(s.columns, w), max(1, h/rows), h%rows
	return s
}

// next is a number after another, and after the most 0.
func (division) next(now, most int) int { return (now + 1) % (most + 1) }

// label says what is set.
func (d division) label() string {
	if d == (division{}) {
		return "grid"
	}
	return strings.ReplaceAll(fmt.Sprintf("%d×%d", d.columns, d.rows), "0", "·")
}

// Charts writes into how many columns and rows the user divides a page, for preferences; "" for as many as fit well.
func Charts(g *Grid) string {
	if g.division == (division{}) {
		return ""
	}
	return fmt.Sprintf("%dx%d", g.division.columns, g.division.rows)
}

// SetCharts takes what Charts wrote, and ignores what it did not.
func SetCharts(g *Grid, text string) {
	var d division
	if _, err := fmt.Sscanf(text, "%dx%d", &d.columns, &d.rows); err == nil && d.columns >= 0 && d.rows >= 0 {
		g.division = d
		g.changes++
	}
}
