package feed

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"newtop/trainer/event"
)

func TestMailboxGathers(t *testing.T) {
	var h Broadcaster
	m := h.Subscribe()
	defer m.Close()
	h.Publish(event.RunEvent{ID: "a"}, event.Status{})
	h.Publish(event.EpochEvent{Epoch: 1}, event.Status{Epoch: 1})
	h.Publish(event.EpochEvent{Epoch: 2}, event.Status{Epoch: 2})
	h.Publish(event.SwitchEvent{To: "adam"}, event.Status{Epoch: 2})
	h.Publish(nil, event.Status{Epoch: 2, Unit: 7})
	d := waitFor(t, m)
	if d.Run.ID != "a" || len(d.Epochs) != 2 || d.Epochs[1].Epoch != 2 || len(d.Switches) != 1 || d.Status.Unit != 7 {
		t.Errorf("got %+v", d)
	}
	h.Publish(event.DoneEvent{Reason: event.ReasonTarget}, event.Status{Phase: event.Ended})
	if d := waitFor(t, m); d.Done == nil || d.Run != nil || len(d.Epochs) != 0 || d.Status.Phase != event.Ended {
		t.Errorf("the second delta repeats the first, or misses the end: %+v", d)
	}
}

func TestMailboxOfALateViewer(t *testing.T) {
	var h Broadcaster
	h.Publish(event.RunEvent{ID: "a"}, event.Status{})
	h.Publish(event.EpochEvent{Epoch: 1}, event.Status{Epoch: 1})
	early, late := h.Subscribe(), h.Subscribe()
	defer early.Close()
	defer late.Close()
	d := waitFor(t, early)
	d.Epochs[0].Epoch = 99
	if d := waitFor(t, late); d.Run == nil || len(d.Epochs) != 1 || d.Epochs[0].Epoch != 1 {
		t.Errorf("the history is missing or shared: %+v", d)
	}
}

func TestMailboxThatNobodyReads(t *testing.T) {
	var h Broadcaster
	m := h.Subscribe()
	defer m.Close()
	const n, spike, dip = 100_000, 43_210, 77_777
	for i := range n {
		e := event.EpochEvent{Epoch: i, Loss: 1 + event.Float(i%7)/100, TestLoss: event.Float(math.NaN()), Error: 0.5, TestError: 0.5}
		switch i {
		case spike:
			e.Loss = 50
		case dip:
			e.TestError = 0.01
		}
		h.Publish(event.InnerEvent{Epoch: i}, event.Status{})
		h.Publish(e, event.Status{Epoch: i})
		h.Publish(event.SpectrumEvent{Epoch: i, Eigenvalues: []event.Float{event.Float(i)}}, event.Status{})
		h.Publish(event.SettingEvent{Epoch: i}, event.Status{})
	}
	h.Publish(event.DivergedEvent{Epoch: n}, event.Status{})
	h.Publish(event.DoneEvent{Reason: event.ReasonDiverged}, event.Status{})
	d := waitFor(t, m)
	if len(d.Epochs) > MaxEpochs || len(d.Inner) > maxInner || len(d.Spectra) > maxSpectra || len(d.Settings) > maxMarks {
		t.Errorf("unbounded: %d epochs, %d inner, %d spectra, %d settings", len(d.Epochs), len(d.Inner), len(d.Spectra), len(d.Settings))
	}
	if len(d.Epochs)+d.Thinned != n {
		t.Errorf("%d epochs and %d left out are not %d", len(d.Epochs), d.Thinned, n)
	}
	found := map[int]bool{}
	for i, e := range d.Epochs {
		found[e.Epoch] = true
		if i > 0 && e.Epoch <= d.Epochs[i-1].Epoch {
			t.Fatalf("epoch %d after %d", e.Epoch, d.Epochs[i-1].Epoch)
		}
	}
	if !found[spike] || !found[dip] || !found[n-1] {
		t.Errorf("lost an extreme or the newest: spike %v, dip %v, newest %v", found[spike], found[dip], found[n-1])
	}
	if d.Diverged == nil || d.Done == nil {
		t.Error("the end was lost")
	}
}

// Of a stretch the first value stays that is not finite, and its least and greatest stay beside it; what is absent
// hides none of them.
func TestThinKeepsWhatIsNoNumber(t *testing.T) {
	points := make([]event.EpochEvent, 64)
	var thinner Downsampler
	for i := range points {
		points[i] = event.EpochEvent{Epoch: i, Loss: 1}
		thinner.Add()
	}
	for i := range points {
		if points[i].TestLoss = event.Absent; i%5 == 4 {
			points[i].TestLoss = event.Float(i % 16)
		}
	}
	points[37].Loss, points[40].Loss, points[53].Loss = event.NotFinite, 9, event.Float(math.Inf(-1))
	left := map[int]bool{}
	for _, e := range downsample(&thinner, points, 32, epochMetrics) {
		left[e.Epoch] = true
	}
	for _, epoch := range []int{37, 40, 53, 29, 44} { // 29 and 44 have the greatest test losses of their stretches
		if !left[epoch] {
			t.Errorf("epoch %d was thinned away: %v are left", epoch, left)
		}
	}
}

func TestMailboxEnds(t *testing.T) {
	var h Broadcaster
	m := h.Subscribe()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait gave %v", err)
	}
	gone := make(chan error)
	go func() {
		_, err := m.Wait(context.Background())
		gone <- err
	}()
	m.Close()
	m.Close()
	if err := <-gone; err != io.EOF {
		t.Errorf("a closed mailbox gave %v: expected io.EOF", err)
	}
	if len(h.boxes) != 0 {
		t.Error("a closed mailbox is still served")
	}
}
