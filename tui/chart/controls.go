package chart

import (
	"math"
	"slices"
	"sort"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Controls is what a user has set on the charts of a zoomed pane: the part of x that they show, a cursor, and
// how they are drawn. Its zero value shows everything.
type Controls struct {
	By       Axis
	LogX     bool
	Half     float64 // half-life of the smoothing in epochs, 0 for none
	outliers bool    // outliers are left out

	Window [2]float64 // of x; everything when the second is not above the first
	Follow bool       // the window goes with the latest point
	On     bool       // there is a cursor
	latest bool       // it goes with the latest point
	Cursor Position

	Fresh   bool       // a picture has begun and no chart of it was drawn yet
	Main    *Series    // that the keys move along
	Shown   []Viewport // where the charts were drawn last
	counted string     // what the run counts, as the latest chart says
	drag    drag
}

// Viewport is a chart's area in cells of the pane's body.
type Viewport struct {
	Area
	Dots *style.GlyphSet
}

// StartPicture starts a picture: the keys will move along the first of its charts.
func (cv *Controls) StartPicture() { cv.Shown, cv.Fresh = cv.Shown[:0], true }

// Dress gives a plot what the user has set.
func (cv *Controls) Dress(p *Plot) {
	if cv.Fresh {
		cv.Fresh = false
		cv.Main = longest(p)
		cv.Advance()
	}
	cv.set(p)
	p.Detail, p.Unit, p.Legend, p.Signs = true, true, true, false
}

func (cv *Controls) set(p *Plot) {
	cv.counted = p.Counted
	p.By, p.LogX, p.user.half, p.user.outliers, p.Window = cv.By, cv.LogX, cv.Half, cv.outliers, cv.Window
	if p.By != Epochs {
		p.Limit = 0
	}
	if p.AllMarks != nil {
		p.Marks = p.AllMarks(p.By)
	}
	if cv.On {
		at := cv.Cursor
		p.user.cursor = &at
	}
}

// Show draws a chart as the user has set, its top left corner at a cell of the pane's body.
func (cv *Controls) Show(v *style.Pen, c *Canvas, p Plot, x, y, w, h int) []string {
	cv.Dress(&p)
	return cv.DrawAt(v, c, p, x, y, w, h)
}

// DrawAt draws a chart that is dressed, and remembers where it stands.
func (cv *Controls) DrawAt(v *style.Pen, c *Canvas, p Plot, x, y, w, h int) []string {
	rows := c.Draw(v, p, w, h)
	a := c.Drawn
	a.X, a.Y = a.X+x, a.Y+y
	cv.Shown = append(cv.Shown, Viewport{a, v.Glyphs})
	return rows
}

// Whole draws one chart into the body of a zoomed pane, with the keys under it.
func (cv *Controls) Whole(v *style.Pen, c *Canvas, p Plot, w, h int) []string {
	cv.StartPicture()
	if h < 8 {
		return cv.Show(v, c, p, 0, 0, w, h)
	}
	return append(cv.Show(v, c, p, 0, 0, w, h-1), cv.KeyLine(v, w))
}

// longest is the first curve of those with the most points.
func longest(p *Plot) *Series {
	best := p.Curves[0].Series
	for i := range p.Curves {
		if s := p.Curves[i].Series; s.Points > best.Points {
			best = s
		}
	}
	return best
}

// Advance moves what goes with the latest point, and keeps the rest within the run.
func (cv *Controls) Advance() {
	first, last, ok := cv.Main.Extent()
	if !ok {
		cv.Window, cv.On = [2]float64{}, false
		return
	}
	if cv.LogX && last[cv.By] <= 0 {
		cv.LogX = false
	}
	if cv.Zoomed() {
		a := cv.scale()
		left, right := a.across(cv.Window[0]), a.across(cv.Window[1])
		switch latest := a.across(last[cv.By]); {
		case cv.Follow || left > latest:
			cv.Window = [2]float64{a.back(latest - (right - left)), last[cv.By]}
		case right < a.across(first[cv.By]):
			cv.Window = [2]float64{}
		}
	}
	if cv.On && cv.latest {
		cv.Cursor = last
	} else if cv.On {
		cv.Cursor, cv.On = cv.Main.Find(cv.By, cv.Cursor[cv.By])
	}
}

// scale has the x axis without a place on the screen.
func (cv *Controls) scale() Area { return Area{By: cv.By, logX: cv.LogX} }

// Zoomed reports whether only a part of x is shown.
func (cv *Controls) Zoomed() bool { return cv.Window[1] > cv.Window[0] }

// blank reports whether there are no points, as after a way back until the picture is drawn again.
func (cv *Controls) blank() bool { return cv.Main == nil || len(cv.Main.Buckets) == 0 }

// Key is a key of the charts, or several: what the help says of them and what they do.
type Key struct {
	Show, Help string
	Names      []string            // as Bubble Tea names them
	Do         func(k string) bool // reports whether the key meant something
}

// Keys are those that move the cursor and change the section. They mean nothing before a chart was drawn.
func (cv *Controls) Keys() []Key {
	always := func(do func()) func(string) bool { return func(string) bool { do(); return true } }
	return []Key{
		{"← →", "cursor; with shift by ten, home and end", []string{"left", "right", "shift+left", "shift+right",
			"home", "end"}, func(k string) bool {
			if n := map[string]int{"left": -1, "right": 1, "shift+left": -10, "shift+right": 10}[k]; n != 0 {
				cv.step(n)
			} else {
				cv.jump(k == "end")
			}
			return true
		}},
		{"[ ]", "zoom x out and in; also the wheel", []string{"[", "]"}, func(k string) bool {
			cv.zoomBy(map[string]float64{"[": 2, "]": 0.5}[k], cv.anchor())
			return true
		}},
		{"< >", "pan; also by dragging", []string{"<", ",", ">", "."}, func(k string) bool {
			if !cv.Zoomed() {
				return false // all is in sight; of a watched run the keys go back and on
			}
			cv.pan(map[string]float64{"<": -0.25, ",": -0.25, ">": 0.25, ".": 0.25}[k])
			return true
		}},
		{"0", "all of the run again", []string{"0"}, always(func() {
			cv.Window, cv.Follow, cv.On, cv.latest = [2]float64{}, false, false, false
		})},
		{"x", "x: epochs, seconds, work", []string{"x"}, always(cv.turn)},
		{"X", "logarithmic x", []string{"X"}, always(func() {
			cv.LogX = !cv.LogX
			cv.Window, cv.Shown = [2]float64{}, cv.Shown[:0]
		})},
		{"m", "smoothing; the raw curve stays", []string{"m"}, always(cv.smoother)},
		{"c", "leave out what is far off, and say so", []string{"c"}, always(func() { cv.outliers = !cv.outliers })},
		{"esc", "hide the cursor, then back", []string{"esc"}, func(string) bool {
			on := cv.On
			cv.On, cv.latest = false, false
			return on
		}},
	}
}

// HandleKey does what a key means, and reports whether it meant something.
func (cv *Controls) HandleKey(k string) bool {
	if cv.blank() || len(cv.Shown) == 0 || cv.Shown[0].W == 0 {
		return false
	}
	for _, b := range cv.Keys() {
		if slices.Contains(b.Names, k) {
			return b.Do(k)
		}
	}
	return false
}

// step moves the cursor by at least that many columns to the next point there; without one it appears at the latest
// point in sight.
func (cv *Controls) step(n int) {
	items := cv.Main.Fine()
	a := cv.Shown[0].Area
	if !cv.On {
		i := sort.Search(len(items), func(i int) bool { return a.across(items[i].X1[a.By]) > a.Right })
		cv.moveCursor(items, i-1)
		return
	}
	here := math.Round(a.Column(cv.Cursor[a.By]))
	at := cv.Cursor[a.By]
	i := 0
	if n > 0 {
		i = sort.Search(len(items), func(i int) bool {
			x := items[i].X1[a.By]
			return x > at && math.Round(a.Column(x)) >= here+float64(n)
		})
	} else {
		i = sort.Search(len(items), func(i int) bool {
			x := items[i].X1[a.By]
			return x >= at || math.Round(a.Column(x)) > here+float64(n)
		}) - 1
	}
	cv.moveCursor(items, i)
}

// moveCursor sets the cursor to a point and moves the window to it.
func (cv *Controls) moveCursor(items []Bucket, i int) {
	i = max(0, min(i, len(items)-1))
	for i < len(items)-1 && cv.LogX && items[i].X1[cv.By] <= 0 {
		i++
	}
	cv.On, cv.Cursor, cv.latest = true, items[i].X1, i == len(items)-1
	if !cv.Zoomed() {
		return
	}
	a := cv.scale()
	left, right, x := a.across(cv.Window[0]), a.across(cv.Window[1]), a.across(cv.Cursor[cv.By])
	if by := math.Max(0, x-right) + math.Min(0, x-left); by != 0 {
		cv.Window, cv.Follow = [2]float64{a.back(left + by), a.back(right + by)}, false
	}
}

// jump moves the cursor to one end of the run, and with the latest point the window follows it.
func (cv *Controls) jump(end bool) {
	items := cv.Main.Fine()
	if !end {
		cv.moveCursor(items, 0)
		return
	}
	cv.moveCursor(items, len(items)-1)
	cv.Follow = cv.Zoomed()
}

// anchor is the x that zooming keeps in its place: the cursor's, the latest or that in the middle.
func (cv *Controls) anchor() float64 {
	a := cv.Shown[0].Area
	_, last, _ := cv.Main.Extent()
	switch {
	case cv.On && a.has(cv.Cursor[a.By]):
		return cv.Cursor[a.By]
	case a.has(last[a.By]):
		return last[a.By]
	}
	return a.back((a.Left + a.Right) / 2)
}

// ends are the first and the last x of the run, the logarithms taken.
func (cv *Controls) ends() (first, last float64) {
	from, to, _ := cv.Main.Extent()
	a := cv.scale()
	first, last = a.across(from[cv.By]), a.across(to[cv.By])
	if math.IsInf(first, 0) || math.IsNaN(first) {
		first = math.Min(cv.Shown[0].Left, last)
	}
	return first, last
}

// zoomBy widens or narrows the window around an x.
func (cv *Controls) zoomBy(factor, around float64) {
	a := cv.scale()
	first, last := cv.ends()
	left, right := cv.Shown[0].Left, cv.Shown[0].Right
	if cv.Zoomed() {
		left, right = a.across(cv.Window[0]), a.across(cv.Window[1])
	}
	x := math.Max(left, math.Min(a.across(around), right))
	left, right = x-(x-left)*factor, x+(right-x)*factor
	least := (last - first) / math.Max(1, float64(cv.Main.Points)) * 2
	if factor < 1 && right-left < least {
		return
	}
	cv.setWindow(left, right)
}

// setWindow takes a window that lies within the run; one as wide as the run is none.
func (cv *Controls) setWindow(left, right float64) {
	first, last := cv.ends()
	if right-left >= (last-first)*(1-1e-9) {
		cv.Window, cv.Follow = [2]float64{}, false
		return
	}
	if right >= last {
		left, right = left-(right-last), last
	} else if left < first {
		left, right = first, right+(first-left)
	}
	a := cv.scale()
	cv.Window = [2]float64{a.back(left), a.back(right)}
	cv.Follow = right >= last-(last-first)*1e-9
}

// pan moves the window by a part of its width.
func (cv *Controls) pan(part float64) {
	if !cv.Zoomed() {
		return
	}
	a := cv.scale()
	left, right := a.across(cv.Window[0]), a.across(cv.Window[1])
	by := (right - left) * part
	cv.setWindow(left+by, right+by)
}

// turn changes to the next x axis that the run has a measure of; the window and the cursor stay where they are.
func (cv *Controls) turn() {
	first, last, _ := cv.Main.Extent()
	by := cv.By
	for range AxisCount {
		if by = (by + 1) % AxisCount; last[by] > first[by] {
			break
		}
	}
	if cv.Zoomed() {
		left, _ := cv.Main.Find(cv.By, cv.Window[0])
		right, _ := cv.Main.Find(cv.By, cv.Window[1])
		cv.Window = [2]float64{left[by], right[by]}
	}
	cv.By = by
	cv.Shown = cv.Shown[:0]
	if cv.LogX && last[by] <= 0 {
		cv.LogX = false
	}
}

// smoother moves to the next half-life of 1, 3, 10, 30… epochs that shows at this width, and from the longest to
// none.
func (cv *Controls) smoother() {
	first, last, _ := cv.Main.Extent()
	whole := last[Epochs] - first[Epochs]
	for e := 0; e < 20; e++ {
		half := math.Pow(10, float64(e/2))
		if e%2 == 1 {
			half *= 3
		}
		if half > cv.Half && half >= whole/500 && half <= whole/4 {
			cv.Half = half
			return
		}
	}
	cv.Half = 0
}

// KeyLine names the keys in the last row.
func (cv *Controls) KeyLine(v *style.Pen, w int) string {
	l := v.Line(w)
	smoothing := "smooth"
	if cv.Half > 0 {
		smoothing = "smoothed " + format.Tick(cv.Half)
	}
	clip := "clip"
	if cv.outliers {
		clip = "clipped"
	}
	scale := "log x"
	if cv.LogX {
		scale = "linear x"
	}
	pairs := [][2]string{{"←→", "values"}, {"[ ]", "zoom"}, {"< >", "pan"}, {"x", cv.By.Counting(cv.counted)},
		{"m", smoothing}, {"c", clip}, {"X", scale}, {"0", "all"}, {"end", "latest"}}
	for i, k := range pairs {
		gap := "  "
		if i == 0 {
			gap = ""
		}
		l.Group(style.Text.Of(gap), style.Accent.Of(v.Glyphs.Keys(k[0])), style.Muted.Of(" "+k[1]))
	}
	return l.Full()
}

// drag is a movement with the button held down.
type drag struct {
	on     bool
	x      int
	window [2]float64 // as it was at the start
}

// XAxis implements AxisKeeper.
func (cv *Controls) XAxis() string { return AxisNames[cv.By] }

// SetXAxis implements AxisKeeper.
func (cv *Controls) SetXAxis(name string) {
	if i := slices.Index(AxisNames, name); i >= 0 {
		cv.By = Axis(i)
	}
}

// DressSmall gives what the user has set to one of many small plots, whose titles tell the values at the cursor.
func (cv *Controls) DressSmall(p *Plot) {
	cv.set(p)
	p.small, p.Tabled = true, true
}

// Style returns what is set now.
func (cv *Controls) Style() Style {
	return Style{cv.By, cv.LogX, cv.outliers, cv.Half, cv.Window, cv.On, cv.Cursor}
}

// AxisKeeper is a pane whose charts have the x axis that the user chose last, in whatever run. How curves are smoothed
// is forgotten with the run: it would bend those of the next one unasked.
type AxisKeeper interface {
	XAxis() string
	// SetXAxis ignores a name that it does not know.
	SetXAxis(name string)
}

// AxisNames are what preferences call the x axes.
var AxisNames = []string{Epochs: "epoch", Seconds: "seconds", Equivalents: "equivalents"}

var _ AxisKeeper = (*Controls)(nil)
