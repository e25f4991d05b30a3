package recorder

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// pending is a checkpoint that waits to be encoded.
type Pending struct {
	Seq         int64 // the last event before it
	behind      int   // events that were handed over since then
	Epoch       int
	Fingerprint string
	Encode      func() ([]byte, error)
}

// encoded is a checkpoint as bytes.
type Encoded struct {
	Pending
	Text []byte
	err  error
	part int // how many parts are written
	took time.Duration
}

// run encodes. A panic is an error: a checkpoint is not worth a run.
func (p *Pending) run() (e *Encoded) {
	e = &Encoded{Pending: *p}
	defer func() {
		if v := recover(); v != nil {
			e.err = fmt.Errorf("internal error: %v", v)
		}
	}()
	begin := time.Now()
	e.Text, e.err = p.Encode()
	e.took = time.Since(begin)
	if e.err == nil && len(e.Text) == 0 {
		e.err = errors.New("an empty checkpoint")
	}
	return e
}

// bytes returns the next part.
func (e *Encoded) bytes() []byte {
	return e.Text[e.part*PartSize : min((e.part+1)*PartSize, len(e.Text))]
}

func (e *Encoded) last() bool { return (e.part+1)*PartSize >= len(e.Text) }

// insertPart writes the next part of the queued checkpoint, and after the last one its row.
func (w *Writer) insertPart(ctx context.Context, run int64) error {
	e := w.Queued
	if e.part == 0 {
		// Parts without a checkpoint are of a process that was killed while it wrote them, or of an attempt that
		// another has overtaken.
		_, err := w.conn.ExecContext(ctx, `DELETE FROM parts WHERE run = ?1 AND seq NOT IN
			(SELECT seq FROM checkpoints WHERE run = ?1)`, run)
		if err != nil {
			return err
		}
		// Of two checkpoints after one event the later one counts.
		for _, table := range []string{"parts", "checkpoints"} {
			if _, err := w.conn.ExecContext(ctx, "DELETE FROM "+table+" WHERE run = ? AND seq = ?", run,
				e.Seq); err != nil {
				return err
			}
		}
	}
	if _, err := w.exec(ctx, "INSERT INTO parts (run, seq, part, data) VALUES (?, ?, ?, ?)", run, e.Seq, e.part,
		e.bytes()); err != nil {
		return err
	}
	if !e.last() {
		return nil
	}
	if err := w.insert(ctx, "checkpoints", []any{run, e.Seq, e.Epoch, e.Fingerprint, len(e.Text)}, nil); err != nil {
		return err
	}
	for _, table := range []string{"parts", "checkpoints"} {
		_, err := w.conn.ExecContext(ctx, "DELETE FROM "+table+` WHERE run = ?1 AND seq <=
			(SELECT seq FROM checkpoints WHERE run = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, run, rowcode.CheckpointsOfRun)
		if err != nil {
			return err
		}
	}
	return nil
}

// wrotePart goes on to the next part.
func (w *Writer) wrotePart(took time.Duration) {
	e := w.Queued
	e.took += took
	if e.part++; e.part*PartSize >= len(e.Text) {
		w.endCheckpoint()
	}
}

// endCheckpoint lets go of the queued checkpoint, and the next one become due.
func (w *Writer) endCheckpoint() {
	r := w.recorder
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Checkpoint.took = w.Queued.took
	if w.Queued.err == nil {
		w.flaw = ""
	}
	r.Checkpoint.Busy = r.Checkpoint.Pending != nil
	w.Queued = nil
}

// claim makes this process the owner of a run that nobody records, and notes from where it will go on.
func (w *Writer) claim(ctx context.Context, id string) error {
	err := w.Store.Change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		run, err := store.IdleRun(ctx, conn, id)
		if err != nil {
			return err
		}
		var name sql.NullString
		err = conn.QueryRowContext(ctx, `SELECT name, coalesce((SELECT max(seq) FROM checkpoints c WHERE c.run = r.run), 0)
			FROM runs r WHERE run = ?`, run).Scan(&name, &w.from)
		if err != nil {
			return err
		}
		w.name = name.String
		w.at.run = run
		w.damaged, err = store.Resealed(ctx, conn, id, func() error {
			_, err := conn.ExecContext(
				ctx, "UPDATE runs SET ("+sqlfile.OwnerColumns+") = (?, ?, ?, ?, ?), claimed = 1 WHERE run = ?",
				append(w.Owner.Args(), run)...)
			return err
		})
		return err
	})
	if err != nil {
		w.at.run = 0
	}
	return err
}

// forget deletes what was recorded after the checkpoint that the run goes on from, and its end, and puts the new
// opening in the place of the old one.
func (w *Writer) forget(ctx context.Context, at *place, opening []byte, config sql.NullString) error {
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
	_, err := w.conn.ExecContext(ctx, `UPDATE runs SET opening = ?3, config = coalesce(?4, config), generation = generation + 1, claimed = 0, done = NULL,
		events = max(?2, 1), thinned = iif(?2 < whole, 0, thinned), whole = iif(?2 < whole, 0, whole) WHERE run = ?1`, at.run, w.from, string(opening), config)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "UPDATE runs SET "+rowcode.Counted(at.measure)+" WHERE run = ?1", at.run)
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
		if e, err := row.Event(rowcode.NewSealer("epochs")); err == nil {
			best = &e
		}
		return nil // one that is damaged is the best of nothing
	})
	return best, err
}
