package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// summary selects what a Run is made of; the epochs that first, last and best number are joined to it.
func summary(version int) string {
	thinned, annotations := "0", "NULL, NULL"
	end := "d.seq, d.json, " + rowcode.CRCColumn(version, "d")
	if version >= rowcode.Checksums {
		thinned = "r.thinned"
	}
	if version >= notes {
		annotations = "r.note, r.tags"
	}
	return `
SELECT r.run, r.id, r.name, r.changed, r.opening, r.config, r.command, r.version, r.epochs, r.inner,
  r.bytes + coalesce((SELECT sum(size) FROM checkpoints c WHERE c.run = r.run), 0),
  r.claimed, c.epoch, c.fingerprint, ` + end + `, ` + thinned + `, ` + annotations + `,
` + strings.Join([]string{
		rowcode.Prefixed("r", sqlfile.OwnerColumns),
		rowcode.EpochsOf(version, "f"), rowcode.EpochsOf(version, "l"), rowcode.EpochsOf(version, "b"),
	}, ",") + `
FROM runs r
LEFT JOIN epochs f ON f.run = r.run AND f.seq = r.first
LEFT JOIN epochs l ON l.run = r.run AND l.seq = r.last
LEFT JOIN epochs b ON b.run = r.run AND b.seq = r.best
LEFT JOIN checkpoints c ON c.run = r.run AND c.seq = (SELECT max(seq) FROM checkpoints n WHERE n.run = r.run)
LEFT JOIN marks d ON d.run = r.run AND d.seq = r.done`
}

// EachRun calls yield with the summaries of runs, the last that came first, until it returns false.
func EachRun(ctx context.Context, tx *sql.Tx, where string, args []any, yield func(*Run) bool) error {
	version, err := rowcode.VersionNow(ctx, tx)
	if err != nil {
		return err
	}
	altered := map[int64]bool{}
	if version >= rowcode.Checksums {
		if altered, err = alteredRuns(ctx, tx, where, args); err != nil {
			return err
		}
	}
	return sqlfile.EachRow(ctx, tx, summary(version)+" "+where+" ORDER BY r.run DESC", args,
		func(rows *sql.Rows) error {
			number, r := scanRun(rows)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if altered[number] && r.Damage == nil {
				r.setDamage(rowcode.ErrChecksum)
			}
			if !yield(r) {
				return sqlfile.ErrEnough
			}
			return nil
		})
}

// alteredRuns returns the rows of runs that are not what their checksums say, or whose checkpoints' rows are not.
func alteredRuns(ctx context.Context, tx sqlfile.Querier, where string, args []any) (map[int64]bool, error) {
	altered := map[int64]bool{}
	err := markAltered(ctx, tx, "runs", "r", where, args, altered)
	if err == nil {
		err = markAltered(ctx, tx, "checkpoints", "k", "JOIN checkpoints k USING (run) "+where, args, altered)
	}
	return altered, err
}

// markAltered notes whether the rows of a table that has a name in a query are what their checksums say, by their run.
func markAltered(ctx context.Context, tx sqlfile.Querier, table, name, where string, args []any,
	altered map[int64]bool) error {
	s := rowcode.NewChecksummer(table)
	query := "SELECT r.run, " + name + ".crc, " + rowcode.Prefixed(name, rowcode.ChecksumColumns[table]) +
		" FROM runs r " +
		where
	return sqlfile.EachRow(ctx, tx, query, args, func(rows *sql.Rows) error {
		var number int64
		var crc sql.NullInt64
		values := make([]any, len(s.Names))
		err := rows.Scan(rowcode.DestsOf(values, &number, &crc)...)
		altered[number] = altered[number] || err != nil || s.Verify(crc, values...) != nil
		return ctx.Err()
	})
}

// WithChecksum calls change, which changes a run's row, and seals it again, unless it was damaged before.
func WithChecksum(ctx context.Context, conn *sql.Conn, id string, change func() error) (damaged bool, err error) {
	altered := map[int64]bool{}
	err = markAltered(ctx, conn, "runs", "r", "WHERE r.id = ?", []any{id}, altered)
	if err == nil {
		err = change()
	}
	for number, was := range altered {
		damaged = was
		if err == nil && !was {
			err = rowcode.WriteChecksums(ctx, conn, "runs", "run = ?", number)
		}
	}
	return damaged, err
}

// setDamage notes what is wrong with the run's row.
func (r *Run) setDamage(err error) {
	r.Damage = &sqlfile.RowError{Table: "runs", Run: r.ID, Err: err}
}

// Readable reports whether the run's row says what it trains and how, and returns Damage otherwise.
func (r *Run) Readable() error {
	if r.Opening == nil || r.unconfigured {
		return r.Damage
	}
	return nil
}

