package mlflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"newtop/trainer/logs"
)

// Bounds of a store of files: runs in it, and metrics or parameters of a run.
const (
	maxRuns = 100_000
	maxKeys = 10_000
)

// SniffFiles reports whether a directory is a store of MLflow's, which holds directories of experiments that are named
// by numbers, or one of those, or one of a run in them.
func SniffFiles(dir string) bool { return kindOf(dir) == "run" || len(experiments(dir)) > 0 }

// kindOf tells by its meta.yaml whether a directory is that of an experiment or of a run; empty: neither.
func kindOf(dir string) string {
	about, err := readMeta(filepath.Join(dir, "meta.yaml"))
	switch {
	case err != nil || about["experiment_id"] == "":
		return ""
	case about["run_id"]+about["run_uuid"] != "":
		return "run"
	case about["name"] != "":
		return "experiment"
	}
	return ""
}

// experiments returns the directories of the experiments.
func experiments(dir string) (dirs []string) {
	if kindOf(dir) == "experiment" {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" && isFile(filepath.Join(at, "meta.yaml")) {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ListFiles returns the runs in a store of files that were not deleted, the one that began last first.
func ListFiles(dir string) ([]Run, error) {
	found, _, err := filesIn(dir)
	for i := range found {
		f := &found[i]
		f.Written = modified(filepath.Join(f.dir, "meta.yaml"))
		_ = eachFile(filepath.Join(f.dir, "metrics"), func(_, path string, _ fs.DirEntry) error {
			f.Written = later(f.Written, modified(path))
			return nil
		})
	}
	return plain(found), err
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func plain(found []fileRun) []Run {
	runs := make([]Run, len(found))
	for i, f := range found {
		runs[i] = f.Run
	}
	return runs
}

// fileRun is a run with its directory.
type fileRun struct {
	Run
	dir string
}

// filesIn returns the runs in a store, and the meta.yaml of those that do not have it yet.
func filesIn(dir string) (runs []fileRun, started []string, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, nil, err
	}
	if kindOf(dir) == "run" {
		run := fileRun{dir: dir}
		if about, _ := readMeta(filepath.Join(dir, "..", "meta.yaml")); run.read(about["name"]) {
			runs = append(runs, run)
		}
		return runs, nil, nil
	}
	for _, experiment := range experiments(dir) {
		about, _ := readMeta(filepath.Join(experiment, "meta.yaml"))
		entries, err := os.ReadDir(experiment)
		if err != nil || about["lifecycle_stage"] == "deleted" {
			continue
		}
		for _, e := range entries {
			run := fileRun{dir: filepath.Join(experiment, e.Name())}
			at := filepath.Join(run.dir, "meta.yaml")
			switch {
			case !e.IsDir() || len(runs)+len(started) >= maxRuns:
			case !isFile(at):
				started = append(started, at)
			case run.read(about["name"]):
				runs = append(runs, run)
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b fileRun) int {
		return cmp.Or(
			b.Began.Compare(a.Began), strings.Compare(b.ID, a.ID))
	})
	return runs, started, nil
}

// read reads what the run's directory says of it, and reports whether it is a run that was not deleted.
func (f *fileRun) read(experiment string) bool {
	meta, err := readMeta(filepath.Join(f.dir, "meta.yaml"))
	if err != nil || meta["lifecycle_stage"] == "deleted" {
		return false
	}
	id := cmp.Or(meta["run_id"], meta["run_uuid"], filepath.Base(f.dir))
	name := meta["run_name"]
	if name == "" {
		name = meta["name"]
	}
	if name == "" {
		name = readText(filepath.Join(f.dir, "tags", "mlflow.runName"))
	}
	f.Run = Run{
		ID: id, Name: nameOf(name, id), Experiment: experiment, Status: statusOf(meta["status"]),
		Began: timeOf(whole(meta["start_time"])),
	}
	return true
}

// fileReader reads a run of a store of files.
type fileReader struct {
	dir, requested string
	run            fileRun
	found          bool
	mark           map[string]stamp // of what tells of runs and parameters
	params         map[string]string
	started        []string // meta.yaml of runs that do not have it yet
	files          []*metricFile
	byKey          map[string]*metricFile
	size, read     int64 // of the metrics' files
	giving         bool
	whole          bool // all that there was has been read once
	batch          batch
	story          story
	bad            int // lines
	warning        string
}

// OpenFiles returns a reader of a run in a store of files, as mlruns: of the one with this ID, this name, or this
// unique beginning of one; or, for "", of the newest that was not deleted, and of a newer one once that begins. A store
// without runs is one that waits for its first.
func OpenFiles(dir, run string) (logs.Reader, error) {
	r := &fileReader{dir: dir, requested: run}
	if err := r.find(); err != nil {
		return nil, err
	}
	r.mark = nil
	return r, nil
}

// Read implements logs.Reader.
func (r *fileReader) Read(ctx context.Context, to logs.Sink) (bool, error) {
	more, err := r.next(ctx, to)
	if errors.Is(err, logs.ErrRestart) {
		*r = fileReader{dir: r.dir, requested: r.requested}
	}
	return more, err
}

func (r *fileReader) next(ctx context.Context, to logs.Sink) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if r.giving {
		r.give(to)
		return true, nil
	}
	if marks := r.marks(); !maps.Equal(marks, r.mark) {
		if err := r.find(); err != nil {
			return false, err
		}
		r.params = nil
		if r.found {
			r.params = readParams(filepath.Join(r.run.dir, "params"))
		}
		r.mark = marks
	}
	if !r.found {
		return false, nil
	}
	if err := r.story.report(to, r.run.Run, r.params); err != nil {
		return false, err
	}
	more, err := r.collect()
	if err != nil || more && len(r.batch.points) < maxHeld {
		return more, err
	}
	r.whole = !more
	r.batch.order()
	return r.give(to), nil
}

func (r *fileReader) give(to logs.Sink) bool {
	r.giving = r.batch.give(to)
	if !r.giving && r.whole {
		r.story.end(to)
	}
	return r.giving || !r.whole
}

// find returns the run to read. It returns ErrRestart when a newer one has begun.
func (r *fileReader) find() error {
	if r.found && r.requested != "" {
		if !r.run.read(r.run.Experiment) {
			return fmt.Errorf("%s: run %s was deleted", r.dir, r.requested)
		}
		return nil
	}
	found, started, err := filesIn(r.dir)
	if err != nil {
		return err
	}
	r.started = started
	at := 0
	if r.requested != "" {
		if at, err = choose(r.dir, r.requested, plain(found)); err != nil {
			return err
		}
	}
	switch {
	case len(found) == 0 && !r.found:
		r.warning = absent(r.dir)
		return nil
	case len(found) == 0, r.found && r.run.dir != found[at].dir:
		return logs.ErrRestart
	}
	r.run, r.found, r.warning = found[at], true, ""
	return nil
}

// stamp reports whether a file or directory was changed.
type stamp struct{ size, time int64 }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// marks are the stamps of what tells of runs, if the newest is wanted, and of this run's state and parameters.
func (r *fileReader) marks() map[string]stamp {
	marks := map[string]stamp{}
	for _, path := range r.watched() {
		marks[path] = stampOf(path)
	}
	return marks
}

func (r *fileReader) watched() (paths []string) {
	if !r.found || r.requested == "" {
		paths = append(append(experiments(r.dir), r.dir), r.started...)
	}
	if r.found {
		paths = append(paths, filepath.Join(r.run.dir, "meta.yaml"), filepath.Join(r.run.dir, "params"))
	}
	return paths
}

// Watch implements logs.Reader.
func (r *fileReader) Watch() []string {
	paths := r.watched()
	for _, at := range r.started {
		paths = append(paths, filepath.Dir(at))
	}
	if !r.found {
		return paths
	}
	metrics := filepath.Join(r.run.dir, "metrics")
	paths = append(paths, r.run.dir, metrics)
	_ = filepath.WalkDir(metrics, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != metrics {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// Progress implements logs.Reader.
func (r *fileReader) Progress() float64 {
	switch {
	case r.whole && !r.giving:
		return 1
	case r.size == 0:
		return 0
	case r.giving:
		return 0.5 + 0.5*float64(r.batch.given)/float64(max(1, len(r.batch.points)))
	}
	return 0.5 * float64(r.read) / float64(r.size)
}

// Warning implements logs.Reader.
func (r *fileReader) Warning() string {
	if r.warning == "" && r.bad > 0 {
		return fmt.Sprintf("%s: %d lines of metrics can't be read: expected time, value, step", r.run.dir, r.bad)
	}
	return r.warning
}

// Close implements logs.Reader.
func (r *fileReader) Close() error { return nil }
