package recorder

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// A run that makes far more epochs than anyone looks at must not fill the disk. Its newest exactEpochs stay as they
// are. What is older is thinned as readers downsample: of each stretch of epochs those stay that hold an extreme, and
// stretches grow in pairs, so that there are about oldStretches of them at most, all equally long. The inner iterations
// of what is thinned go; the run's first and best epochs, spectra and marks stay.
const (
	ExactEpochs  = 1 << 17
	oldStretches = 2 * rowcode.MaxStretches
	thinAtOnce   = 32 // stretches of one transaction, so that it does not hold others up
)

// Bounds are what of a run's history stays: whole stretches of its newest epochs, and thinned ones before them.
type Bounds struct{ Exact, Old int }

// thinning is where the thinned part of a history ends.
type thinning struct {
	known bool  // the fields below are
	whole int64 // the last event of the thinned part
	exact int   // stretches behind it
	old   int   // stretches of it
	span  int   // epochs that one of those is to have
	tail  int   // epochs that the last of those has; 0: it gets no more
	// While stretches are merged in pairs, the event up to which that is done, and the one up to which it goes.
	paired, pairs int64
}

// thinner takes old epochs of a run out in one transaction.
type thinner struct {
	*addition
	bounds Bounds
}

// thin takes old epochs out, and counts what that takes from the run.
func (w *thinner) thin(ctx context.Context) error {
	t := &w.at.thinning
	if !w.at.started { // a run that is resumed may be cut back yet
		return nil
	}
	if !t.known {
		if err := w.find(ctx); err != nil {
			return err
		}
	}
	if t.old > w.bounds.Old && t.pairs == 0 {
		t.span, t.tail, t.paired, t.pairs = 2*t.span, 0, 0, t.whole
	}
	if t.pairs > 0 {
		return w.pair(ctx)
	}
	if excess := t.exact - w.bounds.Exact; excess > 0 {
		return w.thinOldest(ctx, min(excess, thinAtOnce))
	}
	return nil
}

// find reads how much of a run's history is thinned.
func (w *thinner) find(ctx context.Context) error {
	t := thinning{known: true, span: rowcode.PeakStretch}
	var epochs int
	err := w.conn.QueryRowContext(ctx, `SELECT whole,
		(SELECT count(*) FROM peaks p WHERE p.run = r.run AND p.last > whole),
		(SELECT count(*) FROM peaks p WHERE p.run = r.run AND p.last <= whole),
		thinned + (SELECT count(*) FROM epochs e WHERE e.run = r.run AND e.seq <= whole)
		FROM runs r WHERE run = ?`, w.at.run).
		Scan(&t.whole, &t.exact, &t.old, &epochs)
	for t.span*w.bounds.Old < epochs {
		t.span *= 2
	}
	w.at.thinning = t
	return err
}

// thinOldest thins the oldest stretches behind the thinned part, but none that a checkpoint stands before.
func (w *thinner) thinOldest(ctx context.Context, n int) error {
	t := &w.at.thinning
	next, err := w.stretchesOf(ctx, n, `run = ?1 AND last > ?2 AND
		last <= coalesce((SELECT min(seq) FROM checkpoints WHERE run = ?1), last)`, w.at.run, t.whole)
	if err != nil || len(next) == 0 {
		return err
	}
	var merged []rowcode.Stretch
	if t.tail > 0 {
		if merged, err = w.stretchesOf(ctx, 1, "run = ?1 AND last = ?2", w.at.run, t.whole); err != nil {
			return err
		}
		t.old -= len(merged)
	}
	t.exact -= len(next)
	start := t.whole
	t.whole = next[len(next)-1].Last
	for _, s := range next {
		if len(merged) > 0 && t.tail > 0 && t.tail+rowcode.PeakStretch <= t.span {
			if err := w.merge(ctx, &merged[len(merged)-1], &s); err != nil {
				return err
			}
			t.tail += rowcode.PeakStretch
		} else {
			merged = append(merged, s)
			t.tail = rowcode.PeakStretch
		}
	}
	t.old += len(merged)
	if err := w.replaceStretches(ctx, merged); err != nil {
		return err
	}
	w.sum.whole = t.whole
	return w.removeSolves(ctx, start, t.whole)
}

// pair merges some of the thinned stretches with their neighbours.
func (w *thinner) pair(ctx context.Context) error {
	t := &w.at.thinning
	part, err := w.stretchesOf(ctx, 2*thinAtOnce, "run = ?1 AND first > ?2 AND last <= ?3", w.at.run, t.paired, t.pairs)
	if err != nil {
		return err
	}
	if len(part) < 2 { // an odd one at the end stays as it is
		t.paired, t.pairs = 0, 0
		return nil
	}
	t.paired = part[len(part)-1].Last
	var merged []rowcode.Stretch
	for two := range slices.Chunk(part, 2) {
		if len(two) == 2 {
			if err := w.merge(ctx, &two[0], &two[1]); err != nil {
				return err
			}
			t.old--
		}
		merged = append(merged, two[0])
	}
	return w.replaceStretches(ctx, merged)
}

