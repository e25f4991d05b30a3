package upkeep

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
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

// maxRenamed bounds Merged.Renamed.
const maxRenamed = 5

// ConflictError says that a run or a search of a source is here as well and has continued differently.
type ConflictError struct{ File, What, Into string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: %s went on differently in %s: expected it in one of the two alone", e.File, e.What, e.Into)
}

// Merge copies what the database at path has and s has not: runs with their events and checkpoints, searches with their
// trials. All of it is copied or, where it returns an error, nothing; the source is only read. Runs and searches are
// the same where their IDs are: one that has gone further in the source takes the place of the one here and keeps the
// name that it has here. A name that another one has here gets a number behind it. It returns a *FormatError or
// *RowError for a source that is damaged or no run store, a *BusyError or *SearchError where a process writes to it,
// and a *ConflictError.
func Merge(ctx context.Context, s *store.Store, path string) (Merged, error) {
	if s.ReadOnly {
		panic("store: Merge into a store that is open for reading")
	}
	if info, err := os.Stat(path); err == nil && os.SameFile(info, s.Info) { // which SQLite must not open by two names
		return Merged{}, &sqlfile.FormatError{File: path, Found: "the run store that is merged into",
			Expected: "another one"}
	}
	source, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return Merged{}, err
	}
	defer source.Close()
	if source.Empty {
		return Merged{}, nil
	}
	m := merge{into: s}
	if err := sqlfile.RetryBusy(func() error { return m.attempt(ctx, source) }); err != nil {
		return Merged{}, err
	}
	return m.Merged, nil
}

// merge copies from one database into another.
type merge struct {
	Merged
	*copier
	into *store.Store
	ids  map[string]string // of runs that got another one here
}

// attempt carries the merge out in one transaction.
func (m *merge) attempt(ctx context.Context, source *store.Store) error {
	c, err := newCopier(ctx, m.into.Path(), source, "INSERT")
	if err != nil {
		return m.into.Wrap(ctx, err)
	}
	defer c.Close()
	m.copier, m.ids = c, map[string]string{}
	if err := m.sound(ctx); err != nil {
		return err
	}
	found, err := m.quietSource(ctx)
	if err != nil {
		return err
	}
	m.Merged = Merged{Found: found}
	return m.into.Wrap(ctx, sqlfile.Transact(ctx, c.conn, func(ctx context.Context, _ *sql.Conn) error {
		for _, k := range []*kind{m.runs(), m.searches()} {
			if err := m.all(ctx, k); err != nil {
				return err
			}
		}
		return nil
	}))
}

