package desk

import (
	"context"
	"errors"
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
			msg := b.Wait(interval)().(DeltaMsg)
			messages++
			for _, e := range msg.Delta.Epochs {
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
		if b.Wait(0)(); time.Since(start) > 0 {
			t.Errorf("the first Delta took %v", time.Since(start))
		}
		time.AfterFunc(time.Second, func() { f.deltas <- feed.Delta{} })
		start = time.Now()
		if b.Wait(interval)(); time.Since(start) != time.Second {
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
		if msg := b.Wait(interval)().(DeltaMsg); msg.Err != io.EOF {
			t.Errorf("%v", msg.Err)
		}
		b = newTestBridge(t, newTimedFeed())
		time.AfterFunc(time.Second, b.cancel)
		if msg := b.Wait(0)().(DeltaMsg); msg.Err != context.Canceled {
			t.Errorf("%v", msg.Err)
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
		if a := NewApp(&tuitest.Feed{}, &screen.Options{Environ: []string{environ}}, nil, Above{}); a.interval != pause {
			t.Errorf("%s: news every %v", environ, a.interval)
		}
	}
}

// TestLater: a timer brings its message in time, and none once the program has ended.
func TestLater(t *testing.T) {
	b := newTestBridge(t, &tuitest.Feed{})
	if got := b.later(time.Millisecond, DrawMsg{})(); got != (DrawMsg{}) {
		t.Errorf("brought %v", got)
	}
	cmd := b.later(time.Hour, DrawMsg{})
	b.cancel()
	if got := cmd(); got != nil {
		t.Errorf("brought %v after the end", got)
	}
}

// TestNews come after the pause, in one Delta, or as soon as a command is answered.
func TestNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFeed()
		b := newTestBridge(t, f)
		f.deltas <- feed.Delta{}
		time.AfterFunc(50*time.Millisecond, func() { f.deltas <- feed.Delta{Epochs: []event.EpochEvent{{Epoch: 1}}} })
		start := time.Now()
		if msg := b.Wait(time.Second)().(DeltaMsg); time.Since(start) != time.Second || len(msg.Delta.Epochs) != 1 {
			t.Errorf("%d epochs after %v", len(msg.Delta.Epochs), time.Since(start))
		}
		f.deltas <- feed.Delta{}
		time.AfterFunc(50*time.Millisecond, func() { b.answered() })
		start = time.Now()
		if b.Wait(time.Second)(); time.Since(start) > 60*time.Millisecond {
			t.Errorf("an answer shows after %v", time.Since(start))
		}
		time.AfterFunc(50*time.Millisecond, b.cancel)
		if msg := b.Wait(time.Second)().(DeltaMsg); !errors.Is(msg.Err, context.Canceled) {
			t.Errorf("%v", msg.Err)
		}
	})
}
