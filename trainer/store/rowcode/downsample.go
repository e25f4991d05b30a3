package rowcode

import (
	"encoding/json"
	"fmt"

	"newtop/trainer/event"
)

// A run of very many epochs is read downsampled. While it is recorded, each stretch of PeakStretch epochs gets a row
// that reports which of them hold the least and the greatest loss, test loss, error and test error; a reader merges
// neighbouring rows until few enough are left and fetches the epochs that they name.

const (
	PeakStretch = 128
	// A run of more epochs than this is read downsampled, to at most two epochs for each of event.Extremes and of
	// MaxStretches.
	ManyEpochs   = 20000
	MaxStretches = 2048
	// Of a run with more inner iterations than ManyInner those of the newest epochs are read, and of more marks or
	// spectra than ManyOthers the newest marks and evenly spread spectra.
	ManyInner   = 65536
	LatestInner = 4096
	ManyOthers  = 16384
	NewSpectra  = 1024
)

// Peak is where a figure is least and greatest, and where it is not finite at first, which counts as the greatest.
// Where it is absent there is none of them.
type Peak struct {
	low, high     float64
	lowAt, highAt int64 // numbers of the events; 0: none
	badAt         int64 // the first that is not finite
}

// Add takes in a number that stands at a place in the run's order.
func (p *Peak) Add(f event.Float, at int64) {
	switch v := float64(f); {
	case f.NonFinite() && p.badAt == 0:
		p.badAt = at
	case f.Finite():
		if p.lowAt == 0 || v < p.low {
			p.low, p.lowAt = v, at
		}
		if p.highAt == 0 || v > p.high {
			p.high, p.highAt = v, at
		}
	}
}

// Merge adds a later stretch.
func (p *Peak) Merge(q *Peak) {
	if q.lowAt != 0 {
		p.Add(event.Float(q.low), q.lowAt)
		p.Add(event.Float(q.high), q.highAt)
	}
	if q.badAt != 0 {
		p.Add(event.NotFinite, q.badAt)
	}
}

// Seqs appends the numbers of the events that hold them.
func (p *Peak) Seqs(to []int64) []int64 {
	if p.lowAt != 0 {
		to = append(to, p.lowAt)
	}
	switch {
	case p.badAt != 0:
		return append(to, p.badAt)
	case p.highAt != 0:
		return append(to, p.highAt)
	}
	return to
}

// MarshalJSON writes [low, its number, high, its number, number of the first that is not finite].
func (p Peak) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.low, p.lowAt, p.high, p.highAt, p.badAt})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Peak) UnmarshalJSON(text []byte) error {
	var parts []json.Number
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	if len(parts) != 5 {
		return fmt.Errorf("%d numbers: expected 5", len(parts))
	}
	var err error
	for i, to := range []any{&p.low, &p.lowAt, &p.high, &p.highAt, &p.badAt} {
		switch to := to.(type) {
		case *float64:
			*to, err = parts[i].Float64()
		case *int64:
			*to, err = parts[i].Int64()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stretch is some epochs in a row.
type Stretch struct {
	First, Last int64 // numbers of the events
	Epochs      int
	Peaks       []Peak // one for each of event.Extremes; in rows of before there may be fewer
}

// Add takes in an epoch that stands at a place in the run's order.
func (s *Stretch) Add(e *event.EpochEvent, seq int64) {
	if s.Epochs == 0 {
		s.First = seq
	}
	s.Last = seq
	s.Epochs++
	if s.Peaks == nil {
		s.Peaks = make([]Peak, len(event.Extremes))
	}
	s.Note(e, seq)
}

// Note adds an epoch's quantities to the peaks that there are.
func (s *Stretch) Note(e *event.EpochEvent, seq int64) {
	for i, q := range event.Extremes[:min(len(s.Peaks), len(event.Extremes))] {
		s.Peaks[i].Add(*q.Of(e), seq)
	}
}

// Merge takes in a stretch that follows.
func (s *Stretch) Merge(t *Stretch) {
	s.Last = t.Last
	for i := range min(len(s.Peaks), len(t.Peaks)) {
		s.Peaks[i].Merge(&t.Peaks[i])
	}
}
