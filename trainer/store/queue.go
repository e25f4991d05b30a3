package store

import (
	"math"
	"slices"

	"newtop/trainer/event"
)

// queue is the events that wait for the writer, under the Recorder's lock.
type queue struct {
	room    int // bytes that may wait
	items   []item
	bytes   int // of items and of what is being written
	writing int // events of the transaction under way
	lost    int
}

// item is an event that waits.
type item struct {
	seq   int64
	event event.Event
	size  int
}

// put appends. Beyond the queue's bound inner iterations go first, then the oldest of the rest, but for the run's
// opening and its end.
func (q *queue) put(i item) {
	q.items = append(q.items, i)
	q.bytes += i.size
	if q.bytes > q.room {
		q.drop(func(e event.Event) bool { _, inner := e.(event.InnerEvent); return inner })
	}
	if q.bytes > q.room {
		q.drop(func(e event.Event) bool {
			switch e.(type) {
			case event.RunEvent, event.DivergedEvent, event.DoneEvent:
				return false
			}
			return true
		})
	}
}

// drop leaves out the oldest events that may go until three quarters of the bound are left: to go through the queue
// seldom.
func (q *queue) drop(may func(event.Event) bool) {
	q.items = slices.DeleteFunc(q.items, func(i item) bool {
		if q.bytes <= q.room/4*3 || !may(i.event) {
			return false
		}
		q.bytes -= i.size
		q.lost++
		return true
	})
}

// waiting returns how many events are not on the disk yet.
func (q *queue) waiting() int { return len(q.items) + q.writing }

// take hands the oldest events to the writer, as many as make one transaction.
func (q *queue) take() (job work) {
	n := 0
	for n < len(q.items) && n < maxEvents && job.size < maxBatch {
		job.size += q.items[n].size
		n++
	}
	job.next = math.MaxInt64
	if n < len(q.items) {
		job.next = q.items[n].seq
	}
	job.events = append([]item(nil), q.items[:n]...)
	clear(q.items[:n])
	q.items = q.items[n:]
	q.writing = n
	return job
}

// restore puts back what could not be written.
func (q *queue) restore(events []item) {
	q.items = append(events, q.items...)
	q.writing = 0
}

// written counts what the writer had taken as done.
func (q *queue) written(job work) {
	q.writing = 0
	q.bytes -= job.size
	q.lost += job.lost
}

// abandon counts all that waits as lost.
func (q *queue) abandon() (n int) {
	n = q.waiting()
	q.lost += n
	q.items, q.bytes, q.writing = nil, 0, 0
	return n
}

// weight estimates the memory of an event, in bytes.
func weight(e event.Event) int {
	if _, inner := e.(event.InnerEvent); inner {
		return 144
	}
	return 256 + event.Size(e)
}
