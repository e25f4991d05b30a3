// Package find finds what can be watched in a directory: logs of training programs and databases with runs, whatever
// wrote them.
package find

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// Bounds of a search.
const (
	maxDepth   = 8
	maxEntries = 100_000
	// maxFolder is how many entries of one directory are looked at, as one of pictures has nothing for us.
	maxFolder = 20_000
	// maxHeads is how many files are looked into, and maxDatabases how many databases of them.
	maxHeads     = 10_000
	maxDatabases = 64
	// maxOfOne is how many runs of one database or store are listed, and maxFound how many there are in all.
	maxOfOne = 100
	maxFound = 10_000
)

// Candidate is something that can be watched.
type Candidate struct {
	// Kind is tensorboard, wandb, swanlab, mlflow, mlruns, trackio, csv, jsonl, json, trainer_state, sacred, dvclive,
	// clearml, text or newtop.
	Kind string
	// Path is, in the file system that was searched, the file, or the directory of tensorboard, trainer_state, mlruns,
	// sacred, dvclive and clearml, or that of the folders of a run of wandb.
	Path    string
	Run     string    // its ID in a database or store of several runs; empty where that has none yet
	Name    string    // to show: a run's name, or the path in the directory that was searched
	Written time.Time // when it was last written, as far as that is known
}

// Dir lists what can be watched in a directory and those below it, or the runs of a database, what was written last
// first. Directories that begin with a dot are passed over, but for .wandb and .guild; what lies deeper than 8
// directories, or after 100,000 entries, is not found.
func Dir(dir files.Path) ([]Candidate, error) {
	s := search{top: dir.Join(), events: map[string]time.Time{}, states: map[string]time.Time{}}
	if kind, err := Database(s.top); err != nil {
		return nil, err
	} else if kind != "" {
		s.database(s.top)
		return s.result(), nil
	}
	if _, err := s.read(s.top); err != nil {
		return nil, err
	}
	s.queue = []folder{{path: s.top}}
	for len(s.queue) > 0 && s.entries < maxEntries {
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.visit(next)
	}
	return s.result(), nil
}

// folder is a directory that is still to be looked at.
type folder struct {
	path  files.Path
	depth int
}

// search goes through directories, those that lie higher first.
type search struct {
	top       files.Path
	queue     []folder
	entries   int
	headsRead int
	databases int
	found     []Candidate
	begun     []Candidate // logs by their names that have few numbers yet
	buf       []byte
	prose     int                  // bytes of text that was looked into and is no log
	events    map[string]time.Time // when event files were written, by their directory
	states    map[string]time.Time // when trainer_state.json was written, by the run's directory
}

// read returns the entries of a directory by name.
func (s *search) read(path files.Path) ([]fs.DirEntry, error) {
	entries, err := path.List(maxFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: expected a directory: %w", path, err)
	}
	return entries, err
}

// visit lists what is in a directory: a run's as a whole, or else its files, and the directories in it for later.
func (s *search) visit(at folder) {
	entries, err := s.read(at.path)
	if err != nil {
		return // what can't be read has nothing for us
	}
	s.entries += len(entries)
	if s.whole(at.path, entries) {
		return
	}
	for _, e := range entries {
		path := at.path.Join(e.Name())
		switch {
		case e.IsDir():
			if !Hidden(e.Name()) && at.depth < maxDepth {
				s.queue = append(s.queue, folder{path, at.depth + 1})
			}
		case e.Type().IsRegular():
			s.file(path)
		}
	}
}

// add lists a candidate.
func (s *search) add(c Candidate) {
	if c.Name == "" {
		c.Name = s.name(s.top.At(c.Path))
	}
	s.found = append(s.found, c)
}

