package chart

import (
	"image"
	"image/color"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"newtop/tui/internal/tuitest"
	"newtop/tui/style"
)

// TestPicture: the cell in the middle of each part of an image has the part's color, whether the image is enlarged or
// reduced, its aspect stays, and without colors characters stand for the luminance.
func TestPicture(t *testing.T) {
	parts := [4]color.RGBA{{200, 10, 0, 255}, {40, 40, 40, 255}, {255, 255, 255, 255}, {0, 30, 200, 255}}
	for _, c := range []struct {
		w, h       int // of the image
		cols, rows int // of the cells that it takes, of 40 × 10
	}{{16, 8, 32, 8}, {8, 4, 40, 10}, {800, 400, 40, 10}, {60, 120, 10, 10}} {
		full := image.NewRGBA(image.Rect(0, 0, c.w, c.h))
		for y := range c.h {
			for x := range c.w {
				full.SetRGBA(x, y, parts[2*(2*y/c.h)+2*x/c.w])
			}
		}
		for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.NoTTY} {
			pen := tuitest.Pen()
			pen.Palette = style.ThemeDark.Palette(true, profile, false)
			e := vt.NewEmulator(40, 10)
			for i, row := range Picture(&pen, full, 40, 10) {
				if i > 0 {
					e.WriteString("\r\n")
				}
				e.WriteString(row)
			}
			for q, want := range parts {
				x, y := c.cols/4+c.cols/2*(q%2), c.rows/4+c.rows/2*(q/2)
				cell := e.CellAt(x, y)
				if profile == colorprofile.NoTTY {
					if want := []string{" ", " ", "█", " "}[q]; cell.Content != want {
						t.Errorf("%d × %d, part %d: got %q", c.w, c.h, q, cell.Content)
					}
					continue
				}
				for _, got := range []color.Color{cell.Style.Fg, cell.Style.Bg} {
					if r, g, b, _ := got.RGBA(); (color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}) != want {
						t.Errorf("%d × %d, part %d: got %v, want %v", c.w, c.h, q, got, want)
					}
				}
			}
			if beyond := e.CellAt(c.cols, 0); c.cols < 40 && beyond.Content != " " {
				t.Errorf("%d × %d is wider than %d columns", c.w, c.h, c.cols)
			}
		}
	}
}
