package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
)

// State is what has become of a run.
type State string

// The states; a run that is over has its Done's reason as its state.
const (
	Running     State = "running"     // a living process records it
	Interrupted State = "interrupted" // its process is gone without an end
)

// Run is one run's summary.
type Run struct {
	ID          string
	Name        string // given by the user; may be empty
	State       State
	Begun       time.Time
	Changed     time.Time // when something was last recorded
	Config      trainer.Config
	Opening     *event.RunEvent
	First       *event.EpochEvent // nil as long as there is none
	Last, Best  *event.EpochEvent // Best by test error, else test RMSE, else loss
	Done        *event.DoneEvent
	Epochs      int // recorded ones
	Inner       int // recorded inner iterations
	Checkpoint  int // epoch of the newest checkpoint; −1: none
	Fingerprint string
	Command     string // the command line that began it
	Host        string
	Process     int
	Version     string // of newtop
	Bytes       int64  // estimated size in the database
}

// Filter chooses runs. The zero value chooses all.
type Filter struct {
	Data, Optimizer, State string // equal to; empty: any
	Since                  time.Time
	Text                   string // part of ID, name, data, optimizer or command; empty: any
	Limit                  int    // newest ones; 0: all
	Alone                  bool   // leaves out the trials of searches
}

func (f *Filter) takes(r *Run) bool {
	var data, optimizer string
	if r.Opening != nil {
		data, optimizer = r.Opening.Data.Name, r.Opening.Optimizer
	}
	switch {
	case f.Data != "" && f.Data != data,
		f.Optimizer != "" && f.Optimizer != optimizer,
		f.State != "" && f.State != string(r.State),
		r.Begun.Before(f.Since):
		return false
	case f.Text == "":
		return true
	}
	return slices.ContainsFunc([]string{r.ID, r.Name, data, optimizer, r.Command}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), strings.ToLower(f.Text))
	})
}

// Runs returns the chosen runs, newest first.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	var out []Run
	err := s.view(ctx, func(r *reader) error {
		where := ""
		if f.Alone {
			alone, err := r.alone()
			if err != nil {
				return err
			}
			where = "WHERE r." + alone
		}
		return r.eachRun(where, nil, func(r *Run) bool {
			if f.takes(r) {
				out = append(out, *r)
			}
			return f.Limit == 0 || len(out) < f.Limit
		})
	})
	return out, err
}

// alone is the condition that a run is no trial of a search.
func (r *reader) alone() (string, error) {
	there, err := r.keepsSearches()
	if err != nil || !there {
		return "run IS NOT NULL", err
	}
	return "id NOT IN (SELECT run FROM trials WHERE run IS NOT NULL)", nil
}

// summary selects what a Run is made of; the epochs that first, last and best number are joined to it.
var summary = `
SELECT r.run, r.id, r.name, r.changed, r.opening, r.config, r.command, r.version, r.epochs, r.inner,
  r.bytes + coalesce((SELECT sum(size) FROM checkpoints c WHERE c.run = r.run), 0),
  r.owner, r.host, r.process, r.identity, r.heartbeat, r.claimed, c.epoch, c.fingerprint, d.json,
` + prefixed("f") + "," + prefixed("l") + "," + prefixed("b") + `
FROM runs r
LEFT JOIN epochs f ON f.run = r.run AND f.seq = r.first
LEFT JOIN epochs l ON l.run = r.run AND l.seq = r.last
LEFT JOIN epochs b ON b.run = r.run AND b.seq = r.best
LEFT JOIN checkpoints c ON c.run = r.run AND c.seq = (SELECT max(seq) FROM checkpoints n WHERE n.run = r.run)
LEFT JOIN marks d ON d.run = r.run AND d.seq = r.done`

func prefixed(table string) string {
	return table + "." + strings.ReplaceAll(epochColumns, ", ", ", "+table+".")
}

// eachRun calls yield with the summaries of runs, newest first, until it returns false. The condition may have one argument.
func (r *reader) eachRun(where string, arg any, yield func(*Run) bool) error {
	var args []any
	if arg != nil {
		args = append(args, arg)
	}
	rows, err := r.tx.QueryContext(r.ctx, summary+" "+where+" ORDER BY r.begun DESC, r.run DESC", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		run, err := scanRun(r.store.path, rows)
		if err != nil {
			return err
		}
		if !yield(run) {
			return nil
		}
	}
	return rows.Err()
}

