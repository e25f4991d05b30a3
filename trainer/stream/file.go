package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/plain"
)

// Quiet is how long nothing was written to a file that is then said to be no longer written: longer than most epochs.
const Quiet = 30 * time.Minute

// patience is how long a program may continue to write other things than events before its first one, or leave away a
// file that it is about to begin again.
const patience = 5 * time.Second

// File returns a source of a file of lines, which is followed as it grows. It begins again, with ErrRestart, when the
// file was cut short, written over or replaced by another. See Lines for what they may be. What begins as no text, and
// what has no numbers when nobody waits for more or nothing was written for long, gives a *LineError. Otherwise it
// never ends: not for what is written into it, and not while it is gone, can't be read, or something else stands in its
// place, which its method Waiting says. What is at the path but is not a regular file, as a named pipe, is read as
// Lines reads it.
func File(path files.Path) (Source, error) {
	if info, err := path.Stat(); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return Lines(&named{path: path}, path.Name), nil
	}
	f, err := path.Open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path.Name, Err: errDirectory}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return Lines(f, path.Name), nil
	}
	s := &file{lines: newLines(path.Name), path: path, f: f, info: info, watcher: newWatcher(path)}
	s.lenient = true
	s.decoder.Info(settingsBeside(path.Dir()))
	return s, nil
}

var errDirectory = errors.New("it is a directory: expected a file")

// file is a file that may grow. Only what its watcher says makes it look again.
type file struct {
	lines
	path         files.Path
	f            files.File
	info         fs.FileInfo
	packed       io.Reader         // of what a packed file holds; nil: it is not packed
	raw          *io.SectionReader // beneath that
	damage       string            // why no more of that can be read
	offset       int64             // what has been read
	last         []byte            // the last bytes that were read, which are there unless the file was written over
	missingSince time.Time         // since when there is no file at the path; zero: there is one
	trouble      string            // why nothing can be read for now
	begun        bool              // all that was there has been read once
	checked      bool              // whether the file is known to be the same since the last ErrNone
	usedUnended  bool              // the last line was used without an end
	torn         bool              // that was wrong once: it is not done again
	final        bool              // nobody waits for more
	watcher      *watcher
}

// tailBytes is how many of the last bytes are compared to notice that a file was written over.
const tailBytes = 64

