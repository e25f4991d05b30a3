package desk

import (
	"context"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// Common is what the screens of all viewers of a run have in common: one history, and what was drawn of it.
//
//	run's feed ──► follow, one goroutine ──► history, drawings ◄── the program of each viewer, one at a time
//	                    └── changed, closed and made anew ──► every viewer's Wait
//
// The first viewer opens the run's feed and the last one closes it; meanwhile follow alone changes the history, at the
// interval that the budget allows, so that all viewers show the same news at the same time and draw them once. mu is
// held by whoever reads or changes anything of it; nobody waits for anything else with it.
type Common struct {
	open   func() feed.Feed
	budget *render.Budget
	wake   chan struct{} // room for one: a command was answered

	mu       sync.Mutex
	viewers  int
	stop     context.CancelFunc // ends follow; nil while nobody looks
	source   feed.Feed
	h        *history.History
	received time.Time // when the latest status came
	version  uint64    // counts what follow did
	err      error     // why nothing more comes
	changed  chan struct{}
	saved    []event.SavedEvent // the latest
	saves    int                // how many there have been
	drawings
}

// maxSaves bounds how many saves are told to viewers who were away meanwhile.
const maxSaves = 64

// NewCommon returns what is common to the viewers of the run whose feed open opens.
func NewCommon(open func() feed.Feed, budget *render.Budget) *Common {
	return &Common{open: open, budget: budget, wake: make(chan struct{}, 1)}
}

// Budget is what the screens of all viewers may take of this machine together.
func (c *Common) Budget() *render.Budget { return c.budget }

// Feed is the run as one of its viewers sees it: its deltas say no more than that the history has changed. It must be
// closed.
func (c *Common) Feed() feed.Feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers++; c.viewers == 1 {
		var ctx context.Context
		ctx, c.stop = context.WithCancel(context.Background())
		source, h := c.open(), &history.History{}
		c.source, c.h, c.err, c.saved = source, h, nil, nil
		c.changed = make(chan struct{})
		routine.Go(func() { c.follow(ctx, source, h) })
	}
	return &follower{common: c, source: c.source, saves: c.saves, seen: c.version, closed: make(chan struct{}),
		first: c.h.Run != nil}
}

// Lock has nobody else read or change anything of it until the returned function is called. Without common things there
// is nothing to hold.
func (c *Common) Lock() (unlock func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	return c.mu.Unlock
}

// Forget drops what was drawn, of which something may have broken in the middle.
func (c *Common) Forget() {
	defer c.Lock()()
	if c != nil {
		c.drawings = drawings{}
	}
}

// leave ends what Feed began.
func (c *Common) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers--; c.viewers > 0 {
		return
	}
	c.stop()
	c.source.Close()
	c.stop, c.source, c.h, c.saved, c.drawings = nil, nil, nil, nil, drawings{}
}

// follow takes in what the feed brings until its context ends.
func (c *Common) follow(ctx context.Context, source feed.Feed, h *history.History) {
	for {
		d, err := await(ctx, source)
		if !c.Apply(h, &d, err) {
			return
		}
		if d.Run != nil || d.Diverged != nil || d.Done != nil {
			continue
		}
		timer := time.NewTimer(c.budget.Interval(screen.RemoteInterval))
		select {
		case <-timer.C:
		case <-c.wake:
			time.Sleep(grace)
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// await is the feed's Wait, whose panic is an error.
func await(ctx context.Context, source feed.Feed) (d feed.Delta, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &render.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return source.Wait(ctx)
}

// Apply changes the history, and says whether there is more to come.
func (c *Common) Apply(h *history.History, d *feed.Delta, err error) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.h != h {
		return false // the last viewer has left
	}
	defer func() {
		if v := recover(); v != nil {
			c.err, more = &render.PanicError{Value: v, Stack: debug.Stack()}, false
		}
		c.version++
		close(c.changed)
		c.changed = make(chan struct{})
	}()
	if c.err = err; err != nil {
		return false
	}
	h.Apply(d)
	c.received = time.Now()
	h.Received(c.received)
	for _, e := range d.Saved {
		if len(c.saved) == maxSaves {
			c.saved = c.saved[1:]
		}
		c.saved = append(c.saved, e)
		c.saves++
	}
	c.sweep(c.received)
	return true
}

// follower is the feed of one viewer.
type follower struct {
	common *Common
	source feed.Feed
	seen   uint64 // the version that the viewer was told of
	saves  int    // and how many saves
	resets int    // and how often the run began again
	first  bool   // there was a history before the viewer came
	closed chan struct{}
	once   sync.Once
}

// Wait returns when the history has changed. It must not be called by two at once.
func (f *follower) Wait(ctx context.Context) (feed.Delta, error) {
	for {
		d, changed, err := f.news()
		if changed == nil {
			return d, err
		}
		select {
		case <-changed:
		case <-f.closed:
			return feed.Delta{}, io.EOF
		case <-ctx.Done():
			return feed.Delta{}, ctx.Err()
		}
	}
}

// news is what the viewer was not told of; of nothing it is the channel that is closed at the next change.
func (f *follower) news() (d feed.Delta, changed <-chan struct{}, err error) {
	c := f.common
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.closed:
		return d, nil, io.EOF
	default:
	}
	if f.seen == c.version && !f.first {
		if c.err != nil {
			return d, nil, c.err
		}
		return d, c.changed, nil
	}
	f.seen, f.first = c.version, false
	d.Status, d.Restart = c.h.Status, c.h.Restarts != f.resets
	f.resets = c.h.Restarts
	d.Saved = append(d.Saved, c.saved[len(c.saved)-min(c.saves-f.saves, len(c.saved)):]...)
	f.saves = c.saves
	return d, nil, nil
}

// Do passes a command on, and has what it changed shown at once.
func (f *follower) Do(ctx context.Context, command event.Command) error {
	defer func() {
		select {
		case f.common.wake <- struct{}{}:
		default:
		}
	}()
	return f.source.Do(ctx, command)
}

// Close may be called twice.
func (f *follower) Close() {
	f.once.Do(func() {
		close(f.closed)
		f.common.leave()
	})
}
