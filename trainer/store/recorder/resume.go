package recorder

import (
	"context"
	"database/sql"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// claim makes this process the owner of a run that nobody records, and notes from where it will continue.
func (w *Writer) claim(ctx context.Context, id string) error {
	err := w.store.Change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		run, err := store.IdleRun(ctx, conn, id)
		if err != nil {
			return err
		}
		var name sql.NullString
		err = conn.QueryRowContext(ctx, `SELECT name,
			coalesce((SELECT max(seq) FROM checkpoints c WHERE c.run = r.run), 0)
			FROM runs r WHERE run = ?`, run).Scan(&name, &w.from)
		if err != nil {
			return err
		}
		w.name = name.String
		w.at.run = run
		w.damaged, err = store.WithChecksum(ctx, conn, id, func() error {
			_, err := conn.ExecContext(
				ctx, "UPDATE runs SET ("+sqlfile.OwnerColumns+") = (?, ?, ?, ?, ?), claimed = 1 WHERE run = ?",
				append(w.owner.Args(), run)...)
			return err
		})
		return err
	})
	if err != nil {
		w.at.run = 0
	}
	return err
}

// forget deletes what was recorded after the checkpoint that the run resumes from, and its end, and puts the new
// opening in the place of the old one.
func (w *Writer) forget(ctx context.Context, at *position, opening []byte, config sql.NullString) error {
	for _, q := range []string{
		"DELETE FROM epochs WHERE run = ?1 AND seq > ?2",
		// A row of inner iterations never reaches over a checkpoint, which comes after an epoch.
		"DELETE FROM solves WHERE run = ?1 AND seq > ?2",
		"DELETE FROM spectra WHERE run = ?1 AND seq > ?2",
		"DELETE FROM marks WHERE run = ?1 AND (seq > ?2 OR seq = (SELECT done FROM runs WHERE run = ?1))",
		"DELETE FROM peaks WHERE run = ?1 AND last > ?2",
		"DELETE FROM checkpoints WHERE run = ?1 AND seq > ?2",
		"DELETE FROM parts WHERE run = ?1 AND seq NOT IN (SELECT seq FROM checkpoints WHERE run = ?1)",
	} {
		if _, err := w.conn.ExecContext(ctx, q, at.run, w.from); err != nil {
			return err
		}
	}
	_, err := w.conn.ExecContext(ctx, `UPDATE runs SET opening = ?3, config = coalesce(?4, config),
		generation = generation + 1, claimed = 0, done = NULL,
		events = max(?2, 1), thinned = iif(?2 < whole, 0, thinned), whole = iif(?2 < whole, 0, whole)
		WHERE run = ?1`, at.run, w.from, string(opening), config)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "UPDATE runs SET "+rowcode.Recount(at.measure)+" WHERE run = ?1", at.run)
	}
	if err != nil {
		return err
	}
	at.best, err = w.bestOf(ctx, at.run)
	return err
}

// bestOf returns the best epoch of a run's row, or nil.
func (w *Writer) bestOf(ctx context.Context, run int64) (best *event.EpochEvent, err error) {
	query := "SELECT " + rowcode.EpochsOf(rowcode.Checksums, "") +
		" FROM epochs WHERE run = ?1 AND seq = (SELECT best FROM runs WHERE run = ?1)"
	err = sqlfile.EachRow(ctx, w.conn, query, []any{run}, func(rows *sql.Rows) error {
		var row rowcode.EpochRow
		if err := rows.Scan(row.Dests()...); err != nil {
			return err
		}
		if e, err := row.Event(rowcode.NewChecksummer("epochs")); err == nil {
			best = &e
		}
		return nil // one that is damaged is the best of nothing
	})
	return best, err
}
