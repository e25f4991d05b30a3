package trainer

import (
	"fmt"
	"slices"

	"newtop/trainer/event"
)

// Bounds of what is kept to go back to.
const (
	keptBytes  = 64 << 20
	keptEpochs = 1024
)

// keeper keeps the weights after epochs, in ascending order: the first and the newest always, of the newer half all,
// of older ones fewer and fewer.
type keeper struct {
	all []kept
	// epochs are the numbers of all. Viewers share the slice, so that it only ever grows or is replaced.
	epochs []int
}

// kept is a run as it was after an epoch.
type kept struct {
	weights    [][]float64 // of each member
	last, best event.EpochEvent
}

// add keeps what there is room for, at least two.
func (k *keeper) add(e kept, room int) {
	k.all = append(k.all, e)
	k.epochs = append(k.epochs, e.last.Epoch)
	if len(k.all) <= max(2, room) {
		return
	}
	// Every second one of the older half goes, each time that there is no more room.
	old := (len(k.all) + 1) / 2
	thinned := k.all[:0]
	for i, e := range k.all {
		if i >= old || i%2 == 0 {
			thinned = append(thinned, e)
		}
	}
	k.cut(thinned)
}

// cut leaves only the given ones, which are the first of the slice of all.
func (k *keeper) cut(left []kept) {
	clear(k.all[len(left):])
	k.all = left
	k.epochs = make([]int, len(left))
	for i := range left {
		k.epochs[i] = left[i].last.Epoch
	}
}

// keep keeps the run as it is now.
func (r *run) keep() {
	e := kept{last: r.last, best: r.best}
	for _, m := range r.members {
		e.weights = append(e.weights, slices.Clone(m.weights))
	}
	r.kept.add(e, r.keepRoom())
}

func (r *run) keepRoom() int {
	return min(keptEpochs, keptBytes/(8*len(r.members)*max(1, r.problem.Network.Dim())))
}

// rewindTo notes what to go back to once the method has let go of the weights.
func (r *run) rewindTo(epoch int) error {
	at, found := slices.BinarySearch(r.kept.epochs, epoch)
	if !found {
		return event.Refuse("epoch %d is not kept: expected %s", epoch, r.kept.near(at))
	}
	back := r.kept.all[at]
	r.back, r.giveUp = &back, true
	return nil
}

// near names the kept epochs on both sides of a place.
func (k *keeper) near(at int) string {
	switch {
	case len(k.epochs) == 0:
		return "an epoch to end first"
	case at == 0:
		return fmt.Sprintf("%d or later", k.epochs[0])
	case at == len(k.epochs):
		return fmt.Sprintf("%d or earlier", k.epochs[at-1])
	}
	return fmt.Sprintf("%d or %d, the nearest that are", k.epochs[at-1], k.epochs[at])
}

// goBack makes the run what it was after an earlier epoch, if it must. Its method begins anew with the settings
// that it has; work and time go on counting, and so does what is drawn at random.
func (r *run) goBack() {
	if r.back == nil {
		return
	}
	back, from := r.back, r.epoch
	r.back = nil
	r.epoch, r.turn = back.last.Epoch, 0
	for i, m := range r.members {
		copy(m.weights, back.weights[i])
		m.state.Evaluated = false
		r.figure(m)
		m.begin(r.info)
	}
	r.last, r.best = back.last, back.best
	r.proposed.known = false
	at, _ := slices.BinarySearch(r.kept.epochs, r.epoch)
	r.kept.cut(r.kept.all[:at+1])
	r.publish(event.RewindEvent{Epoch: from, To: r.epoch})
	r.alter()
}
