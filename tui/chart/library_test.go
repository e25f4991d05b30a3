package chart

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/barchart"
	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
	"github.com/NimbleMarkets/ntcharts/v2/heatmap"
	"github.com/NimbleMarkets/ntcharts/v2/linechart"
	"github.com/NimbleMarkets/ntcharts/v2/sparkline"
	"github.com/charmbracelet/colorprofile"

	"newtop/tui/style"
)

// The benchmarks here decide which drawing is ntcharts' and which is ours. Both sides draw the same
// values into the same cells, in colours; B/frame is what a terminal gets.

// colourPen draws with all colours in braille.
func colourPen() *style.Pen {
	return &style.Pen{Palette: style.ThemeAuto.Palette(true, colorprofile.TrueColor, false), Glyphs: style.GlyphsBraille.Set(nil)}
}

// compared runs one drawing.
func compared(b *testing.B, name string, draw func() (written int)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n = draw()
		}
		b.ReportMetric(float64(n), "B/frame")
	})
}

// length is how many bytes rows have, with their ends of lines.
func length(rows []string) (n int) {
	for _, r := range rows {
		n += len(r) + 1
	}
	return n
}

// noise returns n values between 0 and 1.
func noise(n int) []float64 {
	r, out := rand.New(rand.NewPCG(1, 1)), make([]float64, n)
	for i := range out {
		out[i] = r.Float64()
	}
	return out
}

func BenchmarkSparkline(b *testing.B) {
	ink := lipgloss.NewStyle().Foreground(lipgloss.Color("#88aaff"))
	for _, w := range []int{12, 40} {
		ys := noise(w)
		kept := sparkline.New(w, 1, sparkline.WithMaxValue(1), sparkline.WithNoAutoMaxValue(), sparkline.WithStyle(ink))
		compared(b, fmt.Sprintf("%d/ntcharts", w), func() int {
			kept.PushAll(ys)
			kept.Draw()
			return len(kept.View())
		})
		var blocks Blocks
		v := colourPen()
		compared(b, fmt.Sprintf("%d/graph-and-tokens", w), func() int {
			return len(v.Line(w).Put(style.Train, string(blocks.Sparkline(v.Glyphs, ys))).Full())
		})
	}
}

func BenchmarkBars(b *testing.B) {
	ink := lipgloss.NewStyle().Foreground(lipgloss.Color("#88aaff"))
	for _, size := range [][2]int{{40, 9}, {120, 30}} {
		w, h := size[0], size[1]
		ys := noise(w)
		name := fmt.Sprintf("%d×%d/", w, h)
		bars := barchart.New(w, h, barchart.WithNoAxis(), barchart.WithBarGap(0), barchart.WithMaxValue(1), barchart.WithNoAutoMaxValue())
		compared(b, name+"ntcharts", func() int {
			bars.Clear()
			for _, y := range ys {
				bars.Push(barchart.BarData{Values: []barchart.BarValue{{Value: y, Style: ink}}})
			}
			bars.Draw()
			return len(bars.View())
		})
		v, c := colourPen(), Canvas{}
		compared(b, name+"graph-and-tokens", func() int {
			c.Resize(w, h)
			for x, y := range ys {
				DrawBar(&c, v.Glyphs, x, h-1, 1, y*float64(h), func(int) (style.Token, rune) { return style.Train, 0 })
			}
			return length(c.Rows(v))
		})
	}
}

func BenchmarkHeat(b *testing.B) {
	const w, h = 120, 30
	values := noise(w * h * 2)
	heat := heatmap.New(w, h)
	heat.SetViewXYRange(0, w, 0, h)
	compared(b, "ntcharts-one-a-cell", func() int {
		heat.ClearData()
		for i, x := range values[:w*h] {
			heat.Push(heatmap.NewHeatPointInt(i%w, i/w, x))
		}
		heat.Draw()
		return len(heat.View())
	})
	v, r := colourPen(), Raster{w, 2 * h, values}
	compared(b, "ours-two-a-cell", func() int {
		m := NewCellGrid(v, w, h)
		m.Paint(0, 0, &r, Scale{Ramp: style.RampHeat, High: 1})
		return length(m.Rows())
	})
}

func BenchmarkLine(b *testing.B) {
	const w, h = 200, 60
	for _, n := range []int{1000, 1_000_000} {
		ys := noise(n)
		var s Series
		for i, y := range ys {
			s.Add(float64(i), y)
		}
		lc := linechart.New(w, h, 0, float64(n), 0, 1)
		ink := lipgloss.NewStyle().Foreground(lipgloss.Color("#88aaff"))
		compared(b, fmt.Sprintf("%d/ntcharts", n), func() int {
			lc.Clear()
			lc.DrawXYAxisAndLabel()
			grid := graph.NewBrailleGrid(lc.GraphWidth(), lc.GraphHeight(), 0, float64(n), 0, 1)
			at := grid.GridPoint(canvas.Float64Point{Y: ys[0]})
			for i, y := range ys {
				next := grid.GridPoint(canvas.Float64Point{X: float64(i), Y: y})
				for _, p := range graph.GetLinePoints(at, next) {
					grid.Set(p)
				}
				at = next
			}
			graph.DrawBraillePatterns(&lc.Canvas, canvas.Point{X: lc.Origin().X + 1}, grid.BraillePatterns(), ink)
			return len(lc.View())
		})
		v, c := colourPen(), Canvas{}
		pl := Plot{Curves: []Curve{{Series: &s, Token: style.Train}}}
		compared(b, fmt.Sprintf("%d/ours", n), func() int { return length(c.Draw(v, pl, w, h)) })
	}
}

// BenchmarkDots sets the dots of a zigzag and reads them as braille.
func BenchmarkDots(b *testing.B) {
	g := style.GlyphsBraille.Set(nil)
	for _, size := range [][2]int{{40, 9}, {200, 60}} {
		w, h := size[0], size[1]
		y := func(x int) int { return x * 7 % (4 * h) }
		name := fmt.Sprintf("%d×%d/", w, h)
		compared(b, name+"ntcharts", func() int {
			grid := runes.NewPatternDotsGrid(2*w, 4*h)
			for x := range 2 * w {
				grid.Set(x, y(x))
			}
			n := 0
			for _, row := range grid.BraillePatterns() {
				n += len(row)
			}
			return n
		})
		c, a := Canvas{}, Area{W: w, H: h}
		c.Resize(w, h)
		compared(b, name+"ours", func() int {
			for x := range 2 * w {
				c.Dot(a, g, x, y(x))
			}
			c.Flush(a, g, style.Train, '*')
			return w * h
		})
	}
}

// BenchmarkCanvas clears a canvas, sets every cell and makes it text.
func BenchmarkCanvas(b *testing.B) {
	const w, h = 120, 30
	inks := [2]lipgloss.Style{lipgloss.NewStyle().Foreground(lipgloss.Color("#88aaff")), lipgloss.NewStyle().Foreground(lipgloss.Color("#ffaa88"))}
	theirs := canvas.New(w, h)
	compared(b, "ntcharts", func() int {
		theirs.Clear()
		for i := range w * h {
			theirs.SetCell(canvas.Point{X: i % w, Y: i / w}, canvas.NewCellWithStyle('x', inks[i/8%2]))
		}
		return len(theirs.View())
	})
	v, c := colourPen(), Canvas{}
	compared(b, "ours", func() int {
		c.Resize(w, h)
		for i := range w * h {
			c.Set(i%w, i/w, 'x', [2]style.Token{style.Train, style.Test}[i/8%2])
		}
		return length(c.Rows(v))
	})
}