// sound looks through the source's pages, and for the columns that are copied.
func (m *merge) sound(ctx context.Context) error {
	found, err := sqlfile.Texts(ctx, m.conn, "PRAGMA src.quick_check(1)")
	broken := sqlfile.CodeOf(err) != 0 && ctx.Err() == nil && !sqlfile.Busy(err)
	switch {
	case broken, err == nil && !slices.Equal(found, []string{"ok"}):
		return sqlfile.Damaged(m.source.Path())
	case err != nil:
		return m.source.Wrap(ctx, err)
	case m.missing != "":
		return &sqlfile.FormatError{File: m.source.Path(), Found: "no column " + m.missing, Expected: "a run store"}
	}
	return nil
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

// kind is what is merged by its ID: runs or searches.
type kind struct {
	noun, table, key string
	tally            *Tally
	values           map[string]string // of the columns that are not copied, in SQL; ?1 is the ID
	// order compares a row d here with the row s of the source: whether they are the same, and whether the source's
	// or this one is a continuation of the other.
	order    string
	id       func(context.Context, *item) error // gives an item the ID that it has here
	idle     func(context.Context, *item) error // refuses one that a process has here
	children func(context.Context, *item) error // copies what belongs to it
}

// item is a run or a search of the source.
type item struct {
	from     int64 // its row there
	id, name string
	label    string // what messages call it
	to       int64  // its row here
	// What is here and stays: the row, by which lists are in order, and what the user says of it.
	row              sql.NullInt64
	here, note, tags sql.NullString
}

// all copies all of a kind, the oldest first.
func (m *merge) all(ctx context.Context, k *kind) error {
	if m.columns[k.table] == nil {
		return nil
	}
	var items []*item
	err := sqlfile.EachRow(ctx, m.conn, fmt.Sprintf("SELECT %s, id, coalesce(name, '') FROM src.%s ORDER BY 1", k.key,
		k.table), nil, func(rows *sql.Rows) error {
		i := new(item)
		items = append(items, i)
		return rows.Scan(&i.from, &i.id, &i.name)
	})
	for _, i := range items {
		if err == nil {
			err = m.one(ctx, k, i)
		}
	}
	return err
}

// one copies a run or a search, unless it is here as far.
func (m *merge) one(ctx context.Context, k *kind, i *item) error {
	if err := k.id(ctx, i); err != nil {
		return err
	}
	err := m.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT %s, name FROM main.%s WHERE id = ?", k.key, k.table),
		i.id).Scan(&i.row, &i.here)
	if errors.Is(err, sql.ErrNoRows) {
		k.tally.Added++
		if i.name != "" {
			if i.here.String, err = sqlfile.FreeName(ctx, m.conn, k.table, i.name); err != nil {
				return err
			}
			m.renamed(k.noun, i.name, i.here.String)
		}
		return m.copy(ctx, k, i)
	}
	if err != nil {
		return err
	}
	var same, ahead, behind bool
	if err := m.conn.QueryRowContext(
		ctx, fmt.Sprintf("SELECT %s FROM main.%[2]s d, src.%[2]s s WHERE d.%[3]s = ? AND s.%[3]s = ?",
			k.order, k.table, k.key), i.row, i.from).Scan(&same, &ahead, &behind); err != nil {
		return err
	}
	switch {
	case same:
		k.tally.Same++
		return nil
	case ahead:
		k.tally.Updated++
	case behind:
		k.tally.Older++
		return nil
	default:
		return m.conflict(k.noun + " " + i.label)
	}
	if err := k.idle(ctx, i); err != nil {
		return err
	}
	if _, err := m.conn.ExecContext(ctx, fmt.Sprintf("DELETE FROM main.%s WHERE %s = ?", k.table, k.key),
		i.row); err != nil {
		return err
	}
	return m.copy(ctx, k, i)
}

// copy copies a run or a search with all that belongs to it.
func (m *merge) copy(ctx context.Context, k *kind, i *item) error {
	done, err := m.rows(ctx, k.table, k.values, k.key+" = ?3", i.id, rowcode.TextOrNull(i.here.String), i.from, i.row)
	if err != nil {
		return err
	}
	if i.to, err = done.LastInsertId(); err != nil {
		return err
	}
	return k.children(ctx, i)
}

func (m *merge) conflict(what string) error {
	return &ConflictError{File: m.source.Path(), What: what, Into: m.into.Path()}
}

// renamed notes a name that is another one here.
func (m *merge) renamed(what, was, is string) {
	switch {
	case was == is:
	case len(m.Renamed) < maxRenamed:
		m.Renamed = append(m.Renamed, fmt.Sprintf("%s %s is %s", what, was, is))
	default:
		m.More++
	}
}

// runs says how runs are merged. The one that was written to last is a continuation of the other if it has the other's
// last epoch, to the last digit.
func (m *merge) runs() *kind {
	const ahead = `%[1]s.changed > %[2]s.changed AND %[1]s.epochs >= %[2]s.epochs AND (%[2]s.last IS NULL OR
		EXISTS (SELECT 1 FROM %[4]s.epochs a JOIN %[3]s.epochs b
			ON a.epoch = b.epoch AND a.loss IS b.loss AND a.gradient_norm IS b.gradient_norm
				AND a.optimizer IS b.optimizer
			WHERE a.run = %[2]s.run AND a.seq = %[2]s.last AND b.run = %[1]s.run))`
	return &kind{
		noun: "run", table: "runs", key: "run", tally: &m.Runs,
		values: map[string]string{
			"run": "?4", "id": "?1", "name": "?2", "owner": "NULL", "claimed": "0",
			"opening": "CASE id WHEN ?1 THEN opening ELSE json_set(opening, '$.id', ?1) END",
		},
		order: `s.changed = d.changed AND s.events = d.events AND s.epochs = d.epochs AND s.inner = d.inner AND
			s.done IS d.done AND s.generation = d.generation AND s.config = d.config, ` +
			fmt.Sprintf(ahead, "s", "d", "src", "main") + ", " + fmt.Sprintf(ahead, "d", "s", "main", "src"),
		id: m.runID, idle: m.idleRun, children: m.runRows,
	}
}

