//go:build unix

package dashboard

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// BenchmarkGuests shows a run of 20 epochs and 200 inner iterations a second to guests, and reports what each takes:
// %core of a processor, kB/s on the wire, kB of the heap, news a second.
func BenchmarkGuests(b *testing.B) {
	for _, size := range []screen.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		for _, n := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%dx%d-%d", size.Width, size.Height, n), func(b *testing.B) {
				for range b.N {
					guests(b, size, n)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func guests(b *testing.B, size screen.Size, n int) {
	before := heap()
	r, stop := fastRelay()
	defer stop()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	allowance := &render.Budget{}
	in, keys := io.Pipe()
	defer keys.Close()
	out, ended := &screentest.Wire{}, make(chan error, n)
	for range n {
		go func() {
			feed := r.Feed()
			defer feed.Close()
			ended <- Run(ctx, feed, screen.Options{Input: in, Output: out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, Viewer: &screen.Viewer{Name: "ann"},
				Size: size, Budget: allowance})
		}()
	}
	time.Sleep(2 * time.Second)
	cpu, bytes, writes, start := computed(b), out.Bytes.Load(), out.Writes.Load(), time.Now()
	time.Sleep(3 * time.Second)
	each := time.Since(start).Seconds() * float64(n)
	b.ReportMetric(100*(computed(b)-cpu)/each, "%core")
	b.ReportMetric(float64(out.Bytes.Load()-bytes)/1000/each, "kB/s")
	b.ReportMetric(float64(out.Writes.Load()-writes)/each, "frames/s")
	b.ReportMetric((heap()-before)/1000/float64(n), "kB")
	cancel()
	for range n {
		<-ended
	}
}

// fastRelay is a run of 20 epochs and 200 inner iterations a second, until it is stopped.
func fastRelay() (r *feed.Relay, stop func()) {
	r = feed.NewRelay(nil)
	for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 33, Spectra: true}) {
		r.Show(tuitest.EventsOf([]feed.Delta{d}), func(s *event.Status) { *s = d.Status })
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		source := rand.New(rand.NewPCG(1, 1))
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 1; ; i++ {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			epoch := 34 + i/10
			events := []event.Event{tuitest.InnerIteration(epoch, 1+i%10, 4)}
			if i%10 == 9 {
				events = append(events, tuitest.Epoch(epoch, 4, source))
			}
			r.Show(events, func(s *event.Status) { s.Epoch, s.Elapsed = epoch-1, float64(i)*0.005 })
		}
	}()
	return r, func() { cancel(); <-done }
}

// computed is how many seconds of a processor this process has taken.
func computed(tb testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
