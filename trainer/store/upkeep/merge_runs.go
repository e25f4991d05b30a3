package upkeep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// runs copies the runs one by one.
func (m *merge) runs(ctx context.Context) error {
	for last := int64(-1 << 62); ; {
		var from int64
		var id string
		err := m.conn.QueryRowContext(ctx, "SELECT run, id FROM src.runs WHERE run > ? ORDER BY run LIMIT 1",
			last).Scan(&from, &id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = m.run(ctx, from, id)
		}
		if err != nil {
			return err
		}
		last = from
	}
}

// run copies one run unless it is here.
func (m *merge) run(ctx context.Context, from int64, id string) error {
	to, own, err := m.known(ctx, from, id)
	if err != nil {
		return err
	}
	if to != 0 && !own { // a run of another process that was begun in the same second and drew the same number
		if id, err = m.otherID(ctx, from, id); err != nil {
			return err
		}
		if to, own, err = m.known(ctx, from, id); err != nil {
			return err
		}
		if to != 0 && !own {
			return m.conflict("run " + id)
		}
	}
	if to == 0 {
		m.Runs.Added++
		return m.copyRun(ctx, from, id, here{})
	}
	order, err := m.compareRuns(ctx, from, to)
	switch {
	case err != nil:
		return err
	case order == orderSame:
		m.Runs.Same++
	case order == orderOlder:
		m.Runs.Older++
	case order == orderNewer:
		m.Runs.Updated++
		return m.replaceRun(ctx, from, to, id)
	default:
		return m.conflict("run " + id)
	}
	return nil
}

func (m *merge) conflict(what string) error {
	return &ConflictError{File: m.source.Path(), What: what, Into: m.store.Path()}
}

// known returns the row of the run here that has the ID, or 0, and whether it began as the source's.
func (m *merge) known(ctx context.Context, from int64, id string) (to int64, own bool, err error) {
	err = m.conn.QueryRowContext(ctx, `SELECT d.run, d.begun = s.begun AND d.command = s.command AND d.seed IS s.seed AND d.data IS s.data
		FROM main.runs d, src.runs s WHERE d.id = ? AND s.run = ?`, id, from).Scan(&to, &own)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return to, own, err
}

// otherID returns another ID for a run, always the same one, so that it is known again.
func (m *merge) otherID(ctx context.Context, from int64, id string) (string, error) {
	var what string
	err := m.conn.QueryRowContext(
		ctx, "SELECT begun || char(10) || command || char(10) || host || char(10) || process || char(10) || identity "+
			"FROM src.runs WHERE run = ?", from).Scan(&what)
	sum := sha256.Sum256([]byte(id + "\n" + what))
	other := id[:strings.LastIndexByte(id, '-')+1] + hex.EncodeToString(sum[:3])
	m.ids[id] = other
	return other, err
}

// order is how the source's copy of a run or a search stands to the one here.
type order int

const (
	orderNone order = iota // neither goes on from the other
	orderSame
	orderNewer
	orderOlder
)

// orderOf reads whether the source's is equal, ahead or behind.
func orderOf(row *sql.Row) (order, error) {
	var equal, ahead, behind bool
	err := row.Scan(&equal, &ahead, &behind)
	switch {
	case err != nil:
		return orderNone, err
	case equal:
		return orderSame, nil
	case ahead:
		return orderNewer, nil
	case behind:
		return orderOlder, nil
	}
	return orderNone, nil
}

