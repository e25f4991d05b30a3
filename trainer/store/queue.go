package store

import (
	"database/sql"
	"encoding/json"
	"math"
	"time"

	"newtop/trainer/event"
)

// put appends to the queue. Beyond its bound inner iterations go first, then the oldest of the rest, but for the
// run's opening and its end.
func (r *Recorder) put(i item) {
	r.queue = append(r.queue, i)
	r.bytes += i.size
	if r.bytes > r.limits.room {
		r.drop(func(e event.Event) bool { _, inner := e.(event.InnerEvent); return inner })
	}
	if r.bytes > r.limits.room {
		r.drop(func(e event.Event) bool {
			switch e.(type) {
			case event.RunEvent, event.DivergedEvent, event.DoneEvent:
				return false
			}
			return true
		})
	}
	r.nudge()
}

// drop leaves out the oldest events that may go until three quarters of the bound are left: to go through the queue
// seldom.
func (r *Recorder) drop(may func(event.Event) bool) {
	kept := r.queue[:0]
	for _, i := range r.queue {
		if r.bytes > r.limits.room/4*3 && may(i.event) {
			r.bytes -= i.size
			r.lost++
			continue
		}
		kept = append(kept, i)
	}
	clear(r.queue[len(kept):])
	r.queue = kept
}

// nudge tells the writer that there is something to do.
func (r *Recorder) nudge() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been told
	}
}

// weight estimates the memory of an event, in bytes.
func weight(e event.Event) int {
	const (
		head  = 64
		float = 8
	)
	switch e := e.(type) {
	case event.InnerEvent:
		return 144
	case event.EpochEvent:
		return head + weighEpoch(&e)
	case event.LapEvent:
		return head + weighEpoch(&e.Lap)
	case event.SpectrumEvent:
		n := len(e.Eigenvalues) + len(e.Residuals)
		if e.Density != nil {
			n += 3 * len(e.Density.Grid)
		}
		return 4*head + float*n
	case event.WeightsEvent:
		return 2*head + float*len(e.Values)
	case event.SliceEvent:
		return 2*head + 4*float*len(e.At)
	case event.ErrorsEvent:
		n := len(e.Confusion) * len(e.Confusion)
		for _, out := range e.Residuals {
			n += len(out)
		}
		for _, w := range e.Worst {
			n += 16 + len(w.Inputs)
		}
		return 4*head + float*n
	}
	return 16 * head
}

func weighEpoch(e *event.EpochEvent) int {
	size := 320 + 48*len(e.Blocks) + 64*len(e.Figures) + 64*len(e.Members) + 32*len(e.Gates)
	for i := range e.Inner {
		size += 128 + 8*len(e.Inner[i].Ritz)
	}
	return size
}

// take hands the oldest events to the writer, as many as make one transaction, and reports whether nothing will follow
// those that wait.
func (r *Recorder) take() (job work, closing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, size := 0, 0
	for n < len(r.queue) && n < maxEvents && size < maxBatch {
		size += r.queue[n].size
		n++
	}
	job.size, job.next = size, math.MaxInt64
	if n < len(r.queue) {
		job.next = r.queue[n].seq
	}
	job.events = append([]item(nil), r.queue[:n]...)
	clear(r.queue[:n])
	r.queue = r.queue[n:]
	r.writing = n
	return job, r.closing && r.kept.pending == nil
}

// restore puts back what could not be written.
func (r *Recorder) restore(events []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(events, r.queue...)
	r.writing = 0
}

// written counts what the writer had taken as done.
func (r *Recorder) written(job work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = 0
	r.bytes -= job.size
	r.lost += job.lost
	r.commits++
}

// ending reports whether the recorder is flushed, and since when.
func (r *Recorder) ending() (since time.Time, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed, r.closing
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// described returns how the run came about, and its configuration as JSON; null for one to be left as it is.
func (r *Recorder) described() (About, sql.NullString, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resumed && !r.configured {
		return r.about, sql.NullString{}, nil
	}
	text, err := json.Marshal(&r.about.Config)
	return r.about, sql.NullString{String: string(text), Valid: true}, err
}

func (r *Recorder) setName(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = name
}
