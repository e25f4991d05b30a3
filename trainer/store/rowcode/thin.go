package rowcode

import (
	"slices"

	"newtop/trainer/event"
)

// Retained returns the numbers of the epochs of a stretch that stay.
func (s *Stretch) Retained() []int64 {
	var seqs []int64
	for i := range s.Peaks {
		seqs = s.Peaks[i].Seqs(seqs)
	}
	if len(seqs) == 0 {
		seqs = append(seqs, s.First)
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// How a row is counted in the run's bytes, beside its texts.
const (
	RowBytes   = 16
	EpochBytes = 8*int(event.QuantityCount) + 16
)
