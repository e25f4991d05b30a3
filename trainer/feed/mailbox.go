package feed

import (
	"context"
	"io"
	"sync"

	"newtop/trainer/event"
)

// Mailbox hands events from the session to one viewer. Putting never waits: what the viewer has not
// taken yet is gathered into one Delta of bounded size, in which snapshots are replaced, points are
// downsampled with their minima and maxima kept, and the end of a run is never dropped.
//
// The session's goroutine is the only one that puts; the viewer's is the only one that waits; either may
// close. The wake channel has room for one token and is never closed; closed is closed once.
type Mailbox struct {
	mu     sync.Mutex
	back   *deltaBuffer
	wake   chan struct{}
	closed chan struct{}
	once   sync.Once
	leave  func(*Mailbox)
}

func newMailbox(history *deltaBuffer, leave func(*Mailbox)) *Mailbox {
	m := &Mailbox{
		back:   history,
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
		leave:  leave,
	}
	if history.filled {
		m.wake <- struct{}{}
	}
	return m
}

func (m *Mailbox) deliver(e event.Event, s event.Status) {
	m.mu.Lock()
	if e != nil {
		m.back.add(e)
	}
	m.back.status(s)
	m.mu.Unlock()
	m.wakeViewer()
}

// Wait blocks until something is new and returns it; see Feed.
func (m *Mailbox) Wait(ctx context.Context) (Delta, error) {
	for {
		select {
		case <-m.wake:
			m.mu.Lock()
			filled, d := m.back.filled, Delta{}
			if filled {
				d = m.back.drain()
			}
			m.mu.Unlock()
			if filled {
				return d, nil
			}
		case <-m.closed:
			return Delta{}, io.EOF
		case <-ctx.Done():
			return Delta{}, ctx.Err()
		}
	}
}

// Close takes the mailbox out of its session. A waiting viewer gets io.EOF. It may be called twice.
func (m *Mailbox) Close() {
	m.once.Do(func() {
		close(m.closed)
		m.leave(m)
	})
}

// wakeViewer wakes the viewer.
func (m *Mailbox) wakeViewer() {
	select {
	case m.wake <- struct{}{}:
	default: // it has been woken and has not looked yet
	}
}
