package sqlitelog

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/files/filestest"

	_ "modernc.org/sqlite"
)

// rows polls, and returns how many rows there are, -1 if nothing has changed.
func rows(t *testing.T, d *DB) (n int64) {
	t.Helper()
	n = -1
	_, err := d.Poll(t.Context(), func(ctx context.Context) (_ bool, err error) {
		n, err = d.Int(ctx, "SELECT count(*) FROM t")
		return false, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// write opens a database and executes statements.
func write(t *testing.T, path, query string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	exec(t, db, query)
	return db
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// A database that nobody has open is read without files beside it, and followed once somebody opens it.
func TestLeavesNothing(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			write := func(query string) *sql.DB { return write(t, path, query) }
			write("PRAGMA journal_mode=" + mode + "; CREATE TABLE t (a); INSERT INTO t VALUES (1)").Close()
			d, err := Open(files.Here(path))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if n := rows(t, d); n != 1 {
				t.Errorf("%d rows", n)
			}
			if n := rows(t, d); n != -1 {
				t.Error("it was read again")
			}
			if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
				t.Errorf("%v, %v", files, err)
			}
			w := write("INSERT INTO t VALUES (2)")
			if n := rows(t, d); n != 2 {
				t.Errorf("%d rows when it was opened", n)
			}
			exec(t, w, "INSERT INTO t VALUES (3)")
			if n := rows(t, d); n != 3 {
				t.Errorf("%d rows when it was written to", n)
			}
			w.Close()
			if n := rows(t, d); n != -1 && n != 3 {
				t.Errorf("%d rows when it was closed", n)
			}
			write("INSERT INTO t VALUES (4)").Close() // and opened again
			if n := rows(t, d); n != 4 {
				t.Errorf("%d rows in the end", n)
			}
		})
	}
}

// written returns the bytes of a database that statements wrote.
func written(t *testing.T, statements string) (path, text string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	write(t, path, statements).Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// TestRefused: what may have no end or takes all memory is refused by name.
func TestRefused(t *testing.T) {
	for create, want := range map[string]string{
		"CREATE VIEW more AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c": "a view called more: expected a database of tables alone",
		"CREATE VIRTUAL TABLE more USING fts5(a)":                                                         "a view called more: expected a database of tables alone",
		fmt.Sprintf("INSERT INTO t VALUES (zeroblob(%d))", maxCell+64):                                    "a row of more than 64 MB: expected rows of a log",
	} {
		path, _ := written(t, "CREATE TABLE t (a); "+create)
		err := List(files.Here(path), func(ctx context.Context, d *DB) error {
			return d.Each(ctx, "SELECT a FROM t", nil, func([]driver.Value) error { return nil })
		})
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("%s: %v", create, err)
		}
	}
}

// TestCopyErrors: what is wrong with a database elsewhere is said as of one here.
func TestCopyErrors(t *testing.T) {
	path, whole := written(t, "CREATE TABLE metrics (a)")
	for _, text := range []string{whole, whole[:100] + strings.Repeat("x", len(whole)-100), whole[:16] + strings.Repeat("x", 500)} {
		var elsewhere filestest.Memory
		elsewhere.Write(path, text)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ask := func(p files.Path) error {
			return List(p, func(ctx context.Context, d *DB) error {
				return d.Each(ctx, "SELECT b FROM metrics", nil, nil)
			})
		}
		want, err := ask(files.Here(path)), ask(elsewhere.Path(path))
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%v: expected %v", err, want)
		}
	}
}

// changing is a file system whose database is written each time that its log is looked at, so often.
type changing struct {
	*filestest.Memory
	versions []string
}

func (c *changing) Open(name string) (files.File, error) {
	if strings.HasSuffix(name, "-wal") && len(c.versions) > 0 {
		c.Write(strings.TrimSuffix(name, "-wal"), c.versions[0])
		c.versions = c.versions[1:]
	}
	return c.Memory.Open(name)
}

// TestTorn: a copy in whose midst the database was written is never read.
func TestTorn(t *testing.T) {
	_, one := written(t, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
	_, two := written(t, "CREATE TABLE t (a); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
	c := &changing{Memory: &filestest.Memory{}}
	path := files.Path{In: c, Name: "a.db"}
	c.Write("a.db", one)
	c.versions = []string{one, two, one, two}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n := rows(t, d); n != 2 {
		t.Errorf("%d rows", n)
	}
	d.next = time.Time{}
	c.versions = []string{one, two, one}
	c.Write("a.db", one)
	if n := rows(t, d); n != -1 || d.Warning() != "a.db: "+errTorn.Error() {
		t.Errorf("%d rows, %q", n, d.Warning())
	}
	d.next = time.Time{}
	if n := rows(t, d); n != 1 || d.Warning() != "" {
		t.Errorf("%d rows after a pause, %q", n, d.Warning())
	}
	_, three := written(t, "CREATE TABLE t (a); CREATE TABLE u (a); DROP TABLE u; CREATE TABLE u (a)")
	for range 20 {
		c.versions = append(c.versions, one, two, three)
	}
	for range 2 { // first it is written again and again, then it stands in the midst of a transaction
		if _, err := Open(path); err == nil || err.Error() != "a.db: "+errTorn.Error() {
			t.Errorf("%v: expected %v", err, errTorn)
		}
		c.versions = nil
		c.Write("a.db-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	}
}

func TestChoose(t *testing.T) {
	runs := []logs.Run{{ID: "abc", Name: "fox"}, {ID: "abd", Name: "owl"}, {ID: "fox", Name: "owl"}}
	for asked, want := range map[string]int{"abc": 0, "abd": 1, "fox": 2, "owl": 1, "ow": -1, "ab": -1, "emu": -1, "fo": -1} {
		got, err := Choose(asked, runs)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%s: %d, %v", asked, got, err)
		}
	}
}
