package remote

import (
	"slices"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/tui/render"
)

// room is who looks at the run, and what they did to it.
//
//	join, leave, did ──► wake, room for one ──► herald ──► Run.SetAudience ──► every viewer
//
// Whoever comes, goes or acts writes it down and wakes the herald, and never waits for one. The herald tells the run of
// the latest state and then rests, so that a thousand who come in a second are reported in a few words and the last
// word is never lost. close ends the herald.
type room struct {
	run       Run
	allowance render.Budget // of all screens

	mu      sync.Mutex
	viewers []*event.Viewer // in the order in which they joined
	actions []event.Action
	number  int // of the latest action

	wake  chan struct{}
	leave chan struct{} // closed by close
	ended chan struct{} // closed by the herald
}

const (
	maxActions  = 64
	heraldRests = 250 * time.Millisecond
)

// newRoom returns an empty room, of which the run is reported.
func newRoom(run Run) *room {
	r := &room{run: run, wake: make(chan struct{}, 1), leave: make(chan struct{}), ended: make(chan struct{})}
	r.ring()
	routine.Go(r.herald)
	return r
}

// close tells the run the last word and waits for that.
func (r *room) close() {
	close(r.leave)
	<-r.ended
}

func (r *room) herald() {
	defer close(r.ended)
	for last := false; !last; {
		select {
		case <-r.wake:
		case <-r.leave:
			last = true
		}
		r.run.SetAudience(r.audience())
		if last {
			return
		}
		select {
		case <-time.After(heraldRests):
		case <-r.leave:
		}
	}
}

func (r *room) ring() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been woken and has not looked yet
	}
}

// audience is the latest state.
func (r *room) audience() *event.Audience {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &event.Audience{Viewers: make([]event.Viewer, len(r.viewers)), Actions: slices.Clone(r.actions)}
	for i, v := range r.viewers {
		a.Viewers[i] = *v
	}
	return a
}

// join adds a viewer until leave is called.
func (r *room) join(v event.Viewer) (leave func()) {
	here := &v
	r.mu.Lock()
	r.viewers = append(r.viewers, here)
	r.mu.Unlock()
	r.ring()
	return func() {
		r.mu.Lock()
		r.viewers = slices.DeleteFunc(r.viewers, func(v *event.Viewer) bool { return v == here })
		r.mu.Unlock()
		r.ring()
	}
}

// did notes a action, which gets its number and time here.
func (r *room) did(d event.Action) {
	r.mu.Lock()
	r.number++
	d.Number, d.At = r.number, time.Now()
	if len(r.actions) == maxActions {
		r.actions = slices.Delete(r.actions, 0, 1)
	}
	r.actions = append(r.actions, d)
	r.mu.Unlock()
	r.ring()
}
