package trainer

import (
	"fmt"
	"io"
	"sync"
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

// recording feeds one Recorder from a queue of its own.
//
// The session's goroutine sends to queue and closes it after the last event; the goroutine that start
// makes receives until then, flushes and closes done. After a failed Record it goes on receiving, so
// that the session never hangs, and keeps the first error.
type recording struct {
	queue chan Event
	done  chan struct{}
	mu    sync.Mutex
	err   error
}

func startRecording(r Recorder) *recording {
	rec := &recording{queue: make(chan Event, recordBacklog), done: make(chan struct{})}
	go func() {
		defer close(rec.done)
		for e := range rec.queue {
			if rec.failure() == nil {
				rec.fail(r.Record(e))
			}
		}
		if rec.failure() == nil {
			rec.fail(r.Flush())
		}
	}()
	return rec
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

// finish waits until everything was recorded.
func (r *recording) finish() error {
	close(r.queue)
	<-r.done
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
