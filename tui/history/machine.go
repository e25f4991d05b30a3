package history

import (
	"newtop/trainer/event"
	"newtop/tui/chart"
)

// Machine is what a log tells of the machine that its run is on, over seconds since the run began.
type Machine struct {
	Series []*MetricSeries // in the order in which they came first
	Last   float64         // seconds
	Gen    uint64          // counts the changes
	at     map[string]*MetricSeries
}

func (m *Machine) apply(events []event.MachineEvent) {
	for i := range events {
		e := &events[i]
		m.Gen++
		m.Last = max(m.Last, float64(e.Elapsed))
		for _, f := range e.Metrics {
			s := m.at[f.Key]
			if s == nil {
				if m.at == nil {
					m.at = map[string]*MetricSeries{}
				}
				s = &MetricSeries{whole: true}
				s.Series.Capacity = coarseBuckets
				m.at[f.Key], m.Series = s, append(m.Series, s)
			}
			s.add(f, chart.Position{float64(e.Elapsed)}, true)
		}
	}
}
