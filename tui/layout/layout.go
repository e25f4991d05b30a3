// Package layout divides screens into rectangles: pure functions of a size, tested against pictures.
package layout

import (
	"slices"
	"strings"
)

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell lies in the rectangle.
func (r Rect) Contains(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// ID is the number of a pane, in the order of tab. The named ones have places; others are shown in that of the log.
type ID uint8

const (
	Loss ID = iota
	Accuracy
	Inner
	Spectrum
	Topology
	Region
	Errors
	Work
	Log
	Machine
	Metrics
	Console
	Images
	Panes
)

// Slot is where a pane stands. A bare pane has no frame.
type Slot struct {
	Pane ID
	Rect
	Bare bool
}

// The least screen that shows anything but a message.
const (
	MinWidth  = 60
	MinHeight = 16
)

const (
	HeaderRows = 2
	FooterRows = 1
)

// Screen is the division of a screen of w × h: header above, footer below, panes between. Every
// cell between header and footer belongs to exactly one pane.
type Screen struct {
	W, H   int
	Header Rect
	footer Rect
	Slots  []Slot
}

// Dashboard divides a screen under a header of that many rows; a screen below the least size gets no panes. zoomed
// gives one pane everything; otherwise the focused one is always among those to see.
func Dashboard(w, h, header int, zoomed bool, focus ID) Screen {
	return Divided(w, h, header, zoomed, focus, Bands, CompactPanes)
}

// Divided does so with other panes.
func Divided(w, h, header int, zoomed bool, focus ID, of func(w, h int) []band, strips []strip) Screen {
	s := Screen{W: w, H: h}
	if w < MinWidth || h < MinHeight {
		return s
	}
	s.Header = Rect{0, 0, w, header}
	s.footer = Rect{0, h - FooterRows, w, FooterRows}
	body := Rect{0, header, w, h - header - FooterRows}
	switch {
	case zoomed:
		s.Slots = []Slot{{Pane: focus, Rect: body}}
		return s
	case w < 80 || h < 24:
		s.Slots = compact(body, strips)
	default:
		s.Slots = grid(body, of(w, h))
		if w >= 110 && w < 165 && h >= 34 && h < 52 && s.hidden(Work) && !s.hidden(Topology) {
			s.Slots = split(s.Slots, Log, Work, 5)
		}
	}
	s.show(focus)
	return s
}

// Bands arranges the panes for a screen: charts first, and beside or beneath them as many others as there is
// room for.
func Bands(w, h int) []band {
	charts := func(first, second int) []band {
		return []band{{first, []cell{{Loss, 50}, {Accuracy, 50}}}, {second, []cell{{Inner, 50}, {Spectrum, 50}}}}
	}
	switch {
	case w >= 165 && h >= 40:
		return []band{
			{23, []cell{{Loss, 34}, {Accuracy, 33}, {Topology, 33}}},
			{21, []cell{{Inner, 34}, {Spectrum, 33}, {Region, 33}}},
			{13, []cell{{Work, 30}, {Errors, 37}, {Log, 33}}},
		}
	case w >= 190 && h < 34:
		return []band{
			{11, []cell{{Loss, 25}, {Accuracy, 25}, {Inner, 25}, {Spectrum, 25}}},
			{10, []cell{{Topology, 25}, {Region, 20}, {Errors, 20}, {Work, 16}, {Log, 19}}},
		}
	case w >= 150 && h < 34:
		return []band{
			{11, []cell{{Loss, 25}, {Accuracy, 25}, {Inner, 25}, {Spectrum, 25}}},
			{10, []cell{{Topology, 30}, {Region, 25}, {Work, 20}, {Log, 25}}},
		}
	case w >= 110 && h >= 52:
		return append(charts(14, 13), band{13, []cell{{Topology, 55}, {Region, 45}}},
			band{12, []cell{{Work, 27}, {Errors, 40}, {Log, 33}}})
	case w >= 110 && h >= 34:
		return append(charts(13, 12), band{12, []cell{{Topology, 40}, {Region, 29}, {Log, 31}}})
	case h >= 48:
		return append(charts(11, 10), band{10, []cell{{Topology, 50}, {Region, 50}}},
			band{8, []cell{{Errors, 50}, {Work, 50}}}, band{6, []cell{{Log, 100}}})
	case h >= 34:
		return append(charts(10, 10), band{9, []cell{{Topology, 50}, {Region, 50}}},
			band{7, []cell{{Work, 50}, {Log, 50}}})
	case w >= 100 && h >= 28:
		return append(charts(9, 9), band{9, []cell{{Topology, 37}, {Region, 31}, {Log, 32}}})
	}
	return append(charts(7, 7), band{7, []cell{{Topology, 50}, {Region, 50}}})
}

// Drop gives the place of a framed pane to the one at its left, or at its right.
func (s *Screen) Drop(id ID) {
	i := slices.IndexFunc(s.Slots, func(p Slot) bool { return p.Pane == id && !p.Bare })
	if i < 0 || len(s.Slots) == 1 {
		return
	}
	gone := s.Slots[i].Rect
	for k := range s.Slots {
		r := &s.Slots[k].Rect
		if r.Y != gone.Y || r.H != gone.H || r.X+r.W != gone.X && gone.X+gone.W != r.X {
			continue
		}
		r.X, r.W = min(r.X, gone.X), r.W+gone.W
		s.Slots = slices.Delete(s.Slots, i, i+1)
		return
	}
}

// Cede gives the rows of a pane without a frame to the one above it.
func (s *Screen) Cede(id ID) {
	i := slices.IndexFunc(s.Slots, func(p Slot) bool { return p.Pane == id && p.Bare })
	if i < 1 {
		return
	}
	s.Slots[i-1].H += s.Slots[i].H
	s.Slots = slices.Delete(s.Slots, i, i+1)
}

// show gives a pane that has no place that of the log, or where the log has none either, that of the region or of the
// metrics.
func (s *Screen) show(id ID) {
	if !s.hidden(id) {
		return
	}
	for _, gives := range []ID{Log, Region, Metrics} {
		for i := range s.Slots {
			if s.Slots[i].Pane == gives {
				s.Slots[i].Pane = id
				return
			}
		}
	}
}

// Give gives the place of one pane to another that has none.
func (s *Screen) Give(from, to ID) {
	if i := slices.IndexFunc(s.Slots, func(p Slot) bool { return p.Pane == from }); i >= 0 && s.hidden(to) {
		s.Slots[i].Pane = to
	}
}

// cell is a pane and its share of a band's width; band is a row of panes and its share of the height.
type cell struct {
	pane  ID
	share int
}

type band struct {
	share int
	cells []cell
}

func grid(r Rect, bands []band) []Slot {
	shares := make([]int, len(bands))
	for i, b := range bands {
		shares[i] = b.share
	}
	var out []Slot
	y := r.Y
	for i, h := range Divide(r.H, shares) {
		shares := make([]int, len(bands[i].cells))
		for j, c := range bands[i].cells {
			shares[j] = c.share
		}
		x := r.X
		for j, w := range Divide(r.W, shares) {
			out = append(out, Slot{Pane: bands[i].cells[j].pane, Rect: Rect{x, y, w, h}})
			x += w
		}
		y += h
	}
	return out
}

// Divide cuts total into parts in proportion to the shares; what rounding leaves goes to the first.
func Divide(total int, shares []int) []int {
	sum := 0
	for _, s := range shares {
		sum += s
	}
	parts := make([]int, len(shares))
	rest := total
	for i, s := range shares {
		parts[i] = total * s / sum
		rest -= parts[i]
	}
	for i := 0; rest > 0; i = (i + 1) % len(parts) {
		parts[i]++
		rest--
	}
	return parts
}

// split gives the top rows of a pane's place to another pane.
func split(places []Slot, from, to ID, rows int) []Slot {
	for i, p := range places {
		if p.Pane == from {
			places[i].Y += rows
			places[i].H -= rows
			return append(places, Slot{Pane: to, Rect: Rect{p.X, p.Y, p.W, rows}})
		}
	}
	return places
}

// strip is a pane without a frame, with its least rows.
type strip struct {
	pane  ID
	h     int
	grows bool // rows that are left over go to it too
}

// CompactPanes are the strips of a small screen.
var CompactPanes = []strip{
	{Loss, 2, true}, {Accuracy, 2, true}, {Inner, 3, true}, {Spectrum, 1, false}, {Region, 1, false},
	{Topology, 1, false}, {Work, 1, false}, {Log, 2, true},
}

// compact stacks the panes without frames, for screens too small for them. Rows beyond the least go to
// the charts first, then to the log.
func compact(r Rect, strips []strip) []Slot {
	rows := slices.Clone(strips)
	spare := r.H
	if !slices.ContainsFunc(rows, func(s strip) bool { return s.grows }) {
		rows[len(rows)-1].grows = true
	}
	for _, p := range rows {
		spare -= p.h
	}
	for i := 0; spare > 0; i = (i + 1) % len(rows) {
		if rows[i].grows {
			rows[i].h++
			spare--
		}
	}
	out := make([]Slot, 0, len(rows))
	y := r.Y
	for _, p := range rows {
		out = append(out, Slot{Pane: p.pane, Rect: Rect{r.X, y, r.W, p.h}, Bare: true})
		y += p.h
	}
	return out
}

// Neighbour returns the pane in a direction (dx, dy ∈ {−1, 0, 1}) of another, or that one itself.
func (s *Screen) Neighbour(from ID, dx, dy int) ID {
	var at *Slot
	for i := range s.Slots {
		if s.Slots[i].Pane == from {
			at = &s.Slots[i]
		}
	}
	if at == nil {
		return from
	}
	best, least := from, 1<<30
	for i := range s.Slots {
		p := &s.Slots[i]
		ahead := dx*(2*p.X+p.W-2*at.X-at.W) + dy*(2*p.Y+p.H-2*at.Y-at.H)
		aside := (1-dx*dx)*apart(p.X, p.W, at.X, at.W) + (1-dy*dy)*apart(p.Y, p.H, at.Y, at.H)
		if p.Pane == from || ahead <= 0 || aside > 0 {
			continue
		}
		if ahead < least {
			best, least = p.Pane, ahead
		}
	}
	return best
}

// apart is the distance of two intervals, 0 when they share more than their ends.
func apart(a, an, b, bn int) int {
	if a < b+bn && b < a+an {
		return 0
	}
	return max(a-b-bn, b-a-an) + 1
}

// hidden reports whether a pane has no place here.
func (s *Screen) hidden(id ID) bool {
	for _, p := range s.Slots {
		if p.Pane == id {
			return false
		}
	}
	return true
}

// Row is a row of panes of equal widths.
type Row struct {
	H     int
	Panes []ID
}

// Stack puts rows of panes under one another.
func Stack(r Rect, bare bool, rows []Row) (out []Slot) {
	y := r.Y
	for _, b := range rows {
		shares := make([]int, len(b.Panes))
		for i := range shares {
			shares[i] = 1
		}
		x := r.X
		for i, w := range Divide(r.W, shares) {
			out = append(out, Slot{Pane: b.Panes[i], Rect: Rect{x, y, w, b.H}, Bare: bare})
			x += w
		}
		y += b.H
	}
	return out
}

// Join puts the rows of places together that cover h rows of the screen from top on.
func Join(places []Slot, drawn [][]string, w, top, h int) []string {
	rows := make([]string, h)
	for y := range rows {
		var b strings.Builder
		for x := 0; x < w; {
			next := w
			for i := range places {
				if p := &places[i]; p.Contains(x, y+top) {
					b.WriteString(drawn[i][y+top-p.Y])
					next = p.X + p.W
					break
				}
			}
			x = next
		}
		rows[y] = b.String()
	}
	return rows
}
