package render

import (
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// sheet has the colours that stand for the terminal's own in a picture.
type sheet struct{ ground, color color.Color }

func newSheet(dark bool) sheet {
	if dark {
		return sheet{color.RGBA{0x16, 0x18, 0x1d, 0xff}, color.RGBA{0xd8, 0xdb, 0xe0, 0xff}}
	}
	return sheet{color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x1c, 0x1c, 0x1c, 0xff}}
}

// colors are those of a cell; back is nil where it is the ground.
func (s *sheet) colors(c *uv.Style) (fore, back color.Color) {
	fore, back = c.Fg, c.Bg
	if fore == nil {
		fore = s.color
	}
	if c.Attrs&uv.AttrReverse != 0 {
		if back == nil {
			back = s.ground
		}
		fore, back = back, fore
	}
	return fore, back
}

// gridOf takes a frame's rows apart.
func gridOf(rows []string, columns int) uv.ScreenBuffer {
	grid := uv.NewScreenBuffer(columns, len(rows))
	uv.NewStyledString(strings.Join(rows, "\n")).Draw(grid, grid.Bounds())
	return grid
}
