package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// svg is a canvas. Its text is text, so that it can be searched and edited.
type svg struct{ bytes.Buffer }

func newSVG(width, height float64) *svg {
	s := new(svg)
	w, h := decimal(width), decimal(height)
	fmt.Fprintf(s, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" xml:space="preserve" `+
		`font-family="Go,Arial,Helvetica,sans-serif" stroke-linejoin="round">
<rect width="%s" height="%s" fill="#fff"/>
`, w, h, w, h, w, h)
	return s
}

// decimal writes a length with up to two decimals.
func decimal(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0: no negative zero
}

// style writes the attributes of a pen.
func (p *pen) style() string {
	r, g, b := rgb(p.color)
	if p.width == 0 {
		return fmt.Sprintf(`fill="#%02x%02x%02x"`, r, g, b)
	}
	out := fmt.Sprintf(`fill="none" stroke="#%02x%02x%02x" stroke-width="%s"`, r, g, b, decimal(p.width))
	if p.dashes != nil {
		lengths := make([]string, len(p.dashes))
		for i, l := range p.dashes {
			lengths[i] = decimal(l)
		}
		out += ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
	return out
}

func (s *svg) path(p pen, along []position) {
	s.WriteString(`<path d="`)
	end := ""
	if closed(along) {
		along, end = along[:len(along)-1], "Z"
	}
	for i, q := range along {
		s.WriteByte("ML"[min(i, 1)])
		s.WriteString(decimal(q.x) + "," + decimal(q.y))
	}
	fmt.Fprintf(s, `%s" %s/>`+"\n", end, p.style())
}

func (s *svg) circle(p pen, centre position, radius float64) {
	fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n",
		decimal(centre.x), decimal(centre.y), decimal(radius), p.style())
}

func (s *svg) text(t *words) {
	x, y := decimal(t.at.x), decimal(t.at.y)
	fmt.Fprintf(s, `<text x="%s" y="%s" font-size="%s" %s`, x, y, decimal(t.size), (&pen{color: t.color}).style())
	switch t.anchor {
	case 0.5:
		s.WriteString(` text-anchor="middle"`)
	case 1:
		s.WriteString(` text-anchor="end"`)
	}
	if t.upright {
		fmt.Fprintf(s, ` transform="rotate(-90 %s %s)"`, x, y)
	}
	s.WriteByte('>')
	xml.EscapeText(s, []byte(t.text)) // a buffer takes all that is written
	s.WriteString("</text>\n")
}

func (s *svg) write(w io.Writer) error {
	s.WriteString("</svg>\n")
	_, err := s.WriteTo(w)
	return err
}