// name is what a path is called in the directory that is searched.
func (s *search) name(path files.Path) string {
	rel, err := filepath.Rel(s.top.Name, path.Name)
	if err == nil && rel != "." {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(path.Full())
}

// result returns what was found, in order.
func (s *search) result() []Candidate {
	roots := map[string]time.Time{}
	has := func(dir string) bool {
		_, ok := s.events[dir]
		return ok
	}
	for dir, written := range s.events {
		root := RunOf(s.top.Name, dir, has)
		roots[root] = files.Later(roots[root], written)
	}
	_, all := roots[s.top.Name] // tables beside its event files tell of the same run
	s.found = slices.DeleteFunc(s.found, func(c Candidate) bool {
		return loose[c.Kind] && (s.inside(c.Path, roots) || all && c.Kind != "text" &&
			filepath.Dir(c.Path) == s.top.Name)
	})
	if len(s.found)+len(roots)+len(s.states) == 0 {
		s.found = s.begun
	}
	for root, written := range roots {
		s.add(Candidate{Kind: "tensorboard", Path: root, Written: written})
	}
	for dir, written := range s.states {
		s.add(Candidate{Kind: "trainer_state", Path: dir, Written: written})
	}
	// Not slices.SortFunc: the copy of it for a struct of this size takes 25 kB of the program.
	sort.Slice(s.found, func(i, j int) bool {
		a, b := &s.found[i], &s.found[j]
		return cmp.Or(b.Written.Compare(a.Written), strings.Compare(a.Path, b.Path), strings.Compare(a.Run, b.Run)) < 0
	})
	return s.found[:min(len(s.found), maxFound)]
}

// Guild is the hidden directory in which Guild keeps what a run writes, and all runs.
const Guild = ".guild"

// Hidden reports whether a directory of the name is passed over.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") && name != ".wandb" && name != Guild
}

// RunOf returns the directory of the run that the event files of a directory at or below top belong to: the highest one
// above it that has event files, or the one above a part's, as train, or itself.
func RunOf(top, dir string, has func(dir string) bool) string {
	root := dir
	for at := dir; at != top; {
		up := filepath.Dir(at)
		if name := filepath.Base(at); has(up) || at == root && (name == Guild || event.IsSplit(name)) {
			root = up
		}
		at = up
	}
	return root
}

// inside reports whether a file lies in a run of TensorBoard's, and not just in the directory that is searched.
func (s *search) inside(path string, roots map[string]time.Time) bool {
	for at := filepath.Dir(path); at != s.top.Name && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, ok := roots[at]; ok {
			return true
		}
	}
	return false
}

// store lists the runs of a database or a store of files of MLflow's.
func (s *search) store(kind string, path files.Path, runs []logs.Run) {
	for _, r := range runs[:min(len(runs), maxOfOne)] {
		s.add(Candidate{Kind: kind, Path: path.Name, Run: r.ID, Name: r.Name, Written: r.Written})
	}
	if len(runs) == 0 { // one may begin
		s.add(Candidate{Kind: kind, Path: path.Name, Written: path.Written()})
	}
}

// refused are programs whose logs can't be read, by the directory that they make and by how a file of theirs begins,
// and why.
var refused = []struct{ name, head, in, why string }{
	{".aim", "", "",
		"Aim keeps its metrics in RocksDB, which can't be read here: export them as CSV or JSON lines, and " +
			"watch those"},
	{".neptune", `{"obj": {"type": "`, `"version": `,
		"Neptune's own format, whose service ended on 5 March 2026, is not read: log to CSV or JSON lines as well, " +
			"and watch those"},
	{".cometml-runs", "PK\x03\x04", "experiment.json",
		"Comet writes its offline runs when they end, in a layout that is not published: log to CSV or JSON lines as " +
			"well, and watch those"},
}

// RefusedHead says in one line why a file that begins so can't be watched, and what to do; empty: nothing speaks
// against it.
func RefusedHead(head []byte) string {
	for _, r := range refused {
		if r.head != "" && bytes.HasPrefix(head, []byte(r.head)) && bytes.Contains(head, []byte(r.in)) {
			return r.why
		}
	}
	return ""
}

// Refused says the same of a directory in which nothing was found, by what it is, lies in or holds.
func Refused(dir files.Path) string {
	dir = dir.At(dir.Full())
	for _, r := range refused {
		for _, path := range []files.Path{dir, dir.Join(r.name)} {
			if slices.Contains(strings.Split(filepath.ToSlash(path.Name), "/"), r.name) && path.IsDir() {
				return path.Name + ": " + r.why
			}
		}
	}
	entries, _ := dir.List(16)
	for _, e := range entries {
		path := dir.Join(e.Name())
		if head, _ := path.Read(512); e.Type().IsRegular() && RefusedHead(head) != "" {
			return path.Name + ": " + RefusedHead(head)
		}
		if _, err := Database(path); e.Type().IsRegular() && err != nil {
			return err.Error()
		}
	}
	return ""
}
