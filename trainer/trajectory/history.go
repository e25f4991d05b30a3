package trajectory

import (
	"fmt"
	"slices"

	"newtop/trainer/event"
)

// Bounds of what a run can go back to.
const (
	historyBytes  = 64 << 20
	historyEpochs = 1024
)

// History has the weights after epochs, in ascending order: the first and the newest always, of the newer half
// all, of older ones fewer and fewer.
type History struct {
	All []Snapshot
	// Epochs are the numbers of all. Viewers share the slice, so that it only ever grows or is replaced.
	Epochs []int
}

// Snapshot is a run as it was after an epoch.
type Snapshot struct {
	Weights    [][]float64 // of each member
	Trails     []trail     // of each, which snapshots share
	Last, Best event.EpochEvent
	// BestWeights are those of the best epoch, nil where the run ends with the last ones.
	BestWeights [][]float64
}

// Add takes a snapshot in, and leaves those that there is room for, at least two.
func (h *History) Add(s Snapshot) {
	vectors := len(s.Weights)
	for _, t := range s.Trails {
		vectors += len(t)
	}
	h.addWithin(s, min(historyEpochs, historyBytes/(8*vectors*max(1, len(s.Weights[0])))))
}

func (h *History) addWithin(s Snapshot, room int) {
	h.All = append(h.All, s)
	h.Epochs = append(h.Epochs, s.Last.Epoch)
	if len(h.All) <= max(2, room) {
		return
	}
	// Every second one of the older half goes, each time that there is no more room.
	old := (len(h.All) + 1) / 2
	left := h.All[:0]
	for i, s := range h.All {
		if i >= old || i%2 == 0 {
			left = append(left, s)
		}
	}
	h.cut(left)
}

// cut leaves only the given ones, which are the first of the slice of all.
func (h *History) cut(left []Snapshot) {
	clear(h.All[len(left):])
	h.All = left
	h.Epochs = make([]int, len(left))
	for i := range left {
		h.Epochs[i] = left[i].Last.Epoch
	}
}

// ForgetAfter cuts off what is newer than an epoch that is there.
func (h *History) ForgetAfter(epoch int) {
	at, _ := slices.BinarySearch(h.Epochs, epoch)
	h.cut(h.All[:at+1])
}

// Find returns the snapshot of an epoch, or a refusal that names the nearest ones.
func (h *History) Find(epoch int) (*Snapshot, error) {
	at, found := slices.BinarySearch(h.Epochs, epoch)
	if !found {
		return nil, event.Refuse("epoch %d is not kept: expected %s", epoch, h.near(at))
	}
	s := h.All[at]
	return &s, nil
}

// near names the epochs on both sides of a place.
func (h *History) near(at int) string {
	switch {
	case len(h.Epochs) == 0:
		return "an epoch to end first"
	case at == 0:
		return fmt.Sprintf("%d or later", h.Epochs[0])
	case at == len(h.Epochs):
		return fmt.Sprintf("%d or earlier", h.Epochs[at-1])
	}
	return fmt.Sprintf("%d or %d, the nearest that are", h.Epochs[at-1], h.Epochs[at])
}
