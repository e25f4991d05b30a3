// Package store keeps runs in an SQLite database: what happened in them, and checkpoints to go on from.
//
//	             Record, Keep              one transaction             WAL, fsnotify
//	session ────────────────► queue ─────────────────────► runs.db ─────────────────► Source of a watcher,
//	           never waits    bounded   every 25 ms at most                           of any process
//
// The tables are open to anyone with SQL; docs/store.md explains them. Any number of processes may record their runs
// in one database at the same time, and watch those of others; one process trains a run at a time.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	db   *sql.DB
	path string // absolute
	file os.FileInfo
	ro   bool

	immutable bool // opened as a file that nobody changes
}

// DefaultPath returns runs.db in NEWTOP_STATE_DIR, or in the user's state directory: $XDG_STATE_HOME/newtop or
// ~/.local/state/newtop.
func DefaultPath() (string, error) {
	const name = "runs.db"
	if dir := os.Getenv("NEWTOP_STATE_DIR"); dir != "" {
		return filepath.Join(dir, name), nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "newtop", name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the run store: %w", err)
	}
	return filepath.Join(home, ".local", "state", "newtop", name), nil
}

// Options say how a database is opened.
type Options struct {
	ReadOnly bool // fail where there is none, change nothing
	Existing bool // fail where there is none
}

// openPatience is how long opening waits for others that have locked the file.
const openPatience = 5 * time.Second

// Open opens or creates the database at path, with its directory, and brings it to the newest version of its tables.
// It returns a *FormatError for a file that is no run store, or one of another version that it can't bring up, and
// with ReadOnly or Existing an fs.ErrNotExist where there is none.
func Open(path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &FormatError{File: path, Found: "a directory", Expected: "a run store"}
	case errors.Is(err, fs.ErrNotExist) && (o.ReadOnly || o.Existing):
		return nil, fmt.Errorf("%s: %w: expected a run store, which newtop train makes", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	s := &Store{path: path, ro: o.ReadOnly}
	mode := "rwc"
	if o.ReadOnly {
		mode = "ro"
	}
	err = s.open(mode)
	if o.ReadOnly && unwritable(err) {
		// Reading takes part in the WAL, for which SQLite wants to write to the directory. Where nobody can, and there
		// is no WAL, nobody changes the file either.
		if _, none := os.Stat(path + "-wal"); errors.Is(none, fs.ErrNotExist) {
			err = s.open("immutable")
			s.immutable = true
		}
	}
	if err != nil {
		return nil, err
	}
	if s.file, err = os.Stat(path); err != nil {
		s.db.Close()
		return nil, err
	}
	return s, nil
}

// open opens the database in a mode of openDB's.
func (s *Store) open(mode string) (err error) {
	if s.db, err = openDB(s.path, mode, readPatience); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openPatience)
	defer cancel()
	if err := prepare(ctx, s, migrations); err != nil {
		s.db.Close()
		return err
	}
	return nil
}

// unwritable reports whether the file or its directory can't be written.
func unwritable(err error) bool {
	var own *sqlite.Error
	return errors.As(err, &own) && (own.Code()&0xff == sqlite3.SQLITE_READONLY || own.Code()&0xff == sqlite3.SQLITE_CANTOPEN)
}

// How long SQLite itself waits for others that have locked the file. A recorder has its own, longer patience above
// this, and must come back to see that it is told to end.
const (
	readPatience  = 2 * time.Second
	writePatience = 100 * time.Millisecond
)

// readers bounds the connections of a Store, apart from its recorders'.
const readers = 4

// openDB returns connections to the file; it does not look at it yet. The mode is rwc to make one where there is none,
// rw, ro, or immutable for one that nobody changes.
func openDB(path, mode string, patience time.Duration) (*sql.DB, error) {
	if runtime.GOOS == "windows" {
		path = "/" + filepath.ToSlash(path)
	}
	query := url.Values{"_pragma": {
		"foreign_keys(1)",
		"trusted_schema(0)",
		"cell_size_check(1)",
		"synchronous(1)",
		fmt.Sprintf("journal_size_limit(%d)", 16<<20),
	}}
	// No _pragma: those come after _auto_vacuum, which reads the file and would not wait.
	query.Set("_busy_timeout", fmt.Sprint(patience.Milliseconds()))
	query.Set("_txlock", "deferred")
	query.Set("_error_rc", "1")
	switch mode {
	case "immutable":
		query.Set("mode", "ro")
		query.Set("immutable", "1")
	case "rwc":
		query.Set("_auto_vacuum", "incremental")
		fallthrough
	default:
		query.Set("mode", mode)
	}
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db.SetMaxOpenConns(readers)
	return db, nil
}

// Close closes the database. Recorders must have been flushed.
func (s *Store) Close() error { return s.db.Close() }

// Path returns the database's file.
func (s *Store) Path() string { return s.path }

// Record returns the recorder of a new run.
func (s *Store) Record(a About) *Recorder {
	return newRecorder(s, a, &writer{store: s, owner: self()})
}

