package stream

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs/images"
	"newtop/trainer/logs/shape"
)

// ErrNone says that no event is there yet, but that there may be one later.
var ErrNone = errors.New("stream: nothing yet")

// ErrRestart says that the events so far are void and that the source begins again: a file was replaced, or another
// process continued with a run from a checkpoint. The next call of Next returns the first event of what is there now.
var ErrRestart = errors.New("stream: the source begins anew")

// Source gives a run's events in order. One goroutine uses it; its methods return at once when the context ends.
//
// A source may also have the methods of the functions below, which are asked after a Next that returned an error,
// ErrNone included, and return one line or nothing. One that passes another's events on has Unwrap() Source instead.
type Source interface {
	// Next returns the next event. It returns io.EOF when no more will ever come, ErrNone when none is there
	// yet, and ErrRestart when what was given so far is void. Any other error ends the stream; it names file and
	// line or offset where what is there is not an event.
	Next(ctx context.Context) (event.Event, error)
	// Wait returns when there may be more, or the context has ended.
	Wait(ctx context.Context) error
	// Read reports how much of what there is has been read, from 0 to 1, or 0 where that is unknown.
	Read() float64
	// Name says what it is read from.
	Name() string
	Close() error
}

// beneath returns the source, or the one that it passes on, that has some methods.
func beneath[T any](s Source) (t T, ok bool) {
	for s != nil {
		if t, ok = s.(T); ok {
			break
		}
		over, wraps := s.(interface{ Unwrap() Source })
		if !wraps {
			break
		}
		s = over.Unwrap()
	}
	return t, ok
}

// Images is what a source's log has of images, nil where its kind has none.
func Images(s Source) *images.List {
	if of, ok := beneath[interface{ gallery() *images.List }](s); ok {
		return of.gallery()
	}
	return nil
}

// Final tells a source that nobody waits for more, so that a last line that is still being written is taken as it is.
func Final(s Source) { told(s, func(f interface{ Final() }) bool { f.Final(); return true }) }

// Configure says how a source reads text, before its first Next. It reports whether the source reads any.
func Configure(s Source, o shape.Options) bool {
	return told(s, func(c interface{ configure(shape.Options) }) bool { c.configure(o); return true })
}

// Lend has a source of lines give epochs to a function, which keeps nothing of them: Next calls it where it would
// return an epoch, though it may return some. Other sources return all.
func Lend(s Source, take func(*event.EpochEvent)) {
	told(s, func(l interface{ lend(func(*event.EpochEvent)) }) bool { l.lend(take); return true })
}

// Explain says how a source read text that was configured to keep it; nil: it reads none.
func Explain(s Source) *shape.Explanation { return told(s, explainer.explain) }

// told is what the source that has the method tells by it, zero where none has.
func told[T, R any](s Source, tell func(T) R) (r R) {
	if t, ok := beneath[T](s); ok {
		r = tell(t)
	}
	return r
}

// Running reports whether a source is a program from which more may come.
func Running(s Source) bool { return told(s, runs.Running) }

// Written is when the source was last written, zero where that is unknown.
func Written(s Source) time.Time { return told(s, dated.Written) }

// Stale says why nothing more may come, as that the writer is gone.
func Stale(s Source) string { return told(s, staler.Stale) }

// Warning says what could not be read and was passed over.
func Warning(s Source) string { return told(s, warner.Warning) }

// Waiting says why nothing can be read for now.
func Waiting(s Source) string { return told(s, waiter.Waiting) }

type (
	runs      interface{ Running() bool }
	fresh     interface{ Live() bool }
	dated     interface{ Written() time.Time }
	staler    interface{ Stale() string }
	warner    interface{ Warning() string }
	waiter    interface{ Waiting() string }
	explainer interface{ explain() *shape.Explanation }
)

// Beside is what a program is started with beside its arguments.
type Beside struct {
	Env     func(environ []string) []string // adds to an environment; nil: nothing
	Lines   io.ReadCloser                   // lines about the program, which are read with its own; nil: none
	Dir     string                          // where it runs; empty: where this program does
	Console io.Writer                       // gets what it prints as it comes; nil: nobody does
}

// ProgramName is how the run of a program is called: by its script, where an interpreter runs it.
func ProgramName(args []string) string {
	for _, a := range args[1:] {
		if ext := filepath.Ext(a); ext == ".py" || ext == ".sh" || ext == ".jl" || ext == ".R" {
			return filepath.Base(a)
		}
	}
	return filepath.Base(args[0])
}

// ReadAll gives a function all that a source has now.
func ReadAll(ctx context.Context, source Source, take func(event.Event) error, restart func()) error {
	for again := true; ; {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			if err := take(e); err != nil {
				return err
			}
		case errors.Is(err, ErrRestart):
			restart()
		case errors.Is(err, ErrNone) && again: // a pipe may have more, and a step may be held back for a moment
			again = false
			Final(source)
			if source.Read() == 1 {
				continue
			}
			wait, cancel := context.WithTimeout(ctx, Moment)
			_ = source.Wait(wait)
			cancel()
		case errors.Is(err, ErrNone), errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// Moment is how long whoever wants only what is there now waits for more.
const Moment = 100 * time.Millisecond

// quietSince is when something was last written, if that is more than a minute ago, else the zero time.
func quietSince(last time.Time) time.Time {
	if time.Since(last) < time.Minute {
		return time.Time{}
	}
	return last
}

// complete reports whether the log of another program is quiet at the end of the length that it names, counted from 0
// or from 1. Nobody says so: more may come, as an evaluation, and then it is not complete for a while.
func complete(run *event.RunEvent, first, last int, quiet time.Time) bool {
	return !quiet.IsZero() && run != nil && run.External() && run.Epochs > 0 &&
		(last >= run.Epochs || first == 0 && last == run.Epochs-1)
}

// moment writes a time, with its day if that is not today's or last night's.
func moment(t time.Time) string {
	if time.Since(t) < 20*time.Hour {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