// scanRun reads a row of summary, as far as it can be read, and returns its number too.
func scanRun(rows *sql.Rows) (number int64, _ *Run) {
	var (
		r                 Run
		name, print       sql.NullString
		note, tags        sql.NullString
		opening, config   sql.RawBytes
		done              mark
		changed           string
		claimed           bool
		checkpoint        sql.NullInt64
		by                sqlfile.OwnerRow
		first, last, best rowcode.EpochRow
	)
	to := []any{
		&number, &r.ID, &name, &changed, &opening, &config, &r.Command, &r.Version, &r.Epochs, &r.Inner,
		&r.Bytes, &claimed, &checkpoint, &print, &done.seq, &done.json, &done.crc, &r.Thinned, &note, &tags,
	}
	to = by.Dests(to...)
	to = append(to, first.Dests()...)
	to = append(to, last.Dests()...)
	to = append(to, best.Dests()...)
	r.Checkpoint, r.State = -1, Interrupted
	if err := rows.Scan(to...); err != nil {
		r.ID = cmp.Or(r.ID, strconv.FormatInt(number, 10))
		r.setDamage(err)
		return number, &r
	}
	r.Name, r.Host, r.Process, r.Fingerprint = name.String, by.Host, by.Process, print.String
	r.Note, r.Tags = note.String, strings.Fields(tags.String)
	if checkpoint.Valid {
		r.Checkpoint = int(checkpoint.Int64)
	}
	var err error
	if r.Changed, err = sqlfile.ParseTime(changed); err != nil {
		r.setDamage(err)
	}
	if err := json.Unmarshal(config, &r.Config); err != nil {
		r.setDamage(fmt.Errorf("config: %w", err))
		r.Config, r.unconfigured = trainer.Config{}, true
	}
	r.Opening = new(event.RunEvent)
	if err := json.Unmarshal(opening, r.Opening); err != nil {
		r.setDamage(fmt.Errorf("opening: %w", err))
		r.Opening = nil
	} else {
		r.Started = r.Opening.Time
	}
	r.readEpochs(&first, &last, &best, &done)
	o := by.Owner()
	r.State = state(&o, claimed, r.Done)
	return number, &r
}

// mark is a row of marks; nothing of it where there is none.
type mark struct {
	seq, crc sql.NullInt64
	json     sql.NullString
}

// readEpochs reads the epochs and the end that a run's row names. One that is damaged is not believed, and the summary
// that lacks it is damaged.
func (r *Run) readEpochs(first, last, best *rowcode.EpochRow, done *mark) {
	check := rowcode.NewChecksummer("epochs")
	for _, p := range []struct {
		row *rowcode.EpochRow
		to  **event.EpochEvent
	}{{first, &r.First}, {last, &r.Last}, {best, &r.Best}} {
		if !p.row.Epoch.Valid {
			continue
		}
		if e, err := p.row.Event(check); err == nil {
			*p.to = &e
		} else if r.Damage == nil {
			r.setDamage(fmt.Errorf("epoch %d: %w", p.row.Epoch.Int64, err))
		}
	}
	if !done.json.Valid {
		return
	}
	end := event.UnknownDone() // of an earlier version, which told less
	err := rowcode.NewChecksummer("marks").Verify(done.crc, done.seq.Int64, done.json.String)
	if err == nil {
		err = json.Unmarshal([]byte(done.json.String), &end)
	}
	if err == nil {
		r.Done = &end
	} else if r.Damage == nil {
		r.setDamage(fmt.Errorf("its end: %w", err))
	}
}

// state reports what has become of a run. One that is claimed to be resumed runs, though it has an end still.
func state(o *sqlfile.Owner, claimed bool, done *event.DoneEvent) State {
	switch {
	case done != nil && !(claimed && o.Alive(time.Now())):
		return State(done.Reason)
	case o.Alive(time.Now()):
		return Running
	}
	return Interrupted
}

// DataName names the data of a run, of one that did not begin as it was asked for.
func (r *Run) DataName() string {
	if r.Opening != nil {
		return r.Opening.Data.Name
	}
	return r.Config.Data
}

// Method names the optimizer that a run began with.
func (r *Run) Method() string {
	if r.Opening != nil {
		return r.Opening.Optimizer
	}
	return r.Config.Optimizer
}

// Epoch returns a run's newest epoch.
func (r *Run) Epoch() int {
	if r.Last == nil {
		return 0
	}
	return r.Last.Epoch
}

// Measure returns what a run is judged by.
func (r *Run) Measure() event.Measure {
	var some []event.EpochEvent
	for _, e := range []*event.EpochEvent{r.First, r.Last, r.Best} {
		if e != nil {
			some = append(some, *e)
		}
	}
	return event.MeasureOf(r.Opening, some)
}
