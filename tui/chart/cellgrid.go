package chart

import (
	"image"
	"math"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/image/draw"

	"newtop/internal/format"
	"newtop/tui/style"
)

// characters for shades without colours; those of negative values are strokes.
var (
	shadeRunes   = []rune(" ░▒▓█")
	strokeRunes  = []rune(" ·-=≡")
	shadeRunes7  = []rune(" .:-=+*#%@")
	plusRunes7   = []rune(" +*#@")
	strokeRunes7 = []rune(" .-~=")
	noValue      = math.NaN()
)

// Scale maps values to the shades of a ramp. Of RampSigns low is −high.
type Scale struct {
	Ramp      style.Ramp
	Low, High float64
}

// share is where a value stands between low and high, 0 … 1.
func (s Scale) share(x float64) float64 {
	if !(s.High > s.Low) {
		return 0.5
	}
	return math.Max(0, math.Min(1, (x-s.Low)/(s.High-s.Low)))
}

// Raster is a grid of values, row by row. NaN is no value, +∞ one that is left out of the scale.
type Raster struct {
	W, H   int
	Values []float64
}

// NewRaster returns a raster of zeros.
func NewRaster(w, h int) Raster { return Raster{w, h, make([]float64, max(w, 0)*max(h, 0))} }

// Fitted scales a raster to w × h: enlarged, values repeat; reduced, each is the mean of what falls on it, or, with
// most, that of the greatest magnitude, so that none is lost.
func (r *Raster) Fitted(w, h int, most bool) Raster {
	if w == r.W && h == r.H {
		return *r
	}
	out := NewRaster(w, h)
	for y := range h {
		y0, y1 := Portion(y, h, r.H)
		for x := range w {
			x0, x1 := Portion(x, w, r.W)
			out.Values[y*w+x] = r.pool(x0, y0, x1, y1, most)
		}
	}
	return out
}

// Portion returns the part [from, to) of n things that falls on place i of m.
func Portion(i, m, n int) (from, to int) {
	from = i * n / m
	return from, max(from+1, (i+1)*n/m)
}

func (r *Raster) pool(x0, y0, x1, y1 int, most bool) float64 {
	sum, n, best := 0.0, 0, noValue
	for y := y0; y < y1 && y < r.H; y++ {
		for _, x := range r.Values[y*r.W+x0 : y*r.W+min(x1, r.W)] {
			switch {
			case math.IsInf(x, 1):
				if math.IsNaN(best) {
					best = x
				}
			case !math.IsNaN(x):
				sum, n = sum+x, n+1
				if math.IsNaN(best) || math.IsInf(best, 1) || math.Abs(x) > math.Abs(best) {
					best = x
				}
			}
		}
	}
	if n == 0 || most {
		return best
	}
	return sum / float64(n)
}

// CellGrid is a drawing area in which each cell has an ink of its own, for shades beside text.
type CellGrid struct {
	Pen  *style.Pen
	W, H int
	Tile []gridCell
}

type gridCell struct {
	R     rune
	color string
}

// NewCellGrid returns an empty grid of cells.
func NewCellGrid(v *style.Pen, w, h int) *CellGrid {
	return &CellGrid{v, max(w, 0), max(h, 0), make([]gridCell, max(w, 0)*max(h, 0))}
}

// RowsPerCell is how many rows of a raster a row of cells shows.
func RowsPerCell(v *style.Pen) int {
	if v.Palette.Shaded() && !v.Glyphs.ASCII {
		return 2
	}
	return 1
}

// Set sets a cell in a colour; one outside is left out.
func (m *CellGrid) Set(x, y int, r rune, color string) {
	if x >= 0 && y >= 0 && x < m.W && y < m.H {
		m.Tile[y*m.W+x] = gridCell{r, color}
	}
}

// Write sets text from a cell on, one character a cell, and returns the column after it.
func (m *CellGrid) Write(x, y int, t style.Token, s string) int {
	for _, r := range s {
		if ansi.StringWidth(string(r)) != 1 {
			r = '?'
		}
		m.Set(x, y, r, m.Pen.Palette.Codes[t])
		x++
	}
	return x
}

// Over writes text upon the shade of a value, in black or white; without colours in a token's ink.
func (m *CellGrid) Over(x, y int, s string, at float64, sc Scale, t style.Token) {
	color := m.Pen.Palette.Codes[t]
	if RowsPerCell(m.Pen) == 2 {
		colour := shadeColour(m.Pen.Palette, at, sc)
		fore := "255;255;255"
		if light(colour) {
			fore = "0;0;0"
		}
		color = style.ColorCode(fore, colour)
	}
	for _, r := range s {
		m.Set(x, y, r, color)
		x++
	}
}

// light reports whether black is easier to read on a colour than white.
func light(colour string) bool {
	sum, at := 0, 0
	for _, weight := range [3]int{2, 5, 1} {
		n := 0
		for ; at < len(colour) && colour[at] != ';'; at++ {
			n = 10*n + int(colour[at]-'0')
		}
		at++
		sum += weight * n
	}
	return sum > 8*128
}

// shadeColour is the shade of a value.
func shadeColour(t *style.Palette, x float64, s Scale) string {
	if math.IsInf(x, 1) {
		return t.LeftOut()
	}
	return t.Shade(s.Ramp, s.share(x))
}

