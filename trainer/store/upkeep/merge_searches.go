package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
)

// searches copies the searches of the source, after its runs.
func (m *merge) searches(ctx context.Context) error {
	if m.columns["trials"] == nil {
		return nil
	}
	for i := len(m.Found) - 1; i >= 0; i-- { // the oldest first
		if err := m.search(ctx, &m.Found[i]); err != nil {
			return err
		}
	}
	return nil
}

// search copies one search unless it is here.
func (m *merge) search(ctx context.Context, q *search.Search) error {
	var old here
	err := m.conn.QueryRowContext(ctx, "SELECT search, name FROM main.searches WHERE id = ?", q.ID).Scan(
		&old.row, &old.name)
	name := old.name.String
	if errors.Is(err, sql.ErrNoRows) {
		m.Searches.Added++
		if name, err = sqlfile.FreeName(ctx, m.conn, "searches", q.Name); err != nil {
			return err
		}
		m.renamed("search", q.Name, name)
		return m.copySearch(ctx, q.ID, name, old.row)
	}
	if err != nil {
		return err
	}
	order, err := m.compareSearches(ctx, q.ID)
	switch {
	case err != nil:
		return err
	case order == orderSame:
		m.Searches.Same++
	case order == orderOlder:
		m.Searches.Older++
	case order == orderNewer:
		m.Searches.Updated++
		if _, err := search.IdleSearch(ctx, m.conn, &search.Search{ID: q.ID, Name: name}); err != nil {
			return err
		}
		if _, err := m.conn.ExecContext(ctx, "DELETE FROM main.searches WHERE id = ?", q.ID); err != nil {
			return err
		}
		return m.copySearch(ctx, q.ID, name, old.row)
	default:
		return m.conflict("search " + q.Name)
	}
	return nil
}

// compareSearches holds a search of the source against the one here. The one that was written to last is a continuation
// of the other if it has all its trials.
func (m *merge) compareSearches(ctx context.Context, id string) (order, error) {
	const lacks = `EXISTS (SELECT number, seed, final, choices FROM %[1]s.trials WHERE search = %[2]s
		EXCEPT SELECT number, seed, final, choices FROM %[3]s.trials WHERE search = %[4]s)`
	return orderOf(m.conn.QueryRowContext(ctx, `SELECT
		s.changed = d.changed AND s.phase = d.phase AND s.spent = d.spent AND s.seconds = d.seconds AND s.rest = d.rest,
		s.changed > d.changed AND NOT `+fmt.Sprintf(lacks, "main", "d.search", "src", "s.search")+`,
		s.changed < d.changed AND NOT `+fmt.Sprintf(lacks, "src", "s.search", "main", "d.search")+`
		FROM main.searches d, src.searches s WHERE d.id = ?1 AND s.id = ?1`, id))
}

// copySearch copies a search with its trials under a name, to the given row if there is one.
func (m *merge) copySearch(ctx context.Context, id, name string, place sql.NullInt64) error {
	done, err := m.copyRows(ctx, "searches", map[string]string{"search": "?3", "name": "?2", "owner": "NULL"},
		"id = ?1", id, name, place)
	if err != nil {
		return err
	}
	row, err := done.LastInsertId()
	if err != nil {
		return err
	}
	where := "search = (SELECT search FROM src.searches WHERE id = ?2)"
	if _, err := m.copyRows(ctx, "trials", map[string]string{"search": "?1"}, where, row, id); err != nil {
		return err
	}
	for was, is := range m.ids {
		if _, err := m.conn.ExecContext(ctx, "UPDATE main.trials SET run = ?, crc = NULL WHERE search = ? AND run = ?",
			is, row, was); err != nil {
			return err
		}
	}
	return rowcode.SealSearch(ctx, m.conn, row)
}
