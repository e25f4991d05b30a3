package runs

import (
	"math"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/tui/chart"
)

// curvesMsg brings curves.
type curvesMsg struct {
	curves map[string]curve
	err    error
}

// draw returns the command that reads the curves that are in sight and were not read since their runs changed, the
// selected one's more closely; nil where there are none, or some are being read.
func readCurves(m *Model) tea.Cmd {
	if m.drawing || m.Covered || m.Width == 0 {
		return nil
	}
	rows := max(m.table.Rows, m.Height)
	from := max(0, min(m.table.Top, m.position-rows+1))
	var list []string
	changed := map[string]time.Time{}
	need := func(r *store.Run, points int) {
		if c, ok := m.curves[r.ID]; r.First != nil && (!ok || !c.changed.Equal(r.Changed) || c.points < points) {
			changed[r.ID] = r.Changed
			if points == curvePoints {
				list = append(list, r.ID)
			}
		}
	}
	closely := ""
	if r := m.selected(); r != nil && r.run != nil && m.previewed() {
		if need(r.run, detailPoints); len(changed) > 0 {
			closely = r.run.ID
		}
	}
	if !m.table.Column(curveColumn).Off {
		for i := from; i < min(from+2*rows, len(m.rows)); i++ {
			if r := m.rows[i].run; r != nil && r.ID != closely {
				need(r, curvePoints)
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	m.drawing = true
	ctx, s := m.Ctx, m.store
	return func() tea.Msg {
		msg := curvesMsg{curves: map[string]curve{}}
		add := func(ids []string, points int) {
			if msg.err != nil || len(ids) == 0 {
				return
			}
			var epochs map[string][]event.EpochEvent
			epochs, msg.err = s.Curves(ctx, ids, points)
			for id, e := range epochs {
				msg.curves[id] = curve{e, changed[id], points}
			}
		}
		if closely != "" {
			add([]string{closely}, detailPoints)
		}
		add(list, curvePoints)
		return msg
	}
}

// drawn takes curves, and asks for those that came into sight meanwhile. After an error it waits for the store to
// change.
func receiveCurves(m *Model, msg curvesMsg) tea.Cmd {
	m.drawing = false
	for id, c := range msg.curves {
		m.curves[id] = c
	}
	if msg.err != nil {
		return nil
	}
	return readCurves(m)
}

// spark is a run's measure over its epochs in one row, on a logarithmic scale of its own.
func spark(m *Model, r *row, w int) string {
	if r.run == nil {
		return ""
	}
	all := m.curves[r.run.ID].epochs
	all = reported(all, r.measure)
	n := min(len(all), w)
	values := make([]float64, n)
	low, high := math.Inf(1), math.Inf(-1)
	for x := range values {
		values[x] = math.Log(r.measure.Value(&all[x*len(all)/n]))
		if x == n-1 {
			values[x] = math.Log(r.measure.Value(&all[len(all)-1]))
		}
		if format.Finite(values[x]) {
			low, high = min(low, values[x]), max(high, values[x])
		}
	}
	holes, rises := make([]bool, n), accurate(m, r)
	for x, v := range values {
		holes[x] = math.IsNaN(v)
		if values[x] = (v - low) / (high - low); rises {
			values[x] = 1 - values[x]
		}
	}
	out := m.blocks.Sparkline(m.Glyphs, values)
	for x := range out {
		if holes[x] {
			out[x] = '×'
		}
	}
	return string(out)
}

// reported leaves out the epochs that do not tell a measure.
func reported(all []event.EpochEvent, m event.Measure) (out []event.EpochEvent) {
	for i := range all {
		if !m.Of(&all[i]).Absent() {
			out = append(out, all[i])
		}
	}
	return out
}

// series are the loss of the training rows, and of the validation rows or, without them, of the test rows.
func (c *curve) series() (train, test chart.Series) {
	for i := range c.epochs {
		e := &c.epochs[i]
		train.Add(float64(e.Epoch), float64(e.Loss))
		held := e.ValidationLoss
		if held.Absent() {
			held = e.TestLoss
		}
		test.Add(float64(e.Epoch), float64(held))
	}
	return train, test
}
