package tui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/trainer"
)

// replayOf is a made-up run of so many epochs as it is watched: shown up to an epoch.
func replayOf(s script, shown int, phase trainer.Phase, r trainer.Replay) []trainer.Delta {
	all := fakeRun(s)
	r.Last = s.epochs
	r.Length = all[len(all)-1].Status.Elapsed
	r.Epoch = shown
	var out []trainer.Delta
	for i := range all {
		d := all[i]
		if d.Status.Epoch > shown || d.Status.Epoch == shown && len(d.Inner) > 0 {
			break
		}
		r.At = d.Status.Elapsed
		now := r
		d.Status.Replay, d.Status.Kept = &now, nil
		d.Status.Phase = phase
		if d.Done != nil && phase != trainer.Ended {
			break
		}
		out = append(out, d)
	}
	return out
}

// foreignRun is a run that a program prints which knows losses and errors, test figures at every fifth epoch, and some
// numbers of its own.
func foreignRun(epochs int, bare bool) []trainer.Delta {
	r := trainer.Replay{Source: "train.jsonl", Live: true, Seekable: true, Last: epochs, Epoch: epochs, Speed: 1}
	s := trainer.Status{Phase: trainer.Running, Replay: &r}
	d := trainer.Delta{Run: &trainer.RunEvent{Data: trainer.DataInfo{Name: "train.jsonl"}}, Status: s}
	for e := 1; e <= epochs; e++ {
		x := float64(e)
		ev := trainer.EpochEvent{Epoch: e, Loss: nan, TestLoss: nan, Error: nan, TestError: nan, RMSE: nan, TestRMSE: nan, GradientNorm: nan,
			StepNorm: nan, Radius: nan, Rho: nan, Rate: nan, Gradients: nan, Products: nan, Losses: nan, GradientEquivalents: nan, Seconds: nan, Elapsed: nan}
		ev.Figures = []trainer.Figure{{Key: "lr", Value: trainer.Float(0.1 / (1 + x/20))}, {Key: "momentum", Value: trainer.Float(0.9 + x/1000)}}
		if e%3 == 0 {
			ev.Figures = append(ev.Figures, trainer.Figure{Key: "bleu", Value: trainer.Float(30 * (1 - math.Exp(-x/20)))})
		}
		if !bare {
			ev.Loss = trainer.Float(2.3*math.Exp(-x/9) + 0.1 + 0.02*math.Sin(3*x))
			ev.Elapsed = trainer.Float(0.7 * x)
			if e%5 == 0 {
				ev.TestLoss, ev.TestError = ev.Loss+0.05, trainer.Float(0.8*math.Exp(-x/8)+0.06)
			}
			r.At, r.Length = 0.7*x, 0.7*x
		}
		d.Epochs = append(d.Epochs, ev)
	}
	d.Status.Epoch, d.Status.Elapsed = epochs, r.At
	return []trainer.Delta{d}
}

// withRecording is a run of newtop's whose record is doing like this.
func withRecording(r trainer.Recording) []trainer.Delta {
	deltas := fakeRun(script{epochs: 33, spectra: true})
	for i := range deltas {
		deltas[i].Status.Recording = trainer.Recording{Run: r.Run, Place: r.Place}
		if deltas[i].Status.Epoch > 30 {
			deltas[i].Status.Recording = r
		}
	}
	return deltas
}

// replayScenes are the states of watched and of recorded runs that have pictures of their own.
var replayScenes = []string{"live", "pipe", "replay", "paused", "ended", "loading", "stale", "resumed", "foreign", "figures", "recorded", "full-disk", "lost"}

// replayScene returns one of them, nil for another name.
func replayScene(name string) []trainer.Delta {
	full := script{epochs: 40, spectra: true, skips: true, fate: "done"}
	source := trainer.Replay{Source: "letters-21a7", Seekable: true, Speed: 1}
	live := source
	live.Live = true
	run := trainer.Recording{Run: "20261121-1504-k3f", Place: "runs.db"}
	switch name {
	case "live":
		return replayOf(script{epochs: 33, spectra: true, skips: true}, 33, trainer.Running, live)
	case "pipe":
		return replayOf(script{epochs: 33}, 33, trainer.Running, trainer.Replay{Source: "standard input", Live: true, Speed: 1})
	case "replay":
		source.Speed = 4
		return replayOf(full, 14, trainer.Running, source)
	case "paused":
		return replayOf(full, 20, trainer.Paused, source)
	case "ended":
		return replayOf(full, 40, trainer.Ended, source)
	case "loading":
		source.Loading, source.Seekable = 0.43, false
		return replayOf(full, 17, trainer.Running, source)
	case "stale":
		live.Stale = "its writer is gone: box 4711 ended at 12:04"
		return replayOf(script{epochs: 33}, 33, trainer.Running, live)
	case "resumed":
		deltas := replayOf(script{epochs: 33, spectra: true}, 33, trainer.Running, live)
		d := &deltas[len(deltas)-1]
		d.Resumes = []trainer.ResumeEvent{{Epoch: 20, Time: time.Date(2026, 11, 21, 15, 4, 0, 0, time.Local)}}
		d.Saved = []trainer.SavedEvent{{Epoch: 33, File: "letters-e33.onnx", Format: "onnx", Bytes: 48_211}}
		return deltas
	case "foreign", "figures":
		return foreignRun(43, name == "figures")
	case "recorded":
		return withRecording(run)
	case "full-disk":
		run.Backlog, run.Warning = 812, "runs.db: no space left on device"
		return withRecording(run)
	case "lost":
		run.Backlog, run.Lost = 99_000, 12_345
		return withRecording(run)
	}
	return nil
}

