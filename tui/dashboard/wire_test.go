package dashboard

import (
	"context"
	"io"
	"math"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// onWire runs the whole program on a feed until it is stopped.
func onWire(feed feed.Feed, w, h int, environ ...string) (out *screentest.Wire, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	in, keys := io.Pipe()
	out = &screentest.Wire{}
	o := screen.Options{Input: in, Output: out, Environ: append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}, environ...)}
	a := New(feed, o)
	a.Throttle()
	ended := make(chan error, 1)
	go func() {
		err := a.Base.Run(ctx, a, o, tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor))
		ended <- err
	}()
	return out, func() {
		cancel()
		<-ended
		a.Close()
		keys.Close()
	}
}

// TestQuietWire: a run that has ended, and one that is paused, cost nothing.
func TestQuietWire(t *testing.T) {
	t.Parallel()
	paused := tuitest.NewRun(tuitest.Script{Epochs: 5})
	for i := range paused {
		paused[i].Status.Phase = event.Paused
	}
	runs := map[string][]feed.Delta{"ended": tuitest.NewRun(tuitest.Script{Epochs: 5, Fate: "done"}), "paused": paused, "record": replayScene("foreign")}
	for name, deltas := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, stop := onWire(&tuitest.Feed{Deltas: deltas}, 120, 40)
			defer stop()
			out.Rest(t)
		})
	}
}

// loadingFeed is a record that is being read for a second: a hundred parts of so many epochs each, then its end.
type loadingFeed struct {
	tuitest.Feed
	parts int
	each  int
	began time.Time
}

func (f *loadingFeed) Wait(ctx context.Context) (feed.Delta, error) {
	const parts = 100
	if f.parts > parts {
		<-ctx.Done()
		return feed.Delta{}, ctx.Err()
	}
	if f.parts == 0 {
		f.began = time.Now()
	}
	select {
	case <-time.After(time.Until(f.began.Add(time.Duration(f.parts) * 10 * time.Millisecond))):
	case <-ctx.Done():
		return feed.Delta{}, ctx.Err()
	}
	r := &event.Replay{Source: "long.jsonl", Loading: float64(f.parts) / parts, Seekable: true, Speed: 1}
	d := feed.Delta{Status: event.Status{Phase: event.Running, Replay: r}}
	if f.parts == 0 {
		r.Loading = 0.001
		d.Run = &event.RunEvent{Data: event.DataInfo{Name: "long.jsonl"}}
	}
	for e := f.parts*f.each + 1; e <= (f.parts+1)*f.each && f.parts < parts; e++ {
		d.Epochs = append(d.Epochs, longEpoch(e))
	}
	if f.parts++; f.parts > parts {
		r.Epoch, r.Last = parts*f.each, parts*f.each
		d.Status.Phase, d.Status.Epoch = event.Ended, r.Last
		d.Done = &event.DoneEvent{Reason: event.ReasonEpochs, Epochs: r.Last}
	}
	return d, nil
}

// longEpoch is an epoch of a long run that another program tells.
func longEpoch(e int) event.EpochEvent {
	loss := event.Float(2*math.Exp(-float64(e)/2e5) + 0.1 + 0.02*math.Sin(float64(e)))
	return event.EpochEvent{Epoch: e, Loss: loss, TestLoss: loss + 0.05, Error: tuitest.NaN, TestError: tuitest.NaN, RMSE: tuitest.NaN, TestRMSE: tuitest.NaN, GradientNorm: tuitest.NaN,
		StepNorm: tuitest.NaN, Radius: tuitest.NaN, Rho: tuitest.NaN, Rate: tuitest.NaN, Gradients: tuitest.NaN, Products: tuitest.NaN, Losses: tuitest.NaN, GradientEquivalents: tuitest.NaN, Seconds: tuitest.NaN, Elapsed: tuitest.NaN}
}

// TestLoadingWire: while a long record is read the terminal gets its progress and a few pictures.
func TestLoadingWire(t *testing.T) {
	t.Parallel()
	const most = 100_000
	out, stop := onWire(&loadingFeed{each: 500}, 120, 40)
	time.Sleep(1500 * time.Millisecond)
	stop()
	t.Logf("%d bytes in %d writes", out.Bytes.Load(), out.Writes.Load())
	if out.Bytes.Load() > most {
		t.Errorf("expected at most %d bytes", most)
	}
}
