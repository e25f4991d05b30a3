package figure

import (
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/goregular"
)

// pdf is a canvas. What it needs of the font is embedded, as publishers ask.
type pdf struct{ *fpdf.Fpdf }

func newPDF(width, height float64) pdf {
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width, Ht: height}})
	f.SetCatalogSort(true) // in one order, and not in that of a map
	never := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	f.SetCreationDate(never)
	f.SetModificationDate(never)
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	f.SetLineJoinStyle("round")
	f.AddUTF8FontFromBytes("Go", "", goregular.TTF)
	f.AddPage()
	return pdf{f}
}

// setPen takes a pen and returns how fpdf calls drawing with it.
func (f pdf) setPen(p pen) string {
	r, g, b := rgb(p.color)
	if p.width == 0 {
		f.SetFillColor(r, g, b)
		return "F"
	}
	f.SetDrawColor(r, g, b)
	f.SetLineWidth(p.width)
	f.SetDashPattern(p.dashes, 0)
	return "D"
}

func (f pdf) path(p pen, along []position) {
	how, end := f.setPen(p), closed(along)
	if end {
		along = along[:len(along)-1]
	}
	f.MoveTo(along[0].x, along[0].y)
	for _, q := range along[1:] {
		f.LineTo(q.x, q.y)
	}
	if end {
		f.ClosePath()
	}
	f.DrawPath(how)
}

func (f pdf) circle(p pen, centre position, radius float64) {
	f.Circle(centre.x, centre.y, radius, f.setPen(p))
}

func (f pdf) text(t *words) {
	text := known(t.text)
	f.SetTextColor(rgb(t.color))
	f.SetFont("Go", "", t.size)
	x := t.at.x - t.anchor*f.GetStringWidth(text)
	if !t.upright {
		f.Text(x, t.at.y, text)
		return
	}
	f.TransformBegin()
	f.TransformRotate(90, t.at.x, t.at.y)
	f.Text(x, t.at.y, text)
	f.TransformEnd()
}

func (f pdf) write(w io.Writer) error { return f.Output(w) }
