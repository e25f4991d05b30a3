package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer"
)

// interval is the least time between two Deltas: it bounds what a fast run can cost the screen. Between
// them the feed coalesces. A command's answer ends the wait early, so that a key shows its effect at once.
const interval = 66 * time.Millisecond

// queued bounds the commands that wait for the one before them.
const queued = 32

// deltaMsg is what the feed brought, or why it ended.
type deltaMsg struct {
	delta trainer.Delta
	err   error
}

// replyMsg answers a command.
type replyMsg struct {
	command trainer.Command
	err     error
}

// bridge joins the program's one goroutine to a feed. Nothing is ever sent into the program: a command of
// Bubble Tea waits on the feed, returns one Delta and is armed again when that is drawn. So a terminal
// that does not read stops the waiting and nobody else. wake has room for one and is only ever filled
// without blocking; done is closed by Close, through the context.
type bridge struct {
	feed    trainer.Feed
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{}
	waiting []trainer.Command // in order, behind the one under way
	busy    bool
}

func newBridge(feed trainer.Feed) *bridge {
	b := &bridge{feed: feed, wake: make(chan struct{}, 1)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// wait returns the command that waits for the next Delta, first letting a pause go by.
func (b *bridge) wait(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		if pause > 0 {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-b.wake:
			case <-b.ctx.Done():
			}
		}
		d, err := b.feed.Wait(b.ctx)
		return deltaMsg{d, err}
	}
}

// do sends commands one after another, so that they arrive in the order of the keys. It returns nil
// while one is under way; false says that the queue is full.
func (b *bridge) do(c trainer.Command) (cmd tea.Cmd, ok bool) {
	if !b.busy {
		b.busy = true
		return b.send(c), true
	}
	if len(b.waiting) >= queued {
		return nil, false
	}
	b.waiting = append(b.waiting, c)
	return nil, true
}

// answered is called with each reply and returns the next command's.
func (b *bridge) answered() tea.Cmd {
	select {
	case b.wake <- struct{}{}:
	default:
	}
	if len(b.waiting) == 0 {
		b.busy = false
		return nil
	}
	c := b.waiting[0]
	b.waiting = b.waiting[1:]
	return b.send(c)
}

func (b *bridge) send(c trainer.Command) tea.Cmd {
	return func() tea.Msg { return replyMsg{c, b.feed.Do(b.ctx, c)} }
}

// stop asks the run to end, before everything that is queued.
func (b *bridge) stop() tea.Cmd {
	b.waiting = nil
	return func() tea.Msg { return stoppedMsg{b.feed.Do(b.ctx, trainer.Stop{})} }
}

// stoppedMsg answers a Stop, which goes past the queue.
type stoppedMsg struct{ err error }