// Continue takes a run that is no longer trained and returns the recorder for the rest. With the first event that
// comes what was recorded after the newest checkpoint is forgotten; a recorder that is flushed without any leaves the
// run as it was. Continue returns a *BusyError where a process records the run.
func (s *Store) Continue(ctx context.Context, id string) (*Recorder, error) {
	w := &writer{store: s, owner: self()}
	if err := w.claim(ctx, id); err != nil {
		return nil, err
	}
	r := newRecorder(s, About{}, w)
	r.id, r.name, r.seq, r.resumed = id, w.name, w.from, true
	r.kept.last = time.Now()
	r.start()
	return r, nil
}

// Checkpoint returns the newest checkpoint of a run, or nil if there is none.
func (s *Store) Checkpoint(ctx context.Context, id string) (c *trainer.Checkpoint, err error) {
	err = s.viewRun(ctx, id, func(r *runReader) error {
		seqs, err := r.checkpoints()
		if err != nil || len(seqs) == 0 {
			return err
		}
		c, err = r.checkpoint(seqs[0])
		return err
	})
	return c, err
}

// Events calls yield with every event of a run in order, those after the position alone, until it returns false. It
// returns the position of the last one, and an error if events before it were forgotten meanwhile, as the run was
// resumed.
func (s *Store) Events(ctx context.Context, id string, after int64, yield func(event.Event) bool) (int64, error) {
	generation := int64(-1)
	for {
		var batch []numbered
		err := s.viewRun(ctx, id, func(r *runReader) error {
			if generation >= 0 && generation != r.generation {
				return fmt.Errorf("%s: run %s: %w", s.path, id, errChanged)
			}
			generation = r.generation
			err := r.readWindow(after)
			batch = r.events
			return err
		})
		if err != nil {
			return after, err
		}
		for _, n := range batch {
			after = n.seq
			if !yield(n.event) {
				return after, nil
			}
		}
		if len(batch) == 0 {
			return after, nil
		}
	}
}

// Source returns a run as it is recorded, for stream.Open. It follows the run for good and never returns io.EOF, since
// a run that is over may be resumed; where that voids events that it gave it returns stream.ErrRestart. A long run's
// past is thinned: of more than 20,000 epochs those that hold extremes, of more than 65,536 inner iterations the
// newest.
func (s *Store) Source(ctx context.Context, id string) (stream.Source, error) {
	w := &source{store: s, id: id}
	err := s.viewRun(ctx, id, func(r *runReader) error {
		w.head = r.head
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Without notification, as on some network file systems, there is the poll.
	if watcher, err := fsnotify.NewWatcher(); err == nil {
		if err := watcher.Add(filepath.Dir(s.path)); err == nil {
			w.watcher = watcher
		} else {
			watcher.Close()
		}
	}
	return w, nil
}

// Merge copies what the database at path has and s has not: runs with their events and checkpoints, searches with their
// trials. All of it is copied or, where it returns an error, nothing; the source is only read. Runs and searches are the
// same where their IDs are: one that has gone further in the source takes the place of the one here and keeps the name
// that it has here. A name that another one has here gets a number behind it. It returns a *FormatError or *RowError for
// a source that is damaged or no run store, a *BusyError or *SearchError where a process writes to it, and a
// *ConflictError.
func (s *Store) Merge(ctx context.Context, path string) (Merged, error) {
	if s.ro {
		panic("store: Merge into a store that is open for reading")
	}
	if info, err := os.Stat(path); err == nil && os.SameFile(info, s.file) { // which SQLite must not open by two names
		return Merged{}, &FormatError{File: path, Found: "the run store that is merged into", Expected: "another one"}
	}
	source, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return Merged{}, err
	}
	defer source.Close()
	m := merge{store: s, source: source, ids: map[string]string{}}
	for range patient {
		if err = m.attempt(ctx); !busy(err) {
			break
		}
	}
	if err != nil {
		return Merged{}, err
	}
	return m.Merged, nil
}

// reader reads in one read transaction.
type reader struct {
	store *Store
	ctx   context.Context
	tx    *sql.Tx
}

// view calls f with a reader, so that all that it reads is of one moment.
func (s *Store) view(ctx context.Context, f func(r *reader) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.wrap(ctx, err)
	}
	defer tx.Rollback()
	return s.wrap(ctx, f(&reader{s, ctx, tx}))
}

// change calls f in one write transaction.
func (s *Store) change(ctx context.Context, f func(context.Context, *sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.wrap(ctx, err)
	}
	defer conn.Close()
	return s.wrap(ctx, transact(ctx, conn, f))
}

// viewRun calls f with a reader of a run, so that all that it reads is of one moment.
func (s *Store) viewRun(ctx context.Context, id string, f func(r *runReader) error) error {
	return s.view(ctx, func(all *reader) error {
		r := &runReader{reader: all, id: id}
		if err := r.readHead(); err != nil {
			return err
		}
		return f(r)
	})
}

// reading calls f in one read transaction of the connection's.
func reading(ctx context.Context, conn *sql.Conn, f func() error) error {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f()
}

// transact calls f between BEGIN IMMEDIATE and COMMIT, or ROLLBACK where it fails.
func transact(ctx context.Context, conn *sql.Conn, f func(context.Context, *sql.Conn) error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// What SQLite has rolled back by itself it refuses to roll back again, which is as well.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// wrap names the file in an error of SQLite's, and prefers the context's error to what came of its end.
func (s *Store) wrap(ctx context.Context, err error) error {
	var own *sqlite.Error
	if err == nil || !errors.As(err, &own) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w", s.path, &sqlError{err: own})
}
