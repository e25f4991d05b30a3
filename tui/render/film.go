package render

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// Still is what a screen shows from a time on.
type Still struct {
	At   time.Duration
	Rows []string
}

// WriteFilm draws frames as one animated SVG that begins again at its end. All frames have the first one's number of
// rows. Each row is drawn once for as long as it stays the same, so a film is little larger than what changes in it.
func WriteFilm(w io.Writer, frames []Still, length time.Duration, columns int, dark bool) error {
	sheet := newSheet(dark)
	out := bufio.NewWriter(w)
	rows := len(frames[0].Rows)
	width, height := float64(columns)*cellWidth+2*margin, float64(rows)*cellHeight+2*margin
	writeSheet(out, &sheet, width, height)
	fmt.Fprintf(out, `<rect width="0" height="0"><animate id="film" attributeName="x" from="0" to="0" dur="%.2fs" `+
		`begin="0s;film.end"/></rect>`+"\n", length.Seconds())
	type stay struct {
		first, last time.Duration
		drawn       []byte
	}
	var stays []stay
	for y := range rows {
		var now *stay
		for i, f := range frames {
			var drawn bytes.Buffer
			line := bufio.NewWriter(&drawn)
			drawRow(line, &sheet, f.Rows, y, columns)
			line.Flush()
			end := length
			if i+1 < len(frames) {
				end = frames[i+1].At
			}
			if now != nil && bytes.Equal(now.drawn, drawn.Bytes()) {
				now.last = end
				continue
			}
			stays = append(stays, stay{f.At, end, drawn.Bytes()})
			now = &stays[len(stays)-1]
		}
	}
	slices.SortStableFunc(stays, func(a, b stay) int { return cmp.Compare(a.first, b.first) })
	for _, s := range stays {
		if len(s.drawn) == 0 {
			continue
		}
		if s.first == 0 && s.last == length {
			out.Write(s.drawn)
			continue
		}
		fmt.Fprintf(out, `<g visibility="hidden"><set attributeName="visibility" to="visible" `+
			`begin="film.begin+%.2fs" dur="%.2fs"/>`+"\n",
			s.first.Seconds(), (s.last - s.first).Seconds())
		out.Write(s.drawn)
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}
