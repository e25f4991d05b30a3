package find

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"newtop/trainer/logs/files"
	"newtop/trainer/logs/folders"
	"newtop/trainer/logs/internal/sqlitelog"
	"newtop/trainer/logs/mlflow"
	"newtop/trainer/logs/plain"
	"newtop/trainer/logs/trackio"
	"newtop/trainer/logs/wandb"
)

// whole lists a directory that is all of one run or store, and reports whether it is one: what lies in it is a part of
// it.
func (s *search) whole(dir files.Path, entries []fs.DirEntry) bool {
	has := func(name string) bool {
		_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int {
			return strings.Compare(e.Name(), name)
		})
		return ok
	}
	for _, c := range []struct{ kind, suffix string }{{"wandb", ".wandb"}, {"swanlab", ".swanlab"}} {
		for _, e := range entries {
			if name := e.Name(); e.Type().IsRegular() && strings.HasPrefix(name, "run-") &&
				strings.HasSuffix(name, c.suffix) {
				path := dir.Join(name)
				id := strings.TrimSuffix(strings.TrimPrefix(name, "run-"), c.suffix)
				s.session(Candidate{Kind: c.kind, Path: path.Name, Run: id, Name: wandb.NameOf(path),
					Written: path.Written()})
				return true
			}
		}
	}
	if kind := folders.Of(dir, has); kind != nil {
		s.add(Candidate{Kind: kind.Name, Path: dir.Name, Written: kind.Written(dir)})
		return true
	}
	if (has("meta.yaml") || slices.ContainsFunc(entries, numbered)) && mlflow.SniffFiles(dir) {
		if runs, err := mlflow.ListFiles(dir); err == nil {
			s.store("mlruns", dir, runs)
		}
		return true
	}
	return false
}

// session lists the file of a run, or one more of a run that was resumed: W&B makes a folder for each session.
func (s *search) session(c Candidate) {
	dir := s.top.At(c.Path).Dir()
	if c.Name == "" {
		c.Name = s.name(dir)
	}
	if c.Kind == "wandb" && dir != s.top && strings.HasSuffix(dir.Base(), "-"+c.Run) {
		c.Path = dir.Dir().Name
	}
	for i := range s.found {
		if f := &s.found[i]; f.Kind == c.Kind && f.Path == c.Path && f.Run == c.Run {
			f.Written = files.Later(f.Written, c.Written)
			return
		}
	}
	s.add(c)
}

// numbered reports whether an entry may be a directory of an experiment of MLflow's.
func numbered(e fs.DirEntry) bool { return e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" }

// application marks the databases of newtop: "newt" (trainer/store/schema.go).
const application = 0x6e657774

// file lists a file, if it can be watched.
func (s *search) file(path files.Path) {
	name := strings.ToLower(path.Base())
	switch {
	case strings.Contains(name, "tfevents"):
		dir := path.Dir().Name
		s.events[dir] = files.Later(s.events[dir], path.Written())
	case name == "trainer_state.json": // there is one in each of a run's checkpoints
		dir := path.Dir()
		if strings.HasPrefix(dir.Base(), "checkpoint-") && dir != s.top {
			dir = dir.Dir()
		}
		s.states[dir.Name] = files.Later(s.states[dir.Name], path.Written())
	case slices.Contains([]string{".db", ".sqlite", ".sqlite3", ".db3"}, filepath.Ext(name)):
		s.database(path)
	default:
		switch kind, begun := s.kindOf(path, name); {
		case begun:
			s.begun = append(s.begun, Candidate{Kind: kind, Path: path.Name, Name: s.name(path),
				Written: path.Written()})
		case kind != "":
			s.add(Candidate{Kind: kind, Path: path.Name, Written: path.Written()})
		}
	}
}

// database lists the runs in a database.
func (s *search) database(path files.Path) {
	if s.databases++; s.databases > maxDatabases {
		return
	}
	written := files.Later(path.Written(), path.At(path.Name+"-wal").Written())
	switch kind, _ := Database(path); kind { // Refused tells the error
	case "newtop":
		s.add(Candidate{Kind: "newtop", Path: path.Name, Written: written})
	case "mlflow":
		runs, _ := mlflow.ListDB(path) // one that is locked is listed without runs
		s.store("mlflow", path, runs)
	case "trackio":
		runs, _ := trackio.List(path)
		s.store("trackio", path, runs)
	}
}

// optuna says why its database can't be watched, and what to do.
const optuna = "Optuna's storage is not read: watch what the study prints, as newtop watch -- python3 study.py"

// Database says whose a file is, if it is a database of newtop's, mlflow's, trackio's or optuna's, and is empty for all
// others. The error says why it can't be watched.
func Database(path files.Path) (kind string, err error) {
	id, has, err := sqlitelog.Look(path)
	switch {
	case id == application:
		kind = "newtop"
	case mlflow.Wrote(has):
		kind = "mlflow"
	case trackio.Wrote(has):
		kind = "trackio"
	case has["study_user_attributes.study_id"]:
		kind, err = "optuna", errors.New(path.Name+": "+optuna)
	}
	return kind, err
}

// headSize is how much of a file is looked at.
const headSize = 64 << 10

// head returns how a file begins, unpacked and as UTF-8.
func (s *search) head(path files.Path, bounded bool) []byte {
	if s.headsRead++; s.headsRead > maxHeads {
		return nil
	}
	f, err := path.Open()
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