// compareRuns holds a run of the source against the one here. The one that was written to last is a continuation of the
// other if it has the other's last epoch, to the last digit.
func (m *merge) compareRuns(ctx context.Context, from, to int64) (order, error) {
	return orderOf(m.conn.QueryRowContext(ctx, `SELECT
		s.changed = d.changed AND s.events = d.events AND s.epochs = d.epochs AND s.inner = d.inner AND s.done IS d.done AND s.generation = d.generation
			AND s.config = d.config,
		s.changed > d.changed AND s.epochs >= d.epochs AND (d.last IS NULL OR EXISTS (SELECT 1 FROM main.epochs a JOIN src.epochs b
			ON a.epoch = b.epoch AND a.loss IS b.loss AND a.gradient_norm IS b.gradient_norm AND a.optimizer IS b.optimizer
			WHERE a.run = d.run AND a.seq = d.last AND b.run = s.run)),
		s.changed < d.changed AND s.epochs <= d.epochs AND (s.last IS NULL OR EXISTS (SELECT 1 FROM src.epochs a JOIN main.epochs b
			ON a.epoch = b.epoch AND a.loss IS b.loss AND a.gradient_norm IS b.gradient_norm AND a.optimizer IS b.optimizer
			WHERE a.run = s.run AND a.seq = s.last AND b.run = d.run))
		FROM main.runs d, src.runs s WHERE d.run = ? AND s.run = ?`, to, from))
}

// here is the row that a run or a search of the source takes the place of: it keeps its number, by which lists are in
// order, its name, and what the user says of it. The zero value is none.
type here struct {
	row              sql.NullInt64
	name, note, tags sql.NullString
}

// replaceRun puts a run of the source in the place of the one here.
func (m *merge) replaceRun(ctx context.Context, from, to int64, id string) error {
	if _, err := store.IdleRun(ctx, m.conn, id); err != nil {
		return err
	}
	var old here
	if err := m.conn.QueryRowContext(ctx, "SELECT run, name, note, tags FROM main.runs WHERE run = ?", to).Scan(
		&old.row, &old.name, &old.note, &old.tags); err != nil {
		return err
	}
	if _, err := m.conn.ExecContext(ctx, "DELETE FROM main.runs WHERE run = ?", to); err != nil {
		return err
	}
	return m.copyRun(ctx, from, id, old)
}

// copyRun copies a run with all that belongs to it.
func (m *merge) copyRun(ctx context.Context, from int64, id string, old here) error {
	name := old.name.String
	if !old.row.Valid {
		var wanted sql.NullString
		if err := m.conn.QueryRowContext(ctx, "SELECT name FROM src.runs WHERE run = ?", from).Scan(
			&wanted); err != nil {
			return err
		}
		if name = wanted.String; name != "" {
			var err error
			if name, err = sqlfile.FreeName(ctx, m.conn, "runs", name); err != nil {
				return err
			}
			m.renamed("run", wanted.String, name)
		}
	}
	done, err := m.copyRows(ctx, "runs", map[string]string{
		"run": "?4", "id": "?1", "name": "?2", "owner": "NULL", "claimed": "0",
		"opening": "CASE id WHEN ?1 THEN opening ELSE json_set(opening, '$.id', ?1) END",
	}, "run = ?3", id, rowcode.TextOrNull(name), from, old.row)
	if err != nil {
		return err
	}
	to, err := done.LastInsertId()
	if err != nil {
		return err
	}
	if old.row.Valid {
		_, err := m.conn.ExecContext(
			ctx, "UPDATE main.runs SET note = coalesce(?2, note), tags = coalesce(?3, tags) WHERE run = ?1", to,
			old.note, old.tags)
		if err != nil {
			return err
		}
	}
	for _, table := range Children {
		where := "run = ?2"
		if table == "parts" { // others are of a process that was killed while it wrote them
			where += " AND seq IN (SELECT seq FROM src.checkpoints WHERE run = ?2)"
		}
		if _, err := m.copyRows(ctx, table, map[string]string{"run": "?1"}, where, to, from); err != nil {
			return err
		}
	}
	return rowcode.Seal(ctx, m.conn, "runs", "run = ? AND crc IS NOT NULL", to) // under its new name
}

// copyRows copies the rows of a table of the source for which a condition holds. Some columns get a value of their own,
// in SQL.
func (m *merge) copyRows(ctx context.Context, table string, values map[string]string, where string,
	args ...any) (sql.Result, error) {
	columns := m.columns[table]
	var from []string
	for _, c := range columns {
		from = append(from, cmp.Or(values[c], c))
	}
	text := fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %s FROM src.%[1]s WHERE %[4]s", table,
		strings.Join(columns, ", "), strings.Join(from, ", "), where)
	return m.conn.ExecContext(ctx, text, args...)
}
