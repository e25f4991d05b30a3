package tui

import (
	"math"
	"sort"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Controls is what a user has set on the charts of a zoomed pane: the part of x that they show, a cursor, and
// how they are drawn. Its zero value shows everything.
type Controls struct {
	by       Axis
	logX     bool
	half     float64 // half-life of the smoothing in epochs, 0 for none
	outliers bool    // outliers are left out

	window [2]float64 // of x; everything when the second is not above the first
	follow bool       // the window goes with the newest point
	on     bool       // there is a cursor
	newest bool       // it goes with the newest point
	cursor Position

	fresh bool       // a picture has begun and no chart of it was drawn yet
	main  *Series    // that the keys move along
	shown []Viewport // where the charts were drawn last
	drag  drag
}

// Viewport is a chart's area in cells of the pane's body.
type Viewport struct {
	Area
	dots *style.GlyphSet
}

// begin starts a picture: the keys will move along the first of its charts.
func (cv *Controls) begin() { cv.shown, cv.fresh = cv.shown[:0], true }

// dress gives a plot what the user has set.
func (cv *Controls) dress(p *Plot) {
	if cv.fresh {
		cv.fresh = false
		cv.main = p.longest()
		cv.advance()
	}
	p.detail, p.legend = true, true
	p.by, p.logX, p.half, p.outliers, p.window = cv.by, cv.logX, cv.half, cv.outliers, cv.window
	if p.by != Epochs {
		p.limit = 0
	}
	if p.allMarks != nil {
		p.marks = p.allMarks(p.by)
	}
	if cv.on {
		at := cv.cursor
		p.cursor = &at
	}
}

// Show draws a chart as the user has set, its top left corner at a cell of the pane's body.
func (cv *Controls) Show(v *style.Pen, c *Canvas, p Plot, x, y, w, h int) []string {
	cv.dress(&p)
	rows := c.draw(v, p, w, h)
	a := c.drawn
	a.x, a.y = a.x+x, a.y+y
	cv.shown = append(cv.shown, Viewport{a, v.Glyphs})
	return rows
}

// Whole draws one chart into the body of a zoomed pane, with the keys under it.
func (cv *Controls) Whole(v *style.Pen, c *Canvas, p Plot, w, h int) []string {
	cv.begin()
	if h < 8 {
		return cv.Show(v, c, p, 0, 0, w, h)
	}
	return append(cv.Show(v, c, p, 0, 0, w, h-1), cv.KeyLine(v, w))
}

// longest is the first curve of those with the most points.
func (p *Plot) longest() *Series {
	best := p.curves[0].series
	for i := range p.curves {
		if s := p.curves[i].series; s.points > best.points {
			best = s
		}
	}
	return best
}

// advance moves what goes with the newest point, and keeps the rest within the run.
func (cv *Controls) advance() {
	first, last, ok := cv.main.extent()
	if !ok {
		cv.window, cv.on = [2]float64{}, false
		return
	}
	if cv.logX && last[cv.by] <= 0 {
		cv.logX = false
	}
	if cv.zoomed() {
		a := cv.scale()
		left, right := a.across(cv.window[0]), a.across(cv.window[1])
		switch newest := a.across(last[cv.by]); {
		case cv.follow || left > newest:
			cv.window = [2]float64{a.back(newest - (right - left)), last[cv.by]}
		case right < a.across(first[cv.by]):
			cv.window = [2]float64{}
		}
	}
	if cv.on && cv.newest {
		cv.cursor = last
	} else if cv.on {
		cv.cursor, cv.on = cv.main.find(cv.by, cv.cursor[cv.by])
	}
}

// scale has the x axis without a place on the screen.
func (cv *Controls) scale() Area { return Area{By: cv.by, logX: cv.logX} }

// zoomed reports whether only a part of x is shown.
func (cv *Controls) zoomed() bool { return cv.window[1] > cv.window[0] }

// blank reports whether there are no points, as after a way back until the picture is drawn anew.
func (cv *Controls) blank() bool { return cv.main == nil || len(cv.main.buckets) == 0 }

// handleKey reports whether it took the key.
func (cv *Controls) handleKey(k string) bool {
	if cv.blank() || len(cv.shown) == 0 || cv.shown[0].w == 0 {
		return false
	}
	switch k {
	case "left", "right", "shift+left", "shift+right":
		n := map[string]int{"left": -1, "right": 1, "shift+left": -10, "shift+right": 10}[k]
		cv.step(n)
	case "home", "end":
		cv.jump(k == "end")
	case "esc":
		on := cv.on
		cv.on, cv.newest = false, false
		return on
	case "]", "[":
		factor := 2.0
		if k == "]" {
			factor = 0.5
		}
		cv.zoomBy(factor, cv.anchor())
	case "<", ",", ">", ".":
		part := 0.25
		if k == "<" || k == "," {
			part = -part
		}
		if !cv.zoomed() {
			return false // all is in sight; of a watched run the keys go back and on
		}
		cv.pan(part)
	case "0":
		cv.window, cv.follow, cv.on, cv.newest = [2]float64{}, false, false, false
	case "x":
		cv.turn()
	case "X":
		cv.logX = !cv.logX
		cv.window, cv.shown = [2]float64{}, cv.shown[:0]
	case "m":
		cv.smoother()
	case "c":
		cv.outliers = !cv.outliers
	default:
		return false
	}
	return true
}

// step moves the cursor by at least so many columns to the next point there; without one it appears at the newest
// point in sight.
func (cv *Controls) step(n int) {
	items := cv.main.fine()
	a := cv.shown[0].Area
	if !cv.on {
		i := sort.Search(len(items), func(i int) bool { return a.across(items[i].x1[a.By]) > a.right })
		cv.put(items, i-1)
		return
	}
	here := math.Round(a.column(cv.cursor[a.By]))
	at := cv.cursor[a.By]
	i := 0
	if n > 0 {
		i = sort.Search(len(items), func(i int) bool {
			x := items[i].x1[a.By]
			return x > at && math.Round(a.column(x)) >= here+float64(n)
		})
	} else {
		i = sort.Search(len(items), func(i int) bool {
			x := items[i].x1[a.By]
			return x >= at || math.Round(a.column(x)) > here+float64(n)
		}) - 1
	}
	cv.put(items, i)
}

// put sets the cursor to a point and moves the window to it.
func (cv *Controls) put(items []Bucket, i int) {
	i = max(0, min(i, len(items)-1))
	for i < len(items)-1 && cv.logX && items[i].x1[cv.by] <= 0 {
		i++
	}
	cv.on, cv.cursor, cv.newest = true, items[i].x1, i == len(items)-1
	if !cv.zoomed() {
		return
	}
	a := cv.scale()
	left, right, x := a.across(cv.window[0]), a.across(cv.window[1]), a.across(cv.cursor[cv.by])
	if by := math.Max(0, x-right) + math.Min(0, x-left); by != 0 {
		cv.window, cv.follow = [2]float64{a.back(left + by), a.back(right + by)}, false
	}
}

// jump moves the cursor to one end of the run, and with the newest point the window follows it.
func (cv *Controls) jump(end bool) {
	items := cv.main.fine()
	if !end {
		cv.put(items, 0)
		return
	}
	cv.put(items, len(items)-1)
	cv.follow = cv.zoomed()
}

// anchor is the x that zooming keeps in its place: the cursor's, the newest or that in the middle.
func (cv *Controls) anchor() float64 {
	a := cv.shown[0].Area
	_, last, _ := cv.main.extent()
	switch {
	case cv.on && a.has(cv.cursor[a.By]):
		return cv.cursor[a.By]
	case a.has(last[a.By]):
		return last[a.By]
	}
	return a.back((a.left + a.right) / 2)
}

// ends are the first and the last x of the run, the logarithms taken.
func (cv *Controls) ends() (first, last float64) {
	from, to, _ := cv.main.extent()
	a := cv.scale()
	first, last = a.across(from[cv.by]), a.across(to[cv.by])
	if math.IsInf(first, 0) || math.IsNaN(first) {
		first = math.Min(cv.shown[0].left, last)
	}
	return first, last
}

// zoomBy widens or narrows the window around an x.
func (cv *Controls) zoomBy(factor, around float64) {
	a := cv.scale()
	first, last := cv.ends()
	left, right := cv.shown[0].left, cv.shown[0].right
	if cv.zoomed() {
		left, right = a.across(cv.window[0]), a.across(cv.window[1])
	}
	x := math.Max(left, math.Min(a.across(around), right))
	left, right = x-(x-left)*factor, x+(right-x)*factor
	least := (last - first) / math.Max(1, float64(cv.main.points)) * 2
	if factor < 1 && right-left < least {
		return
	}
	cv.settle(left, right)
}

// settle takes a window that lies within the run; one as wide as the run is none.
func (cv *Controls) settle(left, right float64) {
	first, last := cv.ends()
	if right-left >= (last-first)*(1-1e-9) {
		cv.window, cv.follow = [2]float64{}, false
		return
	}
	if right >= last {
		left, right = left-(right-last), last
	} else if left < first {
		left, right = first, right+(first-left)
	}
	a := cv.scale()
	cv.window = [2]float64{a.back(left), a.back(right)}
	cv.follow = right >= last-(last-first)*1e-9
}

// pan moves the window by a part of its width.
func (cv *Controls) pan(part float64) {
	if !cv.zoomed() {
		return
	}
	a := cv.scale()
	left, right := a.across(cv.window[0]), a.across(cv.window[1])
	by := (right - left) * part
	cv.settle(left+by, right+by)
}

// turn changes to the next x axis that the run has a measure of; the window and the cursor stay where they are.
func (cv *Controls) turn() {
	first, last, _ := cv.main.extent()
	by := cv.by
	for range AxisCount {
		if by = (by + 1) % AxisCount; last[by] > first[by] {
			break
		}
	}
	if cv.zoomed() {
		left, _ := cv.main.find(cv.by, cv.window[0])
		right, _ := cv.main.find(cv.by, cv.window[1])
		cv.window = [2]float64{left[by], right[by]}
	}
	cv.by = by
	cv.shown = cv.shown[:0]
	if cv.logX && last[by] <= 0 {
		cv.logX = false
	}
}

// smoother goes on to the next half-life of 1, 3, 10, 30… epochs that shows at this width, and from the longest to none.
func (cv *Controls) smoother() {
	first, last, _ := cv.main.extent()
	whole := last[Epochs] - first[Epochs]
	for e := 0; e < 20; e++ {
		half := math.Pow(10, float64(e/2))
		if e%2 == 1 {
			half *= 3
		}
		if half > cv.half && half >= whole/500 && half <= whole/4 {
			cv.half = half
			return
		}
	}
	cv.half = 0
}

// KeyLine names the keys in the last row.
func (cv *Controls) KeyLine(v *style.Pen, w int) string {
	l := v.Line(w)
	next := "x " + cv.by.Words()
	smoothing := "smooth"
	if cv.half > 0 {
		smoothing = "smoothed " + format.Tick(cv.half)
	}
	clip := "clip"
	if cv.outliers {
		clip = "clipped"
	}
	scale := "log x"
	if cv.logX {
		scale = "linear x"
	}
	pairs := [][2]string{{"←→", "values"}, {"[ ]", "zoom"}, {"< >", "pan"}, {"x", next[2:]}, {"m", smoothing}, {"c", clip}, {"X", scale}, {"0", "all"}, {"end", "newest"}}
	for i, k := range pairs {
		gap := "  "
		if i == 0 {
			gap = ""
		}
		l.Group(style.Text.Of(gap), style.Accent.Of(k[0]), style.Muted.Of(" "+k[1]))
	}
	return l.Full()
}

// KeyHelp are the keys of the charts and what they do, for the help.
func (cv *Controls) KeyHelp() [][2]string {
	return [][2]string{
		{"← →", "cursor; with shift by ten, home and end"}, {"[ ]", "zoom x out and in; also the wheel"}, {"< >", "pan; also by dragging"},
		{"0", "all of the run again"}, {"x", "x: epochs, seconds, work"}, {"X", "logarithmic x"}, {"m", "smoothing; the raw curve stays"},
		{"c", "leave out what is far off, and say so"}, {"esc", "hide the cursor, then back"},
	}
}
