package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"newtop/internal/format"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/stream"
)

// State is what has become of a run.
type State string

// The states; a run that is over has its Done's reason as its state.
const (
	Running     State = "running"     // a living process records it
	Interrupted State = "interrupted" // its process is gone without an end
	Damaged     State = "damaged"     // in a Filter: those whose row is damaged, whatever became of them
)

// Run is one run's summary.
type Run struct {
	ID          string
	Name        string // given by the user; may be empty
	State       State
	Started     time.Time
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
	Thinned     int    // recorded epochs that were taken out of its history again
	Note        string // what the user says of it; may be empty
	Tags        []string
	Damage      error // what is wrong with its row; nil: nothing

	unconfigured bool // Config can't be read
}

// Filter chooses runs. The zero value chooses all.
type Filter struct {
	Data, Optimizer, State string // equal to; empty: any
	Since                  time.Time
	Text                   string // part of ID, name, data, optimizer or command; empty: any
	Limit                  int    // newest ones; 0: all
	Alone                  bool   // leaves out the trials of searches
	Search                 string // ID of the search whose trials they are; empty: any
}

func (f *Filter) matches(r *Run) bool {
	var data, optimizer string
	if r.Opening != nil {
		data, optimizer = r.Opening.Data.Name, r.Opening.Optimizer
	}
	switch {
	case f.Data != "" && f.Data != data,
		f.Optimizer != "" && f.Optimizer != optimizer,
		f.State != "" && f.State != string(r.State) && (f.State != string(Damaged) || r.Damage == nil),
		r.Started.Before(f.Since):
		return false
	case f.Text == "":
		return true
	}
	return slices.ContainsFunc([]string{r.ID, r.Name, data, optimizer, r.Command}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), strings.ToLower(f.Text))
	})
}

// Runs returns the chosen runs, the last that came into the store first.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	var out []Run
	err := s.View(ctx, func(tx *sql.Tx) error {
		where, args := "", []any(nil)
		switch {
		case f.Alone:
			alone, err := notOfSearches(ctx, tx)
			if err != nil {
				return err
			}
			where = "WHERE r." + alone
		case f.Search != "":
			if there, err := HasSearches(ctx, tx); err != nil || !there {
				return err
			}
			where = "WHERE r.id IN (SELECT t.run FROM trials t JOIN searches q USING (search) WHERE q.id = ?)"
			args = []any{f.Search}
		}
		return EachRun(ctx, tx, where, args, func(r *Run) bool {
			if f.matches(r) {
				s.nameDamage(r)
				out = append(out, *r)
			}
			return f.Limit == 0 || len(out) < f.Limit
		})
	})
	return out, err
}

// LastChange returns when something was last recorded, by the clock of the machine that did.
func (s *Store) LastChange(ctx context.Context) (last time.Time, err error) {
	err = s.View(ctx, func(tx *sql.Tx) error {
		var text sql.NullString
		if err := tx.QueryRowContext(ctx, "SELECT max(changed) FROM runs").Scan(&text); err != nil || !text.Valid {
			return err
		}
		last, err = sqlfile.ParseTime(text.String)
		return err
	})
	return last, err
}

// nameDamage puts the file's name into a run's Damage.
func (s *Store) nameDamage(r *Run) { _ = s.Wrap(context.Background(), r.Damage) }

// notOfSearches returns the condition that a run is no trial of a search.
func notOfSearches(ctx context.Context, tx *sql.Tx) (string, error) {
	there, err := HasSearches(ctx, tx)
	if err != nil || !there {
		return "run IS NOT NULL", err
	}
	return "id NOT IN (SELECT run FROM trials WHERE run IS NOT NULL)", nil
}

