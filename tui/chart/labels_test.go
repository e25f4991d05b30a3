package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// exponents and letters among labels: an axis has one or the other.
func oneStyle(t *testing.T, what string, labels []string) {
	t.Helper()
	exponents, letters := 0, 0
	for i, s := range labels {
		if s == "" || slices.Contains(labels[:i], s) {
			t.Errorf("%s: %q are not distinct", what, labels)
		}
		if len(s) > 9 {
			t.Errorf("%s: the label %s is long", what, s)
		}
		if strings.Contains(s, "e") {
			exponents++
		} else if strings.ContainsAny(s, "kMGT") || strings.HasPrefix(s, "0.") {
			letters++
		}
	}
	if exponents > 0 && letters > 0 {
		t.Errorf("%s: %q are of two styles", what, labels)
	}
}

func TestLabelsOfEveryMagnitude(t *testing.T) {
	for e := -12.0; e <= 30; e++ {
		for _, m := range []float64{1, 1.3, 3.7, 8.1} {
			v := m * math.Pow(10, e)
			for _, from := range []float64{0, -v, 0.9 * v, 0.995 * v} {
				a := Area{Low: from, High: v}
				_, labels := yTicks(&a, 24, "")
				oneStyle(t, "linear", labels)
			}
			for _, decades := range []float64{0.1, 0.5, 2, 12, 22} {
				a := Area{Low: e - decades, High: e, log: true}
				_, labels := yTicks(&a, 24, "")
				oneStyle(t, "logarithmic", labels)
			}
			for _, ratio := range []float64{10, 1e4} {
				s := Symlog{Unit: v / ratio}
				s.Low, s.High = s.Up(-v), s.Up(v)
				pen := testPen()
				grid := NewCellGrid(pen, 12, 24)
				s.DrawTicks(grid, 10, 24, func(float64) style.Token { return style.Text })
				var labels []string
				for _, row := range grid.Rows() {
					if f := strings.Fields(ansi.Strip(row)); len(f) == 2 {
						labels = append(labels, f[0])
					}
				}
				if len(labels) < 3 {
					t.Errorf("a symmetric axis to %g has the labels %q", v, labels)
				}
				oneStyle(t, "symmetric", labels)
			}
		}
	}
}

// A dashed curve can be told from a solid one without colours, however many points it has.
func TestDashesOfDenseCurves(t *testing.T) {
	for _, n := range []int{20, 80, 1000, 100_000} {
		var s Series
		for i := range n {
			s.Add(float64(i), 1)
		}
		draw := func(dashed bool) string {
			var c Canvas
			return strings.Join(c.Draw(testPen(), Plot{Curves: []Curve{{Series: &s, Dashed: dashed, Mark: '*'}}, Closed: true}, 60, 8), "\n")
		}
		if draw(true) == draw(false) {
			t.Errorf("%d points: dashed is solid", n)
		}
	}
}

// What is smoothed keeps its newest value as it was measured, marked and labelled.
func TestSmoothedCurveEndsRaw(t *testing.T) {
	var s Series
	for i := range 100 {
		s.Add(float64(i), 0.13)
	}
	s.Add(100, 0.0125)
	p := Plot{Curves: []Curve{{Name: "test", Token: style.Test, Series: &s, Mark: 'o'}}}
	p.Percent()
	p.user.half = 30
	var c Canvas
	rows := c.Draw(testPen(), p, 60, 12)
	text := strings.Join(rows, "\n")
	if !strings.Contains(text, "1.25 %") || !strings.Contains(text, "●") {
		t.Errorf("the newest value is not marked:\n%s", text)
	}
	if x, y := c.Drawn.CellX(testPen().Glyphs, 100), c.Drawn.Row(testPen().Glyphs, 0.0125); c.At(x, y).color != style.Test {
		t.Errorf("the newest value has the ink %v", c.At(x, y).color)
	}
}

