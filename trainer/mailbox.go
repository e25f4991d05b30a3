package trainer

import (
	"context"
	"io"
	"sync"
)

// Mailbox hands events from the session to one viewer. Putting never waits: what the viewer has not
// taken yet is gathered into one Delta of bounded size, in which snapshots are replaced, points are
// thinned with their minima and maxima kept, and the end of a run is never dropped.
//
// The session's goroutine is the only one that puts; the viewer's is the only one that waits; either may
// close. The wake channel has room for one token and is never closed; closed is closed once.
type Mailbox struct {
	mu     sync.Mutex
	back   *backlog
	wake   chan struct{}
	closed chan struct{}
	once   sync.Once
	leave  func(*Mailbox)
}

func newMailbox(history *backlog, leave func(*Mailbox)) *Mailbox {
	m := &Mailbox{
		back:   history,
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
		leave:  leave,
	}
	if history.some {
		m.wake <- struct{}{}
	}
	return m
}

func (m *Mailbox) put(e Event, s Status) {
	m.mu.Lock()
	if e != nil {
		m.back.add(e)
	}
	m.back.status(s)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default: // the viewer has been woken and has not looked yet
	}
}

// Wait blocks until something is new and returns it; see Feed.
func (m *Mailbox) Wait(ctx context.Context) (Delta, error) {
	for {
		select {
		case <-m.wake:
			m.mu.Lock()
			some, d := m.back.some, Delta{}
			if some {
				d = m.back.take()
			}
			m.mu.Unlock()
			if some {
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

// hub keeps the history of a run and its mailboxes.
type hub struct {
	mu       sync.Mutex
	history  backlog
	boxes    map[*Mailbox]struct{}
	audience *Audience
}

// publish sends an event, or with nil the status alone, to every viewer. It never waits for one.
func (h *hub) publish(e Event, s Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Audience = h.audience
	if e != nil {
		h.history.add(e)
	}
	h.history.status(s)
	for m := range h.boxes {
		m.put(e, s)
	}
}

// attend tells every viewer who looks.
func (h *hub) attend(a *Audience) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.audience = a
	s := h.history.delta.Status
	s.Audience = a
	h.history.status(s)
	for m := range h.boxes {
		m.put(nil, s)
	}
}

func (h *hub) subscribe() *Mailbox {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := newMailbox(h.history.history(), h.unsubscribe)
	if h.boxes == nil {
		h.boxes = make(map[*Mailbox]struct{})
	}
	h.boxes[m] = struct{}{}
	return m
}

// watched reports whether there is any viewer.
func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boxes) > 0
}

func (h *hub) unsubscribe(m *Mailbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boxes, m)
}

// liveFeed is the Feed of a running session.
type liveFeed struct {
	session *Session
	*Mailbox
}

func (f *liveFeed) Do(ctx context.Context, c Command) error { return f.session.Do(ctx, c) }