// fakePlayer plays a made-up run as it is asked to.
type fakePlayer struct {
	relay  *trainer.Relay
	events []trainer.Event
	asked  chan trainer.Command
}

func newFakePlayer(events []trainer.Event) *fakePlayer {
	p := &fakePlayer{events: events, asked: make(chan trainer.Command, 64)}
	p.relay = trainer.NewRelay(func(ctx context.Context, c trainer.Command) error {
		switch c.(type) {
		case trainer.Pause, trainer.StepEpoch, trainer.Seek, trainer.Speed:
			p.asked <- c
			return nil
		}
		return trainer.ErrReadOnly
	})
	return p
}

// eventsOf lists what Deltas have in the order of a run.
func eventsOf(deltas []trainer.Delta) (out []trainer.Event) {
	for _, d := range deltas {
		if d.Run != nil {
			out = append(out, *d.Run)
		}
		for _, e := range d.Inner {
			out = append(out, e)
		}
		for _, e := range d.Epochs {
			out = append(out, e)
		}
		for _, e := range d.Spectra {
			out = append(out, e)
		}
		for _, e := range d.Switches {
			out = append(out, e)
		}
		if d.Done != nil {
			out = append(out, *d.Done)
		}
	}
	return out
}

func epochOf(e trainer.Event) int {
	switch e := e.(type) {
	case trainer.EpochEvent:
		return e.Epoch
	case trainer.InnerEvent:
		return e.Epoch
	case trainer.DoneEvent:
		return math.MaxInt
	}
	return 0
}

// play runs until the context ends.
func (p *fakePlayer) play(ctx context.Context, pause time.Duration) {
	last := 0
	for _, e := range p.events {
		if k := epochOf(e); k < math.MaxInt {
			last = max(last, k)
		}
	}
	at, epoch, phase, speed, single := 0, 0, trainer.Running, 1.0, false
	show := func() {
		p.relay.Update(func(s *trainer.Status) {
			s.Phase = phase
			s.Replay = &trainer.Replay{Source: "made up", Seekable: true, Epoch: epoch, Last: last, At: s.Elapsed, Length: 0.5 * float64(last), Speed: speed}
		})
	}
	seek := func(to int) {
		n := slices.IndexFunc(p.events, func(e trainer.Event) bool { return epochOf(e) > to })
		if n < 0 || to >= last {
			n = len(p.events)
		}
		p.relay.Restart(p.events[:n], nil)
		at, epoch = n, min(to, last)
	}
	for {
		switch {
		case phase == trainer.Running && at < len(p.events):
			e := p.events[at]
			p.relay.Add(e)
			at++
			if k, ok := e.(trainer.EpochEvent); ok {
				if epoch = k.Epoch; single {
					single, phase = false, trainer.Paused
				}
			}
		case phase == trainer.Running:
			phase = trainer.Ended
		}
		show()
		wait := time.Duration(float64(pause) / speed)
		if phase != trainer.Running {
			wait = time.Hour
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case c := <-p.asked:
			switch c := c.(type) {
			case trainer.Pause:
				if phase == trainer.Ended {
					seek(0)
				}
				phase = trainer.Running
				if c.On {
					phase = trainer.Paused
				}
			case trainer.StepEpoch:
				phase, single = trainer.Running, true
			case trainer.Speed:
				speed = c.Factor
			case trainer.Seek:
				seek(c.Epoch)
				if phase == trainer.Ended {
					phase = trainer.Paused
				}
			}
		}
	}
}

// runReplayDemo shows a scene, or plays a made-up run.
func runReplayDemo(name string) error {
	if name == "player" {
		p := newFakePlayer(eventsOf(fakeRun(script{epochs: 40, spectra: true, skips: true, switchAt: 25, fate: "done"})))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go p.play(ctx, 60*time.Millisecond)
		return Run(ctx, p.relay.Feed(), Options{})
	}
	deltas := replayScene(name)
	if deltas == nil {
		return fmt.Errorf("no scene %q", name)
	}
	return Run(context.Background(), &fakeFeed{deltas: deltas}, Options{})
}