// Tags of several letters do not run into one another, and keep within the chart.
func TestTagsKeepApart(t *testing.T) {
	var a, b Series
	for i := range 11 {
		a.Add(float64(i), 1)
		b.Add(float64(i), 1)
	}
	p := Plot{Closed: true, Curves: []Curve{{Series: &a, Tag: "2/η"}, {Series: &b, Tag: "least"}}}
	var c Canvas
	text := ansi.Strip(strings.Join(c.Draw(testPen(), p, 60, 8), "\n"))
	if !strings.Contains(text, "2/η") || !strings.Contains(text, "least") || strings.Contains(text, "2/ηleast") {
		t.Errorf("tags:\n%s", text)
	}
}

// Of curves in the same cells none hides the others, in colours and in ASCII.
func TestCurvesShareCells(t *testing.T) {
	var train, test Series
	for i := range 200 {
		train.Add(float64(i), 1+1e-6*float64(i))
		test.Add(float64(i), 1)
	}
	p := Plot{Closed: true, Y: YAxis{Zero: true}, Curves: []Curve{{Series: &train, Token: style.Train, Mark: '*'}, {Series: &test, Token: style.Test, Dashed: true, Mark: 'o'}, {Series: &train, Token: style.Validation, Mark: '+'}}}
	for _, glyphs := range []style.Glyphs{style.GlyphsBraille, style.GlyphsBlock, style.GlyphsASCII} {
		pen := testPen()
		pen.Glyphs = glyphs.Set(nil)
		var c Canvas
		c.Draw(pen, p, 60, 8)
		inks, marks := map[style.Token]int{}, map[rune]int{}
		for _, g := range c.cells {
			inks[g.color]++
			marks[g.R]++
		}
		for _, k := range p.Curves {
			if inks[k.Token] < 10 || pen.Glyphs.ASCII && marks[k.Mark] < 10 {
				t.Errorf("%v: %d cells of colour %d, %d of %c", glyphs, inks[k.Token], k.Token, marks[k.Mark], k.Mark)
			}
		}
	}
}

// TestUnitIsBehindAllNumbers: the name of an axis is no number among its ticks, wherever its latest point is.
func TestUnitIsBehindAllNumbers(t *testing.T) {
	for latest := 1.0; latest <= 100; latest++ {
		for w := 30; w <= 90; w += 12 {
			var s Series
			s.Add(0, 1)
			s.Add(latest, 0.5)
			p := Plot{XAxis: XAxis{Whole: true, Unit: true, Limit: 100}, Curves: []Curve{{Series: &s, Mark: '*'}}}
			rows := new(Canvas).Draw(testPen(), p, w, 8)
			if x := strings.TrimSpace(ansi.Strip(rows[7])); !strings.HasSuffix(x, " epochs") {
				t.Errorf("to %g in %d columns: %q", latest, w, x)
			}
		}
	}
}

// TestNamesStandWhole: names along x are cut only where a row has no room for all.
func TestNamesStandWhole(t *testing.T) {
	p := Plot{XAxis: XAxis{Window: [2]float64{-0.5, 5.5}, Names: strings.Fields("soap kfac adam nag tr-gn lbfgs")},
		Dots: []Dot{{X: 0, Y: 1, R: 'a'}, {X: 5, Y: 2, R: 'b'}}, Closed: true}
	for w, want := range map[int]string{34: "soap kfac adam nag tr-gn lbfgs", 24: "s… k… a… n… t… l…"} {
		rows := new(Canvas).Draw(testPen(), p, w, 6)
		if s := strings.Join(strings.Fields(ansi.Strip(rows[5])), " "); s != want {
			t.Errorf("in %d columns: %q", w, s)
		}
	}
}

// TestFloor: what a logarithmic axis has no place for stands beside its own label, under all others.
func TestFloor(t *testing.T) {
	p := Plot{Dots: []Dot{{X: 0, Y: 0.3, R: 'a'}, {X: 1, Y: 0.002, R: 'b'}}, Log: true, Closed: true}
	p.Y.Floor, p.Y.Bottom = 0.002, "0"
	rows := new(Canvas).Draw(testPen(), p, 40, 16)
	for i, row := range rows {
		if s := ansi.Strip(row); strings.Contains(s, "b") {
			if !strings.HasPrefix(strings.TrimSpace(s), "0┤") || strings.Contains(ansi.Strip(strings.Join(rows[i+1:14], "")), "┤") {
				t.Errorf("%s", ansi.Strip(strings.Join(rows, "\n")))
			}
		}
	}
}