// Find returns the run of an ID, a unique beginning or end of one, a name, or last (the one that came last into the
// store and is no trial of a search), last~1 (the one before). No clock decides, as one may jump. It returns the error
// of a run whose row does not tell what it trains.
func (s *Store) Find(ctx context.Context, name string) (*Run, error) {
	r, err := s.FindAny(ctx, name)
	if err == nil {
		err = r.Readable()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// FindAny is Find for what can be done with a damaged run too.
func (s *Store) FindAny(ctx context.Context, name string) (found *Run, err error) {
	err = s.View(ctx, func(tx *sql.Tx) error {
		id, err := resolve(ctx, tx, name)
		if err != nil {
			return err
		}
		return EachRun(ctx, tx, "WHERE r.id = ?", []any{id}, func(r *Run) bool {
			found = r
			return false
		})
	})
	if err == nil {
		if found == nil { // as a damaged index gives it
			return nil, &sqlfile.NotFoundError{Name: name}
		}
		s.nameDamage(found)
	}
	return found, err
}

// MaxSuggestions bounds the runs that a NotFoundError names.
const MaxSuggestions = 5

// maxKnown bounds the names, the newest ones, that one which stands for no run is compared with.
const maxKnown = 1000

// resolve returns the ID that a name stands for.
func resolve(ctx context.Context, tx *sql.Tx, name string) (string, error) {
	if back, ok := fromLast(name); ok {
		alone, err := notOfSearches(ctx, tx)
		if err != nil {
			return "", err
		}
		ids, err := sqlfile.Texts(ctx, tx, "SELECT id FROM runs WHERE "+alone+" ORDER BY run DESC LIMIT 1 OFFSET ?",
			back)
		return one(name, ids, err)
	}
	ids, err := sqlfile.Texts(ctx, tx, "SELECT id FROM runs WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1",
		name)
	if err != nil || len(ids) > 0 || name == "" {
		return one(name, ids, err)
	}
	ids, err = sqlfile.Texts(ctx, tx, `SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1
		OR substr(id, -length(?1)) = ?1
		ORDER BY run DESC LIMIT ?2`, name, MaxSuggestions)
	if err == nil && len(ids) == 0 {
		names, err := sqlfile.Texts(ctx, tx, "SELECT name FROM runs WHERE name <> '' ORDER BY run DESC LIMIT ?",
			maxKnown)
		if err != nil {
			return "", err
		}
		return "", &sqlfile.NotFoundError{Name: name, Meant: format.DidYouMean(name, names)}
	}
	return one(name, ids, err)
}

// one returns the only ID.
func one(name string, ids []string, err error) (string, error) {
	if err == nil && len(ids) != 1 {
		err = &sqlfile.NotFoundError{Name: name, Near: ids}
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

// errChanged says that events were forgotten between two windows.
var errChanged = errors.New("the run was resumed by another process while it was read: expected to be read anew")

// Events calls yield with every event of a run in order, those after the position alone, until it returns false. It
// returns the position of the last one, and an error if events before it were forgotten meanwhile, as the run was
// resumed. Damaged events are left out; a *DamageError says so in the end.
func (s *Store) Events(ctx context.Context, id string, after int64, yield func(event.Event) bool) (int64, error) {
	generation, thinned := int64(-1), int64(0)
	all, reached := after == 0, after
	var last *RunReader
	var left damage
	for {
		var batch []Numbered
		err := s.View(ctx, func(tx *sql.Tx) error {
			r, err := NewRunReader(ctx, tx, id)
			if err != nil {
				return err
			}
			if generation >= 0 && generation != r.generation {
				return fmt.Errorf("%s: run %s: %w", s.Path(), id, errChanged)
			}
			if generation >= 0 && thinned != r.thinned {
				all = false // rows were taken out that may have been read
			}
			generation, thinned = r.generation, r.thinned
			r.Damage, last = left, r
			batch, reached, err = r.Window(ctx, reached)
			left = r.Damage
			return err
		})
		if err != nil {
			return after, err
		}
		for _, n := range batch {
			after = n.Seq
			if !yield(n.Event) {
				return after, nil
			}
		}
		if len(batch) == 0 {
			return after, last.Lost(s.Path(), all)
		}
	}
}

// Checkpoint returns a run's newest checkpoint that can be read, or nil if there is none, and what is wrong with one
// that is newer.
func (s *Store) Checkpoint(ctx context.Context, id string) (c *trainer.Checkpoint, skipped, err error) {
	err = s.View(ctx, func(tx *sql.Tx) error {
		r, err := NewRunReader(ctx, tx, id)
		if err != nil {
			return err
		}
		_, c, skipped, err = r.LatestSound(ctx)
		return err
	})
	return c, s.Wrap(ctx, skipped), err
}

// Source returns a run as it is recorded, for stream.Open. It follows the run for good and never returns io.EOF, since
// a run that is over may be resumed; where that voids events that it gave it returns stream.ErrRestart. A long run's
// past is downsampled: of more than 20,000 epochs those that hold extremes, of more than 65,536 inner iterations the
// newest.
func (s *Store) Source(ctx context.Context, id string) (stream.Source, error) {
	w := &source{store: s, id: id}
	err := s.View(ctx, func(tx *sql.Tx) error {
		r, err := NewRunReader(ctx, tx, id)
		if err == nil {
			w.header = r.Position
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Without notification, as on some network file systems, there is the poll.
	if watcher, err := fsnotify.NewWatcher(); err == nil {
		if err := watcher.Add(filepath.Dir(s.Path())); err == nil {
			w.watcher = watcher
		} else {
			watcher.Close()
		}
	}
	return w, nil
}

// Remove deletes runs with all that belongs to them, all or none. It returns a *BusyError for one that is being
// trained and a *NotFoundError for one that is not there.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	err := s.Change(ctx, func(ctx context.Context, conn *sql.Conn) error { return RemoveRuns(ctx, conn, ids) })
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.Shrink(ctx)
}

// RemoveRuns removes runs by their IDs, with all rows that belong to them.
func RemoveRuns(ctx context.Context, conn *sql.Conn, ids []string) error {
	for _, id := range ids {
		run, err := IdleRun(ctx, conn, id)
		if err == nil {
			_, err = conn.ExecContext(ctx, "DELETE FROM runs WHERE run = ?", run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// IdleRun returns the row of a run, or a *BusyError where a living process records it.
func IdleRun(ctx context.Context, conn *sql.Conn, id string) (run int64, err error) {
	var row sqlfile.OwnerRow
	err = conn.QueryRowContext(ctx, "SELECT run, "+sqlfile.OwnerColumns+" FROM runs WHERE id = ?", id).Scan(
		row.Dests(&run)...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &sqlfile.NotFoundError{Name: id}
	}
	if err != nil {
		return 0, err
	}
	o := row.Owner()
	if o.Alive(time.Now()) {
		return 0, &sqlfile.BusyError{Run: id, Owner: o.String(), Sure: sqlfile.SameMachine(o.Identity)}
	}
	return run, nil
}

// Rename gives a run a name that no other run has, or none. It returns a *NameError for one that it can't have.
func (s *Store) Rename(ctx context.Context, id, name string) error {
	if err := CheckName(name); name != "" && err != nil {
		return err
	}
	return s.Change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var other string
		err := conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ? AND id <> ?", name, id).Scan(&other)
		if err == nil {
			return &sqlfile.NameError{Name: name, Expected: "one that no other run has; it is that of " + other}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = WithChecksum(ctx, conn, id, func() error {
			done, err := conn.ExecContext(ctx, "UPDATE runs SET name = ? WHERE id = ?", rowcode.TextOrNull(name), id)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n == 0 {
				return cmp.Or[error](err, &sqlfile.NotFoundError{Name: id})
			}
			return nil
		})
		return err
	})
}

// maxName bounds a name, in bytes.
const maxName = 80

// CheckName returns a *NameError for what no run can be called: last and last~N stand for runs already, and a name
// is one word without slashes, so that it is no file and needs no quotes.
func CheckName(name string) error {
	_, isTaken := fromLast(name)
	plain := func(r rune) bool { return r > ' ' && strconv.IsPrint(r) && !strings.ContainsRune(`/\"'`, r) }
	switch {
	case name == "", len(name) > maxName, strings.HasPrefix(name, "-"), isTaken, name == "off",
		strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0:
		return &sqlfile.NameError{Name: name,
			Expected: fmt.Sprintf("one word of at most %d printable bytes without slashes and quotes, other than last",
				maxName)}
	}
	return nil
}

// HasSearches reports whether there are tables of searches: not in a file of version 1 that is only read.
func HasSearches(ctx context.Context, tx *sql.Tx) (there bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'trials')").Scan(&there)
	return there, err
}