func (s *file) Next(ctx context.Context) (event.Event, error) {
	if !s.checked { // before more is read, for that may be of another file
		if s.replaced() {
			return nil, ErrRestart
		}
		s.checked = true
	}
	for {
		e, err := s.next()
		if e != nil {
			return e, nil
		}
		if err != nil {
			if !s.begun || s.final {
				return nil, err
			}
			s.pass(err)
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		room := s.room()
		n, err := s.read(room)
		if err != nil && err != io.EOF {
			err = fmt.Errorf("%s: byte %d: %w", s.path, s.offset, err)
			if !s.begun || s.final {
				return nil, err
			}
			s.trouble, s.checked = err.Error(), false
			return nil, ErrNone
		}
		if n > 0 && s.usedUnended && room[0] != '\n' && room[0] != '\r' {
			s.reset()
			s.torn = true
			return nil, ErrRestart
		}
		if n > 0 {
			s.usedUnended = false
			s.grow(n)
			if written := s.info.ModTime(); written.Before(s.fed) {
				s.fed = written
			}
			if s.packed == nil {
				s.offset += int64(n)
				s.remember(room[:n])
			}
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
			if e := s.idle(); e != nil {
				return e, nil
			}
		}
		// What comes from now on is read when it is written, once what was there is given.
		if s.decoder.rows.clock == nil && time.Since(s.fed) >= rowPatience {
			s.timed()
		}
		s.checked = false
		if s.number > 0 && !s.decoder.metrics() && (s.final || !s.begun && time.Since(s.info.ModTime()) > Quiet) {
			return nil, s.noNumbers()
		}
		s.begun = true
		return nil, ErrNone
	}
}

// read reads on where the last call stopped, in a packed file in what it holds.
func (s *file) read(room []byte) (int, error) {
	if s.offset == 0 && s.packed == nil {
		head := room[:min(len(room), plain.HeadSize)]
		n, _ := s.f.ReadAt(head, 0)
		if err := plain.Refused(head[:n], s.path.Name); err != nil {
			return 0, err
		}
		if plain.Packed(head[:n]) {
			s.raw = io.NewSectionReader(s.f, 0, math.MaxInt64)
			s.packed = plain.Reader(s.raw)
		}
	}
	if s.packed == nil {
		return s.f.ReadAt(room, s.offset)
	}
	n, err := s.packed.Read(room)
	if errors.Is(err, plain.ErrDamaged) {
		s.damage, err = s.path.Name+": "+err.Error(), io.EOF
	}
	return n, err
}

// unended reports whether the last line has come to rest without an end: its writer writes none there. A buffer that
// was full and was written in parts leaves half a line, at a multiple of its size.
func (s *file) unended() bool {
	const buffer = 4096
	return s.rest() > 0 && !s.long && !s.torn && (s.offset%buffer != 0 || s.packed != nil) &&
		(s.final || time.Since(s.info.ModTime()) > patience)
}

// Final says that nobody waits for more.
func (s *file) Final() { s.final, s.lenient, s.fed = true, false, time.Time{} }

// Written is when the file was written last.
func (s *file) Written() time.Time { return s.info.ModTime() }

func (s *file) remember(text []byte) {
	s.last = append(s.last, text[max(0, len(text)-tailBytes):]...)
	s.last = s.last[max(0, len(s.last)-tailBytes):]
}

// replaced reports whether the file must be read from the beginning, or another one in its place. While what is there
// can't be read, what was read stays, and what may still be written to the file as it was is read.
func (s *file) replaced() bool {
	there, err := s.path.Stat()
	s.trouble = ""
	switch {
	case err == nil:
		s.missingSince = time.Time{}
	case !errors.Is(err, fs.ErrNotExist):
		s.trouble = err.Error()
	case s.missingSince.IsZero():
		s.missingSince = time.Now()
	}
	if err == nil && !s.path.In.Same(there, s.info) {
		f, info, err := openRegular(s.path)
		if err == nil {
			s.f.Close()
			s.f, s.info = f, info
			s.reset()
			return true
		}
		s.trouble = err.Error()
	}
	info, err := s.f.Stat()
	if err != nil {
		s.trouble = err.Error()
		return false
	}
	changed := !info.ModTime().Equal(s.info.ModTime())
	if s.packed != nil && (changed || info.Size() != s.info.Size()) { // it is unpacked anew
		s.info = info
		s.reset()
		return true
	}
	s.info = info
	if info.Size() < s.offset || changed && !s.unchanged() {
		s.reset()
		return true
	}
	return false
}

// openRegular opens a regular file, and nothing whose opening may wait.
func openRegular(path files.Path) (files.File, fs.FileInfo, error) {
	info, err := path.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, &fs.PathError{Op: "read", Path: path.Name, Err: errDirectory}
	case !info.Mode().IsRegular():
		return nil, nil, &fs.PathError{Op: "read", Path: path.Name, Err: errors.New("expected a regular file")}
	}
	f, err := path.Open()
	if err == nil {
		if info, err = f.Stat(); err != nil {
			f.Close()
		}
	}
	return f, info, err
}

// Waiting says why nothing can be read for now, or is empty.
func (s *file) Waiting() string {
	switch {
	case s.trouble != "":
		return s.trouble
	case !s.missingSince.IsZero() && time.Since(s.missingSince) > patience:
		return s.path.Name + ": the file is gone, waiting"
	case s.number > 0 && !s.decoder.metrics() && time.Since(s.info.ModTime()) > patience:
		return s.noneYet()
	}
	return ""
}

// Warning says that, or what could not be read.
func (s *file) Warning() string { return cmp.Or(s.Waiting(), s.damage, s.lines.Warning()) }

// unchanged reports whether the last bytes that were read are still there.
func (s *file) unchanged() bool {
	now := make([]byte, len(s.last))
	n, _ := s.f.ReadAt(now, s.offset-int64(len(now)))
	return bytes.Equal(now[:n], s.last)
}

func (s *file) reset() {
	options := s.options
	s.lines = newLines(s.path.Name)
	s.configure(options)
	s.decoder.Info(settingsBeside(s.path.Dir()))
	s.lenient = !s.final
	s.offset, s.last, s.missingSince, s.usedUnended = 0, nil, time.Time{}, false
	s.packed, s.damage = nil, ""
}

func (s *file) Wait(ctx context.Context) error { return s.watcher.wait(ctx, s.due()) }

// Read returns the share of the file that has been used.
func (s *file) Read() float64 {
	size, read := s.info.Size(), s.offset
	if s.packed != nil {
		read, _ = s.raw.Seek(0, io.SeekCurrent)
	}
	if used := read - int64(s.rest()); used < size && read < size {
		return max(0, float64(used)/float64(size))
	}
	return 1
}

func (s *file) Name() string { return s.path.Name }

// Stale says that the file has not been written to for some time.
func (s *file) Stale() string { return untouched(s.info.ModTime()) }

// untouched says when something was last written, if that is long ago.
func untouched(last time.Time) string {
	if time.Since(last) < Quiet {
		return ""
	}
	return "not written since " + moment(last)
}

func (s *file) Close() error {
	s.watcher.close()
	return s.f.Close()
}
