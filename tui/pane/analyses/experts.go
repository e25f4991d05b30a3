package analyses

import (
	"math"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// oneExpert returns a mixture with one of its equal experts, and any other network as it is. The experts'
// connection to the layer that combines them has no weights.
func oneExpert(m *event.ModelInfo) *event.ModelInfo {
	each := 0
	if m.Experts > 0 {
		each = (len(m.Layers) - 2) / m.Experts
	}
	if each < 1 {
		return m
	}
	last := len(m.Layers) - 1
	one := *m
	one.Layers = append(append([]int(nil), m.Layers[:1+each]...), m.Layers[last])
	one.Activations = nil
	if len(m.Activations) == last {
		one.Activations = append(append(one.Activations, m.Activations[:each]...), m.Activations[last-1])
	}
	one.Connections = nil
	for _, c := range m.Connections {
		if c.To <= each {
			one.Connections = append(one.Connections, c)
		}
	}
	one.Connections = append(one.Connections, event.ConnectionInfo{To: each + 1, From: each})
	return &one
}

// drawGates lists the bells that share out the rows among the experts.
func drawGates(p *Topology, v *pane.View, y, w int) {
	column := []int{0, 13, 24, 35, 46}
	for i, s := range []string{"expert", "center", "width", "slope", "share"} {
		if column[i]+style.Cells(s) <= w {
			p.chart.Write(column[i], y, s, style.Muted)
		}
	}
	for i, g := range v.H.Latest.Gates {
		row := y + 1 + i
		p.chart.Write(0, row, format.Count(i+1), style.Text)
		for k, s := range []string{format.Number(float64(g.Center)), format.Number(float64(g.Width)),
			format.Number(float64(g.Slope)), format.Percent(float64(g.Share))} {
			if column[k+1]+9 <= w {
				p.chart.Write(column[k+1], row, s, style.Text)
			}
		}
		if n := w - 57; n > 4 && g.Share > 0 {
			share := math.Min(1, float64(g.Share))
			p.chart.Write(57, row, style.Repeat("━", int(math.Round(share*float64(n)))), style.Accent)
		}
	}
}
