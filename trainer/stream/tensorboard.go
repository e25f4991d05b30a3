package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/images"
)

// TensorBoard returns a source of the scalars in a directory's event files, and of the quantiles of their histograms
// and the hyperparameters, which is followed as they grow and as files come. The directory may be one run's, with parts
// of it in directories below, as Keras makes them for train and validation; or hold several runs, of which the one is
// shown whose newest event file was begun last. When another run begins, the source begins again with that.
//
// A step becomes an epoch, its tags known figures of one where their names say so, and the rest Figures; the time of
// writing since the first becomes the elapsed seconds. A step is given when all the tags of the one before have
// come, when a later step comes, or when nothing more came for two seconds, or longer where values of the steps before
// took longer. A value of an earlier step is told late, with its own step. Where the steps of the tag that is furthest
// begin again lower, the run went back to an earlier epoch, and from the first one it is a new run.
func TensorBoard(dir files.Path) (Source, error) {
	found, err := findRun(dir)
	if err != nil {
		return nil, err
	}
	b := &board{dir: dir}
	b.watcher = newWatcher(dir)
	b.start(found)
	return b, nil
}

const (
	// stepTimeout is after what time without new values a step is taken for complete, or where steps before took
	// longer half as long again as they, but longest at most.
	stepTimeout = 2 * time.Second
	longest     = time.Minute
	// rescan is how often directories are listed where nothing tells that a file has come, and rescanSoon how often
	// where something does.
	rescan     = 10 * time.Second
	rescanSoon = time.Second / 2
	// maxCurves is how many tags are shown.
	maxCurves = 1000
)

// board reads the event files of one run, always the value that was written first, and joins the values of a step.
type board struct {
	dir     files.Path
	run     foundRun
	watcher *watcher
	scanned time.Time // when directories were listed
	polled  bool      // whether there may be more in the files, since the last ErrNone
	files   []*eventFile
	stepAssembler
	warning string
	dead    error // of a file that is none
	final   bool  // nobody waits for more

	sessions   []tfevents.Session // that were read, until tell
	histograms map[string]bool    // tags that have their curves
}

func (b *board) start(run foundRun) {
	b.closeFiles()
	if run.dir != b.run.dir {
		b.warning = ""
	}
	b.run, b.scanned = run, time.Now()
	b.stepAssembler = newStepAssembler(NameOf(run.dir.Full()))
	b.Info(settingsBeside(run.dir))
	b.polled, b.dead = false, nil
	b.sessions, b.histograms = nil, make(map[string]bool)
	b.open(run)
}

// open opens the files of the run that are not open yet.
func (b *board) open(run foundRun) {
	have := make(map[files.Path]bool)
	for _, f := range b.files {
		have[f.path] = true
	}
	for _, path := range run.files {
		if have[path] {
			continue
		}
		f, err := path.Open()
		if err != nil {
			b.warn(err)
			continue
		}
		b.files = append(b.files, b.newEventFile(path, prefixOf(run.dir, path.Dir()), f))
		b.watcher.add(path.Dir())
	}
	for _, dir := range run.watch {
		b.watcher.add(dir)
	}
}

// lost reports whether a file that is open is no longer there.
func (b *board) lost(found foundRun) bool {
	return slices.ContainsFunc(b.files, func(f *eventFile) bool { return !slices.Contains(found.files, f.path) })
}

func (b *board) warn(err error) { b.warning = err.Error() }

// Next gives what is joined, and reads on where that is not enough.
func (b *board) Next(ctx context.Context) (event.Event, error) {
	if !b.polled {
		restart, err := b.poll()
		if err != nil || restart {
			if err == nil {
				err = ErrRestart
			}
			return nil, err
		}
		b.polled = true
	}
	for n := 0; ; n++ {
		if e := b.next(); e != nil {
			return e, nil
		}
		if n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f := b.earliest()
		if f == nil || math.IsNaN(b.first) {
			b.report(f == nil)
		}
		if f != nil {
			f.some = false
			b.joinNext(f)
			continue
		}
		if b.idle() || b.waiting() > 0 {
			continue
		}
		b.polled = false
		if b.dead != nil && b.given == 0 {
			return nil, b.dead
		}
		return nil, ErrNone
	}
}

