package feed

import (
	"sync"

	"newtop/trainer/event"
)

// Broadcaster keeps the history of a run and its mailboxes.
type Broadcaster struct {
	mu       sync.Mutex
	History  deltaBuffer
	passing  bool // the history is not kept, for viewers who see all of it
	boxes    map[*Mailbox]struct{}
	audience *event.Audience
}

// Publish sends an event, or with nil the status alone, to every viewer. It never waits for one.
func (h *Broadcaster) Publish(e event.Event, s event.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Audience = h.audience
	if e != nil {
		h.History.add(e)
	}
	h.History.status(s)
	for m := range h.boxes {
		m.deliver(e, s)
	}
}

// SetAudience tells every viewer who looks.
func (h *Broadcaster) SetAudience(a *event.Audience) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.audience = a
	s := h.History.Delta.Status
	s.Audience = a
	h.History.status(s)
	for m := range h.boxes {
		m.deliver(nil, s)
	}
}

// Subscribe returns a mailbox that begins with the history so far.
func (h *Broadcaster) Subscribe() *Mailbox {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := newMailbox(h.History.clone(), h.unsubscribe)
	if h.boxes == nil {
		h.boxes = make(map[*Mailbox]struct{})
	}
	h.boxes[m] = struct{}{}
	return m
}

// Watched reports whether there is any viewer.
func (h *Broadcaster) Watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boxes) > 0
}

func (h *Broadcaster) unsubscribe(m *Mailbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boxes, m)
}

// PublishAll sends events and the status after them to every viewer at once.
func (h *Broadcaster) PublishAll(events []event.Event, s event.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.passing {
		h.History.status(s)
	} else {
		h.History.extend(events, s)
	}
	for m := range h.boxes {
		m.mu.Lock()
		m.back.extend(events, s)
		m.mu.Unlock()
		m.wakeViewer()
	}
}

// Restart makes what was published void. The events are gathered and downsampled once; each viewer gets its copy when
// it takes it.
func (h *Broadcaster) Restart(events []event.Event, s event.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.History = deltaBuffer{Delta: Delta{Restart: true}}
	h.History.extend(events, s)
	all := h.History.clone()
	for m := range h.boxes {
		m.mu.Lock()
		m.back = &deltaBuffer{shared: all, filled: true, Delta: Delta{Status: s}}
		m.mu.Unlock()
		m.wakeViewer()
	}
	h.History.Delta.Restart = false // one who joins later has seen nothing else
	if h.passing {
		h.History = deltaBuffer{Delta: Delta{Status: s}}
	}
}

// Append publishes an event with the status as it is.
func (h *Broadcaster) Append(e event.Event) {
	h.mu.Lock()
	s := h.History.Delta.Status
	h.mu.Unlock()
	h.Publish(e, s)
}
