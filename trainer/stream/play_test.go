package stream

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer/event"
)

// A replay takes as long as the run did, and four times as fast a quarter of it.
func TestReplayTakesItsTime(t *testing.T) {
	for _, speed := range []float64{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			v, _ := watch(t, newScript(append(run(3, 0.4), done(3))...), Options{Replay: true, Speed: speed})
			seen := map[int]bool{}
			v.until("the end", func() bool {
				seen[v.inner] = true
				return v.done
			})
			least := time.Duration(1.2 / speed * float64(time.Second))
			if took := time.Since(started).Round(time.Millisecond); took < least || took > least+2*frame || len(seen) != 10 {
				t.Errorf("at %g times the speed it took %v, expected %v; inner iterations came as %v", speed, took, least, seen)
			}
		})
	}
}

func TestGapsAreCut(t *testing.T) {
	p := NewPlayer(newScript(), Options{})
	for _, e := range run(2, 3600) {
		p.receive(e)
	}
	p.loading, p.mode, p.at = false, playing, 1
	now := time.Now()
	p.due = now
	p.pace()
	if got := p.due.Sub(now); got != 2*time.Second {
		t.Errorf("an inner iteration after 15 minutes comes after %v: expected 2 s", got)
	}
	p.speed, p.due = 4096, now
	p.pace()
	if got := p.due.Sub(now).Seconds(); math.Abs(got-900/4096.) > 1e-6 {
		t.Errorf("900 s at 4,096 times the speed take %v s", got)
	}
	// Without times an epoch takes a tenth of a second, inner iterations and all.
	q := NewPlayer(newScript(), Options{})
	for _, e := range []event.Event{event.RunEvent{}, event.InnerEvent{}, event.InnerEvent{}, event.InnerEvent{}, event.UnknownEpoch(1), event.UnknownEpoch(2)} {
		q.receive(e)
	}
	q.loading, q.mode, q.at, q.due, q.moved = false, playing, 1, now, now.Add(-time.Hour)
	q.pace()
	q.catchUp(now.Add(101 * time.Millisecond))
	if q.epoch != 1 || math.Abs(q.seconds-0.1) > 1e-9 || q.at != 5 {
		t.Errorf("after 0.1 s: epoch %d at %v", q.epoch, q.seconds)
	}
}

// Pausing a live run and going on catches up with it.
func TestPauseOfALiveRun(t *testing.T) {
	s := newScript(run(3, 0.01)...)
	v, _ := watch(t, s, Options{Speed: 64})
	v.until("the newest", v.at(3))
	v.do(event.Pause{On: true})
	v.until("the pause", func() bool { return v.status.Phase == event.Paused })
	s.put(nil, run(6, 0.01)[13:]...)
	v.until("the news of more", func() bool { return v.status.Replay.Last == 6 })
	if v.last() != 3 || v.status.Replay.Live {
		t.Errorf("a paused viewer sees epoch %d", v.last())
	}
	v.do(event.StepEpoch{})
	v.until("a step", v.at(4))
	v.do(event.Pause{})
	v.until("the newest", v.at(6))
	v.until("to follow", func() bool { return v.status.Replay.Live })
	// A step at the newest waits for the next epoch.
	v.do(event.StepEpoch{})
	s.put(nil, run(8, 0.01)[25:]...)
	v.until("a step", func() bool { return v.last() == 7 && v.status.Phase == event.Paused })
	v.do(event.Seek{Epoch: 8})
	v.until("the newest", v.at(8))
	if v.status.Phase != event.Paused {
		t.Errorf("a seek while paused went on: %v", v.status.Phase)
	}
}

// Wherever a run is sought, what is shown is the run as it was then, and nothing else.
func TestSeeksShowTheRunAsItWas(t *testing.T) {
	const n = 50
	v, _ := watch(t, newScript(append(run(n, 0.001), done(n))...), Options{})
	v.until("the end", func() bool { return v.done })
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		epoch := random.IntN(n + 2)
		if random.IntN(4) == 0 {
			v.do(event.Speed{Factor: math.Ldexp(1, random.IntN(18)-6)})
		}
		v.do(event.Seek{Epoch: epoch})
		want := min(epoch, n)
		v.until("the epoch", func() bool { return v.last() == want && v.status.Replay.Epoch == want })
		if len(v.epochs) != want || v.inner != 3*want || v.done != (want == n) || v.run == nil || v.status.Epoch != want {
			t.Fatalf("at epoch %d: %d epochs, %d inner, done %v, status %+v", want, len(v.epochs), v.inner, v.done, v.status)
		}
	}
}
