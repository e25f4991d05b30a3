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
	sheet := newSheet(dark)
	out := bufio.NewWriter(w)
	width, height := float64(columns)*cellWidth+2*margin, float64(len(rows))*cellHeight+2*margin
	writeSheet(out, &sheet, width, height)
	for y := range rows {
		drawRow(out, &sheet, rows, y, columns)
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

// writeSheet begins a picture with its ground.
func writeSheet(out *bufio.Writer, s *sheet, width, height float64) {
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.1f" height="%.1f" viewBox="0 0 %[1]g %[2]g" `+
		`font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%g" fill="%s">`+"\n",
		width, height, fontSize, hexOf(s.color))
	fmt.Fprintf(out, `<rect width="%.1f" height="%.1f" rx="8" fill="%s"/>`+"\n", width, height, hexOf(s.ground))
}

// drawRow draws row y of a frame.
func drawRow(out *bufio.Writer, on *sheet, rows []string, y, columns int) {
	line := gridOf(rows[y:y+1], columns)
	s := screenRow{out: out, y: margin + float64(y)*cellHeight, sheet: *on}
	for x := range columns {
		if cell := line.CellAt(x, 0); cell != nil && cell.Width > 0 {
			s.cell(x, cell)
		}
	}
	s.flush()
}

// screenRow gathers neighbouring cells of one style.
type screenRow struct {
	out   *bufio.Writer
	y     float64
	sheet sheet

	style   string // attributes of what is gathered
	paint   string // its colour
	text    strings.Builder
	from    int // its first column
	columns int
	shapes  strings.Builder
}

func (s *screenRow) cell(x int, c *uv.Cell) {
	fore, back := s.sheet.colors(&c.Style)
	paint := hexOf(fore)
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
	if back != nil {
		// Before the text, which is written later.
		fmt.Fprintf(s.out, `<rect x="%.1f" y="%.1f" width="%.2f" height="%g" fill="%s"/>`+"\n",
			s.left(x), s.y, cellWidth*float64(c.Width)+0.1, cellHeight, hexOf(back))
	}
	r, n := utf8.DecodeRuneInString(c.Content)
	if n == len(c.Content) {
		if drawShape(&svgPencil{&s.shapes, s.left(x), s.y}, r) {
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
	fmt.Fprintf(s.out, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" `+
		`xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
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

// hexOf writes a colour.
func hexOf(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// svgPencil writes the shapes of the cell whose corner is (x, y) as parts of a path.
type svgPencil struct {
	*strings.Builder
	x, y float64
}

// box reaches a little further at the cell's right and lower edges, so that no gap shows between neighbours.
func (p *svgPencil) box(left, top, right, bottom float64) {
	const over = 0.15
	if right == 1 {
		right += over / cellWidth
	}
	if bottom == 1 {
		bottom += over / cellHeight
	}
	fmt.Fprintf(p, "M%.2f %.2fh%.2fv%.2fh%.2fz", p.x+left*cellWidth, p.y+top*cellHeight, (right-left)*cellWidth,
		(bottom-top)*cellHeight,
		(left-right)*cellWidth)
}

func (p *svgPencil) dot(x, y float64) {
	const radius = 1.05
	fmt.Fprintf(p, "M%.2f %.2fa%[3]g %[3]g 0 1 0 %[4]g 0a%[3]g %[3]g 0 1 0 -%[4]g 0z", p.x+cellWidth*x-radius,
		p.y+cellHeight*y, radius, 2*radius)
}

const thin, thick = 0.6, 1.3 // half the widths of lines

func (p *svgPencil) halves(isThick bool) (w, h float64) {
	half := thin
	if isThick {
		half = thick
	}
	return half / cellWidth, half / cellHeight
}

func (p *svgPencil) corner(sx, sy float64) {
	cx, cy := p.x+cellWidth/2, p.y+cellHeight/2
	const radius, outer, inner = cellWidth / 2, cellWidth/2 + thin, cellWidth/2 - thin
	point := func(dx, dy float64) string { return fmt.Sprintf("%.2f %.2f", cx+sx*dx, cy+sy*dy) }
	sweep, back := 1, 0
	if sx*sy < 0 {
		sweep, back = 0, 1
	}
	fmt.Fprintf(p, "M%sL%sA%.2f %.2f 0 0 %d %sL%sA%.2f %.2f 0 0 %d %sL%sz",
		point(-thin, cellHeight/2), point(-thin, radius), outer, outer, sweep, point(radius, -thin),
		point(radius, thin), inner, inner, back, point(thin, radius), point(thin, cellHeight/2))
}
