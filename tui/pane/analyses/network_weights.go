package analyses

import (
	"math"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// blockView is the zoomed network's look at one block of weights.
type blockView struct {
	at        int  // of the blocks of weights
	open      bool // the weights are shown, not the network
	matrix    bool // as a matrix even where they are images
	row, col  int  // under the cursor
	requested pane.AskLimit
	drawn     weightArea
	listed    tensorList
}

// weightArea is where the weights were last drawn: w × h cells from x, y, for rows × cols of them.
type weightArea struct{ x, y, w, h, rows, cols int }

// block returns the {to, from} of a block of weights by its number, counted round.
func (p *Topology) block(h *history.History) (to, from int, ok bool) {
	if h.Run == nil {
		return 0, 0, false
	}
	if n := len(h.Run.Model.Blocks); n > 0 && len(h.Run.Model.Layers) == 0 {
		p.view.at = (p.view.at%n + n) % n
		return p.view.at + 1, p.view.at, true
	}
	var list [][2]int
	for _, c := range h.Run.Model.Connections {
		if c.Weights > 0 {
			list = append(list, [2]int{c.To, c.From})
		}
	}
	if len(list) == 0 {
		return 0, 0, false
	}
	p.view.at = (p.view.at%len(list) + len(list)) % len(list)
	return list[p.view.at][0], list[p.view.at][1], true
}

// Ask asks for the weights again while they are on the screen.
func (p *Topology) Ask(h *history.History) event.Command {
	to, from, ok := p.block(h)
	if !ok || !p.view.open || !p.view.requested.Due(h, h.Analyses.WeightsGen) {
		return nil
	}
	return event.ShowWeights{To: to, From: from}
}

func (p *Topology) Keys() []pane.Key {
	return []pane.Key{
		{Show: "↑ ↓", Help: "block; n and b while weights are open", Names: []string{"up", "down", "n", "b"},
			Do: p.otherBlock},
		{Names: []string{"pgup", "pgdown", "home", "end"}, Do: p.farBlock},
		{Show: "v", Help: "weights of the block", Names: []string{"v", "enter", "esc"}, Do: p.openWeights},
		{Show: "←↑→↓", Help: "cursor over the weights", Names: []string{"left", "right", "up", "down"},
			Do: p.moveCursor},
		{Show: "w", Help: "as images, or as a matrix", Names: []string{"w"},
			Do: func(v *pane.View, _ string) (tea.Cmd, bool) {
				if _, _, ok := p.block(v.H); !ok || !p.view.open {
					return nil, false
				}
				p.view.matrix = !p.view.matrix
				return nil, true
			}},
	}
}

// otherBlock chooses the next block or the one before; the arrows do while they don't move the cursor.
func (p *Topology) otherBlock(v *pane.View, k string) (tea.Cmd, bool) {
	if _, _, ok := p.block(v.H); !ok || p.view.open && (k == "up" || k == "down") {
		return nil, false
	}
	if k == "n" || k == "down" {
		p.view.at++
	} else {
		p.view.at--
	}
	p.view.row, p.view.col, p.view.matrix = 0, 0, false
	p.view.requested = pane.AskLimit{}
	return nil, true
}

// farBlock turns the pages of a long list of tensors.
func (p *Topology) farBlock(v *pane.View, k string) (tea.Cmd, bool) {
	if _, _, ok := p.block(v.H); !ok || p.view.open || p.view.listed.n == 0 {
		return nil, false
	}
	last := len(v.H.Run.Model.Blocks) - 1
	p.view.at = map[string]int{"pgup": max(p.view.at-p.view.listed.n, 0),
		"pgdown": min(p.view.at+p.view.listed.n, last), "end": last}[k]
	p.view.requested = pane.AskLimit{}
	return nil, true
}

// openWeights opens the weights of the chosen block, or closes them.
func (p *Topology) openWeights(v *pane.View, k string) (tea.Cmd, bool) {
	_, _, ok := p.block(v.H)
	switch {
	case !ok || k == "esc" && !p.view.open:
		return nil, false
	case k == "v" || k == "enter" && !p.view.open:
		p.view.open, p.view.requested = true, pane.AskLimit{}
	default:
		p.view.open = false
	}
	return nil, true
}

// moveCursor walks over the weights.
func (p *Topology) moveCursor(v *pane.View, k string) (tea.Cmd, bool) {
	if _, _, ok := p.block(v.H); !ok || !p.view.open {
		return nil, false
	}
	e := p.weights(v.H)
	if e == nil {
		return nil, true
	}
	by := map[string][2]int{"left": {-1, 0}, "right": {1, 0}, "up": {0, -1}, "down": {0, 1}}[k]
	if p.tiled(e) {
		by = [2]int{0, by[0] + by[1]}
	}
	p.view.row = max(0, min(p.view.row+by[1], e.Rows-1))
	p.view.col = max(0, min(p.view.col+by[0], e.Cols-1))
	return nil, true
}

func (p *Topology) HandleMouse(v *pane.View, msg tea.MouseMsg, x, y int) bool {
	_, click := msg.(tea.MouseClickMsg)
	if list := p.view.listed; click && !p.view.open && list.n > 0 {
		if y < 1 || y > list.n {
			return false
		}
		p.view.at, p.view.requested = list.first+y-1, pane.AskLimit{}
		return true
	}
	d := p.view.drawn
	e := p.weights(v.H)
	if !click || !p.view.open || e == nil || d.w == 0 || x < d.x || y < d.y || x >= d.x+d.w || y >= d.y+d.h {
		return false
	}
	p.view.col = min((x-d.x)*d.cols/d.w, e.Cols-1)
	p.view.row = min((y-d.y)*d.rows/d.h, e.Rows-1)
	return true
}

// weights returns the latest of the chosen block, nil if there are none.
func (p *Topology) weights(h *history.History) *event.WeightsEvent {
	to, from, _ := p.block(h)
	return h.Analyses.Weights[[2]int{to, from}]
}

// tiled reports whether the weights of each node are drawn as an image.
func (p *Topology) tiled(e *event.WeightsEvent) bool {
	return !p.view.matrix && e.Height > 0 && e.Width > 0 && e.Cols == e.Height*e.Width
}

// blockName says from where to where a block of weights leads, or which tensor it is.
func (p *Topology) blockName(v *pane.View) string {
	to, from, _ := p.block(v.H)
	if b := v.H.Run.Model.Blocks; from < len(b) && len(v.H.Run.Model.Layers) == 0 {
		return style.Clean(b[from].Name) + "  " + b[from].ShapeText()
	}
	return layerName(v.H, from) + v.Glyphs.To + layerName(v.H, to)
}

// layer names a layer by its place and its number of nodes.
func layerName(h *history.History, i int) string {
	m := &h.Run.Model
	name := "layer " + strconv.Itoa(i)
	switch {
	case i == 0:
		name = "inputs"
	case i == len(m.Layers)-1:
		name = "outputs"
	}
	if i >= 0 && i < len(m.Layers) {
		name += " (" + format.Count(m.Layers[i]) + ")"
	}
	return name
}

// weightsBody draws the chosen block of weights: its figures, the picture, and what is under the cursor.
func (p *Topology) weightsBody(v *pane.View, w, h int) []string {
	p.view.drawn = weightArea{}
	l := v.Line(w)
	l.Write(style.Strong, p.blockName(v))
	e := p.weights(v.H)
	if e == nil {
		text := "waiting for the weights"
		if v.H.Watched() {
			text = "the record has no weights of this block"
		} else if v.H.Offline() {
			text = "these weights were not looked at while the run lasted"
		} else if v.Viewer {
			text = "these weights come when one who controls looks at them"
		}
		m := chart.NewCellGrid(&v.Pen, w, max(h-2, 0))
		m.Write(max(0, (w-style.Cells(text))/2), h/2-1, style.Muted, text)
		return append(append([]string{l.Full()}, m.Rows()...), p.weightKeys(v, nil, w))
	}
	all := chart.Raster{W: e.Cols, H: e.Rows, Values: make([]float64, len(e.Values))}
	sum := 0.0
	for i, f := range e.Values {
		all.Values[i] = float64(f)
		if !math.IsNaN(all.Values[i]) {
			sum += all.Values[i] * all.Values[i]
		}
	}
	low, high, _ := all.Extremes()
	l.Group(style.Muted.Of("   ‖w‖ "), style.Text.Of(format.Number(math.Sqrt(sum))))
	l.Group(style.Muted.Of("   " + format.Number(low) + " to " + format.Number(high)))
	l.Group(style.Muted.Of("   after epoch " + format.Count(e.Epoch)))
	rows := []string{l.Full()}
	most := math.Max(math.Max(high, -low), 1e-300)
	if math.IsInf(most, 0) {
		most = 1
	}
	sc := chart.Scale{Ramp: style.RampSigns, Low: -most, High: most}
	m := chart.NewCellGrid(&v.Pen, w, max(h-3, 0))
	if p.tiled(e) {
		p.tiles(m, e, sc)
	} else {
		p.matrix(m, e, &all, sc)
	}
	rows = append(rows, m.Rows()...)
	return append(style.Block(rows, w, max(h-2, 1)), p.cursorRow(v, e, sc, w), p.weightKeys(v, e, w))
}

// matrix draws the weights with a row for each node that they lead to; the cursor's row and column are marked at
// the edges.
func (p *Topology) matrix(m *chart.CellGrid, e *event.WeightsEvent, all *chart.Raster, sc chart.Scale) {
	w, h := m.W-2, m.H-1
	if w < 1 || h < 1 {
		return
	}
	cols, rows := e.Cols*max(1, min(w/e.Cols, 4)), min((e.Rows+chart.RowsPerCell(m.Pen)-1)/chart.RowsPerCell(m.Pen), h)
	if e.Rows <= h {
		rows = e.Rows * max(1, min(h/e.Rows, 2))
	}
	cols = min(cols, w)
	fit := all.Fitted(cols, rows*chart.RowsPerCell(m.Pen), true)
	if n := rows * chart.RowsPerCell(m.Pen); e.Rows > h && e.Rows <= n {
		fit = all.Fitted(cols, e.Rows, true)
	}
	m.Paint(2, 1, &fit, sc)
	p.view.drawn = weightArea{2, 2, cols, rows, e.Rows, e.Cols}
	m.Write(2+(2*p.view.col+1)*cols/(2*e.Cols), 0, style.Focus, "▾")
	m.Write(0, 1+(2*p.view.row+1)*rows/(2*e.Rows), style.Focus, "▸")
}

// tiles draws what leads to each node as an image, as many as there is room for around that of the cursor.
func (p *Topology) tiles(m *chart.CellGrid, e *event.WeightsEvent, sc chart.Scale) {
	wide, tall, across, down := tiling(e.Rows, e.Width, e.Height, 5, 2, m.W, m.H)
	if wide == 0 {
		return
	}
	first := 0
	if page := across * down; e.Rows > page {
		first = p.view.row / across * across
		first = max(0, min(first-(down-1)/2*across, (e.Rows-page+across-1)/across*across))
	}
	for i := range min(across*down, e.Rows-first) {
		node := first + i
		picture := chart.Raster{W: e.Width, H: e.Height, Values: make([]float64, e.Cols)}
		for k := range picture.Values {
			picture.Values[k] = float64(e.Values[node*e.Cols+k])
		}
		x, y := i%across*(max(wide, 5)+2), i/across*(tall+2)
		fit := picture.Fitted(wide, tall*chart.RowsPerCell(m.Pen), false)
		m.Paint(x, y, &fit, sc)
		color, text := style.Muted, strconv.Itoa(node+1)
		if node == p.view.row {
			color, text = style.Focus, "▸"+text
		}
		m.Write(x, y+tall, color, text)
	}
}

// cursorRow tells the weight under the cursor, or of an image the figures, and what the shades mean.
func (p *Topology) cursorRow(v *pane.View, e *event.WeightsEvent, sc chart.Scale, w int) string {
	row, col := min(p.view.row, e.Rows-1), min(p.view.col, e.Cols-1)
	l := v.Line(w)
	if p.tiled(e) {
		r := chart.Raster{W: e.Cols, H: 1, Values: nil}
		sum := 0.0
		for _, f := range e.Values[row*e.Cols : (row+1)*e.Cols] {
			r.Values = append(r.Values, float64(f))
			if x := float64(f); !math.IsNaN(x) {
				sum += x * x
			}
		}
		low, high, _ := r.Extremes()
		l.Write(style.Text, "node "+format.Count(row+1)+" of "+format.Count(e.Rows))
		l.Group(style.Muted.Of("   ‖w‖ "), style.Text.Of(format.Number(math.Sqrt(sum))),
			style.Muted.Of("   "+format.Number(low)+" to "+format.Number(high)))
	} else {
		value := format.Number(float64(e.Values[row*e.Cols+col]))
		to, from := "to ", "   from "
		if v.H.Elsewhere() { // which of them leads where is its own affair
			to, from = "row ", "   column "
		}
		l.Write(style.Text, to+format.Count(row+1)).Write(style.Muted, " of "+format.Count(e.Rows))
		l.Write(style.Text, from+format.Count(col+1)).Write(style.Muted, " of "+format.Count(e.Cols))
		l.Write(style.Muted, "   weight ").Write(style.Strong, value)
	}
	m := chart.NewCellGrid(&v.Pen, 40, 1)
	if n := m.Key(0, 0, 9, sc); l.Left() > n+3 {
		l.To(w-n).Raw(style.Fit(m.Rows()[0], n), n)
	}
	return l.Full()
}

func (p *Topology) weightKeys(v *pane.View, e *event.WeightsEvent, w int) string {
	l := v.Line(w)
	put := func(k, what string) { l.Group(style.Accent.Of(v.Glyphs.Keys(k)), style.Muted.Of(" "+what+"   ")) }
	put("esc", "network")
	put("n b", "next and previous block")
	if e != nil {
		put("←↑→↓", "cursor")
	}
	if e != nil && e.Height > 0 && e.Width > 0 && e.Cols == e.Height*e.Width {
		other := "matrix"
		if p.view.matrix {
			other = "images"
		}
		put("w", other)
	}
	if !v.Unasked() {
		put("v", "look anew")
	}
	return l.Full()
}
