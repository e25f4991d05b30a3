package tui

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer"
)

// wire is a terminal that counts what it is sent.
type wire struct{ bytes, writes atomic.Int64 }

func (w *wire) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	w.writes.Add(1)
	return len(p), nil
}

// fastFeed has news whenever it is asked: a run of 200 inner iterations and 20 epochs a second.
type fastFeed struct {
	fakeFeed
	began time.Time
	sent  int
	now   trainer.Status
	rand  *rand.Rand
}

func (f *fastFeed) Wait(ctx context.Context) (trainer.Delta, error) {
	if f.at < len(f.deltas) {
		return f.fakeFeed.Wait(ctx)
	}
	if f.began.IsZero() {
		f.began, f.now = time.Now(), f.deltas[len(f.deltas)-1].Status
	}
	due := f.began.Add(time.Duration(f.sent) * 5 * time.Millisecond)
	select {
	case <-time.After(time.Until(due)):
	case <-ctx.Done():
		return trainer.Delta{}, ctx.Err()
	}
	f.sent++
	d := trainer.Delta{Inner: []trainer.InnerEvent{fakeInner(f.now.Epoch+1, 1+f.sent%10, 4)}}
	if f.sent%10 == 0 {
		f.now.Epoch++
		f.now.Elapsed = float64(f.sent) * 0.005
		d.Epochs = []trainer.EpochEvent{fakeEpoch(f.now.Epoch, 4, f.rand)}
	}
	d.Status = f.now
	return d, ctx.Err()
}

// show runs the whole program on a feed for a while and returns what went over the wire in that time, the
// first screen left out.
func show(tb testing.TB, feed trainer.Feed, w, h int, d time.Duration, environ ...string) (bytes, writes float64) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, keys := io.Pipe()
	defer keys.Close()
	var out wire
	o := Options{Input: in, Output: &out, Environ: append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}, environ...)}
	a := New(feed, o)
	a.hold = patience(o.Environ)
	defer a.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := tea.NewProgram(a, append(o.program(ctx, a), tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor))...).Run()
		ended <- err
	}()
	for range 50 {
		if time.Sleep(100 * time.Millisecond); out.bytes.Load() > 1000 {
			break
		}
	}
	time.Sleep(500 * time.Millisecond)
	bytes, writes = float64(out.bytes.Load()), float64(out.writes.Load())
	time.Sleep(d)
	bytes, writes = float64(out.bytes.Load())-bytes, float64(out.writes.Load())-writes
	cancel()
	<-ended
	return bytes / d.Seconds(), writes / d.Seconds()
}

// BenchmarkWire reports bytes and frames a second of a fast run.
func BenchmarkWire(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		for name, environ := range map[string]string{"local": "X=", "ssh": "SSH_TTY=/dev/pts/1"} {
			b.Run(fmt.Sprintf("%dx%d-%s", size[0], size[1], name), func(b *testing.B) {
				var bytes, writes float64
				for range b.N {
					f := &fastFeed{fakeFeed: fakeFeed{deltas: fakeRun(script{epochs: 33, spectra: true})}, rand: rand.New(rand.NewPCG(1, 1))}
					bytes, writes = show(b, f, size[0], size[1], 2*time.Second, environ)
				}
				b.ReportMetric(bytes/1000, "kB/s")
				b.ReportMetric(writes, "frames/s")
			})
		}
	}
}

// TestQuietWire: a run that has ended, and one that is paused, cost nothing.
func TestQuietWire(t *testing.T) {
	paused := fakeRun(script{epochs: 5})
	for i := range paused {
		paused[i].Status.Phase = trainer.Paused
	}
	for name, deltas := range map[string][]trainer.Delta{"ended": fakeRun(script{epochs: 5, fate: "done"}), "paused": paused} {
		if bytes, writes := show(t, &fakeFeed{deltas: deltas}, 120, 40, 700*time.Millisecond); bytes > 0 || writes > 0 {
			t.Errorf("%s: %.0f bytes a second in %.0f writes", name, bytes, writes)
		}
	}
}
