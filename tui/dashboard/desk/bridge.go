package desk

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/screen"
)

// interval is the least time between two messages from the feed, where a bridge has no longer one: it bounds
// what a fast run can cost the screen. A command's answer does not wait for the rest of it.
const (
	interval = 66 * time.Millisecond
	grace    = time.Millisecond // to fetch what a command has changed
)

// queued bounds the commands that wait for the one before them.
const queued = 32

// DeltaMsg is what the feed brought, or why it ended.
type DeltaMsg struct {
	Delta feed.Delta
	Err   error
}

// ReplyMsg answers a command.
type ReplyMsg struct{ Err error }

// StoppedMsg answers a Stop, which goes past the queue.
type StoppedMsg struct{ Err error }

// bridge joins the program's one goroutine to a feed. Nothing is ever sent into the program: a command of
// Bubble Tea waits on the feed, returns what came and is armed again when that is drawn. So a terminal
// that does not read stops the waiting and nobody else. wake has room for one and is only ever filled
// without blocking; the context ends everything.
type bridge struct {
	Feed     feed.Feed
	interval time.Duration
	ctx      context.Context // ends all waiting
	wake     chan struct{}
	waiting  []event.Command // in order, behind the one under way
	Busy     bool
	sent     event.Command // the latest that went to the feed; nil once it was answered
}

func newBridge(ctx context.Context, feed feed.Feed) *bridge {
	return &bridge{Feed: feed, interval: interval, ctx: ctx, wake: make(chan struct{}, 1)}
}

// Wait returns the command that waits for what is new; a message follows the one before by at least pause. It sleeps
// until news are due, a key came or a command was answered, and wakes once for a message: each time that it woke would
// take a processor from the passes, all of whose other processors wait for the last.
func (b *bridge) Wait(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.wake:
			time.Sleep(grace)
		case <-b.ctx.Done():
		}
		d, err := b.Feed.Wait(b.ctx)
		return DeltaMsg{d, err}
	}
}

// later returns the command that brings a message after a while, unless the program ends first: tea.tick would
// keep its goroutine until the time is up.
func (b *bridge) later(d time.Duration, msg tea.Msg) tea.Cmd { return screen.After(b.ctx, d, msg) }

// do sends commands one after another, so that they arrive in the order of the keys. It returns nil
// while one is under way; false says that the queue is full.
func (b *bridge) do(c event.Command) (cmd tea.Cmd, ok bool) {
	if !b.Busy {
		b.Busy = true
		return b.deliver(c), true
	}
	if n := len(b.waiting); n > 0 && overtakes(c, b.waiting[n-1]) {
		b.waiting[n-1] = c
		return nil, true
	}
	if len(b.waiting) >= queued {
		return nil, false
	}
	b.waiting = append(b.waiting, c)
	return nil, true
}

// overtakes reports whether a command makes the one before it superfluous.
func overtakes(c, before event.Command) bool {
	switch c.(type) {
	case event.Seek:
		_, ok := before.(event.Seek)
		return ok
	case event.Speed:
		_, ok := before.(event.Speed)
		return ok
	}
	return false
}

// hurry ends the pause before the next news.
func (b *bridge) hurry() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// answered is called with each reply and returns the next command's.
func (b *bridge) answered() tea.Cmd {
	b.hurry()
	b.sent = nil
	if len(b.waiting) == 0 {
		b.Busy = false
		return nil
	}
	c := b.waiting[0]
	b.waiting = b.waiting[1:]
	return b.deliver(c)
}

func (b *bridge) deliver(c event.Command) tea.Cmd {
	b.sent = c
	return func() tea.Msg { return ReplyMsg{b.Feed.Do(b.ctx, c)} }
}

// stop asks the run to end, before everything that is queued.
func (b *bridge) stop() tea.Cmd {
	b.waiting = nil
	return func() tea.Msg { return StoppedMsg{b.Feed.Do(b.ctx, event.Stop{})} }
}
