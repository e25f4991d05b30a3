package render

import (
	"strings"
	"testing"
)

// TestShapes draws every character of the blocks that are drawn as shapes.
func TestShapes(t *testing.T) {
	for r := rune(0x2580); r <= 0x259f; r++ {
		if got := cellShape(r, 0, 0) != ""; got == (r >= 0x2591 && r <= 0x2593) || got && r == 0x2594 || got && r == 0x2595 {
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
		if got := strings.Count(cellShape(rune(0x2800+mask), 3, 5), "M"); got != want {
			t.Errorf("%c: %d dots", 0x2800+mask, got)
		}
	}
	for _, r := range "─│╭╮╰╯┌┐└┘├┤┬┴┼━╌┄┊" {
		if !strings.HasPrefix(cellShape(r, 0, 0), "M") {
			t.Errorf("%c is left to the font", r)
		}
	}
	if cellShape('a', 0, 0) != "" {
		t.Error("a letter is a shape")
	}
}
