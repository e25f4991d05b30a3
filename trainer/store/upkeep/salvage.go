package upkeep

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"newtop/internal/filelock"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// Salvaged counts what Salvage has brought into a new database.
type Salvaged struct{ Runs, Rows, Checkpoints, Searches, Left int }

// salvage copies what can be read, and then takes out what the new database's check finds. A row is copied as it is,
// with its checksum, and each statement is a transaction of its own: one that fails takes no other with it.
type salvage struct {
	Salvaged
	*copier
	into  *store.Store
	found func(Finding)
}

// Salvage writes all that can be read of the database at path into a new one: runs with their sound rows and
// checkpoints, and searches. It calls found with what is left out. The new file gets its name once it is whole.
func Salvage(ctx context.Context, path, to string, found func(Finding)) (_ Salvaged, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return Salvaged{}, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return Salvaged{}, cmp.Or(err, error(&sqlfile.FormatError{File: to, Found: "there is such a file already",
			Expected: "a new name"}))
	}
	dir, err := filelock.TempDir(filepath.Dir(to))
	if err != nil {
		return Salvaged{}, err
	}
	defer filelock.RemoveDir(dir)
	source, err := open(ctx, path, dir, found)
	if damaged, _ := errors.AsType[*sqlfile.FormatError](err); damaged != nil && *damaged == *sqlfile.Damaged(path) {
		damaged.Found = "nothing can be salvaged, as what describes its tables can't be read"
		damaged.Expected = "a backup of it"
	}
	if err != nil {
		return Salvaged{}, err
	}
	defer source.Close()
	part := filepath.Join(dir, filepath.Base(to))
	v := salvage{found: found}
	if v.into, err = store.Open(part, sqlfile.Options{}); err != nil {
		return Salvaged{}, err
	}
	if source.Empty {
		found(Finding{Text: "it has no tables: all that it had may have been in " + filepath.Base(path) + "-wal"})
	} else {
		err = v.all(ctx, source)
	}
	if err = cmp.Or(v.into.Wrap(ctx, err), v.into.Close()); err == nil {
		err = os.Rename(part, to)
	}
	return v.Salvaged, err
}

// open opens a database whose header may be damaged: then it makes a copy with another one in dir, and says so.
func open(ctx context.Context, path, dir string, found func(Finding)) (*store.Store, error) {
	source, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	is, should := sqlfile.Header(path)
	if is == nil {
		return source, err
	}
	if err == nil { // a journal says itself how many pages there are, and without one its version is nothing
		from, to := 18, 20
		if journal, _ := os.Stat(path + "-wal"); journal != nil && journal.Size() > 0 {
			from, to = 28, 32
		}
		copy(is[from:to], should[from:to])
	}
	const counters = 92 // what follows them says who wrote last
	if bytes.Equal(is[:counters], should[:counters]) {
		return source, err
	}
	mended, bad := rebuild(ctx, path, filepath.Join(dir, "rebuilt.db"), is, should)
	if bad != nil {
		return source, err
	}
	if err == nil {
		source.Close()
	}
	found(Finding{Text: "its header is damaged, or its end is missing: a copy with another header is read"})
	return mended, nil
}

