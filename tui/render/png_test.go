package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// TestPNG reads what was written: its size, backgrounds, dots where a braille character has them, lines that meet, and
// letters, of a character that the font has not too.
func TestPNG(t *testing.T) {
	rows := []string{"\x1b[48;2;200;0;0m \x1b[m\x1b[7m \x1b[m⠁⣿─╮A\x1b[1mA\x1b[m▸\x1b[2m█\x1b[m", "    ▄╰日x\x1b[38;2;0;0;250m█"}
	for _, dark := range []bool{true, false} {
		var out bytes.Buffer
		if err := WritePNG(&out, rows, 10, dark); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&out)
		if want := image.Rect(0, 0, 10*rasterWidth+2*rasterMargin, 2*rasterHeight+2*rasterMargin); err != nil || picture.Bounds() != want {
			t.Fatalf("%v, want %v: %v", picture.Bounds(), want, err)
		}
		sheet := newSheet(dark)
		// at is the colour in a cell, in parts of its width and height.
		at := func(x, y int, dx, dy float64) color.Color {
			return picture.At(rasterMargin+x*rasterWidth+int(dx*rasterWidth), rasterMargin+y*rasterHeight+int(dy*rasterHeight))
		}
		for _, c := range []struct {
			name   string
			x, y   int
			dx, dy float64
			want   color.Color
		}{
			{"background", 0, 0, 0, 0, color.RGBA{200, 0, 0, 255}},
			{"background", 0, 0, 0.99, 0.99, color.RGBA{200, 0, 0, 255}},
			{"reversed", 1, 0, 0.5, 0.5, sheet.color},
			{"first dot", 2, 0, 0.25, 0.125, sheet.color},
			{"no second dot", 2, 0, 0.25, 0.375, sheet.ground},
			{"no fourth dot", 2, 0, 0.75, 0.125, sheet.ground},
			{"last dot", 3, 0, 0.75, 0.875, sheet.color},
			{"between the dots", 3, 0, 0.5, 0.5, sheet.ground},
			{"line", 4, 0, 0, 0.5, sheet.color},
			{"line", 4, 0, 0.99, 0.5, sheet.color},
			{"over the line", 4, 0, 0.5, 0.4, sheet.ground},
			{"corner from the line", 5, 0, 0, 0.5, sheet.color},
			{"corner downwards", 5, 0, 0.5, 0.99, sheet.color},
			{"corner not upwards", 5, 0, 0.5, 0.1, sheet.ground},
			{"the next one goes on", 5, 1, 0.5, 0, sheet.color},
			{"upper half", 4, 1, 0.5, 0.49, sheet.ground},
			{"lower half", 4, 1, 0.5, 0.5, sheet.color},
			{"after a wide character", 9, 1, 0.5, 0.5, color.RGBA{0, 0, 250, 255}},
		} {
			if got := at(c.x, c.y, c.dx, c.dy); hexOf(got) != hexOf(c.want) {
				t.Errorf("dark %v, %s: %v, want %v", dark, c.name, hexOf(got), hexOf(c.want))
			}
		}
		if got := hexOf(at(9, 0, 0.5, 0.5)); got == hexOf(sheet.color) || got == hexOf(sheet.ground) {
			t.Errorf("faint is %v", got)
		}
		ink := func(x, y int) (n int) {
			for i := range rasterWidth * rasterHeight {
				if hexOf(picture.At(rasterMargin+x*rasterWidth+i%rasterWidth, rasterMargin+y*rasterHeight+i/rasterWidth)) != hexOf(sheet.ground) {
					n++
				}
			}
			return n
		}
		if regular, bold := ink(6, 0), ink(7, 0); regular < 50 || bold <= regular {
			t.Errorf("a letter has %d pixels, a bold one %d", regular, bold)
		}
		if ink(8, 0) < 20 || ink(6, 1) < 20 || ink(7, 1) < 20 {
			t.Error("a character that the font has not is blank")
		}
	}
}
