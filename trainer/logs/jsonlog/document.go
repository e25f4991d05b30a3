// Package jsonlog reads files that are one JSON document, which their writer writes anew each time.
package jsonlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"math"
	"sort"
	"strings"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/plain"
)

var _ logs.Reader = (*document)(nil)

// document reads a file that is one JSON document, which its writer writes anew each time. It reads it whole when it has
// changed. If what was given is the beginning of what is there now it gives the rest, else it begins anew.
type document struct {
	root     files.Path // the file, or the directory of a run of Hugging Face's
	dir      bool
	path     files.Path // of what was read last
	versions map[files.Path]*version
	table    *table // nil when all of it was given
	next     int    // the row to give next
	told     bool   // whether the table's Info was given
	given    uint64 // sum of the rows before next
	seed     maphash.Seed
	warning  string
}

// OpenFile returns a reader of a JSON document: a list of objects, each a row; an object of lists of numbers, as Keras'
// History, where item i is of epoch i+1 unless there is a list named epoch or step; an object of {values, steps}, as
// Sacred writes it. A document that is half written is waited for. Of another one the error says what was expected.
func OpenFile(path files.Path) (logs.Reader, error) {
	return open(path, false)
}

// Follow returns such a reader of a document that may not be there yet, and waits for one that can be read.
func Follow(path files.Path) logs.Reader {
	return &document{root: path, versions: map[files.Path]*version{}, seed: maphash.MakeSeed()}
}

// OpenTrainerState returns a reader of Hugging Face's trainer_state.json, or of the newest whole one in a directory and
// in its checkpoint-* directories. The Trainer writes it with each checkpoint.
func OpenTrainerState(path files.Path) (logs.Reader, error) {
	return open(path, path.IsDir())
}

func open(path files.Path, dir bool) (logs.Reader, error) {
	d := Follow(path).(*document)
	d.dir = dir
	return d, d.load(true)
}

// Watch lists the file, or the directories that it may come in.
func (d *document) Watch() []files.Path {
	paths := []files.Path{d.root}
	if d.dir {
		entries, _ := d.root.List(-1)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "checkpoint-") {
				paths = append(paths, d.root.Join(e.Name()))
			}
		}
	}
	return paths
}

// oneCopy is how far apart checkpoints were written at most whose times say nothing of their order: they were copied.
const oneCopy = 10 * time.Second

// states returns the paths of a run's trainer_state.json, the one that was written last first. Of those that were
// copied at once it is the one of the highest step, or the run's own, which the Trainer writes at the end.
func states(root files.Path, dirs []files.Path) (paths []files.Path, err error) {
	type state struct {
		path files.Path
		when time.Time
		step float64
	}
	var found []state
	var last time.Time
	for _, dir := range dirs {
		s := state{path: dir.Join("trainer_state.json"), step: math.Inf(1)}
		if s.when = s.path.Written(); s.when.IsZero() {
			continue
		}
		if _, step, ok := strings.Cut(dir.Base(), "checkpoint-"); ok && dir != root {
			s.step, _ = logs.ParseNumber([]byte(step))
		}
		if s.when.After(last) {
			last = s.when
		}
		found = append(found, s)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: expected checkpoint-*/trainer_state.json, found none", root)
	}
	sort.SliceStable(found, func(i, j int) bool {
		a, b := &found[i], &found[j]
		first, second := last.Sub(a.when) < oneCopy, last.Sub(b.when) < oneCopy
		if first && second {
			return a.step > b.step
		}
		return a.when.After(b.when)
	})
	for _, s := range found {
		paths = append(paths, s.path)
	}
	return paths, nil
}

// batch is how many rows a call of Read gives at most.
const batch = 4096

// Read gives the rows that are new.
func (d *document) Read(ctx context.Context, to logs.Sink) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if d.table == nil {
		if err := d.load(false); err != nil {
			return false, err
		}
	}
	if d.table == nil {
		return false, nil
	}
	if !d.told {
		d.told = true
		if i := d.table.info; i.Config != nil || i.Program != "" || i.Steps != 0 {
			to.Info(i)
		}
	}
	for n := 0; n < batch && d.next < len(d.table.rows); n++ {
		r := &d.table.rows[d.next]
		d.given = d.sum(d.given, r)
		d.next++
		to.Row(r)
	}
	if d.next < len(d.table.rows) {
		return true, nil
	}
	d.table = nil
	return false, nil
}

