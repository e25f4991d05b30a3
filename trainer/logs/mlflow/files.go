package mlflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/points"
)

// Bounds of a store of files: runs in it, and parameters of a run.
const (
	maxRuns = 100_000
	maxKeys = 10_000
)

// SniffFiles reports whether a directory is a store of MLflow's, which holds directories of experiments that are named
// by numbers, or one of those, or one of a run in them.
func SniffFiles(dir files.Path) bool { return kindOf(dir) == "run" || len(experiments(dir)) > 0 }

// kindOf tells by its meta.yaml whether a directory is that of an experiment or of a run; empty: neither.
func kindOf(dir files.Path) string {
	about := readMeta(dir)
	switch {
	case about["experiment_id"] == "":
		return ""
	case about["run_id"]+about["run_uuid"] != "":
		return "run"
	case about["name"] != "":
		return "experiment"
	}
	return ""
}

// experiments returns the directories of the experiments.
func experiments(dir files.Path) (dirs []files.Path) {
	if kindOf(dir) == "experiment" {
		return []files.Path{dir}
	}
	entries, _ := dir.List(-1)
	for _, e := range entries {
		at := dir.Join(e.Name())
		if e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" && at.Join("meta.yaml").IsFile() {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// ListFiles returns the runs in a store of files that were not deleted, the one that began last first.
func ListFiles(dir files.Path) ([]logs.Run, error) {
	found, _, err := filesIn(dir)
	for i := range found {
		f := &found[i]
		f.Written = f.dir.Join("meta.yaml").Written()
		for _, d := range f.dir.Join("metrics").Below(nil) {
			if info, err := d.Info(); err == nil {
				f.Written = files.Later(f.Written, info.ModTime())
			}
		}
	}
	return plain(found), err
}

func plain(found []fileRun) []logs.Run {
	runs := make([]logs.Run, len(found))
	for i, f := range found {
		runs[i] = f.Run
	}
	return runs
}

// fileRun is a run with its directory.
type fileRun struct {
	logs.Run
	dir files.Path
}

// filesIn returns the runs in a store, and the meta.yaml of those that do not have it yet.
func filesIn(dir files.Path) (runs []fileRun, started []files.Path, err error) {
	if _, err := dir.List(1); err != nil {
		return nil, nil, err
	}
	if kindOf(dir) == "run" {
		if run := (fileRun{dir: dir}); run.read() {
			runs = append(runs, run)
		}
		return runs, nil, nil
	}
	for _, experiment := range experiments(dir) {
		entries, err := experiment.List(-1)
		if err != nil || readMeta(experiment)["lifecycle_stage"] == "deleted" {
			continue
		}
		for _, e := range entries {
			run := fileRun{dir: experiment.Join(e.Name())}
			at := run.dir.Join("meta.yaml")
			switch {
			case !e.IsDir() || len(runs)+len(started) >= maxRuns:
			case !at.IsFile():
				started = append(started, at)
			case run.read():
				runs = append(runs, run)
			}
		}
	}
	sort.SliceStable(runs, func(i, j int) bool {
		a, b := &runs[i], &runs[j]
		return cmp.Or(b.Began.Compare(a.Began), strings.Compare(b.ID, a.ID)) < 0
	})
	return runs, started, nil
}

// read reads what the run's directory says of it, and reports whether it is a run that was not deleted.
func (f *fileRun) read() bool {
	meta := readMeta(f.dir)
	if meta == nil || meta["lifecycle_stage"] == "deleted" {
		return false
	}
	id := cmp.Or(meta["run_id"], meta["run_uuid"], f.dir.Base())
	name := cmp.Or(meta["run_name"], meta["name"], readText(f.dir.Join("tags", "mlflow.runName")))
	f.Run = logs.Run{
		ID: id, Name: nameOf(name, id), Status: statusOf(meta["status"]),
		Began: timeOf(whole(meta["start_time"])),
	}
	return true
}

// fileReader reads a run of a store of files.
type fileReader struct {
	dir       files.Path
	requested string
	run       fileRun
	found     bool
	mark      map[files.Path]files.Stamp // of what tells of runs and parameters
	params    map[string]string
	started   []files.Path // meta.yaml of runs that do not have it yet
	metrics   points.Dir
	giver
	warning string
}

// OpenFiles returns a reader of a run in a store of files, as mlruns: of the one with this ID, this name, or this
// unique beginning of one; or, for "", of the newest that was not deleted, and of a newer one once that begins. A store
// without runs is one that waits for its first.
func OpenFiles(dir files.Path, run string) (logs.Reader, error) {
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
			r.params = readParams(r.run.dir.Join("params"))
		}
		r.mark = marks
	}
	if !r.found {
		return false, nil
	}
	if err := r.report(to, r.run.Run, r.params); err != nil {
		return false, err
	}
	more, err := r.metrics.Collect(&r.Batch)
	return r.collected(more, err, to)
}

// find returns the run to read. It returns ErrRestart when a newer one has begun.
func (r *fileReader) find() error {
	if r.found && r.requested != "" {
		if !r.run.read() {
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
	r.metrics.Top, r.metrics.Columns = r.run.dir.Join("metrics"), []string{"tvs", "tv"}
	return nil
}

// marks are the stamps of what tells of runs, if the newest is wanted, and of this run's state and parameters.
func (r *fileReader) marks() map[files.Path]files.Stamp {
	marks := map[files.Path]files.Stamp{}
	for _, path := range r.watched() {
		marks[path] = path.Stamp()
	}
	return marks
}

func (r *fileReader) watched() (paths []files.Path) {
	if !r.found || r.requested == "" {
		paths = append(append(experiments(r.dir), r.dir), r.started...)
	}
	if r.found {
		paths = append(paths, r.run.dir.Join("meta.yaml"), r.run.dir.Join("params"))
	}
	return paths
}

// Watch implements logs.Reader.
func (r *fileReader) Watch() []files.Path {
	paths := r.watched()
	for _, at := range r.started {
		paths = append(paths, at.Dir())
	}
	if !r.found {
		return paths
	}
	return append(append(paths, r.run.dir), r.metrics.Watch()...)
}

// Progress implements logs.Reader.
func (r *fileReader) Progress() float64 {
	switch {
	case r.whole && !r.giving:
		return 1
	case r.giving:
		return 0.5 + 0.5*float64(r.Given())/float64(max(1, r.Len()))
	}
	return 0.5 * r.metrics.Progress()
}

// Warning implements logs.Reader.
func (r *fileReader) Warning() string {
	if r.warning == "" && r.metrics.Bad > 0 {
		return fmt.Sprintf("%s: %d lines of metrics can't be read: expected time, value, step", r.run.dir,
			r.metrics.Bad)
	}
	return r.warning
}

// Close implements logs.Reader.
func (r *fileReader) Close() error { return nil }
