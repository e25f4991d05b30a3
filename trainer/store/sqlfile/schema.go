package sqlfile

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Application marks a database as a run store, in the field of its header that is there for this: "newt".
const Application = 0x6e657774

// The versions' changes.
var (
	//go:embed schema/1.sql
	schema1 string
	//go:embed schema/2.sql
	schema2 string
	//go:embed schema/3.sql
	schema3 string
	//go:embed schema/4.sql
	schema4 string
)

// Migrations make an empty database one of version 1, that one of version 2, and so on. All that are to be done are one
// transaction with the change of user_version. What has been released is never changed here.
var Migrations = []string{schema1, schema2, schema3, schema4}

// Prepare checks that the file is a run store and brings it to the last of the versions.
func Prepare(ctx context.Context, s *File, versions []string) error {
	var locked error
	begin := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := tryPrepare(ctx, s, versions)
		switch {
		case Busy(err):
			locked = err
		case locked != nil && errors.Is(err, context.DeadlineExceeded):
			err = locked // why it took so long
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%s: it could not be opened within %v: expected a run store", s.FilePath, openLimit)
		}
		// Changing to the WAL needs the file alone, and SQLite does not wait for that by itself.
		if !Busy(err) || ctx.Err() != nil || time.Since(begin) > openPatience {
			return notOurs(s, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// notOurs makes a *FormatError of what SQLite says of a file that is no database.
func notOurs(s *File, err error) error {
	switch CodeOf(err) {
	case sqlite3.SQLITE_NOTADB:
		if is, _ := Header(s.FilePath); !named(is) {
			return &FormatError{File: s.FilePath, Found: "no SQLite database", Expected: "a run store"}
		}
		return Damaged(s.FilePath)
	case sqlite3.SQLITE_CORRUPT:
		return Damaged(s.FilePath)
	}
	return s.Wrap(context.Background(), err)
}

// Damaged says that a file can't be read as the run store that it may have been.
func Damaged(path string) *FormatError {
	return &FormatError{File: path, Found: "a damaged SQLite database",
		Expected: "a run store: newtop runs salvage -o NEW.db writes what can be read into a new one"}
}

func tryPrepare(ctx context.Context, s *File, versions []string) error {
	conn, err := Connect(ctx, s.DB)
	if err != nil {
		return err
	}
	defer conn.Close()
	version := 0
	err = reading(ctx, conn, func() (err error) { // at one moment, as another process may be making the tables
		version, err = versionOf(ctx, s, conn, versions)
		return err
	})
	if err != nil || version == len(versions) {
		return err
	}
	if s.ReadOnly { // of what came later, tables are as good as empty, and columns are asked for by version
		s.Empty = version == 0
		return nil
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	return Durably(ctx, conn, func() error {
		return Transact(ctx, conn, func(ctx context.Context, conn *sql.Conn) error {
			version, err := versionOf(ctx, s, conn, versions) // as another process may have done it meanwhile
			if err != nil {
				return err
			}
			return migrate(ctx, conn, versions[version:], len(versions))
		})
	})
}

// migrate makes the changes that are left to a version.
func migrate(ctx context.Context, conn *sql.Conn, left []string, version int) error {
	if len(left) == 0 {
		return nil
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA application_id=%d; PRAGMA user_version=%d",
		strings.Join(left, ";\n"), Application, version))
	return err
}

// versionOf returns the version of the tables, 0 for an empty database.
func versionOf(ctx context.Context, s *File, conn *sql.Conn, versions []string) (version int, err error) {
	var app, tables int
	for _, q := range []struct {
		text string
		to   *int
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := conn.QueryRowContext(ctx, q.text).Scan(q.to); err != nil {
			return 0, err
		}
	}
	switch {
	// as a kill, a full disk or a power cut leaves it before it has its tables
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != Application:
		return 0, &FormatError{File: s.FilePath, Found: "an SQLite database of another program",
			Expected: "a run store"}
	case version < 1:
		return 0, &FormatError{File: s.FilePath, Found: fmt.Sprintf("a run store of version %d", version),
			Expected: "version 1 or later"}
	case version > len(versions):
		return 0, &FormatError{
			File: s.FilePath, Found: fmt.Sprintf("a run store of version %d", version),
			Expected: fmt.Sprintf("version %d at most: a newer newtop made it", len(versions)),
		}
	}
	// A view may have no end, and SQLite can't be interrupted in it.
	var name string
	err = conn.QueryRowContext(ctx, `SELECT name FROM sqlite_schema WHERE rootpage = 0 AND type <> 'trigger' AND name IN
		('runs', 'epochs', 'solves', 'spectra', 'marks', 'peaks', 'checkpoints', 'parts', 'searches', 'trials')`).
		Scan(&name)
	switch {
	case err == nil:
		return 0, &FormatError{File: s.FilePath, Found: "a view called " + name, Expected: "a table"}
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	return version, nil
}