// load reads the first file that is whole, if it has changed.
func (d *document) load(first bool) error {
	paths, err := []files.Path{d.root}, error(nil)
	if d.dir {
		paths, err = states(d.root, d.Watch())
	}
	for _, path := range paths {
		t, wrong := d.read(path)
		if wrong != nil {
			err = cmp.Or(err, wrong)
			continue
		}
		d.path, d.warning = path, ""
		if err != nil { // of a newer one
			d.warning = err.Error()
		}
		if t == nil {
			return nil
		}
		return d.compare(t)
	}
	if first && !errors.As(err, new(*tornError)) {
		return err
	}
	if d.path.In != nil || !errors.Is(err, fs.ErrNotExist) { // what was read stays
		d.warning = err.Error()
	}
	return nil
}

// version is a file as it was when it was read.
type version struct {
	files.Version
	err error // that says why it is no document
}

// maxDocument bounds a document that is packed.
const maxDocument = 256 << 20

// read reads a file. It returns no table if it is the one that was read last.
func (d *document) read(path files.Path) (*table, error) {
	info, err := path.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a file", path)
	}
	if err != nil {
		return nil, err
	}
	v := d.versions[path]
	if v == nil {
		v = new(version)
		d.versions[path] = v
	}
	if !v.Changed(path.In, info) && (path == d.path || v.err != nil) {
		return nil, v.err
	}
	text, err := path.Read(files.All)
	if err != nil {
		*v = version{}
		return nil, err
	}
	t, err := parse(plain.Text(text, maxDocument))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	v.err = err
	return t, err
}

// compare takes the table, whose beginning must be what was given.
func (d *document) compare(t *table) error {
	d.table, d.told = t, false
	var sum uint64
	if d.next <= len(t.rows) {
		for i := range t.rows[:d.next] {
			sum = d.sum(sum, &t.rows[i])
		}
		if sum == d.given {
			return nil
		}
	}
	d.next, d.given = 0, 0
	return logs.ErrRestart
}

// sum adds a row to the sum of those before it.
func (d *document) sum(before uint64, r *logs.Row) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	add := func(v uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	add(before)
	for _, v := range []float64{r.Step, r.Epoch, r.Wall, r.Elapsed} {
		add(math.Float64bits(v))
	}
	for _, v := range r.Values {
		h.WriteString(v.Key)
		add(math.Float64bits(v.V))
	}
	return h.Sum64()
}

// tornError says that a document may not be written to its end.
type tornError struct{ error }

var byteOrderMark = []byte("\xef\xbb\xbf")

var errDocument = errors.New("expected a list of objects with numbers, or an object of lists of numbers")

// parse reads a document.
func parse(text []byte) (*table, error) {
	root, torn, err := jsontext.Decode(bytes.TrimPrefix(text, byteOrderMark))
	if torn {
		err = &tornError{err}
	}
	if err != nil {
		return nil, err
	}
	t := tabulate(root)
	if len(t.rows) == 0 && !empty(root) {
		return nil, errDocument
	}
	return t, nil
}

// Rows gives the sink what a text says that is one document, and reports whether it is one with rows.
func Rows(text []byte, to logs.Sink) bool {
	t, err := parse(text)
	if err != nil || len(t.rows) == 0 {
		return false
	}
	to.Info(t.info)
	for i := range t.rows {
		to.Row(&t.rows[i])
	}
	return true
}

// empty reports whether a document may get rows yet.
func empty(root any) bool {
	switch root := root.(type) {
	case jsontext.List:
		return len(root.Items()) == 0
	case jsontext.Object:
		for _, m := range root {
			if l, ok := m.Value.(jsontext.List); ok && len(l.Items()) == 0 {
				return true
			}
		}
		return len(root) == 0
	}
	return false
}

// Progress is how much of the document was given.
func (d *document) Progress() float64 {
	if d.table == nil {
		return 1
	}
	return float64(d.next) / float64(max(1, len(d.table.rows)))
}

// Warning says what is wrong with the document, or where it has gone.
func (d *document) Warning() string { return d.warning }

// Close does nothing: no file is kept open.
func (d *document) Close() error { return nil }
