package trainer

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

// weightHistory has the weights after epochs, in ascending order: the first and the newest always, of the newer half
// all, of older ones fewer and fewer.
type weightHistory struct {
	all []snapshot
	// epochs are the numbers of all. Viewers share the slice, so that it only ever grows or is replaced.
	epochs []int
}

// snapshot is a run as it was after an epoch.
type snapshot struct {
	weights    [][]float64 // of each member
	trails     []trail     // of each, which snapshots share
	last, best event.EpochEvent
	// bestWeights are those of the best epoch, nil where the run ends with the last ones.
	bestWeights [][]float64
}

// add takes a snapshot in, and leaves those that there is room for, at least two.
func (h *weightHistory) add(s snapshot) {
	vectors := len(s.weights)
	for _, t := range s.trails {
		vectors += len(t)
	}
	h.addWithin(s, min(historyEpochs, historyBytes/(8*vectors*max(1, len(s.weights[0])))))
}

func (h *weightHistory) addWithin(s snapshot, room int) {
	h.all = append(h.all, s)
	h.epochs = append(h.epochs, s.last.Epoch)
	if len(h.all) <= max(2, room) {
		return
	}
	// Every second one of the older half goes, each time that there is no more room.
	old := (len(h.all) + 1) / 2
	left := h.all[:0]
	for i, s := range h.all {
		if i >= old || i%2 == 0 {
			left = append(left, s)
		}
	}
	h.cut(left)
}

// cut leaves only the given ones, which are the first of the slice of all.
func (h *weightHistory) cut(left []snapshot) {
	clear(h.all[len(left):])
	h.all = left
	h.epochs = make([]int, len(left))
	for i := range left {
		h.epochs[i] = left[i].last.Epoch
	}
}

// forgetAfter cuts off what is newer than an epoch that is there.
func (h *weightHistory) forgetAfter(epoch int) {
	at, _ := slices.BinarySearch(h.epochs, epoch)
	h.cut(h.all[:at+1])
}

// find returns the snapshot of an epoch, or a refusal that names the nearest ones.
func (h *weightHistory) find(epoch int) (*snapshot, error) {
	at, found := slices.BinarySearch(h.epochs, epoch)
	if !found {
		return nil, event.Refuse("epoch %d is not kept: expected %s", epoch, h.near(at))
	}
	s := h.all[at]
	return &s, nil
}

// near names the epochs on both sides of a place.
func (h *weightHistory) near(at int) string {
	switch {
	case len(h.epochs) == 0:
		return "an epoch to end first"
	case at == 0:
		return fmt.Sprintf("%d or later", h.epochs[0])
	case at == len(h.epochs):
		return fmt.Sprintf("%d or earlier", h.epochs[at-1])
	}
	return fmt.Sprintf("%d or %d, the nearest that are", h.epochs[at-1], h.epochs[at])
}
