package analyses

import (
	"math"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// worstList shows the rows that cost most: as images, if that is what they are, else one a line.
func worstList(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	if h < 1 {
		return nil
	}
	rows := []string{v.Line(w).Write(style.Accent, "greatest loss").Full()}
	if len(e.Worst) == 0 {
		return append(rows, v.Line(w).Write(style.Muted, "no rows were sent").Full())
	}
	if tiles := worstTiles(v, e, w, h-1); tiles != nil {
		return append(rows, tiles...)
	}
	for i := range min(len(e.Worst), h-1) {
		rows = append(rows, worstLine(v, e, &e.Worst[i], w))
	}
	return rows
}

// rowVerdict says in words what a row is and what the net makes of it.
func rowVerdict(e *event.ErrorsEvent, r *event.WorstRow) string {
	switch {
	case r.Target >= 0 && r.Target == r.Output:
		return class(e, r.Target) + ", unsure"
	case r.Target >= 0:
		return class(e, r.Target) + " taken for " + class(e, r.Output)
	}
	return "is " + floats(r.Targets, 3) + ", said " + floats(r.Outputs, 3)
}

// floats writes the first few of some numbers.
func floats(x []event.Float, most int) string {
	text := make([]string, 0, most+1)
	for i, f := range x {
		if i == most {
			text = append(text, "…")
			break
		}
		text = append(text, format.Number(float64(f)))
	}
	return strings.Join(text, " ")
}

func worstLine(v *pane.View, e *event.ErrorsEvent, r *event.WorstRow, w int) string {
	l := v.Line(w)
	l.Write(style.Strong, style.Right(format.Number(float64(r.Loss)), 7)).Write(
		style.Text, "  "+style.Pad(rowVerdict(e, r), 16))
	if !l.Group(style.Muted.Of("  row " + style.Pad(strconv.Itoa(r.Row), 5))) {
		return l.Full()
	}
	for i, f := range r.Inputs {
		s := " " + format.Tick(format.Round(float64(f), 3))
		if room := l.Left(); style.Cells(s) > room || i+1 < len(r.Inputs) && style.Cells(s) > room-2 {
			l.Write(style.Muted, " …")
			break
		}
		l.Write(style.Muted, s)
	}
	return l.Full()
}

// worstTiles draws the rows as images with a caption each, as large as lets all of them in, or nil if they are
// none or there is no room.
func worstTiles(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	first := &e.Worst[0]
	if first.Height < 1 || first.Width < 1 || len(first.Inputs)%(first.Height*first.Width) != 0 {
		return nil
	}
	wide, tall, across, down := tiling(len(e.Worst), first.Width, first.Height, 12, 2, w, h)
	if wide == 0 {
		return nil
	}
	m := chart.NewCellGrid(&v.Pen, w, h)
	step := max(wide, 12) + 2
	for i := range min(len(e.Worst), across*down) {
		r := &e.Worst[i]
		x, y := i%across*step, i/across*(tall+2)
		picture := chart.Raster{W: r.Width, H: r.Height, Values: make([]float64, r.Height*r.Width)}
		if len(r.Inputs) < len(picture.Values) {
			continue
		}
		for k := range picture.Values {
			picture.Values[k] = float64(r.Inputs[k])
		}
		low, high, _ := picture.Extremes()
		fit := picture.Fitted(wide, tall*chart.RowsPerCell(&v.Pen), false)
		m.Paint(x, y, &fit, chart.Scale{Ramp: style.RampImage, Low: low, High: high})
		text := class(e, r.Target) + " for " + class(e, r.Output)
		if r.Target >= 0 && r.Target != r.Output {
			text = class(e, r.Target) + v.Glyphs.To + class(e, r.Output)
		} else if r.Target < 0 {
			text = format.Number(float64(r.Loss))
		}
		end := m.Write(x, y+tall, style.Text, cutTo(text, step-2))
		if s := "  " + shortLoss(float64(r.Loss)); end+style.Cells(s) <= x+step-1 {
			m.Write(end, y+tall, style.Muted, s)
		}
	}
	return m.Rows()
}

// shortLoss writes a loss in few columns.
func shortLoss(x float64) string {
	if x >= 0.01 && x < 100 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return format.Number(x)
}

// tiling finds the widest tiles of which n fit in w × h cells, each with extra rows beneath and at least a caption's
// columns; if never all fit, those of which most do. A cell is twice as tall as wide.
func tiling(n, width, height, caption, extra, w, h int) (wide, tall, across, down int) {
	for try := min(max(width, 16), 3*width, w); try >= min(14, width); try-- {
		t := max(1, int(math.Round(float64(try*height)/float64(2*width))))
		a, d := (w+2)/(max(try, caption)+2), (h+1)/(t+extra)
		if a*d <= across*down {
			continue
		}
		wide, tall, across, down = try, t, a, d
		if a*d >= n {
			break
		}
	}
	return wide, tall, across, down
}

// residualRows draws the histogram of the residuals, and their figures above it.
func residualRows(v *pane.View, e *event.ErrorsEvent, output, w, h int) []string {
	s, ok := residualsOf(e, output)
	if !ok {
		return []string{v.Line(w).Write(style.Muted, "no residuals").Full()}
	}
	l := v.Line(w)
	l.Write(style.Accent, "output less target")
	l.Group(style.Muted.Of("  rms "), style.Strong.Of(format.Number(s.rms)))
	l.Group(style.Muted.Of("  mean "), style.Text.Of(format.Number(s.mean)))
	l.Group(style.Muted.Of("  " + format.Counted(s.n, "row")))
	if h < 4 || w < 12 {
		return []string{l.Full()}
	}
	most := math.Max(math.Max(s.high, -s.low), 1e-300)
	bins := make([]int, max(5, min((w-1)/2, 59))|1)
	for _, x := range s.values {
		bins[min(int((x/most+1)/2*float64(len(bins))), len(bins)-1)]++
	}
	return append([]string{l.Full()}, chart.Histogram(&v.Pen, bins, most, w, h-1)...)
}

// residualSummary sum up the residuals of one output.
type residualSummary struct {
	rms, mean, low, high float64
	n                    int
	values               []float64
}

func residualsOf(e *event.ErrorsEvent, output int) (s residualSummary, ok bool) {
	if len(e.Residuals) == 0 {
		return s, false
	}
	s.low, s.high = math.Inf(1), math.Inf(-1)
	for _, f := range e.Residuals[min(output, len(e.Residuals)-1)] {
		x := float64(f)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		s.values = append(s.values, x)
		s.low, s.high = math.Min(s.low, x), math.Max(s.high, x)
		s.n++
		s.mean += (x - s.mean) / float64(s.n)
		s.rms += (x*x - s.rms) / float64(s.n)
	}
	s.rms = math.Sqrt(s.rms)
	return s, s.n > 0
}
