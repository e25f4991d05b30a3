package trainer

import (
	"context"
	"slices"
	"testing"
	"time"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/workplace"
)

// idleKeeper takes every checkpoint and does nothing with it.
type idleKeeper struct{}

func (idleKeeper) Record(event.Event) error          { return nil }
func (idleKeeper) Flush() error                      { return nil }
func (idleKeeper) Due(bool) bool                     { return true }
func (idleKeeper) Keep(*checkpoint.Checkpoint) error { return nil }

// BenchmarkKeep trains 16-70-50-26 on letters with a checkpoint of every epoch. kept-% is what those take of the
// session's goroutine, for a recorder that is quick, by the medians of both.
func BenchmarkKeep(b *testing.B) {
	for _, optimizer := range []string{"adam", "tr-newton"} {
		b.Run(optimizer, func(b *testing.B) {
			l := letterRun(b, optimizer)
			var keeping, training []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := l.outer(); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				l.offer(false)
				training, keeping = append(training, middle.Sub(start)), append(keeping, time.Since(middle))
			}
			slices.Sort(training)
			slices.Sort(keeping)
			kept, epoch := keeping[len(keeping)/2].Seconds(), training[len(training)/2].Seconds()
			b.ReportMetric(100*kept/epoch, "kept-%")
			b.ReportMetric(1e6*kept, "µs-kept")
		})
	}
}

// BenchmarkHold holds such a run before its next epoch, as is done before every one.
func BenchmarkHold(b *testing.B) {
	for _, optimizer := range []string{"adam", "tr-newton"} {
		b.Run(optimizer, func(b *testing.B) {
			l := letterRun(b, optimizer)
			if err := l.outer(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				l.checkpoints.hold()
			}
		})
	}
}

// BenchmarkCheckpointBinary writes and reads such a checkpoint.
func BenchmarkCheckpointBinary(b *testing.B) {
	for _, optimizer := range []string{"adam", "tr-newton"} {
		l := letterRun(b, optimizer)
		if err := l.outer(); err != nil {
			b.Fatal(err)
		}
		c := l.checkpoints.capture()
		text, err := c.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(optimizer+"/marshal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.MarshalBinary(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(text)), "bytes")
		})
		b.Run(optimizer+"/unmarshal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var c checkpoint.Checkpoint
				if err := c.UnmarshalBinary(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFingerprint hashes the rows of letters.
func BenchmarkFingerprint(b *testing.B) {
	l := letterRun(b, "adam")
	p := l.work.Problem
	b.SetBytes(8 * int64((p.Train.Rows()+p.Test.Rows())*(p.Network.Inputs()+p.Network.Outputs())))
	for b.Loop() {
		objective.TakeFingerprint(p).Wait()
	}
}

// letterRun returns a run before its first outer iteration, with a quick recorder.
func letterRun(b *testing.B, optimizer string) *loop {
	b.Helper()
	s, err := New(config.Config{Data: "letters", Optimizer: optimizer, Batch: 256})
	if err != nil {
		b.Fatal(err)
	}
	l := newLoop(context.Background(), s)
	if l.work.Problem, err = workplace.Prepare(&s.config); err != nil {
		b.Fatal(err)
	}
	if err := l.bind(); err != nil {
		b.Fatal(err)
	}
	rec := checkpoint.StartRecording(idleKeeper{})
	l.out.Recordings = []*checkpoint.Recording{rec}
	if err := l.checkpoints.start(nil); err != nil {
		b.Fatal(err)
	}
	l.control.phase = event.Running
	if err := l.showStart(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		l.out.StatusPulse.Stop()
		l.work.Pool.Close()
		if err := rec.Finish(l.ctx); err != nil {
			b.Error(err)
		}
		l.checkpoints.forget()
	})
	return l
}
