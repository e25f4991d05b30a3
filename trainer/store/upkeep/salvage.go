package upkeep

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// Salvaged counts what Salvage has brought into a new database.
type Salvaged struct{ Runs, Rows, Checkpoints, Searches, Left int }

// salvage copies what can be read. A row goes from table to table as it is, with its checksum.
type salvage struct {
	Salvaged
	source  *store.Store
	tx      *sql.Tx // of the source
	conn    *sql.Conn
	found   func(Finding)
	insert  map[string]*sql.Stmt
	columns map[string][]string
}

// Salvage writes all that can be read of the database at path into a new one: runs with their sound rows and
// checkpoints, and searches. It calls found with what is left out. The new file gets its name once it is whole.
func Salvage(ctx context.Context, path, to string, found func(Finding)) (_ Salvaged, err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return Salvaged{}, cmp.Or(err, error(&sqlfile.FormatError{File: to, Found: "there is such a file already",
			Expected: "a new name"}))
	}
	source, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return Salvaged{}, err
	}
	defer source.Close()
	dir, err := os.MkdirTemp(filepath.Dir(to), ".salvage-*")
	if err != nil {
		return Salvaged{}, err
	}
	defer os.RemoveAll(dir)
	part := filepath.Join(dir, filepath.Base(to))
	into, err := store.Open(part, sqlfile.Options{})
	if err != nil {
		return Salvaged{}, err
	}
	v := salvage{source: source, found: found, insert: map[string]*sql.Stmt{}, columns: map[string][]string{}}
	err = cmp.Or(v.all(ctx, into), into.Close())
	if err == nil {
		err = os.Rename(part, to)
	}
	return v.Salvaged, err
}

func (v *salvage) all(ctx context.Context, into *store.Store) error {
	return v.source.View(ctx, func(tx *sql.Tx) error {
		v.tx = tx
		conn, err := into.DB.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		v.conn = conn
		defer func() {
			for _, s := range v.insert {
				s.Close() // or the file is not closed
			}
		}()
		return into.Wrap(ctx, sqlfile.Transact(ctx, conn, func(ctx context.Context, _ *sql.Conn) error {
			if err := v.named(ctx, "runs", "run", "id", v.run); err != nil {
				return err
			}
			there, err := store.HasSearches(ctx, v.tx)
			if err != nil || !there {
				return err
			}
			return v.named(ctx, "searches", "search", "name", v.search)
		}))
	})
}

// maxNumber bounds the rows' numbers where a table that can't be read to its end does not tell them.
const maxNumber = 1 << 20

func (v *salvage) leave(f Finding) {
	v.Left++
	v.found(f)
}

// rowFields are a row of the source, by its columns.
type rowFields map[string]any

// table calls each with the rows of a table for which a condition holds, by its key up to a number, and leaves out
// those that can't be read.
func (v *salvage) table(ctx context.Context, r ranges, most int64, each func(context.Context, rowFields) error) error {
	err := v.read(ctx, &r, most, each)
	if err == nil && r.failed != nil {
		what := "some rows"
		if r.of > r.rows {
			what = fmt.Sprintf("%d of %d rows", r.of-r.rows, r.of)
		}
		r.Text += what + " can't be read: " + oneLine(r.failed)
		v.leave(r.Finding)
	}
	return err
}

// read is table without a finding. SQLite is asked for the rows from below, from above, and then for halves of what is
// between.
func (v *salvage) read(ctx context.Context, r *ranges, most int64,
	each func(context.Context, rowFields) error) (err error) {
	r.columns, err = sqlfile.Texts(ctx, v.tx, "SELECT name FROM pragma_table_info(?)", r.Table)
	if err != nil || len(r.columns) == 0 {
		return err
	}
	r.v, r.each, r.prepared = v, each, map[string]statement{}
	defer r.close()
	return r.read(ctx, most)
}

