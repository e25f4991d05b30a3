package sqlfile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// File is an open database. Its methods may be called from any goroutine.
type File struct {
	DB       *sql.DB
	FilePath string // absolute
	Info     os.FileInfo
	ReadOnly bool

	Immutable bool // opened as a file that nobody changes
	Empty     bool // there are no tables yet, and reading is all that is wanted: DB is none of the file's
}

// Options say how a database is opened.
type Options struct {
	ReadOnly bool // fail where there is none, change nothing
	Existing bool // fail where there is none
}

// openPatience is how long opening waits for others that have locked the file, openLimit how long it may take in
// all, on a busy machine.
const (
	openPatience = 5 * time.Second
	openLimit    = time.Minute
)

// create makes an empty file that only its user can read, which SQLite's own files beside it follow.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenFile opens or creates the database at path, with its directory, and brings it to the newest version of its
// tables. To be read only, one without tables is a store without runs, and left as it is. It returns a *FormatError for
// a file that is no run store, or one of another version that it can't bring up, and with ReadOnly or Existing an
// fs.ErrNotExist where there is none.
func OpenFile(path string, o Options) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &FormatError{File: path, Found: "a directory", Expected: "a run store"}
	case err == nil && !info.Mode().IsRegular(): // SQLite would wait for a pipe's writer, with no end
		return nil, &FormatError{File: path, Found: "no regular file", Expected: "a run store"}
	case errors.Is(err, fs.ErrNotExist) && (o.ReadOnly || o.Existing):
		return nil, fmt.Errorf("%s: %w: expected a run store, which newtop train makes", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		if err := create(path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	s := &File{FilePath: path, ReadOnly: o.ReadOnly}
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
			s.Immutable = true
		}
	}
	if err != nil {
		return nil, err
	}
	if s.Info, err = os.Stat(path); err != nil {
		s.DB.Close()
		return nil, err
	}
	if info == nil { // it is there for good
		if dir, err := os.Open(filepath.Dir(path)); err == nil {
			_ = dir.Sync() // some systems can't sync directories
			dir.Close()
		}
	}
	return s, nil
}

// open opens the database in a mode of openDB's.
func (s *File) open(mode string) (err error) {
	if s.DB, err = OpenDB(s.FilePath, mode, ReadPatience); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	err = Prepare(ctx, s, Migrations)
	if err == nil && s.Empty {
		s.DB.Close()
		s.DB, err = emptyDB(ctx)
	}
	if err != nil {
		s.DB.Close()
	}
	return err
}

// emptyDB returns a database in memory that is a run store without any run.
func emptyDB(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each has a database of its own
	conn, err := db.Conn(ctx)
	if err != nil {
		return db, err
	}
	defer conn.Close()
	return db, migrate(ctx, conn, Migrations, len(Migrations))
}

// unwritable reports whether the file or its directory can't be written.
func unwritable(err error) bool {
	code := CodeOf(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// How long SQLite itself waits for others that have locked the file. A recorder has its own, longer patience above
// this, and must come back to see that it is told to end.
const (
	ReadPatience  = 2 * time.Second
	WritePatience = 100 * time.Millisecond
)

// readers bounds the connections of a Store, apart from its recorders'.
const readers = 4

// OpenDB returns connections to the file; it does not look at it yet. The mode is rwc to make one where there is none,
// rw, ro, or immutable for one that nobody changes.
func OpenDB(path, mode string, patience time.Duration) (*sql.DB, error) {
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
		// Of a database with tables it would change nothing, and need the lock that another process may have.
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			query.Set("_auto_vacuum", "incremental")
		}
		fallthrough
	default:
		query.Set("mode", mode)
	}
	db, err := sql.Open("sqlite", FileURI(path, query))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db.SetMaxOpenConns(readers)
	return db, nil
}

// MaxRow is how many bytes a row has at most: more than a recorder keeps of events that wait.
const MaxRow = 64 << 20

