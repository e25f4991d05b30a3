package figure

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

const dpi = 300

// canvas is what a figure is painted on.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func newCanvas(format string, w, h vg.Length) (canvas, error) {
	switch format {
	case "svg":
		return vgsvg.New(w, h), nil
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}, nil
	case "pdf":
		orderly()
		return pdfCanvas{vgpdf.New(w, h)}, nil
	}
	return nil, &OptionError{optionFormat, format, strings.Join(formats[:len(formats)-1], ", ") + " or " + formats[len(formats)-1]}
}

// orderly has the parts of a PDF in one order, and not in that of a map.
var orderly = sync.OnceFunc(func() { fpdf.SetDefaultCatalogSort(true) })

// pdfCanvas writes text in the code page that the PDF's fonts are embedded with.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString implements vg.Canvas. A vgpdf.Canvas embeds one face only: bold text is written in it too.
func (c pdfCanvas) FillString(f font.Face, at vg.Point, s string) {
	if f.Font.Weight != xfont.WeightNormal {
		f.Font.Weight = xfont.WeightNormal
		f = font.DefaultCache.Lookup(f.Font, f.Font.Size)
	}
	c.Canvas.FillString(f, at, windows1252(s))
}

// windows1252 encodes text, with question marks for what the code page lacks.
func windows1252(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			out = append(out, byte(r))
		case r == '…':
			out = append(out, 0x85)
		case r == '–':
			out = append(out, 0x96)
		case r == '—':
			out = append(out, 0x97)
		case r == '‘' || r == '’':
			out = append(out, byte(r-'‘')+0x91)
		case r == '“' || r == '”':
			out = append(out, byte(r-'“')+0x93)
		default:
			out = append(out, '?')
		}
	}
	return string(out)
}

// dates are the times at which a PDF says it was made.
var dates = regexp.MustCompile(`/(?:CreationDate|ModDate) \(D:(\d{14})\)`)

// write paints the sheet in a format.
func (s *sheet) write(w io.Writer, format string) error {
	to, err := newCanvas(format, s.width, s.height)
	if err != nil {
		return err
	}
	s.paint(to)
	return output(w, to, format)
}

// output writes a painted canvas, the same bytes for the same picture.
func output(w io.Writer, c canvas, format string) error {
	var picture bytes.Buffer
	if _, err := c.WriteTo(&picture); err != nil {
		return err
	}
	out := picture.Bytes()
	switch format {
	case "svg": // the fonts after the first have its measures
		out = bytes.ReplaceAll(out, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	case "pdf":
		for _, at := range dates.FindAllSubmatchIndex(out, -1) {
			copy(out[at[2]:at[3]], "20000101000000")
		}
	}
	_, err := w.Write(out)
	return err
}
