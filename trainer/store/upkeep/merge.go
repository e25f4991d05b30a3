package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"newtop/trainer/store"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
)

// Merged says what came of merging one database into another.
type Merged struct {
	Runs, Searches Tally
	Found          []search.Search // the searches of the source, newest first
	Renamed        []string        // the first few that have another name here, as in "run adam is adam-2"
	More           int             // further ones
}

// Tally counts what became of the runs or the searches of a source.
type Tally struct {
	Added   int
	Updated int // were here, and have gone further there
	Same    int // are here as they are there
	Older   int // have gone further here, and stay as they are
}

// All returns how many there were.
func (t *Tally) All() int { return t.Added + t.Updated + t.Same + t.Older }

// mostRenamed bounds Merged.Renamed.
const mostRenamed = 5

// ConflictError says that a run or a search of a source is here as well and has gone on differently.
type ConflictError struct{ File, What, Into string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: %s went on differently in %s: expected it in one of the two alone", e.File, e.What, e.Into)
}

// merge copies from one database into another on one connection, to which the source is attached as src.
type merge struct {
	Merged
	store, source *store.Store
	conn          *sql.Conn
	columns       map[string][]string
	ids           map[string]string // of runs that got another one here
}

// quietSource returns the searches of the source that is sound as far as lists show it, and to which no process writes.
func (m *merge) quietSource(ctx context.Context) (searches []search.Search, err error) {
	file := m.source.Path()
	err = m.source.View(ctx, func(tx *sql.Tx) error {
		var check error
		err := store.EachRun(ctx, tx, "", nil, func(r *store.Run) bool {
			switch {
			case r.State == store.Running:
				check = fmt.Errorf("%s: %w", file, &sqlfile.BusyError{Run: r.ID,
					Owner: (&sqlfile.Owner{Host: r.Host, Process: r.Process}).String()})
			case r.Damage != nil:
				check = r.Damage
			case r.Name != "":
				if err := store.CheckName(r.Name); err != nil {
					check = &sqlfile.RowError{Table: "runs", Run: r.ID, Err: err}
				}
			}
			return check == nil
		})
		if err = errors.Join(err, check); err != nil {
			return err
		}
		if searches, err = search.SearchesWhere(ctx, tx, ""); err != nil {
			return err
		}
		for i := range searches {
			q := &searches[i]
			if q.Running {
				o := sqlfile.Owner{Host: q.Host, Process: q.Process}
				return fmt.Errorf("%s: %w", file, &sqlfile.SearchError{Name: q.Name, Found: o.String() + " searches",
					Expected: "a store that no process writes to", Busy: true})
			}
			if err := store.CheckName(q.Name); err != nil {
				return search.BadSearch(q.ID, err)
			}
			if _, err := search.TrialsOf(ctx, tx, q); err != nil {
				return err
			}
		}
		return nil
	})
	return searches, err
}

// attempt carries the merge out in one transaction.
func (m *merge) attempt(ctx context.Context) error {
	db, err := sqlfile.OpenDB(m.store.Path(), "rw", sqlfile.ReadPatience)
	if err != nil {
		return err
	}
	defer db.Close()
	if m.conn, err = db.Conn(ctx); err != nil {
		return m.store.Wrap(ctx, err)
	}
	defer m.conn.Close()
	query := url.Values{"mode": {"ro"}} // as Open did
	if m.source.Immutable {
		query.Set("immutable", "1")
	}
	if _, err := m.conn.ExecContext(ctx, "ATTACH ? AS src", sqlfile.FileURI(m.source.Path(), query)); err != nil {
		return m.source.Wrap(ctx, err)
	}
	if err := m.sound(ctx); err != nil {
		return err
	}
	found, err := m.quietSource(ctx)
	if err != nil {
		return err
	}
	m.Merged = Merged{Found: found}
	clear(m.ids)
	return m.store.Wrap(ctx, sqlfile.Transact(ctx, m.conn, func(ctx context.Context, _ *sql.Conn) error {
		if err := m.runs(ctx); err != nil {
			return err
		}
		return m.searches(ctx)
	}))
}

// children are the tables with rows of runs.
var Children = []string{"epochs", "solves", "spectra", "marks", "peaks", "checkpoints", "parts"}

// later are the columns that a source of before has not.
var later = []string{"crc", "sums", "thinned", "whole", "note", "tags"}

// sound looks through the source's pages, and for the columns that are copied.
func (m *merge) sound(ctx context.Context) error {
	damaged := &sqlfile.FormatError{File: m.source.Path(), Found: "a damaged SQLite database", Expected: "a run store"}
	found, err := sqlfile.Texts(ctx, m.conn, "PRAGMA src.quick_check(1)")
	if sqlfile.CodeOf(err) != 0 && ctx.Err() == nil && !sqlfile.Busy(err) || err == nil &&
		!slices.Equal(found, []string{"ok"}) {
		return damaged
	}
	if err != nil {
		return m.source.Wrap(ctx, err)
	}
	m.columns = map[string][]string{}
	for _, table := range append([]string{"runs", "searches", "trials"}, Children...) {
		columns, err := sqlfile.Texts(ctx, m.conn, "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid", table)
		if err != nil {
			return err
		}
		there, err := sqlfile.Texts(ctx, m.conn, "SELECT name FROM pragma_table_info(?, 'src')", table)
		if err != nil {
			return err
		}
		if len(there) == 0 && (table == "searches" || table == "trials") {
			continue // of a version that had none
		}
		for _, c := range columns {
			if !slices.Contains(there, c) && slices.Contains(later, c) {
				continue
			}
			m.columns[table] = append(m.columns[table], c)
			if !slices.Contains(there, c) {
				return &sqlfile.FormatError{File: m.source.Path(),
					Found:    fmt.Sprintf("no column %s in its table %s", c, table),
					Expected: "a run store"}
			}
		}
	}
	return nil
}

// renamed notes a name that is another one here.
func (m *merge) renamed(what, was, is string) {
	switch {
	case was == is:
	case len(m.Renamed) < mostRenamed:
		m.Renamed = append(m.Renamed, fmt.Sprintf("%s %s is %s", what, was, is))
	default:
		m.More++
	}
}