// stretchesOf returns the first stretches for which a condition holds. One that is damaged is left out: its epochs stay
// until its neighbours are merged.
func (w *thinner) stretchesOf(ctx context.Context, limit int, where string, args ...any) (out []rowcode.Stretch,
	err error) {
	check := rowcode.NewChecksummer("peaks")
	err = sqlfile.EachRow(ctx, w.conn, "SELECT first, last, extremes, crc FROM peaks WHERE "+where+" ORDER BY first",
		args,
		func(rows *sql.Rows) error {
			if s, err := store.ScanStretch(rows, check); err == nil {
				out = append(out, s)
			}
			if len(out) == limit {
				return sqlfile.ErrEnough
			}
			return ctx.Err()
		})
	return out, err
}

// merge adds to a stretch what is between it and a later one, of which no row of peaks tells, and that one.
func (w *thinner) merge(ctx context.Context, s, later *rowcode.Stretch) error {
	check := rowcode.NewChecksummer("epochs")
	query := "SELECT " + rowcode.EpochsOf(rowcode.Checksums, "") + " FROM epochs WHERE run = ? AND seq > ? AND seq < ?"
	err := sqlfile.EachRow(ctx, w.conn, query, []any{w.at.run, s.Last, later.First}, func(rows *sql.Rows) error {
		var row rowcode.EpochRow
		if rows.Scan(row.Dests()...) == nil {
			if e, err := row.Event(check); err == nil {
				s.Note(&e, row.Seq.Int64)
			}
		}
		return ctx.Err()
	})
	s.Merge(later)
	return err
}

// replaceStretches puts stretches in the place of those that they are made of, and takes out the epochs that hold none
// of their extremes.
func (w *thinner) replaceStretches(ctx context.Context, stretches []rowcode.Stretch) error {
	run, sum := w.at.run, &w.sum
	for i := range stretches {
		s := &stretches[i]
		keep, err := json.Marshal(s.Retained())
		if err != nil {
			return err
		}
		const these = ` FROM epochs WHERE run = ?1 AND seq BETWEEN ?2 AND ?3
			AND seq NOT IN (SELECT value FROM json_each(?4))
			AND seq NOT IN (SELECT coalesce(best, 0) FROM runs WHERE run = ?1
				UNION ALL SELECT coalesce(first, 0) FROM runs WHERE run = ?1)`
		var n, crc, rest int64
		row, err := w.statement(
			ctx, "SELECT count(*), coalesce(sum(crc), 0), coalesce(sum(length(CAST(rest AS BLOB))), 0)"+these)
		if err == nil {
			err = row.QueryRowContext(ctx, run, s.First, s.Last, string(keep)).Scan(&n, &crc, &rest)
		}
		if err == nil && n > 0 {
			_, err = w.exec(ctx, "DELETE"+these, run, s.First, s.Last, string(keep))
		}
		if err == nil {
			_, err = w.exec(ctx, "DELETE FROM peaks WHERE run = ? AND first BETWEEN ? AND ?", run, s.First, s.Last)
		}
		if err != nil {
			return err
		}
		text, err := json.Marshal(&s.Peaks)
		if err == nil {
			err = w.insert(ctx, "peaks", []any{run, s.First, s.Last, string(text)})
		}
		if err != nil {
			return err
		}
		sum.thinned += n
		sum.sums -= crc
		sum.bytes -= int(n)*(rowcode.EpochBytes+rowcode.RowBytes) + int(rest)
	}
	return nil
}

// removeSolves takes the inner iterations of what was thinned out.
func (w *thinner) removeSolves(ctx context.Context, after, to int64) error {
	run, sum := w.at.run, &w.sum
	const these = " FROM solves WHERE run = ? AND seq > ? AND seq <= ?"
	var crc, steps, text, n int64
	row, err := w.statement(ctx, `SELECT count(*), coalesce(sum(crc), 0), coalesce(sum(length(steps)), 0),
		coalesce(sum(iif(json_valid(steps), json_array_length(steps), 0)), 0)`+these)
	if err == nil {
		err = row.QueryRowContext(ctx, run, after, to).Scan(&n, &crc, &text, &steps)
	}
	if err != nil || n == 0 {
		return err
	}
	sum.inner -= int(steps)
	sum.sums -= crc
	sum.bytes -= int(text + n*rowcode.RowBytes)
	_, err = w.exec(ctx, "DELETE"+these, run, after, to)
	return err
}
