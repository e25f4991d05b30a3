package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"newtop/trainer/event"
)

// Salvaged counts what Salvage has brought into a new database.
type Salvaged struct{ Runs, Rows, Checkpoints, Searches, Left int }

// salvage copies what can be read. A row goes from table to table as it is, with its checksum.
type salvage struct {
	Salvaged
	source  *Store
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
		return Salvaged{}, cmp.Or(err, error(&FormatError{File: to, Found: "there is such a file already", Expected: "a new name"}))
	}
	source, err := Open(path, Options{ReadOnly: true})
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
	into, err := Open(part, Options{})
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

func (v *salvage) all(ctx context.Context, into *Store) error {
	return v.source.view(ctx, func(tx *sql.Tx) error {
		v.tx = tx
		conn, err := into.db.Conn(ctx)
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
		return into.wrap(ctx, transact(ctx, conn, func(ctx context.Context, _ *sql.Conn) error {
			if err := v.table(ctx, "runs", "run", "1", nil, maxNumber, v.run); err != nil {
				return err
			}
			there, err := hasSearches(ctx, v.tx)
			if err != nil || !there {
				return err
			}
			return v.table(ctx, "searches", "search", "1", nil, maxNumber, v.search)
		}))
	})
}

// maxNumber bounds the rows' numbers where a table that can't be read to its end does not tell them.
const maxNumber = 1 << 20

func (v *salvage) leave(f Finding) {
	v.Left++
	v.found(f)
}

// fields are a row of the source, by its columns.
type fields map[string]any

// table calls each with the rows of a table for which a condition holds, by its key up to a number. Rows that SQLite
// can't read are left out: it is asked for them from below, from above, and then for halves of what is between.
func (v *salvage) table(ctx context.Context, name, key, where string, args []any, most int64, each func(context.Context, fields) error) error {
	columns, err := texts(ctx, v.tx, "SELECT name FROM pragma_table_info(?)", name)
	if err != nil || len(columns) == 0 {
		return err
	}
	r := ranges{v: v, name: name, key: key, where: where, args: args, columns: columns, each: each, left: mostProbes, prepared: map[string]statement{}}
	defer r.close()
	if err := r.read(ctx, math.MinInt64, math.MaxInt64, most); err != nil {
		return err
	}
	if r.failed != nil {
		v.leave(Finding{Table: name, Text: "some rows can't be read: " + oneLine(r.failed)})
	}
	return nil
}

// sound says what is wrong with a row.
func (row fields) sound(table string) error {
	s := newSealer(table)
	values := make([]any, len(s.names))
	for i, name := range s.names {
		values[i] = row[name]
	}
	crc, ok := row["crc"].(int64)
	if err := s.verify(sql.NullInt64{Int64: crc, Valid: ok}, values...); err != nil {
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
func (v *salvage) put(ctx context.Context, table string, row fields) error {
	s := v.insert[table]
	columns := v.columns[table]
	if s == nil {
		var err error
		if columns, err = texts(ctx, v.conn, "SELECT name FROM pragma_table_info(?)", table); err != nil {
			return err
		}
		v.columns[table] = columns
		text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
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

// copied returns what copies the rows of a table of a run's or a search's, but for damaged ones.
func (v *salvage) copied(table, id, key string) func(context.Context, fields) error {
	return func(ctx context.Context, row fields) error {
		seq, _ := row[key].(int64)
		err := row.sound(table)
		if err == nil {
			err = v.put(ctx, table, row)
			if err != nil && !permanent(err) {
				return err
			}
		}
		if err != nil {
			v.leave(Finding{Run: id, Table: table, Seq: seq, Text: oneLine(err)})
			return nil
		}
		v.Rows++
		return nil
	}
}

// run copies a run. One whose row is damaged keeps the mark.
func (v *salvage) run(ctx context.Context, row fields) error {
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
	if err := v.put(ctx, "runs", row); err != nil {
		if !permanent(err) {
			return err
		}
		v.leave(Finding{Run: id, Table: "runs", Text: oneLine(err)})
		return nil
	}
	v.Runs++
	most, _ := row["events"].(int64)
	for _, t := range []struct{ table, key string }{{"epochs", "seq"}, {"solves", "seq"}, {"spectra", "seq"}, {"marks", "seq"}, {"peaks", "first"}} {
		if err := v.table(ctx, t.table, t.key, "run = ?", []any{number}, most, v.copied(t.table, id, t.key)); err != nil {
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
	r := &runReader{tx: v.tx, id: id, head: head{run: run}}
	return v.table(ctx, "checkpoints", "seq", "run = ?", []any{run}, most, func(ctx context.Context, row fields) error {
		seq, _ := row["seq"].(int64)
		err := row.sound("checkpoints")
		if err == nil {
			_, err = r.checkpoint(ctx, seq)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			v.leave(Finding{Run: id, Table: "checkpoints", Seq: seq, Text: rowText(err)})
			return nil
		}
		v.Checkpoints++
		if err := v.put(ctx, "checkpoints", row); err != nil {
			return err
		}
		return v.table(ctx, "parts", "part", "run = ? AND seq = ?", []any{run, seq}, maxNumber, func(ctx context.Context, part fields) error {
			return v.put(ctx, "parts", part)
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
	_, err := v.conn.ExecContext(ctx, "UPDATE runs SET "+counted(e.Measure())+`,
		done = (SELECT seq FROM marks WHERE run = ?1 AND seq = done) WHERE run = ?1`, run)
	if err == nil && sound {
		err = seal(ctx, v.conn, "runs", "run = ?", run)
	}
	return err
}

// search copies a search with its trials.
func (v *salvage) search(ctx context.Context, row fields) error {
	number, _ := row["search"].(int64)
	name, _ := row["name"].(string)
	row["owner"], row["sums"] = nil, cmp.Or(row["sums"], any(int64(0)))
	err := row.sound("searches")
	if err == nil {
		err = v.put(ctx, "searches", row)
	}
	if err != nil {
		v.leave(Finding{Table: "searches", Text: fmt.Sprintf("search %s: %s", name, oneLine(err))})
		return nil
	}
	v.Searches++
	if err := v.table(ctx, "trials", "number", "search = ?", []any{number}, maxNumber, v.copied("trials", "", "number")); err != nil || row["crc"] == nil {
		return err
	}
	return sealSearch(ctx, v.conn, number)
}