// named is table for one whose rows have names: those that only the names' index has are left out by name.
func (v *salvage) named(ctx context.Context, table, key, name string,
	each func(context.Context, rowFields) error) error {
	r := ranges{Finding: Finding{Table: table}, key: key, where: "1"}
	names, most := map[int64]string{}, int64(0)
	err := sqlfile.EachRow(ctx, v.tx, "SELECT "+key+", "+name+" FROM "+table, nil, func(rows *sql.Rows) error {
		var number int64
		var text string
		err := rows.Scan(&number, &text)
		names[number], most = text, max(most, number)
		return err
	})
	if err != nil {
		most = maxNumber
	}
	err = v.read(ctx, &r, most, func(ctx context.Context, row rowFields) error {
		number, _ := row[key].(int64)
		delete(names, number)
		return each(ctx, row)
	})
	if err != nil || r.failed == nil {
		return err
	}
	if len(names) == 0 {
		names[0] = "some rows"
	}
	for _, number := range slices.Sorted(maps.Keys(names)) {
		v.leave(Finding{Table: table, Text: names[number] + ": can't be read: " + oneLine(r.failed)})
	}
	return nil
}

// sound says what is wrong with a row.
func (row rowFields) sound(table string) error {
	s := rowcode.NewSealer(table)
	values := make([]any, len(s.Names))
	for i, name := range s.Names {
		values[i] = row[name]
	}
	crc, ok := row["crc"].(int64)
	if err := s.Verify(sql.NullInt64{Int64: crc, Valid: ok}, values...); err != nil {
		return err
	}
	for _, name := range []string{"rest", "steps", "json", "extremes", "opening", "config"} {
		if text, ok := row[name].(string); ok && !json.Valid([]byte(text)) {
			return fmt.Errorf("%s is no JSON", name)
		}
	}
	return nil
}

// put writes a row into the new database.
func (v *salvage) put(ctx context.Context, table string, row rowFields) error {
	s := v.insert[table]
	columns := v.columns[table]
	if s == nil {
		var err error
		if columns, err = sqlfile.Texts(ctx, v.conn, "SELECT name FROM pragma_table_info(?)", table); err != nil {
			return err
		}
		v.columns[table] = columns
		text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" +
			strings.Repeat(", ?", len(columns)-1) + ")"
		if s, err = v.conn.PrepareContext(ctx, text); err != nil {
			return err
		}
		v.insert[table] = s
	}
	args := make([]any, len(columns))
	for i, c := range columns {
		args[i] = row[c]
	}
	_, err := s.ExecContext(ctx, args...)
	return err
}

