// Package sqlitelog follows an SQLite database that another program writes. It only reads: it never changes the file,
// and never holds a lock while a caller thinks, so that the writer does not wait for it.
package sqlitelog

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// patience is how long SQLite waits for a writer's lock. Whoever finds it locked longer is told so, and asks again.
const patience = 500 * time.Millisecond

// maxCell is how many bytes a row has at most: SQLite takes several times as many to read one.
const maxCell = 64 << 20

// DB is a database that is open for reading. One goroutine uses it. One that is not on this machine is copied, whole
// and anew each time that it has changed. A copy in whose midst it was written is not read.
type DB struct {
	path      files.Path
	file      fs.FileInfo
	marks     look      // of the file and its write-ahead log, when it was opened
	copied    func()    // removes the copy; nil: there is none
	next      time.Time // when it may be copied again: no more than a tenth of the time goes into that
	pool      *sql.DB
	conn      *sql.Conn // one only, as PRAGMA data_version speaks of what others changed
	immutable bool      // opened as a file that nobody writes just now
	version   int64     // data_version when everything was read
	caughtUp  bool      // whether version says something
	trouble   string    // why nothing comes
}

func (d *DB) wal() files.Path { return d.path.At(d.path.Name + "-wal") }

// look is how the file and its write-ahead log look.
type look [2]files.Stamp

func (d *DB) look() look { return look{d.path.Stamp(), d.wal().Stamp()} }

// Open opens the database at path. A file of no bytes is a database without tables, as its writer has just made it.
func Open(path files.Path) (*DB, error) {
	const (
		tries = 16
		long  = 10 * time.Second // on a slow line it is not tried as often
	)
	d, began := &DB{path: path}, time.Now()
	err := d.open()
	for i := 1; i < tries && errors.Is(err, errTorn) && time.Since(began) < long; i++ {
		err = d.open()
	}
	if err != nil {
		d.Close()
		return nil, d.describe(err)
	}
	return d, nil
}

func (d *DB) open() error {
	info, err := d.path.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: no file: expected an SQLite database", d.path)
	case info.Size() > 0 && header(d.path) == nil:
		return fmt.Errorf("%s: no SQLite database", d.path)
	}
	// Where there is no write-ahead log nobody writes just now. Not to take part in one then leaves no files beside the
	// database, which could be in its writer's way, and goes where the directory can't be written.
	marks, immutable := d.look(), usesLog(d.path) && !d.wal().Exists()
	path := d.path.In.Local(d.path.Name)
	var copied func()
	if path == "" {
		if path, copied, err = d.copy(); err != nil {
			return err
		}
		path = filepath.Join(path, d.path.Base())
	}
	d.Close()
	d.file, d.marks, d.copied, d.caughtUp, d.immutable = info, marks, copied, false, immutable
	return d.connect(path)
}

// errTorn is of a copy that is of no one time.
var errTorn = errors.New("it changed while it was copied: waiting for a pause; newtop on its host needs none")

// copy copies the file and its write-ahead log. SQLite would take some mixtures of two times for a whole database.
func (d *DB) copy() (dir string, done func(), err error) {
	began := time.Now()
	before, writing := d.moment()
	dir, done, err = files.Copy(d.path, d.wal())
	d.next = time.Now().Add(9 * time.Since(began))
	if err != nil {
		return "", nil, err
	}
	if after, still := d.moment(); writing || still || after != before {
		done()
		return "", nil, fmt.Errorf("%s: %w", d.path, errTorn)
	}
	return dir, done, nil
}

// moment returns what another transaction changes in the file, and another beginning of the write-ahead log in that:
// the change counter, and the log's header with its salts. It also reports whether a transaction is being written, by
// the journal that would take it back (sqlite.org/fileformat2.html, 1.3.7, 4.1 and 3).
func (d *DB) moment() (is string, writing bool) {
	head, _ := d.path.Read(28)
	wal, _ := d.wal().Read(32)
	journal, _ := d.path.At(d.path.Name + "-journal").Read(8)
	return fmt.Sprintf("%x %x", head, wal), string(journal) == "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
}

