package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"newtop/trainer/event"
)

// quiet is how long nothing was written to a file that is then said to be no longer written: longer than most epochs.
const quiet = 30 * time.Minute

// patience is how long a program may continue to write other things than events before its first one, or leave away a
// file that it is about to begin again.
const patience = 5 * time.Second

// File returns a source of a file of lines, which is followed as it grows. It begins again, with ErrRestart, when
// the file was cut short, written over or replaced by another. See Lines for what they may be. It never
// ends; a file of nothing else, that has not grown for some seconds, gives a *LineError. What is at the path but is not
// a regular file, as a named pipe, is read as Lines reads it.
func File(path string) (Source, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return Lines(&named{path: path}, path), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		why := errors.New("it is a directory: expected a file")
		err = &fs.PathError{Op: "read", Path: path, Err: why}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return Lines(f, path), nil
	}
	s := &file{lines: newLines(path), path: path, f: f, info: info, watcher: newWatcher(path)}
	return s, nil
}

// file is a file that may grow. Only what its watcher says makes it look again.
type file struct {
	lines
	path         string
	f            *os.File
	info         fs.FileInfo
	offset       int64     // what has been read
	last         []byte    // the last bytes that were read, which are there unless the file was written over
	missingSince time.Time // since when there is no file at the path; zero: there is one
	checked      bool      // whether the file is known to be the same since the last ErrNone
	usedUnended  bool      // the last line was used without an end
	torn         bool      // that was wrong once: it is not done again
	final        bool      // nobody waits for more
	watcher      *watcher
}

// tailBytes is how many of the last bytes are compared to notice that a file was written over.
const tailBytes = 64

func (s *file) Next(ctx context.Context) (event.Event, error) {
	if !s.checked { // before more is read, for that may be of another file
		if restart, err := s.replaced(); err != nil || restart {
			if err == nil {
				err = ErrRestart
			}
			return nil, err
		}
		s.checked = true
	}
	for {
		if e, err := s.next(); e != nil || err != nil {
			return e, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		room := s.room()
		n, err := s.f.ReadAt(room, s.offset)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: byte %d: %w", s.path, s.offset, err)
		}
		if n > 0 && s.usedUnended && room[0] != '\n' && room[0] != '\r' {
			s.reset()
			s.torn = true
			return nil, ErrRestart
		}
		if n > 0 {
			s.usedUnended = false
			s.grow(n)
			s.offset += int64(n)
			s.remember(room[:n])
			continue
		}
		if e, err := s.tail(false); e != nil || err != nil {
			return e, err
		}
		if e := s.idle(); e != nil {
			return e, nil
		}
		if s.unended() {
			s.usedUnended = true
			if e, err := s.tail(true); e != nil || err != nil {
				return e, err
			}
		}
		if s.decoder.rows.clock == nil { // what comes from now on is read when it is written
			began := time.Now()
			s.decoder.rows.clock = func() float64 { return time.Since(began).Seconds() }
		}
		s.checked = false
		if s.number > 0 && !s.decoder.metrics() && (s.final || time.Since(s.info.ModTime()) > patience) {
			return nil, s.noNumbers()
		}
		return nil, ErrNone
	}
}

// unended reports whether the last line has come to rest without an end: its writer writes none there. A buffer that
// was full and was written in parts leaves half a line, at a multiple of its size.
func (s *file) unended() bool {
	const buffer = 4096
	return s.rest() > 0 && !s.long && !s.torn && s.offset%buffer != 0 &&
		(s.final || time.Since(s.info.ModTime()) > patience)
}

// Final says that nobody waits for more.
func (s *file) Final() { s.final = true }

func (s *file) remember(text []byte) {
	s.last = append(s.last, text[max(0, len(text)-tailBytes):]...)
	s.last = s.last[max(0, len(s.last)-tailBytes):]
}

// replaced reports whether the file must be read from the beginning, or another one in its place.
func (s *file) replaced() (bool, error) {
	there, err := os.Stat(s.path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		s.missingSince = time.Time{}
	case s.missingSince.IsZero():
		s.missingSince = time.Now()
	}
	if err == nil && !os.SameFile(there, s.info) {
		f, err := os.Open(s.path)
		if err != nil {
			return false, nil // replaced by what can't be read: what was read stays
		}
		s.f.Close()
		s.f = f
		if s.info, err = f.Stat(); err != nil {
			return false, err
		}
		s.reset()
		return true, nil
	}
	info, err := s.f.Stat()
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.path, err)
	}
	changed := !info.ModTime().Equal(s.info.ModTime())
	s.info = info
	if info.Size() < s.offset || changed && !s.unchanged() {
		s.reset()
		return true, nil
	}
	return false, nil
}

// unchanged reports whether the last bytes that were read are still there.
func (s *file) unchanged() bool {
	now := make([]byte, len(s.last))
	n, _ := s.f.ReadAt(now, s.offset-int64(len(now)))
	return bytes.Equal(now[:n], s.last)
}

func (s *file) reset() {
	options := s.options
	s.lines = newLines(s.path)
	s.configure(options)
	s.offset, s.last, s.missingSince, s.usedUnended = 0, nil, time.Time{}, false
}

func (s *file) Wait(ctx context.Context) error { return s.watcher.wait(ctx, s.due()) }

// Read returns the share of the file that has been used.
func (s *file) Read() float64 {
	size := s.info.Size()
	if info, err := s.f.Stat(); err == nil {
		size = info.Size()
	}
	if used := s.offset - int64(s.rest()); used < size && s.offset < size {
		return float64(used) / float64(size)
	}
	return 1
}

func (s *file) Name() string { return s.path }

// Stale says that the file is gone, and not for the moment that it takes to put another in its place; or has not been
// written to for some time.
func (s *file) Stale() string {
	if !s.missingSince.IsZero() && time.Since(s.missingSince) > patience {
		return "the file is gone"
	}
	return untouched(s.info.ModTime())
}

// untouched says when something was last written, if that is long ago.
func untouched(last time.Time) string {
	age := time.Since(last)
	switch {
	case age < quiet:
		return ""
	case age < 20*time.Hour:
		return "not written since " + last.Format("15:04")
	}
	return "not written since " + last.Format("2006-01-02 15:04")
}

func (s *file) Close() error {
	s.watcher.close()
	return s.f.Close()
}