// Paint draws a raster from a cell on, its rows two a cell where there are colours.
func (m *CellGrid) Paint(x0, y0 int, r *Raster, s Scale) {
	if RowsPerCell(m.Pen) == 1 {
		for i, x := range r.Values {
			if g, color, ok := shadeCharacter(m.Pen, x, s); ok {
				m.Set(x0+i%r.W, y0+i/r.W, g, color)
			}
		}
		return
	}
	for y := 0; y < r.H; y += 2 {
		for x := range r.W {
			upper, lower := r.Values[y*r.W+x], noValue
			if y+1 < r.H {
				lower = r.Values[(y+1)*r.W+x]
			}
			m.pair(x0+x, y0+y/2, upper, lower, s)
		}
	}
}

// pair sets one cell to two values.
func (m *CellGrid) pair(x, y int, upper, lower float64, s Scale) {
	th := m.Pen.Palette
	switch {
	case math.IsNaN(upper) && math.IsNaN(lower):
	case math.IsNaN(lower):
		m.Set(x, y, '▀', style.ColorCode(shadeColour(th, upper, s), ""))
	case math.IsNaN(upper):
		m.Set(x, y, '▄', style.ColorCode(shadeColour(th, lower, s), ""))
	default:
		m.Set(x, y, '▀', style.ColorCode(shadeColour(th, upper, s), shadeColour(th, lower, s)))
	}
}

// shadeCharacter stands for a shade where there are no fine colours.
func shadeCharacter(v *style.Pen, x float64, s Scale) (r rune, color string, ok bool) {
	plus, minus := shadeRunes, strokeRunes
	switch {
	case math.IsNaN(x):
		return 0, "", false
	case math.IsInf(x, 1):
		return '\\', v.Palette.Codes[style.Grid], true
	case v.Glyphs.ASCII && s.Ramp == style.RampSigns:
		plus, minus = plusRunes7, strokeRunes7
	case v.Glyphs.ASCII:
		plus = shadeRunes7
	}
	at := s.share(x)
	t := style.Text
	if s.Ramp == style.RampSigns {
		t, at = style.Test, 2*at-1
		if at < 0 {
			plus, at, t = minus, -at, style.Train
		}
	}
	return plus[int(math.Round(at*float64(len(plus)-1)))], v.Palette.Codes[t], true
}

// Rows writes the area as rows of exactly w columns, with one change of ink a run.
func (m *CellGrid) Rows() []string {
	rows := make([]string, m.H)
	for y := range rows {
		l := m.Pen.Line(m.W)
		run := make([]rune, 0, m.W)
		color := ""
		end := func() {
			l.WriteCoded(color, string(run), len(run))
			run = run[:0]
		}
		for _, t := range m.Tile[y*m.W : (y+1)*m.W] {
			if t.R == 0 {
				t = gridCell{' ', ""}
			}
			if t.color != color {
				end()
				color = t.color
			}
			run = append(run, t.R)
		}
		end()
		rows[y] = l.Full()
	}
	return rows
}

// Key writes what the shades mean: the ends of a scale and a few steps between them. It returns the column after it.
func (m *CellGrid) Key(x, y, steps int, s Scale) int { return m.Ramp(x, y, steps, s, format.Plain) }

// Ramp is a key with labels of its own.
func (m *CellGrid) Ramp(x, y, steps int, s Scale, label func(float64) string) int {
	x = m.Write(x, y, style.Muted, label(s.Low)+" ")
	for i := range steps {
		at := s.Low + (s.High-s.Low)*float64(i)/float64(max(steps-1, 1))
		if RowsPerCell(m.Pen) == 2 {
			m.pair(x, y, at, at, s)
		} else if g, color, ok := shadeCharacter(m.Pen, at, s); ok {
			m.Set(x, y, g, color)
		}
		x++
	}
	return m.Write(x, y, style.Muted, " "+label(s.High))
}

// Extremes returns the least and the greatest finite value.
func (r *Raster) Extremes() (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range r.Values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			low, high = math.Min(low, x), math.Max(high, x)
		}
	}
	return low, high, low <= high
}

// Picture draws an image into w × h cells, as large as fits: two of its rows a row of cells, or where there are no
// fine colours its luminance by characters.
func Picture(v *style.Pen, full *image.RGBA, w, h int) []string {
	size := full.Bounds()
	share := min(float64(w)/float64(size.Dx()), 2*float64(h)/float64(size.Dy()))
	if share > 1 {
		share = float64(int(share)) // each pixel as large as the others
	}
	rows := RowsPerCell(v)
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.Dx())*share+0.5)),
		max(1, int(float64(size.Dy())*share*float64(rows)/2+0.5))))
	var scaler draw.Scaler = draw.BiLinear
	if share >= 1 && rows == 2 {
		scaler = draw.NearestNeighbor
	}
	scaler.Scale(small, small.Bounds(), full, size, draw.Src, nil)
	m := NewCellGrid(v, w, h)
	if rows == 1 {
		m.paintGray(small)
		return m.Rows()
	}
	for y := 0; y < small.Rect.Dy(); y += 2 {
		for x := range small.Rect.Dx() {
			upper, lower := style.RGB(small.RGBAAt(x, y)), ""
			if y+1 < small.Rect.Dy() {
				lower = style.RGB(small.RGBAAt(x, y+1))
			}
			m.Set(x, y/2, '▀', style.ColorCode(upper, lower))
		}
	}
	return m.Rows()
}

// paintGray draws the luminance of an image, a pixel a cell.
func (m *CellGrid) paintGray(small *image.RGBA) {
	gray := NewRaster(small.Rect.Dx(), small.Rect.Dy())
	for i := range gray.Values {
		p := small.Pix[4*i:]
		gray.Values[i] = 0.2126*float64(p[0]) + 0.7152*float64(p[1]) + 0.0722*float64(p[2])
	}
	low, high, _ := gray.Extremes() // thin lines on white must differ in five shades
	m.Paint(0, 0, &gray, Scale{Ramp: style.RampImage, Low: low, High: high})
}