// connect opens the file at a path of this machine and looks into it. That it is locked is no error.
func (d *DB) connect(path string) (err error) {
	query := url.Values{"mode": {"ro"}, "_busy_timeout": {fmt.Sprint(patience.Milliseconds())}, "_error_rc": {"1"}}
	if d.immutable {
		query.Set("immutable", "1")
	}
	if runtime.GOOS == "windows" {
		path = "/" + filepath.ToSlash(path)
	}
	if d.pool, err = sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path,
		RawQuery: query.Encode()}).String()); err != nil {
		return err
	}
	ctx := context.Background()
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return err
	}
	if _, err := sqlite.Limit(d.conn, sqlite3.SQLITE_LIMIT_LENGTH, maxCell); err != nil {
		return err
	}
	if _, err = d.Int(ctx, "PRAGMA schema_version"); busy(err) {
		return nil
	}
	return err
}

// busy reports whether an error is that the file is being written.
func busy(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Close closes the database.
func (d *DB) Close() error {
	var err error
	if d.conn != nil {
		d.conn.Close()
	}
	if d.pool != nil {
		err = d.pool.Close()
	}
	if d.copied != nil {
		d.copied()
	}
	d.pool, d.conn, d.copied = nil, nil, nil
	return err
}

// Watch lists the files that change when the database does.
func (d *DB) Watch() []files.Path { return []files.Path{d.path, d.wal()} }

// Warning says why nothing can be read for now, or nothing.
func (d *DB) Warning() string { return d.trouble }

// Poll calls read if the database was changed since a call of it that said that there is no more. It returns ErrRestart
// when another file stands at the path. Where the file is locked or gone it waits: it returns no error, and Warning
// says why.
func (d *DB) Poll(ctx context.Context, read func(context.Context) (more bool, err error)) (more bool, err error) {
	d.trouble = ""
	more, err = d.poll(ctx, read)
	switch {
	case err == nil, errors.Is(err, logs.ErrRestart):
		return more, err
	case ctx.Err() != nil:
		return false, ctx.Err()
	case busy(err):
		d.trouble = d.path.Name + ": another program has locked it: waiting"
		return false, nil
	case errors.Is(err, errTorn):
		d.trouble = err.Error()
		return false, nil
	}
	return false, d.describe(err)
}

func (d *DB) poll(ctx context.Context, read func(context.Context) (bool, error)) (bool, error) {
	switch info, err := d.path.Stat(); {
	case errors.Is(err, fs.ErrNotExist):
		d.trouble = d.path.Name + ": it was deleted: waiting for another one"
		return false, nil
	case err != nil:
		return false, err
	case d.copied != nil && time.Now().Before(d.next):
	case !d.path.In.Same(info, d.file) || d.conn == nil:
		if err := d.open(); err != nil {
			return false, err
		}
		return false, logs.ErrRestart
	case (d.immutable || d.copied != nil) && d.marks != d.look():
		if err := d.open(); err != nil {
			return false, err
		}
	}
	version, err := d.Int(ctx, "PRAGMA data_version")
	if err != nil || d.caughtUp && version == d.version {
		return false, err
	}
	if err := d.onlyTables(ctx); err != nil {
		return false, err
	}
	more, err := read(ctx)
	if err == nil {
		d.version, d.caughtUp = version, !more
	}
	return more, err
}

// onlyTables refuses a view, and what a module makes up: they may have no end, and SQLite can't be interrupted in them.
func (d *DB) onlyTables(ctx context.Context) error {
	return d.Each(ctx, "SELECT name FROM sqlite_schema WHERE rootpage = 0 AND type <> 'trigger' LIMIT 1", nil,
		func(row []driver.Value) error {
			return fmt.Errorf("%s: a view called %s: expected a database of tables alone", d.path, Text(row[0]))
		})
}

// Each calls f with each row of a query. The row is f's until it returns.
func (d *DB) Each(ctx context.Context, query string, args []any, f func(row []driver.Value) error) error {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return d.conn.Raw(func(c any) error { // sql.Rows takes twice as long for a million rows
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		row := make([]driver.Value, len(rows.Columns()))
		for {
			switch err := rows.Next(row); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			if err := f(row); err != nil {
				return err
			}
		}
	})
}

// Rows is how far a table has been read, whose rows have numbers that grow.
type Rows struct {
	Table, Number string // Number is the column
	// the numbers of the newest row that was read or is of no interest, and of the newest that there is
	After, Last int64
}

// window is how many rows are read with one query, during which the writer may have to wait.
const window = 8192

// Next calls f with the next rows of a table for which a condition on one value holds: their numbers and columns. It
// reports whether there are more, and returns ErrRestart when the newest rows were deleted, whose numbers are given
// again.
func (d *DB) Next(ctx context.Context, t *Rows, columns, condition string, value any, f func(row []driver.Value)) (
	more bool, err error) {
	// What comes after this number was asked for is left for the next time, so that none is skipped.
	t.Last, err = d.Int(ctx, "SELECT max("+t.Number+") FROM "+t.Table)
	switch {
	case err != nil || t.Last == t.After:
		return false, err
	case t.Last < t.After:
		return false, logs.ErrRestart
	}
	rows := 0
	query := fmt.Sprintf("SELECT %[1]s, %s FROM %s WHERE %s AND %[1]s > ? AND %[1]s <= ? ORDER BY %[1]s LIMIT %[5]d",
		t.Number, columns, t.Table, condition, window)
	err = d.Each(ctx, query, []any{value, t.After, t.Last}, func(row []driver.Value) error {
		rows++
		t.After = Int(row[0])
		f(row[1:])
		return nil
	})
	if err == nil && rows < window {
		t.After = t.Last
	}
	return rows == window, err
}

// Int returns the number that is a query's only value, 0 where there is none.
func (d *DB) Int(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = d.Each(ctx, query, args, func(row []driver.Value) error {
		n, _ = row[0].(int64)
		return nil
	})
	return n, err
}

// Schema returns the names of the tables, and those of their columns, as table.column.
func (d *DB) Schema(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	err := d.Each(ctx, "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
		nil, func(row []driver.Value) error {
			table := Text(row[0])
			names[table], names[table+"."+Text(row[1])] = true, true
			return nil
		})
	return names, err
}

// describe names the file in an error of SQLite's.
func (d *DB) describe(err error) error {
	switch codeOf(err) {
	case 0:
		return err
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: no SQLite database", d.path)
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%s: a row of more than %d MB: expected rows of a log", d.path, maxCell>>20)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s: a damaged SQLite database", d.path)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s: its write-ahead log can't be read: expected a directory that can be written", d.path)
	}
	return fmt.Errorf("%s: %w", d.path, err)
}

