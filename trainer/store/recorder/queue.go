package recorder

import (
	"math"
	"slices"

	"newtop/trainer/event"
)

// queue is the events that wait for the writer, under the Recorder's lock.
type queue struct {
	Room    int // bytes that may wait
	Items   []Item
	Bytes   int // of items and of what is being written
	Writing int // events of the transaction under way
	lost    int
}

// Item is an event that waits.
type Item struct {
	Seq   int64
	Event event.Event
	size  int
}

// append appends. Beyond the queue's bound inner iterations go first, then the oldest of the rest, but for the run's
// opening and its end.
func (q *queue) append(i Item) {
	q.Items = append(q.Items, i)
	q.Bytes += i.size
	if q.Bytes > q.Room {
		q.drop(func(e event.Event) bool { _, inner := e.(event.InnerEvent); return inner })
	}
	if q.Bytes > q.Room {
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
	q.Items = slices.DeleteFunc(q.Items, func(i Item) bool {
		if q.Bytes <= q.Room/4*3 || !may(i.Event) {
			return false
		}
		q.Bytes -= i.size
		q.lost++
		return true
	})
}

// waiting returns how many events are not on the disk yet.
func (q *queue) waiting() int { return len(q.Items) + q.Writing }

// dequeue hands the oldest events to the writer, as many as make one transaction.
func (q *queue) dequeue() (job work) {
	n := 0
	for n < len(q.Items) && n < maxEvents && job.size < maxBatch {
		job.size += q.Items[n].size
		n++
	}
	job.next = math.MaxInt64
	if n < len(q.Items) {
		job.next = q.Items[n].Seq
	}
	job.Events = append([]Item(nil), q.Items[:n]...)
	clear(q.Items[:n])
	q.Items = q.Items[n:]
	q.Writing = n
	return job
}

// restore puts back what could not be written.
func (q *queue) restore(events []Item) {
	q.Items = append(events, q.Items...)
	q.Writing = 0
}

// written counts what the writer had taken as done.
func (q *queue) written(job work) {
	q.Writing = 0
	q.Bytes -= job.size
	q.lost += job.lost
}

// abandon counts all that waits as lost.
func (q *queue) abandon() (n int) {
	n = q.waiting()
	q.lost += n
	q.Items, q.Bytes, q.Writing = nil, 0, 0
	return n
}

// Weight estimates the memory of an event, in bytes.
func Weight(e event.Event) int {
	if _, inner := e.(event.InnerEvent); inner {
		return 144
	}
	return 256 + event.Size(e)
}
