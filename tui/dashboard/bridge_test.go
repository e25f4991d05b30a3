package dashboard

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// timedFeed gathers what it is sent; a command's effect is there at once.
type timedFeed struct {
	deltas chan feed.Delta
	closed chan struct{}
}

func newTimedFeed() *timedFeed {
	return &timedFeed{deltas: make(chan feed.Delta, 100), closed: make(chan struct{})}
}

func (f *timedFeed) Wait(ctx context.Context) (feed.Delta, error) {
	select {
	case d := <-f.deltas:
		for {
			select {
			case more := <-f.deltas:
				d.Epochs = append(d.Epochs, more.Epochs...)
				continue
			default:
			}
			return d, nil
		}
	case <-ctx.Done():
		return feed.Delta{}, ctx.Err()
	case <-f.closed:
		return feed.Delta{}, io.EOF
	}
}

func (f *timedFeed) Do(context.Context, event.Command) error {
	f.deltas <- feed.Delta{Status: event.Status{Phase: event.Paused}}
	return nil
}

func (f *timedFeed) Close() { close(f.closed) }

// every sends an epoch as often as asked until the test ends.
func (f *timedFeed) every(ctx context.Context, period time.Duration) {
	for n := 1; ctx.Err() == nil; n++ {
		f.deltas <- feed.Delta{Epochs: []event.EpochEvent{{Epoch: n}}}
		time.Sleep(period)
	}
}

// TestPace runs a feed that always has something, and checks that nothing is lost and how often it comes.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFeed()
		b := newTestBridge(t, f)
		go f.every(b.ctx, time.Millisecond)
		start, messages, next := time.Now(), 0, 1
		for time.Since(start) < time.Second {
			msg := b.wait(interval)().(deltaMsg)
			messages++
			for _, e := range msg.delta.Epochs {
				if e.Epoch != next {
					t.Fatalf("epoch %d after %d", e.Epoch, next-1)
				}
				next++
			}
		}
		if messages < 14 || messages > 16 {
			t.Errorf("%d messages in a second", messages)
		}
		b.cancel()
		time.Sleep(time.Millisecond) // the sender's last
	})
}

// TestFirstLookIsAtOnce has a quiet feed: what it brings is not kept back.
func TestFirstLookIsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFeed()
		b := newTestBridge(t, f)
		f.deltas <- feed.Delta{}
		start := time.Now()
		if b.wait(0)(); time.Since(start) > 0 {
			t.Errorf("the first Delta took %v", time.Since(start))
		}
		time.AfterFunc(time.Second, func() { f.deltas <- feed.Delta{} })
		start = time.Now()
		if b.wait(interval)(); time.Since(start) != time.Second {
			t.Errorf("a Delta of a quiet feed took %v", time.Since(start))
		}
	})
}

// TestWaitEnds: the feed's end comes as it is, and Close ends a wait.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFeed()
		b := newTestBridge(t, f)
		time.AfterFunc(20*time.Millisecond, f.Close)
		if msg := b.wait(interval)().(deltaMsg); msg.err != io.EOF {
			t.Errorf("%v", msg.err)
		}
		b = newTestBridge(t, newTimedFeed())
		time.AfterFunc(time.Second, b.cancel)
		if msg := b.wait(0)().(deltaMsg); msg.err != context.Canceled {
			t.Errorf("%v", msg.err)
		}
	})
}

// testBridge is a bridge with what ends it.
type testBridge struct {
	*bridge
	cancel context.CancelFunc
}

func newTestBridge(t *testing.T, f feed.Feed) testBridge {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return testBridge{newBridge(ctx, f), cancel}
}

// TestNewsOverSSH: the run's news come less often to a terminal at the other end of a connection.
func TestNewsOverSSH(t *testing.T) {
	for environ, pause := range map[string]time.Duration{
		"TERM=xterm-256color": interval, "SSH_TTY=/dev/pts/1": screen.RemoteInterval, "SSH_CONNECTION=1 2 3 4": screen.RemoteInterval, "SSH_TTY=": interval,
	} {
		if a := newApp(&tuitest.Feed{}, screen.Options{Environ: []string{environ}}, tuitest.Methods()); a.interval != pause {
			t.Errorf("%s: news every %v", environ, a.interval)
		}
	}
}