// codeOf returns SQLite's primary code of an error, 0 where it is none of SQLite's.
func codeOf(err error) int {
	if own, ok := errors.AsType[*sqlite.Error](err); ok {
		return own.Code() & 0xff
	}
	return 0
}

// usesLog reports whether a database is written by way of a write-ahead log: its file format versions are 2 then.
func usesLog(path files.Path) bool {
	h := header(path)
	return h != nil && h[18] == 2 && h[19] == 2
}

// header returns how an SQLite database begins (sqlite.org/fileformat2.html, 1.3), nil where a file is none.
func header(path files.Path) []byte {
	const size = 20
	head, _ := path.Read(size)
	if len(head) < size || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return nil
	}
	return head
}

// Look returns the number by which a program marks its databases, 0 where there is none, and the Schema. Of what is no
// database, or is locked, it returns nothing. The error says why one can't be opened.
func Look(path files.Path) (application int64, schema map[string]bool, err error) {
	if header(path) == nil {
		return 0, nil, nil
	}
	d, err := Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer d.Close()
	application, _ = d.Int(context.Background(), "PRAGMA application_id")
	schema, _ = d.Schema(context.Background())
	return application, schema, nil
}

// List calls read with a database, once. That it is locked is an error.
func List(path files.Path, read func(context.Context, *DB) error) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.Poll(context.Background(), func(ctx context.Context) (bool, error) { return false, read(ctx, d) })
	if err == nil && d.trouble != "" {
		err = errors.New(d.trouble)
	}
	return err
}
