package stream

import (
	"fmt"
	"io/fs"
	slashed "path"
	"sort"
	"strconv"
	"strings"

	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
)

// Bounds of the search for event files.
const (
	maxDepth   = 8
	maxEntries = 100_000
)

// foundRun is a directory with the event files of one run.
type foundRun struct {
	dir     files.Path
	files   []files.Path // in the order of their names
	watch   []files.Path // directories in which files may come
	started int64        // when its newest file was begun, in seconds since 1970
}

// findRun returns the run of a directory whose newest event file was begun last. It returns an error if there is no
// event file.
func findRun(dir files.Path) (foundRun, error) {
	if _, err := dir.List(1); err != nil {
		return foundRun{}, err
	}
	events := make(map[string][]files.Path) // by directory
	started := make(map[string]int64)
	dirs := []files.Path{dir}
	seen := 0
	enter := func(key string) bool {
		return !find.Hidden(slashed.Base(key)) && strings.Count(key, "/") < maxDepth
	}
	for key, d := range dir.Below(enter) {
		if seen++; seen > maxEntries {
			break
		}
		path := dir.Join(key)
		if d.IsDir() {
			dirs = append(dirs, path)
		} else if strings.Contains(d.Name(), "tfevents") {
			parent := path.Dir().Name
			events[parent] = append(events[parent], path)
			started[parent] = max(started[parent], beginning(d))
		}
	}
	has := func(dir string) bool { return len(events[dir]) > 0 }
	top := dir.Join().Name
	runs := make(map[string]*foundRun)
	for parent, paths := range events {
		root := find.RunOf(top, parent, has)
		r := runs[root]
		if r == nil {
			r = &foundRun{dir: dir.At(root)}
			runs[root] = r
		}
		r.files = append(r.files, paths...)
		r.started = max(r.started, started[parent])
	}
	var best *foundRun
	for _, r := range runs {
		if best == nil || r.started > best.started || r.started == best.started && r.dir.Name > best.dir.Name {
			best = r
		}
	}
	if best == nil {
		return foundRun{}, fmt.Errorf("%s: no event file: expected files named events.out.tfevents.…", dir)
	}
	sort.Slice(best.files, func(i, j int) bool { return best.files[i].Name < best.files[j].Name })
	const maxWatched = 256
	best.watch = dirs[:min(len(dirs), maxWatched)]
	return *best, nil
}

// beginning returns when an event file was begun, by its name or else by when it was written.
func beginning(d fs.DirEntry) int64 {
	_, after, _ := strings.Cut(d.Name(), "tfevents.")
	digits, _, _ := strings.Cut(after, ".")
	if t, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return t
	}
	if info, err := d.Info(); err == nil {
		return info.ModTime().Unix()
	}
	return 0
}
