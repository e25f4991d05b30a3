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

	"newtop/trainer/event"
)

// summary selects what a Run is made of; the epochs that first, last and best number are joined to it.
var summary = `
SELECT r.run, r.id, r.name, r.changed, r.opening, r.config, r.command, r.version, r.epochs, r.inner,
  r.bytes + coalesce((SELECT sum(size) FROM checkpoints c WHERE c.run = r.run), 0),
  r.claimed, c.epoch, c.fingerprint, d.json,
` + strings.Join([]string{prefixed("r", ownerColumns), prefixed("f", epochColumns), prefixed("l", epochColumns), prefixed("b", epochColumns)}, ",") + `
FROM runs r
LEFT JOIN epochs f ON f.run = r.run AND f.seq = r.first
LEFT JOIN epochs l ON l.run = r.run AND l.seq = r.last
LEFT JOIN epochs b ON b.run = r.run AND b.seq = r.best
LEFT JOIN checkpoints c ON c.run = r.run AND c.seq = (SELECT max(seq) FROM checkpoints n WHERE n.run = r.run)
LEFT JOIN marks d ON d.run = r.run AND d.seq = r.done`

func prefixed(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}

// eachRun calls yield with the summaries of runs, newest first, until it returns false.
func eachRun(ctx context.Context, tx *sql.Tx, where string, args []any, yield func(*Run) bool) error {
	return eachRow(ctx, tx, summary+" "+where+" ORDER BY r.run DESC", args, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		if err == nil && !yield(r) {
			err = errEnough
		}
		return err
	})
}

func scanRun(rows *sql.Rows) (*Run, error) {
	var (
		r                     Run
		number                int64
		name, print           sql.NullString
		opening, config, done sql.RawBytes
		changed               string
		claimed               bool
		checkpoint            sql.NullInt64
		by                    ownerRow
		first, last, best     epochRow
	)
	to := []any{
		&number, &r.ID, &name, &changed, &opening, &config, &r.Command, &r.Version, &r.Epochs, &r.Inner,
		&r.Bytes, &claimed, &checkpoint, &print, &done,
	}
	to = by.dests(to...)
	to = append(to, first.dests()...)
	to = append(to, last.dests()...)
	to = append(to, best.dests()...)
	if err := rows.Scan(to...); err != nil {
		return nil, &RowError{Table: "runs", Run: cmp.Or(r.ID, strconv.FormatInt(number, 10)), Err: err}
	}
	bad := func(table string, err error) error { return &RowError{Table: table, Run: r.ID, Err: err} }
	r.Name, r.Host, r.Process, r.Fingerprint, r.Checkpoint = name.String, by.host, by.process, print.String, -1
	if checkpoint.Valid {
		r.Checkpoint = int(checkpoint.Int64)
	}
	var err error
	if r.Changed, err = parseTime(changed); err != nil {
		return nil, bad("runs", err)
	}
	if err := json.Unmarshal(config, &r.Config); err != nil {
		return nil, bad("runs", fmt.Errorf("config: %w", err))
	}
	r.Opening = new(event.RunEvent)
	if err := json.Unmarshal(opening, r.Opening); err != nil {
		return nil, bad("runs", fmt.Errorf("opening: %w", err))
	}
	r.Begun = r.Opening.Time
	for _, p := range []struct {
		row *epochRow
		to  **event.EpochEvent
	}{{&first, &r.First}, {&last, &r.Last}, {&best, &r.Best}} {
		if !p.row.epoch.Valid {
			continue
		}
		e, err := p.row.event()
		if err != nil {
			return nil, bad("epochs", err)
		}
		*p.to = &e
	}
	if len(done) > 0 {
		r.Done = new(event.DoneEvent)
		if err := json.Unmarshal(done, r.Done); err != nil {
			return nil, bad("marks", err)
		}
	}
	o, err := by.owner()
	if err != nil {
		return nil, bad("runs", err)
	}
	r.State = state(&o, claimed, r.Done)
	return &r, nil
}

// state tells what has become of a run. One that is claimed to be resumed runs, though it has an end still.
func state(o *owner, claimed bool, done *event.DoneEvent) State {
	switch {
	case done != nil && !(claimed && o.alive(time.Now())):
		return State(done.Reason)
	case o.alive(time.Now()):
		return Running
	}
	return Interrupted
}

// timeLayout is how times stand in the database: in UTC, so that they sort as text and SQL's functions know them.
const timeLayout = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(timeLayout, text)
	if err != nil {
		return t, fmt.Errorf("time %q: expected one like %s", text, timeLayout)
	}
	return t, nil
}
