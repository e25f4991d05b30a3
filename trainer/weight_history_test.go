package trainer

import (
	"math"
	"slices"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// TestRewind gives back the weights, the figures and the best of an earlier epoch, of every net, in the middle of an
// outer iteration too.
func TestRewind(t *testing.T) {
	for _, committee := range []int{1, 3} {
		for _, into := range []int{0, 2} {
			d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "adam", Batch: 64, Committee: committee})
			d.times(5, event.StepEpoch{})
			d.times(into, event.StepInner{})
			spent := d.do(event.Pause{On: true}).Equivalents
			do(t, d.s, event.Rewind{Epoch: 2})
			at := d.until(func(s *event.Status) bool { return s.Epoch == 2 })
			if at.Equivalents < spent || !slices.Equal(at.RewindEpochs, []int{0, 1, 2}) {
				t.Errorf("back at %+v", at)
			}
			d.refused(event.Rewind{Epoch: 3}, "epoch 3 is not kept: expected 2 or earlier")
			d.refused(event.Rewind{Epoch: -1}, "expected 0 or later")
			do(t, d.s, event.Set{Key: "rate", Value: "1e-13"})
			d.do(event.StepEpoch{})
			m := d.stop()
			if e := of[event.RewindEvent](m); len(e) != 1 || e[0] != (event.RewindEvent{Epoch: 5, To: 2}) {
				t.Errorf("events %+v", e)
			}
			epochs := of[event.EpochEvent](m)
			old, next := epochs[2], epochs[len(epochs)-1]
			if next.Epoch != 3 || math.Abs(float64(next.Loss-old.Loss)) > 1e-9 || math.Abs(float64(next.TestLoss-old.TestLoss)) > 1e-9 {
				t.Errorf("from epoch 2 with %v to epoch %d with %v", old.Loss, next.Epoch, next.Loss)
			}
			best := math.Inf(1)
			for _, e := range append(epochs[:3:3], next) {
				best = min(best, float64(e.TestError))
			}
			if done := of[event.DoneEvent](m)[0]; float64(done.BestTestError) != best || done.Epochs != 3 {
				t.Errorf("done %+v: expected the best to be %v", done, best)
			}
		}
	}
}

// TestRewindIsExact: a method without chance or memory goes the same way again, once its radius is as it was.
func TestRewindIsExact(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn", Blocks: 1})
	d.do(event.Pause{On: true})
	d.times(2, event.StepEpoch{})
	status := d.do(event.Pause{On: true})
	d.times(3, event.StepEpoch{})
	do(t, d.s, event.Rewind{Epoch: 2})
	for _, s := range status.Settings {
		d.do(event.Set{Key: s.Key, Value: s.Text})
	}
	d.times(3, event.StepEpoch{})
	epochs := of[event.EpochEvent](d.stop())
	for i := 3; i <= 5; i++ {
		if a, b := &epochs[i], &epochs[i+3]; b.Epoch != i || bits(a) != bits(b) {
			t.Errorf("epoch %d: %s, then %d: %s", i, bits(a), b.Epoch, bits(b))
		}
	}
}
