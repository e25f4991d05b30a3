package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
	"newtop/trainer/logs/folders"
	"newtop/trainer/logs/jsonlog"
	"newtop/trainer/logs/mlflow"
	"newtop/trainer/logs/plain"
	"newtop/trainer/logs/shape"
	"newtop/trainer/logs/trackio"
	"newtop/trainer/logs/wandb"
)

// headSize is how much of a file is looked at to find out what it is.
const headSize = 64 << 10

// Open returns a source of whatever a training program has written at a path. A directory is searched, and waited for
// as long as there is nothing in it. run says which of the runs that a log holds, by name or ID; empty: the newest.
func Open(path files.Path, run string) (Source, error) {
	info, err := path.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return openDir(path, run)
	case !info.Mode().IsRegular():
		return File(path)
	}
	return openFile(path, run)
}

// openFile finds out by its head what a file is. What is none of the formats that are not lines is lines.
func openFile(path files.Path, run string) (Source, error) {
	head, err := path.Read(headSize)
	if err != nil {
		return nil, err
	}
	name := path.Base()
	database, err := find.Database(path)
	switch {
	case find.RefusedHead(head) != "":
		return nil, errors.New(path.Name + ": " + find.RefusedHead(head))
	case err != nil:
		return nil, err
	case strings.Contains(name, "tfevents"):
		return TensorBoard(path.Dir())
	case wandb.Sniff(head):
		return opened(path)(wandb.Open(path))
	case database == "mlflow":
		return opened(path)(mlflow.OpenDB(path, run))
	case database == "trackio":
		return opened(path)(trackio.Open(path, run))
	case name == "trainer_state.json":
		return opened(path)(jsonlog.OpenTrainerState(path))
	case !event.IsType(typeOf(head)) && shape.Look(plain.Text(head, headSize)) == shape.Document:
		return opened(path)(jsonlog.OpenFile(path))
	}
	return File(path)
}

// opened makes a source of a reader that was opened at a path.
func opened(path files.Path) func(logs.Reader, error) (Source, error) {
	return func(r logs.Reader, err error) (Source, error) {
		if err != nil {
			return nil, err
		}
		return Reading(r, path), nil
	}
}

// IsDatabase reports whether a file is a database of one of the trackers that are read, or refused by name.
func IsDatabase(path files.Path) bool {
	kind, _ := find.Database(path)
	return kind == "mlflow" || kind == "trackio" || kind == "optuna"
}

// HoldsRuns reports whether a path may hold several runs: a directory, or a tracker's database.
func HoldsRuns(path files.Path) bool {
	info, err := path.Stat()
	return err == nil && (info.IsDir() || info.Mode().IsRegular() && IsDatabase(path))
}

// Find lists what can be watched in a directory or a tracker's database, what was written last first.
func Find(dir files.Path) []find.Candidate {
	list, _ := find.Dir(dir)
	return list
}

// openDir opens the newest of what a directory holds, or the one of a name.
func openDir(dir files.Path, run string) (Source, error) {
	list, err := find.Dir(dir)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if run == "" || c.Run == run || c.Name == run {
			return OpenFound(c, dir)
		}
	}
	switch {
	case run != "" && len(list) > 0:
		return nil, fmt.Errorf("%s: no run %s among %d: expected a name or ID as %s", dir, run, len(list),
			nameOf(list[0]))
	case len(list) == 0 && find.Refused(dir) != "":
		return nil, errors.New(find.Refused(dir))
	}
	return &awaiting{dir: dir, run: run, watcher: newWatcher(dir)}, nil
}

func nameOf(c find.Candidate) string {
	if c.Name != "" {
		return c.Name
	}
	return c.Path
}

// OpenFound opens what was found in a directory.
func OpenFound(c find.Candidate, dir files.Path) (Source, error) {
	path := dir.At(c.Path)
	switch c.Kind {
	case "tensorboard":
		return TensorBoard(path)
	case "mlruns":
		return opened(path)(mlflow.OpenFiles(path, c.Run))
	case "wandb":
		if path.IsDir() {
			return opened(path)(wandb.OpenRun(path, c.Run))
		}
	case "trainer_state":
		return opened(path)(jsonlog.OpenTrainerState(path))
	}
	if r, ok := folders.Open(path); ok {
		return Reading(r, path), nil
	}
	if info, err := path.Stat(); err == nil && info.Size() == 0 { // SwanLab's, which nothing shows yet to be no text
		return Await(path, c.Run), nil
	}
	return openFile(path, c.Run)
}

// Await returns a source of what a program will write at a path where there is nothing yet, or an empty file.
func Await(path files.Path, run string) Source {
	return &awaiting{dir: path, run: run, file: true, watcher: newWatcher(path)}
}

// awaiting is a directory in which there is nothing yet, or a file that is not there. When there is, that is the
// source.
type awaiting struct {
	dir       files.Path
	run       string
	file      bool // it is to be a file
	final     bool
	trouble   string // why that can't be opened for now
	watcher   *watcher
	found     Source
	checkedAt time.Time
	options   shape.Options
}

// configure hands it on to what will be found.
func (s *awaiting) configure(o shape.Options) { s.options = o }

// Final has it look once more. What is found is told so when it has given all that it has.
func (s *awaiting) Final() { s.final, s.checkedAt = true, time.Time{} }

func (s *awaiting) Next(ctx context.Context) (event.Event, error) {
	if s.found == nil && time.Since(s.checkedAt) >= rescanSoon {
		s.checkedAt = time.Now()
		source, err := s.look()
		if err != nil {
			return nil, err
		}
		if another, is := source.(*awaiting); is {
			another.Close()
		} else if source != nil {
			s.found = source
			Configure(source, s.options)
		}
	}
	if s.found == nil {
		return nil, ErrNone
	}
	e, err := s.found.Next(ctx)
	if s.final && errors.Is(err, ErrNone) {
		s.final = false
		Final(s.found)
		return s.found.Next(ctx)
	}
	return e, err
}

// look opens what there is now, nil if there is nothing. What a file is shows when something stands in it.
func (s *awaiting) look() (source Source, err error) {
	if !s.file {
		if source, err = openDir(s.dir, s.run); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return source, err
	}
	s.trouble = ""
	if info, err := s.dir.Stat(); err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.trouble = err.Error()
		}
		return nil, nil
	}
	if source, err = Open(s.dir, s.run); err != nil {
		s.trouble = err.Error()
	}
	return source, nil
}

// Waiting says what is waited for.
func (s *awaiting) Waiting() string {
	switch {
	case s.found != nil:
		return Waiting(s.found)
	case s.trouble != "":
		return s.trouble
	case s.file:
		return s.dir.Name + ": nothing there yet, waiting"
	}
	return "nothing to watch in " + s.dir.Name + " yet"
}

func (s *awaiting) Wait(ctx context.Context) error {
	if s.found != nil {
		return s.found.Wait(ctx)
	}
	return s.watcher.wait(ctx, rescanSoon)
}

func (s *awaiting) Read() float64 {
	if s.found != nil {
		return s.found.Read()
	}
	return 1
}

func (s *awaiting) Name() string {
	if s.found != nil {
		return s.found.Name()
	}
	return s.dir.Name
}

// Unwrap is what was found, nil so far.
func (s *awaiting) Unwrap() Source { return s.found }

func (s *awaiting) Warning() string {
	if s.found == nil {
		return s.Waiting()
	}
	return Warning(s.found)
}

func (s *awaiting) Close() error {
	s.watcher.close()
	if s.found != nil {
		return s.found.Close()
	}
	return nil
}
