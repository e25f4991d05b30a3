package trajectory

import (
	"slices"
	"testing"

	"newtop/trainer/event"
)

// TestWeightHistory: what is kept is bounded, ascending, has the first epoch and all recent ones; what a viewer was given
// does not change.
func TestWeightHistory(t *testing.T) {
	for _, room := range []int{0, 2, 3, 10, 100} {
		var h History
		var given, copied [][]int
		for epoch := range 1000 {
			h.addWithin(Snapshot{Last: event.EpochEvent{Epoch: epoch}}, room)
			given, copied = append(given, h.Epochs), append(copied, slices.Clone(h.Epochs))
			n := len(h.Epochs)
			if n > max(2, room) || n != len(h.All) || h.Epochs[0] != 0 || h.Epochs[n-1] != epoch || !slices.IsSorted(h.Epochs) {
				t.Fatalf("room for %d: kept %v", room, h.Epochs)
			}
			for i := range n {
				if h.All[i].Last.Epoch != h.Epochs[i] {
					t.Fatalf("room for %d: %v belongs to %v", room, h.Epochs[i], h.All[i].Last.Epoch)
				}
			}
			if recent := room / 4; epoch > 0 && n > recent && h.Epochs[n-1-recent] != epoch-recent {
				t.Fatalf("room for %d: after epoch %d kept %v", room, epoch, h.Epochs)
			}
			if epoch == 500 {
				h.cut(h.All[:n/2+1])
				for len(h.Epochs) > 0 && h.Epochs[len(h.Epochs)-1] < epoch { // on to where the test goes on
					h.addWithin(Snapshot{Last: event.EpochEvent{Epoch: h.Epochs[len(h.Epochs)-1] + 1}}, room)
				}
			}
		}
		for i := range given {
			if !slices.Equal(given[i], copied[i]) {
				t.Fatalf("room for %d: what was given after epoch %d changed", room, i)
			}
		}
	}
}
