package tui

import "slices"

// rect is a rectangle of cells.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// paneID names a pane; the order is that of tab.
type paneID uint8

const (
	paneLoss paneID = iota
	paneAccuracy
	paneInner
	paneSpectrum
	paneTopology
	paneRegion
	paneErrors
	paneWork
	paneLog
	paneCount
)

// place is where a pane stands. A bare pane has no frame.
type place struct {
	pane paneID
	rect
	bare bool
}

// The least screen that shows anything but a message.
const (
	minWidth  = 60
	minHeight = 16
)

const (
	headerRows = 2
	footerRows = 1
)

// screenLayout is the division of a screen of w × h: header above, footer below, panes between. Every
// cell between header and footer belongs to exactly one pane.
type screenLayout struct {
	w, h   int
	header rect
	footer rect
	places []place
}

// layout divides a screen under a header of so many rows; a screen below the least size gets no panes. zoomed gives one
// pane everything; otherwise the focused one is always among those to see.
func layout(w, h, header int, zoomed bool, focus paneID) screenLayout {
	return divided(w, h, header, zoomed, focus, bands, compactPanes)
}

// divided does so with other panes.
func divided(w, h, header int, zoomed bool, focus paneID, of func(w, h int) []band, strips []strip) screenLayout {
	s := screenLayout{w: w, h: h}
	if w < minWidth || h < minHeight {
		return s
	}
	s.header = rect{0, 0, w, header}
	s.footer = rect{0, h - footerRows, w, footerRows}
	body := rect{0, header, w, h - header - footerRows}
	switch {
	case zoomed:
		s.places = []place{{pane: focus, rect: body}}
		return s
	case w < 80 || h < 24:
		s.places = compact(body, strips)
	default:
		s.places = grid(body, of(w, h))
		if w >= 110 && w < 165 && h >= 34 && h < 52 && s.hidden(paneWork) {
			s.places = split(s.places, paneLog, paneWork, 5)
		}
	}
	s.show(focus)
	return s
}

// bands arranges the panes for a screen: charts first, and beside or beneath them as many others as there is
// room for.
func bands(w, h int) []band {
	charts := func(first, second int) []band {
		return []band{{first, []cell{{paneLoss, 50}, {paneAccuracy, 50}}}, {second, []cell{{paneInner, 50}, {paneSpectrum, 50}}}}
	}
	switch {
	case w >= 165 && h >= 40:
		return []band{
			{23, []cell{{paneLoss, 34}, {paneAccuracy, 33}, {paneTopology, 33}}},
			{21, []cell{{paneInner, 34}, {paneSpectrum, 33}, {paneRegion, 33}}},
			{13, []cell{{paneWork, 30}, {paneErrors, 37}, {paneLog, 33}}},
		}
	case w >= 190 && h < 34:
		return []band{
			{11, []cell{{paneLoss, 25}, {paneAccuracy, 25}, {paneInner, 25}, {paneSpectrum, 25}}},
			{10, []cell{{paneTopology, 25}, {paneRegion, 20}, {paneErrors, 20}, {paneWork, 16}, {paneLog, 19}}},
		}
	case w >= 150 && h < 34:
		return []band{
			{11, []cell{{paneLoss, 25}, {paneAccuracy, 25}, {paneInner, 25}, {paneSpectrum, 25}}},
			{10, []cell{{paneTopology, 30}, {paneRegion, 25}, {paneWork, 20}, {paneLog, 25}}},
		}
	case w >= 110 && h >= 52:
		return append(charts(14, 13), band{13, []cell{{paneTopology, 55}, {paneRegion, 45}}},
			band{12, []cell{{paneWork, 27}, {paneErrors, 40}, {paneLog, 33}}})
	case w >= 110 && h >= 34:
		return append(charts(13, 12), band{12, []cell{{paneTopology, 40}, {paneRegion, 29}, {paneLog, 31}}})
	case h >= 48:
		return append(charts(11, 10), band{10, []cell{{paneTopology, 50}, {paneRegion, 50}}},
			band{8, []cell{{paneErrors, 50}, {paneWork, 50}}}, band{6, []cell{{paneLog, 100}}})
	case h >= 34:
		return append(charts(10, 10), band{9, []cell{{paneTopology, 50}, {paneRegion, 50}}},
			band{7, []cell{{paneWork, 50}, {paneLog, 50}}})
	case w >= 100 && h >= 28:
		return append(charts(9, 9), band{9, []cell{{paneTopology, 37}, {paneRegion, 31}, {paneLog, 32}}})
	}
	return append(charts(7, 7), band{7, []cell{{paneTopology, 50}, {paneRegion, 50}}})
}