// runID gives a run another ID where another run has its own here: one of another process that was begun in the same
// second and drew the same number. It is always the same one, so that the run is known again.
func (m *merge) runID(ctx context.Context, i *item) error {
	i.label = i.id
	const began = `SELECT d.begun = s.begun AND d.command = s.command AND d.seed IS s.seed AND d.data IS s.data
		FROM main.runs d, src.runs s WHERE d.id = ? AND s.run = ?`
	own, err := sqlfile.Column[bool](ctx, m.conn, began, i.id, i.from)
	if err != nil || len(own) == 0 || own[0] {
		return err
	}
	what, err := sqlfile.Texts(ctx, m.conn, "SELECT begun || char(10) || command || char(10) || host || char(10) || "+
		"process || char(10) || identity FROM src.runs WHERE run = ?", i.from)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(i.id + "\n" + strings.Join(what, "")))
	other := i.id[:strings.LastIndexByte(i.id, '-')+1] + hex.EncodeToString(sum[:3])
	m.ids[i.id], i.id, i.label = other, other, other
	own, err = sqlfile.Column[bool](ctx, m.conn, began, i.id, i.from)
	if err == nil && len(own) > 0 && !own[0] {
		return m.conflict("run " + i.id)
	}
	return err
}

// idleRun also reads what the user says of the run.
func (m *merge) idleRun(ctx context.Context, i *item) error {
	if _, err := store.IdleRun(ctx, m.conn, i.id); err != nil {
		return err
	}
	return m.conn.QueryRowContext(ctx, "SELECT note, tags FROM main.runs WHERE run = ?", i.row).Scan(&i.note, &i.tags)
}

func (m *merge) runRows(ctx context.Context, i *item) error {
	if _, err := m.conn.ExecContext(ctx, "UPDATE main.runs SET note = coalesce(?2, note), tags = coalesce(?3, tags) "+
		"WHERE run = ?1", i.to, i.note, i.tags); err != nil {
		return err
	}
	for _, table := range Children {
		where := "run = ?2"
		if table == "parts" { // others are of a process that was killed while it wrote them
			where += " AND seq IN (SELECT seq FROM src.checkpoints WHERE run = ?2)"
		}
		if _, err := m.rows(ctx, table, map[string]string{"run": "?1"}, where, i.to, i.from); err != nil {
			return err
		}
	}
	return rowcode.WriteChecksums(ctx, m.conn, "runs", "run = ? AND crc IS NOT NULL", i.to) // under its new name
}

// searches says how searches are merged, after the runs. The one that was written to last is a continuation of the
// other if it has all its trials.
func (m *merge) searches() *kind {
	const ahead = `%[1]s.changed > %[2]s.changed AND NOT EXISTS (
		SELECT number, seed, final, choices FROM %[4]s.trials WHERE search = %[2]s.search
		EXCEPT SELECT number, seed, final, choices FROM %[3]s.trials WHERE search = %[1]s.search)`
	return &kind{
		noun: "search", table: "searches", key: "search", tally: &m.Searches,
		values: map[string]string{"search": "?4", "name": "?2", "owner": "NULL"},
		order: `s.changed = d.changed AND s.phase = d.phase AND s.spent = d.spent AND s.seconds = d.seconds AND
			s.rest = d.rest, ` + fmt.Sprintf(ahead, "s", "d", "src", "main") + ", " +
			fmt.Sprintf(ahead, "d", "s", "main", "src"),
		id: func(_ context.Context, i *item) error {
			i.label = i.name
			return nil
		},
		idle: func(ctx context.Context, i *item) error {
			_, err := search.IdleSearch(ctx, m.conn, &search.Search{ID: i.id, Name: i.here.String})
			return err
		},
		children: m.trials,
	}
}

func (m *merge) trials(ctx context.Context, i *item) error {
	if _, err := m.rows(ctx, "trials", map[string]string{"search": "?1"}, "search = ?2", i.to, i.from); err != nil {
		return err
	}
	for was, is := range m.ids {
		if _, err := m.conn.ExecContext(ctx, "UPDATE main.trials SET run = ?, crc = NULL WHERE search = ? AND run = ?",
			is, i.to, was); err != nil {
			return err
		}
	}
	return rowcode.WriteSearchChecksums(ctx, m.conn, i.to)
}