// idle takes the step under way for complete if nothing has come for some time. It reports whether there is an event.
func (b *board) idle() bool {
	b.caughtUp = true
	if !b.final && !b.complete() && time.Since(b.Written()) < b.patience() {
		return false
	}
	b.flush()
	return len(b.queue) > b.head
}

// Written is when something was last written.
func (b *board) Written() (last time.Time) {
	for _, f := range b.files {
		if !f.over {
			last = files.Later(last, f.wrote)
		}
	}
	return last
}

// earliest returns the file with the value that was written first, or nil if there is no value.
func (b *board) earliest() (first *eventFile) {
	for _, f := range b.files {
		if !f.some && !f.over {
			b.fill(f)
		}
		if f.some && (first == nil || f.value.Wall < first.value.Wall) {
			first = f
		}
	}
	return first
}

func (b *board) fill(f *eventFile) {
	value, err := f.next()
	switch {
	case err == nil:
		f.value, f.some = value, true
		if math.IsNaN(value.Wall) || math.IsInf(value.Wall, 0) {
			f.value.Wall = b.wall
		}
	case !errors.Is(err, io.EOF):
		f.over, b.dead = true, err
		b.warn(err)
	}
}

// poll sees whether files have come or grown. It reports true when all must be read from the beginning.
func (b *board) poll() (restart bool, err error) {
	if age := time.Since(b.scanned); age > rescan || b.watcher.names && age > rescanSoon {
		b.watcher.names, b.scanned = false, time.Now()
		found, err := findRun(b.dir)
		switch {
		case err != nil: // what was read stays
		case found.dir != b.run.dir:
			b.start(found)
			return true, nil
		case b.lost(found):
			b.start(found)
			return true, nil
		default:
			b.open(found)
		}
	}
	for _, f := range b.files {
		info, err := f.f.Stat()
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.path, err)
		}
		if info.Size() < f.size {
			b.start(b.run)
			return true, nil
		}
		f.size, f.wrote = info.Size(), info.ModTime()
	}
	return false, nil
}

func (b *board) Wait(ctx context.Context) error { return b.watcher.wait(ctx, 0) }

// Read returns the share of the files that has been used.
func (b *board) Read() float64 {
	var used, size int64
	idle := true
	for _, f := range b.files {
		used += f.r.Offset()
		size += f.size
		idle = idle && !f.some
	}
	if used >= size || !b.polled && idle { // the end of a file may be half a record
		return 1
	}
	return float64(used) / float64(size)
}

func (b *board) gallery() *images.List { return b.rows.images }

// image adds an image, which may come before all values.
func (b *board) image(i logs.Image, wall float64) {
	if math.IsNaN(b.first) {
		b.rows.began = true
		b.startRun(wall)
	}
	b.rows.images.Add(i)
}

// Final says that nobody waits for more.
func (b *board) Final() { b.final = true }

// Name is the run's directory.
func (b *board) Name() string { return b.run.dir.Name }

// Stale says that nothing has been written for some time, or that nothing more can be read.
func (b *board) Stale() string {
	last := b.Written()
	if last.IsZero() {
		return "no event file of it can be read any further"
	}
	return untouched(last)
}

// Warning says what could not be read.
func (b *board) Warning() string {
	return cmp.Or(b.warning, b.leftOut(b.run.dir.Name))
}

func (b *board) closeFiles() {
	for _, f := range b.files {
		f.f.Close()
	}
	b.files = nil
}

func (b *board) Close() error {
	b.closeFiles()
	b.watcher.close()
	return nil
}
