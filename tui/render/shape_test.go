package render

import (
	"strings"
	"testing"
)

// shapeOf is the path of a character, "" for one that a font draws.
func shapeOf(r rune) string {
	var b strings.Builder
	if drawShape(&svgPencil{&b, 0, 0}, r) {
		return b.String() + " "
	}
	return ""
}

// TestShapes draws every character of the blocks that are drawn as shapes.
func TestShapes(t *testing.T) {
	for r := rune(0x2580); r <= 0x259f; r++ {
		if got := shapeOf(r) != ""; got == (r >= 0x2591 && r <= 0x2593) || got && r == 0x2594 || got && r == 0x2595 {
			if r < 0x2591 || r > 0x2595 {
				t.Errorf("%c: a shape: %v", r, got)
			}
		}
	}
	for mask := range 256 {
		want := 0
		for k := range 8 {
			want += mask >> k & 1
		}
		if got := strings.Count(shapeOf(rune(0x2800+mask)), "M"); got != want {
			t.Errorf("%c: %d dots", 0x2800+mask, got)
		}
	}
	for _, r := range "─│╭╮╰╯┌┐└┘├┤┬┴┼━╌┄┊" {
		if !strings.HasPrefix(shapeOf(r), "M") {
			t.Errorf("%c is left to the font", r)
		}
	}
	if shapeOf('a') != "" {
		t.Error("a letter is a shape")
	}
}
