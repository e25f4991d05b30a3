package metrics

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// title names a metric, and what its curves have at the cursor or newest.
func (g *Grid) title(v *style.Pen, l *style.Line, m *metric, selected bool) {
	var values []style.Part
	width := 0
	room := max(l.Room/2, l.Room-style.Cells(m.name)-4)
	put := func(parts ...style.Part) bool {
		n := style.Width(parts)
		if width+n > room {
			return false
		}
		values, width = append(values, parts...), width+n
		return true
	}
	curves := g.drawn(m)
	if len(g.runs) > 1 {
		slices.Reverse(curves) // those that stand over the others first
	}
	for _, k := range curves {
		ink := partTokens[k.part]
		if len(g.runs) > 1 {
			ink = g.runs[k.run].Token
		}
		if v := g.value(k); v != v && len(g.runs) > 1 {
			continue
		}
		if !put(style.Text.Of(" "), ink.Of(m.text(g.runs, g.value(k)))) {
			break
		}
	}
	best := style.Part{}
	if len(m.curves) > 0 && len(g.runs) == 1 {
		word, at := g.best(m)
		best = style.Muted.Of("  " + word + " " + at)
		if width+style.Cells(best.Text)+style.Cells(m.name)+1 > l.Room {
			best = style.Part{}
		}
	}
	ink, sign := style.Strong, ""
	if selected {
		ink, sign = style.Focus, "▸"
	}
	if slices.Contains(g.pinned, m.name) {
		sign += "■ "
	}
	name := style.Clean(m.name)
	space := l.Room - width - style.Cells(best.Text) - style.Cells(sign)
	if over := style.Cells(name) - space; over > 0 {
		name = "…" + ansi.TruncateLeft(name, over+1, "")
	}
	l.Put(ink, sign+name)
	if g.log(m) && l.Left() > width+style.Cells(best.Text)+5 {
		l.Put(style.Muted, " log")
	}
	l.Put(style.Muted, best.Text)
	if rule := l.Left() - width; rule > 1 {
		l.Put(style.Text, " ").Put(style.Grid, style.Repeat("─", rule-1))
	}
	for _, p := range values {
		l.Put(p.Token, p.Text)
	}
}

// best is the best value of a metric's last curve so far.
func (g *Grid) best(m *metric) (word, value string) {
	s := m.curves[len(m.curves)-1].series(g.runs)
	low, high, ok := s.Bounds(false)
	switch {
	case !ok:
		return "", ""
	case m.rises:
		return "max", m.text(g.runs, high)
	}
	return "min", m.text(g.runs, low)
}