// rebuild opens a copy of a database, with what is in its journal, and another header.
func rebuild(ctx context.Context, path, to string, was, header []byte) (*store.Store, error) {
	if err := errors.Join(copyFile(path, to, header), copyFile(path+"-wal", to+"-wal", nil)); err != nil {
		return nil, err
	}
	s, err := store.Open(to, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = ours(ctx, s, !bytes.Equal(was[60:64], header[60:64]))
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// ours returns an error unless a database has tables of newtop's, and where nobody knows its version, these alone: a
// newer newtop may have made others.
func ours(ctx context.Context, s *store.Store, unknown bool) error {
	_, err := s.DB.ExecContext(ctx, "SELECT run, id, opening, owner, claimed FROM runs LIMIT 0")
	if err != nil || !unknown {
		return err
	}
	known, err := descriptions(ctx)
	if err != nil {
		return err
	}
	have, err := sqlfile.Texts(ctx, s.DB, described)
	if err == nil && slices.ContainsFunc(have, func(text string) bool { return !slices.Contains(known, text) }) {
		err = errors.New("other tables than this newtop makes")
	}
	return err
}

// copyFile copies a file, if it is there, and puts a header in the place of its own.
func copyFile(from, to string, header []byte) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	_, headErr := out.WriteAt(header, 0)
	return cmp.Or(err, headErr, out.Close())
}

func (v *salvage) all(ctx context.Context, source *store.Store) (err error) {
	if v.copier, err = newCopier(ctx, v.into.Path(), source, "INSERT OR IGNORE"); err != nil {
		return err
	}
	defer v.Close()
	if err := v.named(ctx, "runs", "run", "id", v.run); err != nil {
		return err
	}
	if v.columns["searches"] != nil {
		if err := v.named(ctx, "searches", "search", "name", v.search); err != nil {
			return err
		}
	}
	return v.conn.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM main.runs), (SELECT count(*) FROM main.searches), (SELECT count(*) FROM main.checkpoints),
		(SELECT count(*) FROM main.epochs) + (SELECT count(*) FROM main.solves) +
		(SELECT count(*) FROM main.spectra) + (SELECT count(*) FROM main.marks) +
		(SELECT count(*) FROM main.peaks) + (SELECT count(*) FROM main.trials)`).
		Scan(&v.Runs, &v.Searches, &v.Checkpoints, &v.Rows)
}

// leave reports what is left out.
func (v *salvage) leave(f Finding) {
	v.Left++
	v.found(f)
}

const (
	// maxNumber bounds the rows' numbers where a table that can't be read to its end does not say them.
	maxNumber = 1 << 20
	// maxProbes bounds how often a table is asked for parts of what can't be read.
	maxProbes = 1 << 14
)

// halves copies the rows of a table for which a condition holds, all at once or, where SQLite can't, in halves of the
// range of their key, up to the greatest that it may have. It returns how many were copied and, where some can't be
// read, why. Ranges are halved in turn, so that a large one that can't be read does not use up all probes.
func (v *salvage) halves(ctx context.Context, f Finding, key string, last int64, where string,
	args ...any) (copied int64,
	unread, err error) {
	type span struct{ first, last int64 }
	var refused int64
	pending := []span{{math.MinInt64, math.MaxInt64}}
	for probes := 0; len(pending) > 0 && probes < maxProbes; probes++ {
		s := pending[0]
		pending = pending[1:]
		part := fmt.Sprintf("%s AND %s BETWEEN %d AND %d", where, key, s.first, s.last)
		n, there, err := v.span(ctx, f.Table, part, args)
		if err != nil && s.first == s.last { // SQLite may have failed on one of its neighbours
			for _, direction := range []string{"ASC", "DESC"} {
				if err != nil {
					n, there, err = v.span(ctx, f.Table, part+" ORDER BY "+key+" "+direction+" LIMIT 1", args)
				}
			}
		}
		switch {
		case err == nil:
			copied += n
			refused += there - n
			continue
		case ctx.Err() != nil:
			return copied, nil, ctx.Err()
		case sqlfile.Busy(err), sqlfile.Full(err):
			return copied, nil, err
		}
		unread = err
		if s.first, s.last = max(s.first, 0), min(s.last, last); s.first < s.last {
			middle := s.first + (s.last-s.first)/2
			pending = append(pending, span{s.first, middle}, span{middle + 1, s.last})
		}
	}
	if refused > 0 {
		f.Text += fmt.Sprintf("%d of its rows contradict others", refused)
		v.leave(f)
	}
	return copied, unread, nil
}

// span copies rows of a table, and returns how many, and how many there are.
func (v *salvage) span(ctx context.Context, table, where string, args []any) (n, there int64, err error) {
	values := map[string]string{}
	if table == "runs" || table == "searches" {
		values["owner"], values["claimed"] = "NULL", "0"
	}
	done, err := v.rows(ctx, table, values, where, args...)
	if err != nil {
		return 0, 0, err
	}
	if n, err = done.RowsAffected(); err != nil {
		return 0, 0, err
	}
	err = v.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM src."+table+" WHERE "+where+")", args...).
		Scan(&there)
	return n, there, err
}

// children copies rows of a run or a search, and reports those that can't be read; want is how many there should be,
// where that is known.
func (v *salvage) children(ctx context.Context, f Finding, key string, last, want int64, where string,
	args ...any) error {
	copied, unread, err := v.halves(ctx, f, key, last, where, args...)
	if err == nil && unread != nil {
		what := "some rows"
		if want > copied {
			what = fmt.Sprintf("%d of %d rows", want-copied, want)
		}
		f.Text += what + " can't be read: " + oneLine(unread)
		v.leave(f)
	}
	return err
}

// numbered is a row that has a number and a name.
type numbered struct {
	number int64
	name   string
}

// named copies a table whose rows have names, and calls each with those that were copied. Those that only the names'
// index has are left out by name.
func (v *salvage) named(ctx context.Context, table, key, name string,
	each func(context.Context, numbered) error) error {
	list := func(from string) (out []numbered, err error) {
		err = sqlfile.EachRow(ctx, v.conn, fmt.Sprintf("SELECT %s, %s FROM %s.%s", key, name, from, table), nil,
			func(rows *sql.Rows) error {
				var n numbered
				err := rows.Scan(&n.number, &n.name)
				out = append(out, n)
				return err
			})
		return out, err
	}
	listed, err := list("src")
	lost, last := map[int64]string{}, int64(0)
	for _, n := range listed {
		lost[n.number], last = n.name, max(last, n.number)
	}
	if err != nil {
		last = maxNumber
	}
	_, unread, err := v.halves(ctx, Finding{Table: table}, key, last, "1")
	if err != nil {
		return err
	}
	copied, err := list("main")
	if err != nil {
		return err
	}
	for _, n := range copied {
		delete(lost, n.number)
	}
	if unread != nil && len(lost) == 0 {
		lost[0] = "some rows"
	}
	for _, number := range slices.Sorted(maps.Keys(lost)) {
		if unread != nil {
			v.leave(Finding{Table: table, Text: lost[number] + ": can't be read: " + oneLine(unread)})
		}
	}
	for _, n := range copied {
		if err := each(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// run copies what belongs to a run that was copied. One whose row is damaged keeps the mark.
func (v *salvage) run(ctx context.Context, n numbered) error {
	altered := checker{store: v.into, found: func(Finding) {}}
	if err := altered.rows(ctx, v.conn, "runs", n.name, "run = ?", n.number); err != nil {
		return err
	}
	var last, epochs int64
	if err := v.conn.QueryRowContext(ctx, "SELECT events, epochs - thinned FROM main.runs WHERE run = ?", n.number).
		Scan(&last, &epochs); err != nil {
		return err
	}
	for _, table := range Children {
		key, want := "seq", int64(0)
		switch {
		case table == "peaks":
			key = "first"
		case table == "epochs" && altered.Damaged == 0:
			want = epochs
		}
		f := Finding{Run: n.name, Table: table}
		if err := v.children(ctx, f, key, last, want, "run = ?", n.number); err != nil {
			return err
		}
	}
	if err := v.recount(ctx, n.number, altered.Damaged == 0); err != nil {
		return err
	}
	var bad []Finding
	c := checker{store: v.into, found: func(f Finding) {
		if f.Table == "runs" {
			f.Text = "it stays damaged: " + f.Text
		}
		v.leave(f)
		bad = append(bad, f)
	}}
	if err := c.run(ctx, n.name); err != nil {
		return err
	}
	for _, f := range bad {
		if !slices.Contains(Children, f.Table) {
			continue
		}
		key := "seq"
		if f.Table == "peaks" {
			key = "first"
		}
		if _, err := v.conn.ExecContext(ctx, "DELETE FROM main."+f.Table+" WHERE run = ? AND "+key+" = ?", n.number,
			f.Seq); err != nil {
			return err
		}
	}
	return v.recount(ctx, n.number, altered.Damaged == 0)
}

// recount makes a run's row tell what is there.
func (v *salvage) recount(ctx context.Context, run int64, sound bool) error {
	var opening []byte
	if err := v.conn.QueryRowContext(ctx, "SELECT opening FROM main.runs WHERE run = ?", run).Scan(
		&opening); err != nil {
		return err
	}
	var e event.RunEvent
	_ = json.Unmarshal(opening, &e) // what is damaged is judged by its loss
	_, err := v.conn.ExecContext(
		ctx, "DELETE FROM main.parts WHERE run = ?1 AND seq NOT IN (SELECT seq FROM main.checkpoints "+
			"WHERE run = ?1); UPDATE main.runs SET "+rowcode.Recount(e.Measure())+`,
		done = (SELECT seq FROM main.marks WHERE run = ?1 AND seq = done) WHERE run = ?1`, run)
	if err == nil && sound {
		err = rowcode.WriteChecksums(ctx, v.conn, "runs", "run = ? AND crc IS NOT NULL", run)
	}
	return err
}

// search copies the trials of a search that was copied, up to the first that is not there: it can be resumed from
// what it was then.
func (v *salvage) search(ctx context.Context, n numbered) error {
	text := "search " + n.name + ": "
	var bad []int64
	c := checker{store: v.into, found: func(f Finding) {
		if f.Table == "trials" {
			f.Text = text + f.Text
		}
		v.leave(f)
		bad = append(bad, f.Seq)
	}}
	if err := c.rows(ctx, v.conn, "searches", "", "search = ?", n.number); err != nil {
		return err
	}
	if len(bad) > 0 {
		_, err := v.conn.ExecContext(ctx, "DELETE FROM main.searches WHERE search = ?", n.number)
		return err
	}
	f := Finding{Table: "trials", Text: text}
	if err := v.children(ctx, f, "number", maxNumber, 0, "search = ?", n.number); err != nil {
		return err
	}
	if err := c.rows(ctx, v.conn, "trials", "", "search = ?", n.number); err != nil {
		return err
	}
	for _, number := range bad {
		if _, err := v.conn.ExecContext(ctx, "DELETE FROM main.trials WHERE search = ? AND number = ?", n.number,
			number); err != nil {
			return err
		}
	}
	res, err := v.conn.ExecContext(ctx, `DELETE FROM main.trials WHERE search = ?1 AND number IN (SELECT number FROM
		(SELECT number, row_number() OVER (ORDER BY number) AS n FROM main.trials WHERE search = ?1)
		WHERE number <> n)`,
		n.number)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n > 0 {
		f.Text += fmt.Sprintf("%d trials behind a missing one", n)
		v.leave(f)
	}
	var summed bool
	if err := v.conn.QueryRowContext(ctx, "SELECT crc IS NOT NULL FROM main.searches WHERE search = ?", n.number).
		Scan(&summed); err != nil || !summed {
		return err
	}
	return rowcode.WriteSearchChecksums(ctx, v.conn, n.number)
}