// Connect returns a connection on which SQLite takes no more than MaxRow for a row, whatever the file says.
func Connect(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, MaxRow); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// FileURI returns the name by which SQLite opens a file.
func FileURI(path string, query url.Values) string {
	if runtime.GOOS == "windows" {
		path = "/" + filepath.ToSlash(path)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
}

// Close closes the database. Recorders must have been flushed.
func (s *File) Close() error { return s.DB.Close() }

// Path returns the database's file.
func (s *File) Path() string { return s.FilePath }

// View calls f in one read transaction, so that all that it reads is of one moment.
func (s *File) View(ctx context.Context, f func(*sql.Tx) error) error {
	conn, err := Connect(ctx, s.DB)
	if err != nil {
		return s.Wrap(ctx, err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.Wrap(ctx, err)
	}
	defer tx.Rollback()
	return s.Wrap(ctx, f(tx))
}

// Change calls f in one write transaction.
func (s *File) Change(ctx context.Context, f func(context.Context, *sql.Conn) error) error {
	conn, err := Connect(ctx, s.DB)
	if err != nil {
		return s.Wrap(ctx, err)
	}
	defer conn.Close()
	return s.Wrap(ctx, Transact(ctx, conn, f))
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

// Transact calls f between BEGIN IMMEDIATE and COMMIT, or ROLLBACK where it fails.
func Transact(ctx context.Context, conn *sql.Conn, f func(context.Context, *sql.Conn) error) error {
	resting.RLock()
	defer resting.RUnlock()
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

// Durably calls f, whose transactions survive a loss of power once it returns, with all before them. Others do once
// SQLite has carried them from the WAL into the database.
func Durably(ctx context.Context, conn *sql.Conn, f func() error) error {
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous=FULL"); err != nil {
		return err
	}
	err := f()
	_, normal := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous=NORMAL")
	return cmp.Or(err, normal)
}

// ChangeRetrying is change with more patience: the runs of a search write to the same file.
func (s *File) ChangeRetrying(ctx context.Context, f func(context.Context, *sql.Conn) error) error {
	return RetryBusy(func() error { return s.Change(ctx, f) })
}

// RetryBusy calls f again, a few times, where another process keeps the file locked.
func RetryBusy(f func() error) (err error) {
	for range 3 {
		if err = f(); !Busy(err) {
			break
		}
	}
	return err
}

// Shrink gives the room of what was deleted back to the disk.
func (s *File) Shrink(ctx context.Context) error {
	each := func(*sql.Rows) error { return nil } // each call frees a page
	return s.Wrap(ctx, EachRow(ctx, s.DB, "PRAGMA incremental_vacuum", nil, each))
}

// Querier is a transaction that only reads, or a connection that is changing something.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Texts returns the only column of a query's rows.
func Texts(ctx context.Context, q Querier, query string, args ...any) ([]string, error) {
	return Column[string](ctx, q, query, args...)
}

// Column returns the only column of a query's rows.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) (out []T, err error) {
	err = EachRow(ctx, q, query, args, func(rows *sql.Rows) error {
		var v T
		err := rows.Scan(&v)
		out = append(out, v)
		return err
	})
	return out, err
}

// EachRow calls f with each row of a query until it returns an error, which may be errEnough.
func EachRow(ctx context.Context, q Querier, query string, args []any, f func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		switch err := f(rows); {
		case err == ErrEnough:
			return nil
		case err != nil:
			return err
		}
	}
	return rows.Err()
}

// ErrEnough ends eachRow without an error.
var ErrEnough = errors.New("enough")

// Wrap names the file in a *RowError and in an error of SQLite's, and prefers the context's error to what came of its
// end.
func (s *File) Wrap(ctx context.Context, err error) error {
	if row, ok := errors.AsType[*RowError](err); ok {
		row.File = s.FilePath
	}
	own, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := &sqlError{err: own}
	if Busy(own) {
		text.holder = lockHolder(s.FilePath)
	}
	return fmt.Errorf("%s: %w", s.FilePath, text)
}

// Busy reports whether another connection holds a lock that the failed statement needs.
func Busy(err error) bool {
	code := CodeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Full reports whether there is no room on the disk.
func Full(err error) bool { return CodeOf(err) == sqlite3.SQLITE_FULL }

// CodeOf returns SQLite's primary code of an error, 0 where it is none of SQLite's.
func CodeOf(err error) int {
	if own, ok := errors.AsType[*sqlite.Error](err); ok {
		return own.Code() & 0xff
	}
	return 0
}

// Stamp changes when anything is written to the store, by this process or another. Asking costs a look at two files,
// and reads nothing.
func (s *File) Stamp() string {
	var b strings.Builder
	for _, path := range []string{s.Path(), s.Path() + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprint(&b, info.Size(), " ", info.ModTime().UnixNano(), " ")
		}
	}
	return b.String()
}

// CheckSame returns an error unless the file is the one that was opened: SQLite writes on to one that was removed or
// replaced, for nobody to find.
func (s *File) CheckSame() error {
	info, err := os.Stat(s.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(s.Path() + ": the file is gone")
	case err != nil:
		return err
	case !os.SameFile(info, s.Info):
		return &FormatError{File: s.Path(), Found: "another file than when the run began",
			Expected: "it to be moved back"}
	}
	return nil
}
