package upkeep

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
)

// Finding is something in a database that is not as it was written.
type Finding struct {
	Run   string // its ID; empty: of no run
	Table string // empty: the file itself
	Seq   int64  // the event's number; 0: none
	Text  string
}

// Checked counts what Check has looked at.
type Checked struct{ Runs, Events, Checkpoints, Damaged int }

// checker reads all that a database has.
type checker struct {
	Checked
	store *store.Store
	found func(Finding)
}

// Check reads the runs of the given IDs, or without any the whole file: SQLite's pages, every row, checksums and
// checkpoints. It calls found with what is damaged, and returns an error only where it could not look.
func Check(ctx context.Context, s *store.Store, ids []string, found func(Finding)) (Checked, error) {
	c := checker{store: s, found: found}
	if len(ids) == 0 {
		if err := c.file(ctx); err != nil {
			return c.Checked, err
		}
		var err error
		if ids, err = c.ids(ctx); err != nil {
			return c.Checked, err
		}
	}
	for _, id := range ids {
		if err := c.run(ctx, id); err != nil {
			return c.Checked, err
		}
	}
	return c.Checked, nil
}

func (c *checker) report(f Finding) {
	c.Damaged++
	c.found(f)
}

// reportUnread tells of what SQLite can't read, and returns every other error.
func (c *checker) reportUnread(ctx context.Context, f Finding, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case sqlfile.Busy(err):
		return c.store.Wrap(ctx, err)
	}
	f.Text = "can't be read: " + oneLine(err)
	c.report(f)
	return nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// MaxFaults bounds what SQLite tells of a file's pages, and the ranges of a run's events that it can't read, as a
// damaged row may tell of any number of events.
const MaxFaults = 100

// file looks at the pages and at the tables.
func (c *checker) file(ctx context.Context) error {
	faults, err := sqlfile.Texts(ctx, c.store.DB, fmt.Sprintf("PRAGMA integrity_check(%d)", MaxFaults))
	for _, text := range faults {
		if text != "ok" {
			c.report(Finding{Text: strings.ReplaceAll(text, "\n", " ")})
		}
	}
	if err := c.reportUnread(ctx, Finding{}, err); err != nil {
		return err
	}
	lost, err := sqlfile.Texts(
		ctx, c.store.DB,
		"SELECT \"table\" || ': ' || count(*) || ' rows of no run' FROM pragma_foreign_key_check GROUP BY \"table\"")
	for _, text := range lost {
		c.report(Finding{Text: text})
	}
	if err := c.reportUnread(ctx, Finding{}, err); err != nil {
		return err
	}
	return c.store.View(ctx, func(tx *sql.Tx) error {
		if err := c.tables(ctx, tx); err != nil {
			return err
		}
		for _, table := range []string{"searches", "trials"} {
			if err := c.rows(ctx, tx, table, "", "1"); err != nil {
				return err
			}
		}
		return c.trials(ctx, tx)
	})
}

// trials compares the trials of searches with what the searches' rows tell of them.
func (c *checker) trials(ctx context.Context, tx *sql.Tx) error {
	version, err := rowcode.VersionNow(ctx, tx)
	if err != nil || version < rowcode.Checksums {
		return err
	}
	names, err := sqlfile.Texts(
		ctx, tx, "SELECT name FROM searches s WHERE sums <> (SELECT coalesce(sum(crc), 0) FROM trials t WHERE "+
			"t.search = s.search)")
	for _, name := range names {
		c.report(Finding{Table: "trials", Text: "search " + name + ": " + search.ErrTrials.Error()})
	}
	return c.reportUnread(ctx, Finding{Table: "trials"}, err)
}

// tables compares how the tables are made with how this program makes them.
func (c *checker) tables(ctx context.Context, tx *sql.Tx) error {
	if version, err := rowcode.VersionNow(ctx, tx); err != nil || version != len(sqlfile.Migrations) {
		return err
	}
	want, err := descriptions(ctx)
	if err != nil {
		return err
	}
	have, err := sqlfile.Texts(ctx, tx, described)
	for _, table := range want {
		if err == nil && !slices.Contains(have, table) {
			name, _, _ := strings.Cut(table, "\n")
			c.report(Finding{Table: name, Text: "the table is described differently: expected what newtop makes"})
		}
	}
	return c.reportUnread(ctx, Finding{}, err)
}

// described returns names and definitions of a database's tables and indexes.
const described = "SELECT coalesce(name, '') || char(10) || coalesce(sql, '') FROM sqlite_schema ORDER BY 1"

// descriptions are those of a store that this program makes.
func descriptions(ctx context.Context) ([]string, error) {
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	fresh.SetMaxOpenConns(1)
	if _, err := fresh.ExecContext(ctx, strings.Join(sqlfile.Migrations, ";")); err != nil {
		return nil, err
	}
	return sqlfile.Texts(ctx, fresh, described)
}