func scanRun(file string, rows *sql.Rows) (*Run, error) {
	var (
		r                         Run
		number, process           int64
		name, token, print        sql.NullString
		opening, config, done     sql.RawBytes
		changed, identity, beaten string
		claimed                   bool
		checkpoint                sql.NullInt64
		first, last, best         epochRow
	)
	to := []any{
		&number, &r.ID, &name, &changed, &opening, &config, &r.Command, &r.Version, &r.Epochs, &r.Inner,
		&r.Bytes, &token, &r.Host, &process, &identity, &beaten, &claimed, &checkpoint, &print, &done,
	}
	to = append(to, first.dests()...)
	to = append(to, last.dests()...)
	to = append(to, best.dests()...)
	if err := rows.Scan(to...); err != nil {
		return nil, &RowError{File: file, Table: "runs", Run: cmp.Or(r.ID, strconv.FormatInt(number, 10)), Err: err}
	}
	bad := func(table string, err error) error { return &RowError{File: file, Table: table, Run: r.ID, Err: err} }
	r.Name, r.Process, r.Fingerprint, r.Checkpoint = name.String, int(process), print.String, -1
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
	o := owner{token: token.String, host: r.Host, process: r.Process, identity: identity}
	if o.beaten, err = parseTime(beaten); err != nil {
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

// Find returns the run of an ID, a unique beginning or end of one, a name, or last (the newest that is no trial of a search), last~1 (the one before).
func (s *Store) Find(ctx context.Context, name string) (found *Run, err error) {
	err = s.view(ctx, func(r *reader) error {
		id, err := r.resolve(name)
		if err != nil {
			return err
		}
		return r.eachRun("WHERE r.id = ?", id, func(r *Run) bool {
			found = r
			return false
		})
	})
	return found, err
}

// maxNear bounds the runs that a NotFoundError names.
const maxNear = 5

// resolve returns the ID that a name stands for.
func (r *reader) resolve(name string) (string, error) {
	if back, ok := fromLast(name); ok {
		alone, err := r.alone()
		if err != nil {
			return "", err
		}
		ids, err := texts(r.ctx, r.tx, "SELECT id FROM runs WHERE "+alone+" ORDER BY begun DESC, run DESC LIMIT 1 OFFSET ?", back)
		return one(name, ids, err)
	}
	ids, err := texts(r.ctx, r.tx, "SELECT id FROM runs WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1", name)
	if err != nil || len(ids) > 0 || name == "" {
		return one(name, ids, err)
	}
	ids, err = texts(r.ctx, r.tx, `SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
		ORDER BY begun DESC, run DESC LIMIT ?2`, name, maxNear)
	return one(name, ids, err)
}

// one returns the only ID.
func one(name string, ids []string, err error) (string, error) {
	if err == nil && len(ids) != 1 {
		err = &NotFoundError{Name: name, Near: ids}
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// fromLast reads last and last~N.
func fromLast(name string) (back int, ok bool) {
	if name == "last" {
		return 0, true
	}
	number, ok := strings.CutPrefix(name, "last~")
	if !ok {
		return 0, false
	}
	back, err := strconv.Atoi(number)
	return back, err == nil && back >= 0
}

// querier is a transaction that only reads, or a connection that is changing something.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// texts returns the only column of a query's rows.
func texts(ctx context.Context, q querier, query string, args ...any) (out []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Remove deletes runs with all that belongs to them, all or none. It returns a *BusyError for one that is being
// trained and a *NotFoundError for one that is not there.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	err := s.change(ctx, func(ctx context.Context, conn *sql.Conn) error { return s.removeRuns(ctx, conn, ids) })
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.shrink(ctx)
}

func (s *Store) removeRuns(ctx context.Context, conn *sql.Conn, ids []string) error {
	for _, id := range ids {
		o, _, err := s.ownerOf(ctx, conn, id)
		if err != nil {
			return err
		}
		if o.alive(time.Now()) {
			return &BusyError{Run: id, Owner: o.String()}
		}
		if _, err := conn.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// shrink gives the room of what was deleted back to the disk.
func (s *Store) shrink(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, "PRAGMA incremental_vacuum")
	if err != nil {
		return s.wrap(ctx, err)
	}
	defer rows.Close()
	for rows.Next() { // each call frees a page
	}
	return s.wrap(ctx, rows.Err())
}

// ownerOf returns who records a run, and the run's number.
func (s *Store) ownerOf(ctx context.Context, conn *sql.Conn, id string) (o owner, run int64, err error) {
	var token sql.NullString
	var beaten string
	err = conn.QueryRowContext(ctx, "SELECT run, owner, host, process, identity, heartbeat FROM runs WHERE id = ?", id).
		Scan(&run, &token, &o.host, &o.process, &o.identity, &beaten)
	if errors.Is(err, sql.ErrNoRows) {
		return o, 0, &NotFoundError{Name: id}
	}
	if err != nil {
		return o, 0, err
	}
	o.token = token.String
	if o.beaten, err = parseTime(beaten); err != nil {
		return o, 0, &RowError{File: s.path, Table: "runs", Run: id, Err: err}
	}
	return o, run, nil
}

// Rename gives a run a name that no other run has, or none. It returns a *NameError for one that it can't have.
func (s *Store) Rename(ctx context.Context, id, name string) error {
	if err := CheckName(name); name != "" && err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var other string
		err := conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ? AND id <> ?", name, id).Scan(&other)
		if err == nil {
			return &NameError{Name: name, Expected: "one that no other run has; it is that of " + other}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		done, err := conn.ExecContext(ctx, "UPDATE runs SET name = ? WHERE id = ?", textOrNull(name), id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmp.Or[error](err, &NotFoundError{Name: id})
		}
		return nil
	})
}

// maxName bounds a name, in bytes.
const maxName = 80

// CheckName returns a *NameError for what no run can be called: last and last~N stand for runs already, and a name
// is one word without slashes, so that it is no file and needs no quotes.
func CheckName(name string) error {
	_, taken := fromLast(name)
	plain := func(r rune) bool { return r > ' ' && r != 0x7f && !strings.ContainsRune(`/\"'`, r) }
	switch {
	case name == "", len(name) > maxName, strings.HasPrefix(name, "-"), taken, name == "off",
		strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0:
		return &NameError{Name: name, Expected: fmt.Sprintf("one word of at most %d bytes without slashes and quotes, other than last", maxName)}
	}
	return nil
}
