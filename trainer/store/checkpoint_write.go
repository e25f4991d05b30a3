package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"newtop/trainer/event"
)

// Checkpoints are written in parts, each in a transaction of its own with whatever events have come: a large one holds
// neither them nor other processes up for longer than a part takes. Its row in checkpoints comes with the last part.

// checkpointsOfRun is how many checkpoints of a run stay.
const checkpointsOfRun = 2

// pending is a checkpoint that waits to be encoded.
type pending struct {
	seq         int64 // the last event before it
	behind      int   // events that were handed over since then
	epoch       int
	fingerprint string
	encode      func() ([]byte, error)
}

// encoded is a checkpoint as bytes.
type encoded struct {
	pending
	text []byte
	err  error
	part int // how many parts are written
	took time.Duration
}

// run encodes. A panic is an error: a checkpoint is not worth a run.
func (p *pending) run() (e *encoded) {
	e = &encoded{pending: *p}
	defer func() {
		if v := recover(); v != nil {
			e.err = fmt.Errorf("internal error: %v", v)
		}
	}()
	begin := time.Now()
	e.text, e.err = p.encode()
	e.took = time.Since(begin)
	if e.err == nil && len(e.text) == 0 {
		e.err = errors.New("an empty checkpoint")
	}
	return e
}

// bytes returns the next part.
func (e *encoded) bytes() []byte {
	return e.text[e.part*partSize : min((e.part+1)*partSize, len(e.text))]
}

func (e *encoded) last() bool { return (e.part+1)*partSize >= len(e.text) }

// insertPart writes the next part of the queued checkpoint, and after the last one its row.
func (w *writer) insertPart(ctx context.Context, run int64) error {
	e := w.queued
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
				e.seq); err != nil {
				return err
			}
		}
	}
	if _, err := w.exec(ctx, "INSERT INTO parts (run, seq, part, data) VALUES (?, ?, ?, ?)", run, e.seq, e.part,
		e.bytes()); err != nil {
		return err
	}
	if !e.last() {
		return nil
	}
	if err := w.insert(ctx, "checkpoints", []any{run, e.seq, e.epoch, e.fingerprint, len(e.text)}, nil); err != nil {
		return err
	}
	for _, table := range []string{"parts", "checkpoints"} {
		_, err := w.conn.ExecContext(ctx, "DELETE FROM "+table+` WHERE run = ?1 AND seq <=
			(SELECT seq FROM checkpoints WHERE run = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, run, checkpointsOfRun)
		if err != nil {
			return err
		}
	}
	return nil
}

// wrotePart goes on to the next part.
func (w *writer) wrotePart(took time.Duration) {
	e := w.queued
	e.took += took
	if e.part++; e.part*partSize >= len(e.text) {
		w.endCheckpoint()
	}
}

// endCheckpoint lets go of the queued checkpoint, and the next one become due.
func (w *writer) endCheckpoint() {
	r := w.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoint.took = w.queued.took
	if w.queued.err == nil {
		w.flaw = ""
	}
	r.checkpoint.busy = r.checkpoint.pending != nil
	w.queued = nil
}

// claim makes this process the owner of a run that nobody records, and notes from where it will go on.
func (w *writer) claim(ctx context.Context, id string) error {
	err := w.store.change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		run, err := idleRun(ctx, conn, id)
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
		w.damaged, err = resealed(ctx, conn, id, func() error {
			_, err := conn.ExecContext(
				ctx, "UPDATE runs SET ("+ownerColumns+") = (?, ?, ?, ?, ?), claimed = 1 WHERE run = ?",
				append(w.owner.args(), run)...)
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
func (w *writer) forget(ctx context.Context, at *place, opening []byte, config sql.NullString) error {
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
		_, err = w.conn.ExecContext(ctx, "UPDATE runs SET "+counted(at.measure)+" WHERE run = ?1", at.run)
	}
	if err != nil {
		return err
	}
	at.best, err = w.bestOf(ctx, at.run)
	return err
}

// counted sets what a run's row tells of its other rows; ?1 is the run.
func counted(m event.Measure) string {
	return `sums = (SELECT sum(s) FROM (SELECT coalesce(sum(crc), 0) AS s FROM epochs WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM solves WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM spectra WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM marks WHERE run = ?1)),
		epochs = (SELECT count(*) FROM epochs WHERE run = ?1) + thinned,
		inner = (SELECT coalesce(sum(iif(json_valid(steps), json_array_length(steps), 0)), 0) FROM solves WHERE run = ?1),
		first = (SELECT min(seq) FROM epochs WHERE run = ?1), last = (SELECT max(seq) FROM epochs WHERE run = ?1),
		best = (SELECT seq FROM epochs WHERE run = ?1 ORDER BY ` + bestFirst(m) + `seq LIMIT 1)`
}

// bestFirst puts epochs in the order of a measure, the best first.
func bestFirst(m event.Measure) (order string) {
	for _, q := range m.Order() {
		order += expression(q) + ` IS NULL, ` + expression(q) + `, `
	}
	return order
}

// bestOf returns the best epoch of a run's row, or nil.
func (w *writer) bestOf(ctx context.Context, run int64) (best *event.EpochEvent, err error) {
	query := "SELECT " + epochsOf(checksums, "") +
		" FROM epochs WHERE run = ?1 AND seq = (SELECT best FROM runs WHERE run = ?1)"
	err = eachRow(ctx, w.conn, query, []any{run}, func(rows *sql.Rows) error {
		var row epochRow
		if err := rows.Scan(row.dests()...); err != nil {
			return err
		}
		if e, err := row.event(newSealer("epochs")); err == nil {
			best = &e
		}
		return nil // one that is damaged is the best of nothing
	})
	return best, err
}