// take writes a row into the new database, unless it is damaged or contradicts others there.
func (v *salvage) take(ctx context.Context, f Finding, row rowFields, damage error) (taken bool, err error) {
	if damage == nil {
		if damage = v.put(ctx, f.Table, row); damage == nil {
			return true, nil
		}
		if !sqlfile.Permanent(damage) {
			return false, damage
		}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.Text += rowText(damage)
	v.leave(f)
	return false, nil
}

// copied returns what copies the rows of a table of a run's or a search's, but for damaged ones.
func (v *salvage) copied(f Finding, key string) func(context.Context, rowFields) error {
	return func(ctx context.Context, row rowFields) error {
		f.Seq, _ = row[key].(int64)
		taken, err := v.take(ctx, f, row, row.sound(f.Table))
		if taken {
			v.Rows++
		}
		return err
	}
}

// run copies a run. One whose row is damaged keeps the mark.
func (v *salvage) run(ctx context.Context, row rowFields) error {
	number, _ := row["run"].(int64)
	id, _ := row["id"].(string)
	damage := row.sound("runs")
	if damage != nil {
		v.leave(Finding{Run: id, Table: "runs", Text: "it stays damaged: " + oneLine(damage)})
	}
	row["owner"], row["claimed"] = nil, int64(0)
	for _, column := range []string{"sums", "thinned", "whole"} { // which an older version has not
		row[column] = cmp.Or(row[column], any(int64(0)))
	}
	if taken, err := v.take(ctx, Finding{Run: id, Table: "runs"}, row, nil); !taken {
		return err
	}
	v.Runs++
	most, _ := row["events"].(int64)
	for _, t := range []struct{ table, key string }{{"epochs", "seq"}, {"solves", "seq"}, {"spectra", "seq"},
		{"marks", "seq"}, {"peaks", "first"}} {
		r := ranges{Finding: Finding{Run: id, Table: t.table}, key: t.key, where: "run = ?", args: []any{number}}
		if t.table == "epochs" && damage == nil {
			epochs, _ := row["epochs"].(int64)
			thinned, _ := row["thinned"].(int64)
			r.of = epochs - thinned
		}
		if err := v.table(ctx, r, most, v.copied(r.Finding, t.key)); err != nil {
			return err
		}
	}
	if err := v.checkpoints(ctx, number, id, most); err != nil {
		return err
	}
	return v.recount(ctx, number, damage == nil && row["crc"] != nil)
}

// checkpoints copies those that can be decoded.
func (v *salvage) checkpoints(ctx context.Context, run int64, id string, most int64) error {
	r := &store.RunReader{Tx: v.tx, Id: id, Head: store.Head{Run: run}}
	checkpoints := ranges{Finding: Finding{Run: id, Table: "checkpoints"}, key: "seq", where: "run = ?",
		args: []any{run}}
	return v.table(ctx, checkpoints, most, func(ctx context.Context, row rowFields) error {
		f := checkpoints.Finding
		f.Seq, _ = row["seq"].(int64)
		err := row.sound("checkpoints")
		if err == nil {
			_, err = r.Checkpoint(ctx, f.Seq)
		}
		if taken, err := v.take(ctx, f, row, err); !taken {
			return err
		}
		v.Checkpoints++
		f.Table = "parts"
		parts := ranges{Finding: f, key: "part", where: "run = ? AND seq = ?", args: []any{run, f.Seq}}
		return v.table(ctx, parts, maxNumber, func(ctx context.Context, part rowFields) error {
			_, err := v.take(ctx, f, part, nil)
			return err
		})
	})
}

// recount makes a run's row tell what is there.
func (v *salvage) recount(ctx context.Context, run int64, sound bool) error {
	var opening []byte
	if err := v.conn.QueryRowContext(ctx, "SELECT opening FROM runs WHERE run = ?", run).Scan(&opening); err != nil {
		return err
	}
	var e event.RunEvent
	_ = json.Unmarshal(opening, &e) // what is damaged is judged by its loss
	_, err := v.conn.ExecContext(ctx, "UPDATE runs SET "+rowcode.Counted(e.Measure())+`,
		done = (SELECT seq FROM marks WHERE run = ?1 AND seq = done) WHERE run = ?1`, run)
	if err == nil && sound {
		err = rowcode.Seal(ctx, v.conn, "runs", "run = ?", run)
	}
	return err
}

// search copies a search with its trials, up to the first that is not there: it can be gone on with from what it was
// then.
func (v *salvage) search(ctx context.Context, row rowFields) error {
	number, _ := row["search"].(int64)
	name, _ := row["name"].(string)
	row["owner"], row["sums"] = nil, cmp.Or(row["sums"], any(int64(0)))
	text := fmt.Sprintf("search %s: ", name)
	if taken, err := v.take(ctx, Finding{Table: "searches", Text: text}, row, row.sound("searches")); !taken {
		return err
	}
	v.Searches++
	r := ranges{Finding: Finding{Table: "trials", Text: text}, key: "number", where: "search = ?", args: []any{number}}
	if err := v.table(ctx, r, maxNumber, v.copied(r.Finding, "number")); err != nil {
		return err
	}
	res, err := v.conn.ExecContext(ctx, `DELETE FROM trials WHERE search = ?1 AND number IN (SELECT number FROM
		(SELECT number, row_number() OVER (ORDER BY number) AS n FROM trials WHERE search = ?1) WHERE number <> n)`, number)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n > 0 {
		v.Rows -= int(n)
		r.Text += fmt.Sprintf("%d trials behind a missing one", n)
		v.leave(r.Finding)
	}
	if row["crc"] == nil {
		return nil
	}
	return rowcode.SealSearch(ctx, v.conn, number)
}
