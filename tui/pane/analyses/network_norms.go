package analyses

import (
	"math"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// relativeStep returns how far the last step moved a block, as a part of its norm; NaN if that is not known.
func relativeStep(h *history.History, to, from int) float64 {
	for _, b := range h.Latest.Blocks {
		if b.To == to && b.From == from {
			return float64(b.Step) / float64(b.Weight)
		}
	}
	return math.NaN()
}

// strength is the ink of a block's lines: stronger where the last step moved a tenth of its norm or more, a number
// that stands above. Zoomed, the chosen block stands out.
func strength(p *Topology, v *pane.View, c event.ConnectionInfo, zoomed bool) style.Token {
	if to, from, ok := p.block(v.H); zoomed && ok && c.To == to && c.From == from {
		return style.Focus
	}
	if relativeStep(v.H, c.To, c.From) >= 0.1 {
		return style.Muted
	}
	return style.Grid
}

// drawSteps writes above the lines of each block how far the last step moved it.
func drawSteps(p *Topology, v *pane.View, m *event.ModelInfo, d drawing) {
	if m.Experts > 0 || d.h < 3 {
		return
	}
	for _, c := range m.Connections {
		from, to := d.column(c.From), d.column(c.To)
		x := relativeStep(v.H, c.To, c.From)
		if c.To-c.From != 1 || from < 0 || to < 0 || math.IsNaN(x) {
			continue
		}
		sizes := (style.Cells(format.Count(m.Layers[c.From])) + style.Cells(format.Count(m.Layers[c.To]))) / 2
		for _, s := range []string{"‖Δw‖/‖w‖ " + format.Percent(x), "Δw/w " + format.Percent(x)} {
			if style.Cells(s)+sizes+3 <= d.x[to]-d.x[from] {
				p.centred((d.x[from]+d.x[to])/2, 0, s, style.Muted, p.chart.W)
				break
			}
		}
	}
}

// barColumn is where the bars of the steps begin, four decades long.
const barColumn = 56

// normTable lists the blocks of weights with their norms, and how far the last step moved each. Zoomed, the chosen
// one is marked.
func normTable(p *Topology, v *pane.View, y, w int, zoomed bool) {
	column := []int{0, 15, 25, 35, 45}
	for i, s := range []string{"  block", "‖w‖", "‖g‖", "‖Δw‖", "‖Δw‖/‖w‖"} {
		if column[i]+style.Cells(s) <= w {
			p.chart.Write(column[i], y, s, style.Muted)
		}
	}
	if w-barColumn > 4 {
		p.chart.Write(barColumn, y, "log", style.Muted)
	}
	sizes := v.H.Run.Model.Layers
	name := func(layer int) string {
		if layer < 0 || layer >= len(sizes) {
			return "?"
		}
		return format.Count(sizes[layer])
	}
	to, from, _ := p.block(v.H)
	for i, b := range v.H.Latest.Blocks {
		row, color := y+1+i, style.Text
		if zoomed && b.To == to && b.From == from {
			color = style.Focus
			p.chart.Write(0, row, "▸", color)
		}
		p.chart.Write(2, row, name(b.From)+v.Glyphs.To+name(b.To), color)
		ratio := float64(b.Step) / float64(b.Weight)
		for k, x := range []float64{float64(b.Weight), float64(b.Gradient), float64(b.Step), ratio} {
			if column[k+1]+9 <= w {
				p.chart.Write(column[k+1], row, format.Number(x), color)
			}
		}
		if n := w - barColumn; n > 4 && ratio > 0 {
			share := math.Max(0, math.Min(1, 1+math.Log10(ratio)/4))
			p.chart.Write(barColumn, row, style.Repeat("━", int(math.Round(share*float64(n)))), style.Accent)
		}
	}
}

// networkKeys names the zoomed pane's own keys in a row.
func networkKeys(p *Topology, v *pane.View, row, w int) {
	x := 0
	for _, k := range [][2]string{{v.Glyphs.Keys("↑↓"), "another block"}, {"enter", "its weights: " + p.blockName(v)}} {
		if x+style.Cells(k[0])+style.Cells(k[1])+1 > w {
			break
		}
		p.chart.Write(x, row, k[0], style.Accent)
		p.chart.Write(x+style.Cells(k[0])+1, row, k[1], style.Muted)
		x += style.Cells(k[0]) + style.Cells(k[1]) + 4
	}
}
