package chart

import (
	"math"
	"testing"

	"newtop/tui/style"
)

// TestBlocks holds what ntcharts draws against eighths counted by hand: the uppermost cell of a bar is never left out, and a value of
// a sparkline always shows.
func TestBlocks(t *testing.T) {
	var b Blocks
	for _, g := range []*style.GlyphSet{style.GlyphsBraille.Set(nil), style.GlyphsBlock.Set(nil), style.GlyphsASCII.Set(nil)} {
		for k := range 801 {
			height := float64(k) / 128
			var want []rune
			for free := height; free > 0; free-- {
				want = append(want, g.Levels[max(1, int(math.Round(min(free, 1)*8)))])
			}
			if got := b.Bar(g, height); string(got) != string(want) {
				t.Fatalf("a bar of %g is %q, expected %q", height, string(got), string(want))
			}
		}
		heights, want := []float64{math.NaN(), -1, 0, 2, math.Inf(1), math.Inf(-1)}, []rune{g.Levels[1], g.Levels[1], g.Levels[1], g.Levels[8], g.Levels[8], g.Levels[1]}
		for k := range 101 {
			heights = append(heights, float64(k)/100)
			want = append(want, g.Levels[1+int(math.Round(float64(k)/100*7))])
		}
		if got := b.Sparkline(g, heights); string(got) != string(want) {
			t.Errorf("the sparkline is %q, expected %q", string(got), string(want))
		}
	}
}