// show gives a pane that has no place that of the log, or where the log has none either, that of the region.
func (s *screenLayout) show(id paneID) {
	if !s.hidden(id) {
		return
	}
	for _, gives := range []paneID{paneLog, paneRegion} {
		for i := range s.places {
			if s.places[i].pane == gives {
				s.places[i].pane = id
				return
			}
		}
	}
}

// cell is a pane and its share of a band's width; band is a row of panes and its share of the height.
type cell struct {
	pane  paneID
	share int
}

type band struct {
	share int
	cells []cell
}

func grid(r rect, bands []band) []place {
	shares := make([]int, len(bands))
	for i, b := range bands {
		shares[i] = b.share
	}
	var out []place
	y := r.y
	for i, h := range divide(r.h, shares) {
		shares := make([]int, len(bands[i].cells))
		for j, c := range bands[i].cells {
			shares[j] = c.share
		}
		x := r.x
		for j, w := range divide(r.w, shares) {
			out = append(out, place{pane: bands[i].cells[j].pane, rect: rect{x, y, w, h}})
			x += w
		}
		y += h
	}
	return out
}

// divide cuts total into parts in proportion to the shares; what rounding leaves goes to the first.
func divide(total int, shares []int) []int {
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
func split(places []place, from, to paneID, rows int) []place {
	for i, p := range places {
		if p.pane == from {
			places[i].y += rows
			places[i].h -= rows
			return append(places, place{pane: to, rect: rect{p.x, p.y, p.w, rows}})
		}
	}
	return places
}

// bandsTold arranges the panes for a run that has no network and no curvature to show: loss, error and what else is
// told, at their largest.
func bandsTold(w, h int) []band {
	if w >= 110 {
		return []band{{50, []cell{{paneLoss, 50}, {paneAccuracy, 50}}}, {50, []cell{{paneRegion, 50}, {paneLog, 30}, {paneWork, 20}}}}
	}
	return []band{{50, []cell{{paneLoss, 50}, {paneAccuracy, 50}}}, {50, []cell{{paneRegion, 50}, {paneLog, 50}}}}
}

// strip is a pane without a frame, with its least rows.
type strip struct {
	pane  paneID
	h     int
	grows bool // rows that are left over go to it too
}

// compactPanes are the strips of a small screen, compactTold those of a run as bandsTold is for.
var (
	compactPanes = []strip{
		{paneLoss, 2, true}, {paneAccuracy, 2, true}, {paneInner, 3, true}, {paneSpectrum, 1, false}, {paneRegion, 1, false},
		{paneTopology, 1, false}, {paneWork, 1, false}, {paneLog, 2, true},
	}
	compactTold = []strip{{paneLoss, 3, true}, {paneAccuracy, 3, true}, {paneRegion, 1, false}, {paneWork, 1, false}, {paneLog, 2, true}}
)

// compact stacks the panes without frames, for screens too small for them. Rows beyond the least go to
// the charts first, then to the log.
func compact(r rect, strips []strip) []place {
	rows := slices.Clone(strips)
	spare := r.h
	for _, p := range rows {
		spare -= p.h
	}
	for i := 0; spare > 0; i = (i + 1) % len(rows) {
		if rows[i].grows {
			rows[i].h++
			spare--
		}
	}
	out := make([]place, 0, len(rows))
	y := r.y
	for _, p := range rows {
		out = append(out, place{pane: p.pane, rect: rect{r.x, y, r.w, p.h}, bare: true})
		y += p.h
	}
	return out
}

// neighbour returns the pane in a direction (dx, dy ∈ {−1, 0, 1}) of another, or that one itself.
func (s *screenLayout) neighbour(from paneID, dx, dy int) paneID {
	var at *place
	for i := range s.places {
		if s.places[i].pane == from {
			at = &s.places[i]
		}
	}
	if at == nil {
		return from
	}
	best, least := from, 1<<30
	for i := range s.places {
		p := &s.places[i]
		ahead := dx*(2*p.x+p.w-2*at.x-at.w) + dy*(2*p.y+p.h-2*at.y-at.h)
		aside := (1-dx*dx)*apart(p.x, p.w, at.x, at.w) + (1-dy*dy)*apart(p.y, p.h, at.y, at.h)
		if p.pane == from || ahead <= 0 || aside > 0 {
			continue
		}
		if ahead < least {
			best, least = p.pane, ahead
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
func (s *screenLayout) hidden(id paneID) bool {
	for _, p := range s.places {
		if p.pane == id {
			return false
		}
	}
	return true
}
