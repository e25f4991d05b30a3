package dashboard

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// panicFeed panics when it is asked for something.
type panicFeed struct{ *tuitest.Feed }

func (f *panicFeed) Do(context.Context, event.Command) error { panic("broken") }

// closedFeed ends after what it has.
type closedFeed struct{ *tuitest.Feed }

func (f *closedFeed) Wait(ctx context.Context) (feed.Delta, error) {
	f.Mu.Lock()
	over := f.At == len(f.Deltas)
	f.Mu.Unlock()
	if over {
		return feed.Delta{}, io.EOF
	}
	return f.Feed.Wait(ctx)
}

// TestNothingIsLeft ends programs in every way, with every timer under way, and looks for goroutines.
func TestNothingIsLeft(t *testing.T) {
	live := func() *tuitest.Feed {
		return &tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 60, Spectra: true}), Pace: 5 * time.Millisecond}
	}
	ended := tuitest.NewRun(tuitest.Script{Epochs: 3, Fate: "done"})
	for _, c := range []struct {
		name   string
		feed   feed.Feed
		keys   string
		cancel bool
		want   error
	}{
		{name: "q, and the run ends", feed: live(), keys: "q"},
		{name: "q twice", feed: live(), keys: "qq"},
		{name: "q after the end", feed: &tuitest.Feed{Deltas: ended}, keys: "q"},
		{name: "q of a closed feed", feed: &closedFeed{&tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 3})}}, keys: "q"},
		{name: "a note and an overlay", feed: live(), keys: "tty+:adam\x03\x03"},
		{name: "a form", feed: live(), keys: "e12\x03\x03"},
		{name: "a race's form", feed: live(), keys: "f \x03\x03"},
		{name: "the context", feed: live(), keys: "tz", cancel: true, want: context.Canceled},
		{name: "the context, paused", feed: live(), keys: " ", cancel: true, want: context.Canceled},
		{name: "a panic", feed: &panicFeed{live()}, keys: "s", want: tea.ErrProgramPanic},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			in, keys := io.Pipe()
			defer keys.Close()
			var out screentest.Wire
			a := newApp(c.feed, screen.Options{Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}}, tuitest.Methods())
			errs := make(chan error, 1)
			go func() {
				errs <- runApp(ctx, a, screen.Options{Input: in, Output: &out, Environ: a.Environ, Size: screen.Size{Width: 120, Height: 40}})
			}()
			for n := 0; out.Bytes.Load() < 100 && n < 300; n++ {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			for _, k := range []byte(c.keys) {
				if _, err := keys.Write([]byte{k}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Millisecond)
			}
			if c.cancel {
				cancel()
			}
			select {
			case err := <-errs:
				if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("ended with %v, not %v", err, c.want)
				}
			case <-time.After(time.Minute):
				t.Fatal("still running")
			}
		})
	}
}
