package checkpoint

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Recorder is a reader that loses nothing. Record is called for every event in order, by one goroutine
// that is not the trainer's. An error ends the run; a recorder for which a run should continue deals with
// its errors itself. Flush is called after the last event, and must come back by itself, from a broken disk too:
// even a cancelled run waits for it, as it may still be saving what there is.
type Recorder interface {
	Record(event.Event) error
	Flush() error
}

// recordBacklog is how many events a recorder may be behind before the trainer waits for it.
const recordBacklog = 4096

// RecordGrace is how long a cancelled run waits for a recorder to take its last event: a reader that hangs must not
// keep a program alive that was told to end.
const RecordGrace = 2 * time.Second

// Recording feeds one Recorder from a queue of its own.
//
// The session's goroutine sends to queue and closes it after the last event; the goroutine that start
// makes receives until then, closes last, flushes and closes done. After a failed Record it continues receiving, so
// that the session never hangs, and keeps the first error. A panic of the recorder is an error too.
type Recording struct {
	queue   chan Entry
	last    chan struct{}
	done    chan struct{}
	Keeper  Keeper // the Recorder, if it keeps checkpoints
	Offered bool   // whether it was handed a checkpoint of the run as it is now
	Behind  int    // events that were handed over since the checkpointer held the run
	dropped int    // entries that a cancelled run could not hand over
	mu      sync.Mutex
	err     error
}

// Entry is an event, or a checkpoint whose fingerprint is still to come.
type Entry struct {
	Event       event.Event
	Checkpoint  *Checkpoint
	Fingerprint *objective.Fingerprint
}

// StartRecording starts the queue of a recorder.
func StartRecording(r Recorder) *Recording {
	rec := &Recording{queue: make(chan Entry, recordBacklog), last: make(chan struct{}), done: make(chan struct{})}
	rec.Keeper, _ = r.(Keeper)
	routine.Go(func() {
		defer close(rec.done)
		for e := range rec.queue {
			if rec.FirstError() == nil {
				rec.fail(GuardPanics(func() error {
					if e.Checkpoint != nil {
						return rec.keep(e)
					}
					return r.Record(e.Event)
				}))
			}
		}
		close(rec.last)
		if rec.FirstError() == nil {
			rec.fail(GuardPanics(r.Flush))
		}
	})
	return rec
}

// keep hands a checkpoint on once its fingerprint is known. It is the recorder's own: others have others.
func (r *Recording) keep(e Entry) error {
	c := *e.Checkpoint
	if c.Fingerprint = e.Fingerprint.Wait(); c.Fingerprint == "" {
		return nil // the run was cancelled, and did not wait for this
	}
	return r.Keeper.Keep(&c)
}

// PanicError is a panic that was caught on a goroutine of the session's, so that the program can put
// its terminal in order before it reports the bug.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack) }

// GuardPanics calls f and turns a panic into a *PanicError.
func GuardPanics(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return objective.CatchFailure(f)
}

// Enqueue hands an entry over and waits while the recorder is too far behind, but not past the end of ctx.
func (r *Recording) Enqueue(ctx context.Context, e Entry) {
	select {
	case r.queue <- e:
	default:
		select {
		case r.queue <- e:
		case <-ctx.Done():
			r.dropped++
			return
		}
	}
	if e.Event != nil {
		r.Behind++
	}
}

func (r *Recording) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// FirstError returns the first error of the recorder, as far as it is known.
func (r *Recording) FirstError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Finish waits until everything was recorded, for the last event to be taken no longer than RecordGrace after the end
// of ctx.
func (r *Recording) Finish(ctx context.Context) error {
	close(r.queue)
	select {
	case <-r.last:
	case <-ctx.Done():
		select {
		case <-r.last:
		case <-time.After(RecordGrace):
			return fmt.Errorf("the reader of the events does not read: %d of the last events were not recorded",
				r.dropped+len(r.queue)+1)
		}
	}
	<-r.done
	return r.FirstError()
}

// JSONLines records events as one JSON object a line.
type JSONLines struct {
	w io.Writer
}

// NewJSONLines returns a Recorder that writes each event at once, so that a reader behind a pipe sees
// it live.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{w: w} }

// Record writes the event's line.
func (j *JSONLines) Record(e event.Event) error {
	line, err := event.EncodeEvent(e)
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
