package trainer

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"
)

// Recorder is a reader that loses nothing. Record is called for every event in order, by one goroutine
// that is not the trainer's. An error ends the run; a recorder for which a run should go on deals with
// its errors itself. Flush is called after the last event.
type Recorder interface {
	Record(Event) error
	Flush() error
}

// recordBacklog is how many events a recorder may be behind before the trainer waits for it.
const recordBacklog = 4096

// recordGrace is how long a cancelled run waits for a recorder that does not come on: a reader that
// hangs must not keep a program alive that was told to end.
const recordGrace = 2 * time.Second

// recording feeds one Recorder from a queue of its own.
//
// The session's goroutine sends to queue and closes it after the last event; the goroutine that start
// makes receives until then, flushes and closes done. After a failed Record it goes on receiving, so
// that the session never hangs, and keeps the first error. A panic of the recorder is an error too.
type recording struct {
	queue chan Event
	done  chan struct{}
	lost  int // events that a cancelled run could not hand over
	mu    sync.Mutex
	err   error
}

func startRecording(r Recorder) *recording {
	rec := &recording{queue: make(chan Event, recordBacklog), done: make(chan struct{})}
	go func() {
		defer close(rec.done)
		for e := range rec.queue {
			if rec.failure() == nil {
				rec.fail(guard(func() error { return r.Record(e) }))
			}
		}
		if rec.failure() == nil {
			rec.fail(guard(r.Flush))
		}
	}()
	return rec
}

// PanicError is a panic that was caught on a goroutine of the session's, so that the program can put
// its terminal in order before it reports the bug.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack) }

// guard calls f and turns a panic into a *PanicError.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// put hands an event over and waits while the recorder is too far behind, but not past the end of ctx.
func (r *recording) put(ctx context.Context, e Event) {
	select {
	case r.queue <- e:
		return
	default:
	}
	select {
	case r.queue <- e:
	case <-ctx.Done():
		r.lost++
	}
}

func (r *recording) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *recording) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// finish waits until everything was recorded, after the end of ctx for recordGrace at most.
func (r *recording) finish(ctx context.Context) error {
	close(r.queue)
	select {
	case <-r.done:
	case <-ctx.Done():
		select {
		case <-r.done:
		case <-time.After(recordGrace):
			return fmt.Errorf("the reader of the events does not read: %d of the last events were not recorded", r.lost+len(r.queue)+1)
		}
	}
	return r.failure()
}

// JSONLines records events as one JSON object a line.
type JSONLines struct {
	w io.Writer
}

// NewJSONLines returns a Recorder that writes each event at once, so that a reader behind a pipe sees
// it live.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{w: w} }

// Record writes the event's line.
func (j *JSONLines) Record(e Event) error {
	line, err := EncodeEvent(e)
	if err != nil {
		return err
	}
	if _, err := j.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing events: %w", err)
	}
	return nil
}

// Flush does nothing: every line was written.
func (j *JSONLines) Flush() error { return nil }