// rows compares the rows of a table for which a condition holds with their checksums.
func (c *checker) rows(ctx context.Context, q sqlfile.Querier, table, run, where string, args ...any) error {
	version, err := rowcode.VersionNow(ctx, q)
	if err != nil || version < rowcode.Checksums {
		return err
	}
	s := rowcode.NewChecksummer(table)
	err = sqlfile.EachRow(ctx, q, "SELECT "+rowcode.ChecksumColumns[table]+", crc FROM "+table+" WHERE "+where, args,
		func(rows *sql.Rows) error {
			var crc sql.NullInt64
			values := make([]any, len(s.Names))
			err := rows.Scan(append(rowcode.DestsOf(values), &crc)...)
			if err == nil {
				err = cmp.Or(s.Verify(crc, values...), validJSON(s.Names, values))
			}
			if err != nil && ctx.Err() == nil {
				seq, _ := values[0].(int64)
				f := Finding{Run: run, Table: table, Seq: seq, Text: oneLine(err)}
				if table == "searches" {
					f.Text = fmt.Sprintf("search %v: %s", values[1], f.Text)
				}
				c.report(f)
			}
			return ctx.Err()
		})
	return c.reportUnread(ctx, Finding{Run: run, Table: table}, err)
}

// validJSON returns an error for the first value that is no JSON and should be.
func validJSON(names []string, values []any) error {
	for i, name := range names {
		text, ok := values[i].(string)
		if ok && slices.Contains([]string{"opening", "config", "extremes", "choices", "figures"}, name) &&
			!json.Valid([]byte(text)) {
			return fmt.Errorf("%s is no JSON", name)
		}
	}
	return nil
}

func (c *checker) ids(ctx context.Context) (ids []string, err error) {
	err = c.store.View(ctx, func(tx *sql.Tx) error {
		ids, err = sqlfile.Texts(ctx, tx, "SELECT id FROM runs NOT INDEXED ORDER BY run")
		return c.reportUnread(ctx, Finding{Table: "runs"}, err)
	})
	return ids, err
}

// run reads all of a run, in one transaction for each of its tables at most.
func (c *checker) run(ctx context.Context, id string) error {
	c.Runs++
	return c.store.View(ctx, func(tx *sql.Tx) error {
		err := store.EachRun(ctx, tx, "WHERE r.id = ?", []any{id}, func(r *store.Run) bool {
			if r.Damage != nil {
				c.report(Finding{Run: id, Table: "runs", Text: rowText(r.Damage)})
			}
			return false
		})
		if err := c.reportUnread(ctx, Finding{Run: id, Table: "runs"}, err); err != nil {
			return err
		}
		r, err := store.NewRunReader(ctx, tx, id)
		if err != nil {
			return c.reportUnread(ctx, Finding{Run: id, Table: "runs"}, err)
		}
		if err := c.events(ctx, r); err != nil {
			return err
		}
		for _, table := range []string{"peaks", "checkpoints"} {
			if err := c.rows(ctx, tx, table, id, "run = ?", r.Run); err != nil {
				return err
			}
		}
		return c.checkpoints(ctx, r)
	})
}

// rowText is what is wrong with a row, without where it is.
func rowText(err error) string {
	if row, ok := err.(*sqlfile.RowError); ok {
		err = row.Err
	}
	return oneLine(err)
}

// events reads the events of a run.
func (c *checker) events(ctx context.Context, r *store.RunReader) error {
	whole, unread := true, 0
	for reached := int64(0); reached < r.Events && unread < MaxFaults; {
		r.Damage.Report = func(e *sqlfile.RowError) {
			c.report(Finding{Run: r.ID, Table: e.Table, Seq: e.Seq,
				Text: oneLine(e.Err)})
		}
		batch, next, err := r.Window(ctx, reached)
		if err != nil { // continue behind what SQLite can't read
			unread++
			whole, next = false, min(reached+store.Window, r.Events)
			if err := c.reportUnread(ctx, Finding{Run: r.ID, Table: "events", Seq: reached + 1}, err); err != nil {
				return err
			}
		}
		c.Events += len(batch)
		if len(batch) == 0 && err == nil {
			break
		}
		reached = next
	}
	if e, ok := r.Lost("", whole).(*store.DamageError); ok && e.Missing {
		c.report(Finding{Run: r.ID, Table: "runs",
			Text: "rows are missing, or are of another run: their checksums do not add up"})
	}
	return nil
}

// checkpoints decodes the checkpoints of a run.
func (c *checker) checkpoints(ctx context.Context, r *store.RunReader) error {
	seqs, err := r.Checkpoints(ctx)
	if err := c.reportUnread(ctx, Finding{Run: r.ID, Table: "checkpoints"}, err); err != nil {
		return err
	}
	for _, seq := range seqs {
		c.Checkpoints++
		if _, err := r.Checkpoint(ctx, seq); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.report(Finding{Run: r.ID, Table: "checkpoints", Seq: seq, Text: rowText(err)})
		}
	}
	return nil
}
