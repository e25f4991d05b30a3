package figure

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

// charts has one of every kind.
func charts() map[string]Chart {
	var falling, rising, noise []Point
	for i := range 40 {
		x := float64(i)
		falling = append(falling, Point{x, 3 * math.Exp(-x/9)})
		rising = append(rising, Point{x, 0.2 + x/50})
		noise = append(noise, Point{math.Exp(x/9 - 5), 0.1 + math.Mod(x*0.37, 1)})
	}
	falling[20].Y, rising[7].Y = math.NaN(), math.Inf(1)
	red, blue := color.RGBA{0xd5, 0x5e, 0, 0xff}, color.RGBA{0, 0x72, 0xb2, 0xff}
	heights := func(k float64) (out []Point) {
		for i := range 12 {
			out = append(out, Point{float64(i + 1), k * float64(i%4)})
		}
		return out
	}
	return map[string]Chart{
		"lines": {Title: "letters 16-70-50-26: loss", X: "epoch", Y: "mean loss", LogY: true, Marks: []Mark{{12, "to scg"}, {99, "beyond"}}, Curves: []Curve{
			{Name: "training rows", Color: blue, Points: falling}, {Name: "test rows", Color: red, Dashed: true, Points: rising}}},
		"dots": {Title: "tune \x1b[2Jmine", X: "rate", Y: "test error", LogX: true, Curves: []Curve{
			{Name: "adam", Color: red, Dots: true, Points: noise}, {Color: blue, Points: []Point{{0.01, 0.5}}}}},
		"bars": {Title: "inner iterations", X: "epoch", Y: "iterations", Curves: []Curve{
			{Name: "tolerance", Color: blue, Bars: true, Points: heights(1)}, {Name: "radius", Color: red, Bars: true, Points: heights(2)}}},
		"names": {Title: "tune mine", X: "opt", Y: "test error", Names: []string{"adam", "scg", "tr-gn"}, Curves: []Curve{
			{Name: "trials", Dots: true, Points: []Point{{0, 0.3}, {1, 0.1}, {2, 0.2}, {2, 0.25}}}}},
	}
}

func TestCharts(t *testing.T) {
	for name, c := range charts() {
		t.Run(name, func(t *testing.T) {
			var svg bytes.Buffer
			if err := c.Draw(&svg, "svg"); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, svg.Bytes())
			golden.RequireEqual(t, svg.Bytes())
		})
	}
}

func TestChartWords(t *testing.T) {
	for name, wants := range map[string][]string{
		"lines": {"letters 16-70-50-26: loss", "training rows", "test rows", "to scg", "mean loss", "epoch"},
		"dots":  {"tune [2Jmine", "adam", "rate", "test error"},
		"bars":  {"tolerance", "radius", "iterations"},
		"names": {"adam", "scg", "tr-gn", "trials"},
	} {
		c := charts()[name]
		var svg bytes.Buffer
		if err := c.Draw(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		got := texts(t, svg.Bytes())
		for _, want := range wants {
			if !slices.Contains(got, want) {
				t.Errorf("%s does not say %q but %q", name, want, got)
			}
		}
		if slices.Contains(got, "beyond") {
			t.Errorf("%s names an event beyond its axis", name)
		}
	}
}

func TestChartFormats(t *testing.T) {
	c := charts()["bars"]
	for _, format := range formats {
		var one, two bytes.Buffer
		if err := c.Draw(&one, format); err != nil {
			t.Fatal(err)
		}
		if err := c.Draw(&two, format); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("two pictures of format %s differ: %v", format, err)
		}
		if format != "png" {
			continue
		}
		if _, err := png.Decode(&one); err != nil {
			t.Error(err)
		}
	}
	if err := c.Draw(&bytes.Buffer{}, "gif"); err == nil {
		t.Error("a GIF was drawn")
	}
}

func TestEmptyChart(t *testing.T) {
	for _, c := range []Chart{
		{Title: "loss"},
		{Title: "loss", Curves: []Curve{{}, {Points: []Point{{1, math.NaN()}, {math.Inf(1), 1}}}}},
		{Title: "loss", LogY: true, Curves: []Curve{{Points: []Point{{1, 0}, {2, -1}}}}},
	} {
		if err := c.Draw(&bytes.Buffer{}, "svg"); !c.Empty() || err == nil || !strings.Contains(err.Error(), "loss has no finite value yet") {
			t.Errorf("%+v: empty %v, %v", c, c.Empty(), err)
		}
	}
	one := Chart{Title: "one", LogY: true, LogX: true, Curves: []Curve{{Points: []Point{{3, 7}}}}}
	if err := one.Draw(&bytes.Buffer{}, "svg"); err != nil || one.Empty() {
		t.Errorf("a single point: %v", err)
	}
}

// Whatever the numbers are, there is a picture or a reason why not.
func FuzzChart(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, uint8(0))
	f.Add(1e-300, 1e300, 0.0, -1.0, uint8(7))
	f.Add(1.0, 1+1e-16, 5.0, 5.0, uint8(3))
	f.Add(math.Inf(1), math.NaN(), 1e149, -1e149, uint8(12))
	f.Fuzz(func(t *testing.T, a, b, c, d float64, how uint8) {
		chart := Chart{Title: "any", X: "epoch", LogX: how&1 > 0, LogY: how&2 > 0, Marks: []Mark{{a, "a"}, {b, "b"}}, Curves: []Curve{
			{Name: "first", Points: []Point{{a, c}, {b, d}}, Dots: how&4 > 0, Bars: how&8 > 0},
			{Points: []Point{{a, d}, {d, a}, {c, c}}, Bars: how&8 > 0}}}
		if how&16 > 0 {
			chart.Names = []string{"", "x"}
		}
		var svg bytes.Buffer
		if err := chart.Draw(&svg, "svg"); (err != nil) != chart.Empty() {
			t.Fatal(err)
		}
		if svg.Len() > 0 {
			wellFormed(t, svg.Bytes())
		}
	})
}
