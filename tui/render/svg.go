package render

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// A cell of the picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	fontSize   = 14.0
	baseline   = 13.5
	margin     = 12.0
)

// WriteSVG draws a frame's rows as SVG. Letters are text of a fixed width; lines, blocks and braille are
// shapes, so that they meet whatever font there is.
func WriteSVG(w io.Writer, rows []string, columns int, dark bool) error {
	ground, ink := "#ffffff", "#1c1c1c"
	if dark {
		ground, ink = "#16181d", "#d8dbe0"
	}
	out := bufio.NewWriter(w)
	width, height := float64(columns)*cellWidth+2*margin, float64(len(rows))*cellHeight+2*margin
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.1f" height="%.1f" viewBox="0 0 %[1]g %[2]g" `+
		`font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%g" fill="%s">`+"\n",
		width, height, fontSize, ink)
	fmt.Fprintf(out, `<rect width="%.1f" height="%.1f" rx="8" fill="%s"/>`+"\n", width, height, ground)
	buffer := uv.NewScreenBuffer(columns, len(rows))
	uv.NewStyledString(strings.Join(rows, "\n")).Draw(buffer, buffer.Bounds())
	for y := range rows {
		s := screenRow{out: out, y: margin + float64(y)*cellHeight, ground: ground, ink: ink}
		for x := 0; x < columns; x++ {
			if cell := buffer.CellAt(x, y); cell != nil && cell.Width > 0 {
				s.cell(x, cell)
			}
		}
		s.flush()
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

// screenRow gathers neighbouring cells of one style.
type screenRow struct {
	out         *bufio.Writer
	y           float64
	ground, ink string

	style   string // attributes of what is gathered
	paint   string // its colour
	text    strings.Builder
	from    int // its first column
	columns int
	shapes  strings.Builder
}

func (s *screenRow) cell(x int, c *uv.Cell) {
	paint, back := hexOf(c.Style.Fg, s.ink), hexOf(c.Style.Bg, "")
	if c.Style.Attrs&uv.AttrReverse != 0 {
		if back == "" {
			back = s.ground
		}
		paint, back = back, paint
	}
	style := ""
	if c.Style.Attrs&uv.AttrBold != 0 {
		style += ` font-weight="bold"`
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		style += ` opacity="0.6"`
	}
	if paint != s.paint || style != s.style {
		s.flush()
		s.paint, s.style = paint, style
	}
	if back != "" {
		// Before the text, which is written later.
		fmt.Fprintf(s.out, `<rect x="%.1f" y="%.1f" width="%.2f" height="%g" fill="%s"/>`+"\n",
			s.left(x), s.y, cellWidth*float64(c.Width)+0.1, cellHeight, back)
	}
	r, n := utf8.DecodeRuneInString(c.Content)
	if n == len(c.Content) {
		if path := cellShape(r, s.left(x), s.y); path != "" {
			s.shapes.WriteString(path)
			s.letters()
			return
		}
	}
	if c.Content == " " && s.columns == 0 {
		return
	}
	if s.columns == 0 {
		s.from = x
	}
	s.text.WriteString(c.Content)
	s.columns += c.Width
}

func (s *screenRow) left(x int) float64 { return margin + float64(x)*cellWidth }

// letters writes the gathered text, stretched to exactly its columns.
func (s *screenRow) letters() {
	full := s.text.String()
	text := strings.TrimRight(full, " ")
	columns := s.columns - (len(full) - len(text))
	s.text.Reset()
	s.columns = 0
	if text == "" {
		return
	}
	fmt.Fprintf(s.out, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		s.left(s.from), s.y+baseline, float64(columns)*cellWidth, s.paint, s.style, html.EscapeString(text))
}

// flush writes what was gathered, in its style.
func (s *screenRow) flush() {
	s.letters()
	if s.shapes.Len() > 0 {
		fmt.Fprintf(s.out, `<path d="%s" fill="%s"%s/>`+"\n", strings.TrimSpace(s.shapes.String()), s.paint,
			strings.TrimPrefix(s.style, ` font-weight="bold"`))
		s.shapes.Reset()
	}
}

// hexOf writes a colour, or what stands for the terminal's own.
func hexOf(c color.Color, own string) string {
	if c == nil {
		return own
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
