package figure

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// face is what all text is set in. The font is part of the program, so a fault in it is a fault of the program.
var face = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(fmt.Sprintf("figure: embedded font: %v", err))
	}
	return f
})

// The face's heights over and below the base line, by its size.
const (
	ascent  = 0.945
	descent = 0.211
	capital = 0.723 // of a capital or a digit
	leading = 1.35  // from one base line to the next
)

// wide returns the width of a text in points.
func wide(text string, size float64) float64 {
	var b sfnt.Buffer
	f, x, last := face(), fixed.Int26_6(0), sfnt.GlyphIndex(0)
	em := fixed.I(int(f.UnitsPerEm()))
	for i, r := range []rune(text) {
		g, _ := f.GlyphIndex(&b, r) // 0, a box, stands for what the face has no glyph for or no measures of
		if i > 0 {
			kern, _ := f.Kern(&b, last, g, em, font.HintingNone)
			x += kern
		}
		advance, _ := f.GlyphAdvance(&b, g, em, font.HintingNone)
		x, last = x+advance, g
	}
	return float64(x) / float64(em) * size
}

// shorten cuts a text that is wider than its room.
func shorten(text string, size, room float64) string {
	if wide(text, size) <= room {
		return text
	}
	r := []rune(text)
	low, high := 0, len(r)
	for low < high {
		if mid := (low + high + 1) / 2; wide(string(r[:mid])+"…", size) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.TrimRight(string(r[:low]), " ") + "…"
}

// known returns a text with question marks for what the face lacks.
func known(text string) string {
	var b sfnt.Buffer
	text = strings.ReplaceAll(text, "‖", "||")
	return strings.Map(func(r rune) rune {
		if g, err := face().GlyphIndex(&b, r); g == 0 || err != nil {
			return '?'
		}
		return r
	}, text)
}
