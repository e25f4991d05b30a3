package find

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"newtop/trainer/logs/folders"
	"newtop/trainer/logs/internal/sqlitelog"
	"newtop/trainer/logs/mlflow"
	"newtop/trainer/logs/plain"
	"newtop/trainer/logs/trackio"
	"newtop/trainer/logs/wandb"
)

// whole lists a directory that is all of one run or store, and reports whether it is one: what lies in it is a part of
// it.
func (s *search) whole(dir string, entries []fs.DirEntry) bool {
	has := func(name string) bool {
		_, ok := slices.BinarySearchFunc(entries, name, func(
			e fs.DirEntry, name string) int {
			return strings.Compare(e.Name(), name)
		})
		return ok
	}
	for _, c := range []struct{ kind, suffix string }{{"wandb", ".wandb"}, {"swanlab", ".swanlab"}} {
		for _, e := range entries {
			if name := e.Name(); e.Type().IsRegular() && strings.HasPrefix(name, "run-") &&
				strings.HasSuffix(name, c.suffix) {
				path := filepath.Join(dir, name)
				id := strings.TrimSuffix(strings.TrimPrefix(name, "run-"), c.suffix)
				s.session(Candidate{Kind: c.kind, Path: path, Run: id, Name: wandb.NameOf(path),
					Written: modified(path)})
				return true
			}
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	switch {
	case (has("meta.yaml") || slices.ContainsFunc(entries, numbered)) && mlflow.SniffFiles(dir):
		if runs, err := mlflow.ListFiles(dir); err == nil {
			s.store("mlruns", dir, runs)
		}
	case has("run.json") && (has("config.json") || has("metrics.json") || has("cout.txt")):
		s.add(Candidate{Kind: "sacred", Path: dir, Written: later(
			modified(path("run.json")), modified(path("metrics.json")))})
	case has("plots") && isDir(path("plots/metrics")):
		s.add(Candidate{Kind: "dvclive", Path: dir, Written: later(
			modified(path("metrics.json")), modified(path("plots/metrics")))})
	case has("metrics.jsonl") && folders.IsClearML(dir):
		s.add(Candidate{Kind: "clearml", Path: dir, Written: modified(path("metrics.jsonl"))})
	default:
		return false
	}
	return true
}

// session lists the file of a run, or one more of a run that was resumed: W&B makes a folder for each session.
func (s *search) session(c Candidate) {
	dir := filepath.Dir(c.Path)
	if c.Name == "" {
		c.Name = s.name(dir)
	}
	if up := filepath.Dir(dir); c.Kind == "wandb" && dir != s.top && strings.HasSuffix(filepath.Base(dir), "-"+c.Run) {
		c.Path = up
	}
	for i := range s.found {
		if f := &s.found[i]; f.Kind == c.Kind && f.Path == c.Path && f.Run == c.Run {
			f.Written = later(f.Written, c.Written)
			return
		}
	}
	s.add(c)
}

// numbered reports whether an entry may be a directory of an experiment of MLflow's.
func numbered(e fs.DirEntry) bool { return e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// application marks the databases of newtop: "newt" (trainer/store/schema.go).
const application = 0x6e657774

// file lists a file, if it can be watched.
func (s *search) file(path string) {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.Contains(name, "tfevents"):
		dir := filepath.Dir(path)
		s.events[dir] = later(s.events[dir], modified(path))
	case name == "trainer_state.json": // there is one in each of a run's checkpoints
		dir := filepath.Dir(path)
		if strings.HasPrefix(filepath.Base(dir), "checkpoint-") && dir != s.top {
			dir = filepath.Dir(dir)
		}
		s.states[dir] = later(s.states[dir], modified(path))
	case slices.Contains([]string{".db", ".sqlite", ".sqlite3", ".db3"}, filepath.Ext(name)):
		s.database(path)
	default:
		switch kind, begun := s.kindOf(path, name); {
		case begun:
			s.begun = append(s.begun, Candidate{Kind: kind, Path: path, Name: s.name(path), Written: modified(path)})
		case kind != "":
			s.add(Candidate{Kind: kind, Path: path, Written: modified(path)})
		}
	}
}

// database lists the runs in a database.
func (s *search) database(path string) {
	if s.databases++; s.databases > maxDatabases {
		return
	}
	written := later(modified(path), modified(path+"-wal"))
	switch {
	case sqlitelog.Application(path) == application:
		s.add(Candidate{Kind: "newtop", Path: path, Written: written})
	case mlflow.SniffDB(path):
		runs, _ := mlflow.ListDB(path) // one that is locked is listed without runs
		s.store("mlflow", path, runs)
	case trackio.Sniff(path):
		runs, _ := trackio.List(path)
		for _, r := range runs[:min(len(runs), maxOfOne)] {
			s.add(Candidate{Kind: "trackio", Path: path, Run: r.ID, Name: r.Name, Written: r.Written})
		}
		if len(runs) == 0 {
			s.add(Candidate{Kind: "trackio", Path: path, Written: written})
		}
	}
}

// headSize is how much of a file is looked at.
const headSize = 64 << 10

// head returns how a file begins, unpacked and as UTF-8.
func (s *search) head(path string, bounded bool) []byte {
	if s.headsRead++; s.headsRead > maxHeads {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || bounded && info.Size() > maxUnusual {
		return nil
	}
	if s.buf == nil {
		s.buf = make([]byte, headSize)
	}
	const first = 512 // show what is no text
	n, _ := io.ReadFull(f, s.buf[:first])
	head := s.buf[:n]
	if text := plain.Text(head, first); !plain.Packed(head) && bytes.IndexByte(text, 0) >= 0 && plain.Binary(text) {
		return nil
	}
	if n == first {
		more, _ := io.ReadFull(f, s.buf[first:])
		head = s.buf[:first+more]
	}
	return plain.Line(bytes.ReplaceAll(plain.Text(head, headSize), []byte{0}, []byte("\n")))
}
