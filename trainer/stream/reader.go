package stream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/images"
)

// Reading returns a source of a log that is not lines. Close closes the reader.
func Reading(r logs.Reader, path files.Path) Source {
	s := &reading{reader: r, name: path.Name}
	paths := r.Watch()
	if len(paths) == 0 {
		paths = []files.Path{path}
	}
	s.watcher = newWatcher(paths[0])
	s.watcher.only = ""
	s.watched = map[files.Path]bool{paths[0]: true}
	s.reset()
	return s
}

// reading has a reader give its rows to an assembler.
type reading struct {
	stepAssembler
	reader  logs.Reader
	name    string
	watcher *watcher
	watched map[files.Path]bool
	final   bool // nobody waits for more
	drained bool // whether there may be nothing more, since the last ErrNone
	came    time.Time
	over    error
}

func (s *reading) reset() {
	s.stepAssembler = newStepAssembler(NameOf(s.name))
}

func (s *reading) Next(ctx context.Context) (event.Event, error) {
	for {
		if e := s.next(); e != nil {
			return e, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.over != nil {
			return nil, s.over
		}
		if s.drained {
			s.drained = false
			return nil, ErrNone
		}
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
}

// read asks the reader, and gives a step under way for which nothing more has come.
func (s *reading) read(ctx context.Context) error {
	open, before := s.open, s.waiting()
	more, err := s.reader.Read(ctx, s)
	switch {
	case errors.Is(err, logs.ErrRestart):
		s.reset()
		return ErrRestart
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		s.catchUp()
		s.flush()
		s.over = io.EOF
		return nil
	case err != nil:
		return err
	case more:
		return nil
	}
	s.catchUp()
	if s.waiting() > before || s.open != open {
		s.came = time.Now()
	}
	if s.final || s.complete() || time.Since(s.came) >= rowPatience {
		s.flush()
	}
	s.drained = true
	return nil
}

var _ logs.Gallery = (*reading)(nil)

// Image adds an image.
func (s *reading) Image(i logs.Image) {
	s.ensureRun(nil)
	s.rows.images.Add(i)
}

func (s *reading) gallery() *images.List { return s.rows.images }

func (s *reading) Wait(ctx context.Context) error {
	for _, path := range s.reader.Watch() {
		if !s.watched[path] {
			s.watched[path] = true
			if !path.IsDir() {
				path = path.Dir()
			}
			s.watcher.add(path)
		}
	}
	due := time.Duration(0)
	if s.open {
		due = rowPatience
	}
	return s.watcher.wait(ctx, due)
}

func (s *reading) Read() float64 { return s.reader.Progress() }

func (s *reading) Name() string { return s.name }

// Final says that nobody waits for more.
func (s *reading) Final() { s.final = true }

// Written is when the log was written last, zero if it is gone.
func (s *reading) Written() (last time.Time) {
	for _, path := range s.reader.Watch() {
		last = files.Later(last, path.Written())
	}
	return last
}

// Stale says that nothing has been written for some time.
func (s *reading) Stale() string {
	last := s.Written()
	if last.IsZero() {
		return "the log is gone"
	}
	return untouched(last)
}

// Warning says what could not be read.
func (s *reading) Warning() string {
	return cmp.Or(s.reader.Warning(), s.leftOut(s.name))
}

func (s *reading) Close() error {
	s.watcher.close()
	return s.reader.Close()
}
