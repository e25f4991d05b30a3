package wandb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// sessions reads the folders of one run, which W&B makes each time that the run is resumed, one after the other.
type sessions struct {
	logs.Reader
	dir   files.Path
	id    string
	paths []files.Path
	at    int
}

// OpenRun opens all files in a directory of W&B's that are of the run with an ID, those of later sessions as they come.
func OpenRun(dir files.Path, id string) (logs.Reader, error) {
	s := &sessions{dir: dir, id: id, paths: filesOf(dir, id)}
	if len(s.paths) == 0 {
		return nil, fmt.Errorf("%s: no run %s: expected a folder run-DATE-%s", dir, id, id)
	}
	return s, s.open(0)
}

// filesOf lists the files of a run, in the order in which they were begun.
func filesOf(dir files.Path, id string) (paths []files.Path) {
	entries, _ := dir.List(-1)
	began := func(path files.Path) string {
		_, date, _ := strings.Cut(path.Dir().Base(), "run-")
		return date
	}
	for _, e := range entries {
		path := dir.Join(e.Name(), "run-"+id+".wandb")
		if strings.HasSuffix(e.Name(), "-"+id) && began(path) != "" && path.Exists() {
			paths = append(paths, path)
		}
	}
	sort.Slice(paths, func(i, j int) bool { return began(paths[i]) < began(paths[j]) })
	return paths
}

func (s *sessions) open(at int) error {
	r, err := Open(s.paths[at])
	if err != nil {
		return err
	}
	if s.Reader != nil {
		s.Reader.Close()
	}
	s.Reader, s.at = r, at
	return nil
}

// Read reads a session, and then the next one.
func (s *sessions) Read(ctx context.Context, to logs.Sink) (bool, error) {
	more, err := s.Reader.Read(ctx, to)
	switch {
	case errors.Is(err, logs.ErrRestart) && s.at > 0:
		return false, cmp.Or(s.open(0), err)
	case more || err != nil:
		return more, err
	case s.at+1 == len(s.paths):
		s.paths = filesOf(s.dir, s.id)
	}
	if s.at+1 < len(s.paths) {
		return true, s.open(s.at + 1)
	}
	return false, nil
}

// Watch lists the directory of the sessions as well.
func (s *sessions) Watch() []files.Path { return append(s.Reader.Watch(), s.dir) }

// NameOf returns how the run of a file is called by its writer, empty where the beginning of the file does not say it.
func NameOf(path files.Path) string {
	const most = 32 // records before it
	r := &reader{path: path}
	if r.open() != nil {
		return ""
	}
	defer r.Close()
	r.to = logs.Nobody{}
	for range most {
		record, err := r.c.next()
		if err != nil || r.decode(record) != nil || r.info.Name != "" {
			if err == io.EOF || err == nil {
				return r.info.Name
			}
			break
		}
	}
	return ""
}
