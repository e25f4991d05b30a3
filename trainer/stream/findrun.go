package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"newtop/trainer/logs/find"
)

// Bounds of the search for event files.
const (
	maxDepth   = 8
	maxEntries = 100_000
)

// foundRun is a directory with the event files of one run.
type foundRun struct {
	dir     string
	files   []string // in the order of their names
	watch   []string // directories in which files may come
	started int64    // when its newest file was begun, in seconds since 1970
}

var errEnough = errors.New("enough")

// findRun returns the run of a directory whose newest event file was begun last. It returns an error if there is no
// event file.
func findRun(dir string) (foundRun, error) {
	files := make(map[string][]string) // by directory
	started := make(map[string]int64)
	var dirs []string
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == dir {
				return err
			}
			return nil // a directory that can't be read has nothing for us
		}
		if seen++; seen > maxEntries {
			return errEnough
		}
		if d.IsDir() {
			if path != dir && (find.Hidden(d.Name()) || depth(dir, path) > maxDepth) {
				return fs.SkipDir
			}
			dirs = append(dirs, path)
			return nil
		}
		if strings.Contains(d.Name(), "tfevents") && !d.IsDir() {
			parent := filepath.Dir(path)
			files[parent] = append(files[parent], path)
			started[parent] = max(started[parent], beginning(d))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return foundRun{}, err
	}
	has := func(dir string) bool { return len(files[dir]) > 0 }
	runs := make(map[string]*foundRun)
	for parent, paths := range files {
		root := find.RunOf(dir, parent, has)
		r := runs[root]
		if r == nil {
			r = &foundRun{dir: root}
			runs[root] = r
		}
		r.files = append(r.files, paths...)
		r.started = max(r.started, started[parent])
	}
	var best *foundRun
	for _, r := range runs {
		if best == nil || r.started > best.started || r.started == best.started && r.dir > best.dir {
			best = r
		}
	}
	if best == nil {
		return foundRun{}, fmt.Errorf("%s: no event file: expected files named events.out.tfevents.…", dir)
	}
	slices.Sort(best.files)
	const maxWatched = 256
	best.watch = dirs[:min(len(dirs), maxWatched)]
	return *best, nil
}

func depth(dir, path string) int {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return 0
	}
	return strings.Count(filepath.ToSlash(rel), "/") + 1
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
