package history

import (
	"slices"

	"newtop/trainer/event"
)

// Epochs that are remembered beyond those that can be gone back to: the latest of a run that is trained here, of a
// recorded one epochs evenly spaced.
const (
	maxEarlier  = 256
	maxRecorded = 2048
)

// Earlier has what the list of epochs to go back to shows.
type Earlier struct {
	Epochs map[int]EarlierEpoch
	each   int // of a recorded run every each-th epoch is remembered; 0 stands for 1
	latest int // the epoch that came last
}

// EarlierEpoch is one epoch of the list.
type EarlierEpoch struct {
	Loss, Metric, TestMetric float64
	ValidationMetric         float64 // NaN without validation rows
	Optimizer                string
}

// apply remembers an epoch.
func (r *Earlier) apply(h *History, e *event.EpochEvent) {
	if r.Epochs == nil {
		r.Epochs = map[int]EarlierEpoch{}
	}
	train, test := h.Metrics()
	f := EarlierEpoch{float64(e.Loss), float64(*train.Of(e)), float64(*test.Of(e)), float64(*train.Validation().Of(e)),
		e.Optimizer}
	if old, ok := r.Epochs[e.Epoch]; ok && r.latest == e.Epoch && h.External() {
		f = f.or(old)
	}
	r.latest = e.Epoch
	if h.Watched() {
		r.recorded(e.Epoch, f)
		return
	}
	r.Epochs[e.Epoch] = f
	if len(r.Epochs) < 2*(len(h.Status.RewindEpochs)+maxEarlier) {
		return
	}
	for k := range r.Epochs {
		if _, ok := slices.BinarySearch(h.Status.RewindEpochs, k); !ok && k < e.Epoch-maxEarlier {
			delete(r.Epochs, k)
		}
	}
}

// or returns the epoch with what an older one has where it has nothing.
func (f EarlierEpoch) or(old EarlierEpoch) EarlierEpoch {
	for _, v := range [...]struct {
		new *float64
		old float64
	}{{&f.Loss, old.Loss}, {&f.Metric, old.Metric}, {&f.TestMetric, old.TestMetric}, {&f.ValidationMetric,
		old.ValidationMetric}} {
		if event.Float(*v.new).Absent() {
			*v.new = v.old
		}
	}
	return f
}

// recorded keeps epochs all over a recorded run, twice as far apart whenever there are too many.
func (r *Earlier) recorded(epoch int, f EarlierEpoch) {
	r.each = max(r.each, 1)
	if epoch%r.each != 0 {
		return
	}
	r.Epochs[epoch] = f
	for len(r.Epochs) > maxRecorded {
		r.each *= 2
		for k := range r.Epochs {
			if k%r.each != 0 {
				delete(r.Epochs, k)
			}
		}
	}
}
