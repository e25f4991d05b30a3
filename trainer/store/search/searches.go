package search

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// Search is one search over settings, of whose trials each is a run. What its JSON means is known to package tune.
type Search struct {
	ID       string // the same wherever the search is copied to
	Name     string
	Started  time.Time
	Changed  time.Time
	Config   json.RawMessage
	Version  string // of newtop
	Phase    string
	Data     string
	Seconds  float64 // over all resumes
	Spent    float64 // gradient equivalents
	Rest     json.RawMessage
	Trials   int
	Running  bool // a living process searches
	Observed bool // Running is what this machine's table of processes says, not the heartbeat
	Host     string
	Process  int

	sums int64 // of the trials' checksums
}

// Trial is one trial of a search.
type Trial struct {
	Number  int
	Run     string // ID of its run; may be empty
	State   string
	Reason  string
	Seed    uint64
	Rung    int
	Final   bool
	Choices json.RawMessage
	Metrics json.RawMessage
}

// Record writes a search of this process's. One goroutine uses it.
type Record struct {
	store *store.Store
	name  string
	row   int64
	owner sqlfile.Owner
}

// New begins a search. An empty name becomes tune- with the time; one that another search has is a *SearchError.
func New(ctx context.Context, s *store.Store, q *Search) (*Record, error) {
	now := time.Now()
	var tail [3]byte
	rand.Read(tail[:])
	q.ID = now.UTC().Format("20060102-150405-") + hex.EncodeToString(tail[:])
	q.Name = cmp.Or(q.Name, "tune-"+q.ID)
	q.Started = now.UTC().Truncate(time.Millisecond)
	if err := store.CheckName(q.Name); err != nil {
		return nil, err
	}
	r := &Record{store: s, name: q.Name, owner: sqlfile.Self()}
	err := s.ChangeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var isTaken bool
		if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM searches WHERE name = ?)", q.Name).Scan(
			&isTaken); err != nil {
			return err
		}
		if isTaken {
			return &sqlfile.SearchError{Name: q.Name, Found: "there is one of that name",
				Expected: "another name, or it to be resumed"}
		}
		res, err := conn.ExecContext(ctx, `INSERT INTO searches
			(id, name, begun, changed, config, version, phase, data, rest, `+sqlfile.OwnerColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.owner.Args(q.ID, q.Name, sqlfile.FormatTime(q.Started), sqlfile.FormatTime(now), string(q.Config),
				q.Version, q.Phase,
				q.Data, orEmpty(q.Rest))...)
		if err != nil {
			return err
		}
		if r.row, err = res.LastInsertId(); err != nil {
			return err
		}
		return rowcode.WriteSearchChecksums(ctx, conn, r.row)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func orEmpty(j json.RawMessage) string {
	if len(j) == 0 {
		return "{}"
	}
	return string(j)
}

// Continue takes a search that no living process has, and returns it with its trials in order. It returns a
// *SearchError for one that is not there or is being searched.
func Continue(ctx context.Context, s *store.Store, name string) (*Record, *Search, []Trial, error) {
	q, trials, err := Find(ctx, s, name)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &Record{store: s, name: q.Name, owner: sqlfile.Self()}
	err = s.ChangeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if r.row, err = IdleSearch(ctx, conn, q); err != nil {
			return err
		}
		_, err = conn.ExecContext(
			ctx, "UPDATE searches SET ("+sqlfile.OwnerColumns+") = (?, ?, ?, ?, ?) WHERE search = ?",
			append(r.owner.Args(), r.row)...)
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return r, q, trials, nil
}

// IdleSearch returns the row of a search, or a *SearchError where a living process has it.
func IdleSearch(ctx context.Context, conn *sql.Conn, q *Search) (row int64, err error) {
	var by sqlfile.OwnerRow
	err = conn.QueryRowContext(ctx, "SELECT search, "+sqlfile.OwnerColumns+" FROM searches WHERE id = ?", q.ID).Scan(
		by.Dests(&row)...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &sqlfile.SearchError{Name: q.Name, Found: "it has just been removed", Expected: "one that is there"}
	}
	if err != nil {
		return 0, err
	}
	o := by.Owner()
	if o.Alive(time.Now()) {
		return 0, &sqlfile.SearchError{Name: q.Name, Found: o.String() + " searches",
			Expected: "a search that no process has",
			Busy:     true}
	}
	return row, nil
}

// Remove deletes searches with the runs of their trials, all or none. It returns a *SearchError for one that is
// not there or has a living process, and a *BusyError where a run of it is being trained.
func Remove(ctx context.Context, s *store.Store, names ...string) error {
	var found []*Search
	for _, name := range names {
		q, _, err := Find(ctx, s, name)
		if err != nil {
			return err
		}
		found = append(found, q)
	}
	err := s.Change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		for _, q := range found {
			row, err := IdleSearch(ctx, conn, q)
			if err != nil {
				return err
			}
			ids, err := sqlfile.Texts(
				ctx, conn, "SELECT id FROM runs WHERE id IN (SELECT run FROM trials WHERE search = ?)",
				row)
			if err == nil {
				err = store.RemoveRuns(ctx, conn, ids)
			}
			if err == nil {
				_, err = conn.ExecContext(ctx, "DELETE FROM searches WHERE search = ?", row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.Shrink(ctx)
}

// ErrSearchLost says that the search belongs to somebody else now, or is no more.
var ErrSearchLost = errors.New("the search was removed, or another process has taken it over")

// Save writes how far the search is and the trials that are new or have changed, all or nothing. Called at least every
// few seconds it also says that the search lives.
func (r *Record) Save(ctx context.Context, q *Search, trials []Trial) error {
	return r.store.ChangeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		now := sqlfile.FormatTime(time.Now())
		res, err := conn.ExecContext(ctx, `UPDATE searches SET changed = ?, heartbeat = ?, config = ?, phase = ?,
			data = ?, seconds = ?, spent = ?, rest = ?
			WHERE search = ? AND owner = ?`,
			now, now, string(q.Config), q.Phase, q.Data, q.Seconds, q.Spent, orEmpty(q.Rest), r.row, r.owner.Token)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrSearchLost)
		}
		check := rowcode.NewChecksummer("trials")
		for i := range trials {
			t := &trials[i]
			values := []any{t.Number, rowcode.TextOrNull(t.Run), t.State, t.Reason, strconv.FormatUint(t.Seed, 10),
				t.Rung, t.Final, string(t.Choices), orEmpty(t.Metrics)}
			args := append(append([]any{r.row}, values...), check.Of(values...))
			_, err := conn.ExecContext(ctx, "INSERT OR REPLACE INTO trials (search, "+rowcode.ChecksumColumns["trials"]+
				", crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", args...)
			if err != nil {
				return err
			}
		}
		return rowcode.WriteSearchChecksums(ctx, conn, r.row)
	})
}

// Release gives the search up, so that another process may continue with it at once.
func (r *Record) Release(ctx context.Context) error {
	return r.store.ChangeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE searches SET owner = NULL WHERE search = ? AND owner = ?", r.row,
			r.owner.Token)
		return err
	})
}

// All returns all searches, newest first.
func All(ctx context.Context, s *store.Store) (out []Search, err error) {
	err = s.View(ctx, func(tx *sql.Tx) error {
		out, err = SearchesWhere(ctx, tx, "")
		return err
	})
	return out, err
}

// Find returns a search by its name or ID, or by last the newest one, with its trials in order. It returns a
// *SearchError where there is none.
func Find(ctx context.Context, s *store.Store, name string) (q *Search, trials []Trial, err error) {
	err = s.View(ctx, func(tx *sql.Tx) error {
		where, args := "WHERE id = ?1 OR name = ?1", []any{name}
		if name == "last" {
			where, args = "", nil
		}
		found, err := SearchesWhere(ctx, tx, where, args...)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return noSearch(ctx, tx, name)
		}
		q = &found[0]
		trials, err = TrialsOf(ctx, tx, q)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return q, trials, nil
}

// noSearch lists what there is.
func noSearch(ctx context.Context, tx *sql.Tx, name string) error {
	all, err := SearchesWhere(ctx, tx, "")
	if err != nil {
		return err
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	if len(names) == 0 {
		return &sqlfile.SearchError{Name: name, Found: "there are no searches yet",
			Expected: "one that newtop tune has begun"}
	}
	return &sqlfile.SearchError{Name: name, Found: "there is none of that name",
		Expected: "one of " + strings.Join(names[:min(len(names), store.MaxSuggestions)], ", ") +
			format.DidYouMean(name, names)}
}

// BadSearch says that the row of a search can't be read.
func BadSearch(name string, err error) error {
	return &sqlfile.RowError{Table: "searches", Run: name, Err: err}
}

// SearchesWhere returns the searches for which a condition in SQL holds.
func SearchesWhere(ctx context.Context, tx *sql.Tx, where string, args ...any) (out []Search, err error) {
	if there, err := store.HasSearches(ctx, tx); err != nil || !there {
		return nil, err
	}
	version, err := rowcode.VersionNow(ctx, tx)
	if err != nil {
		return nil, err
	}
	check, sums := rowcode.NewChecksummer("searches"), "0"
	if version >= rowcode.Checksums {
		sums = "sums"
	}
	query := "SELECT id, name, begun, changed, config, version, phase, data, seconds, spent, rest, " +
		rowcode.CRCColumn(version, "") + ", " + sums + `,
		(SELECT count(*) FROM trials t WHERE t.search = s.search), ` + sqlfile.OwnerColumns + `
		FROM searches s ` + where + " ORDER BY search DESC"
	err = sqlfile.EachRow(ctx, tx, query, args, func(rows *sql.Rows) error {
		var q Search
		var by sqlfile.OwnerRow
		var started, changed, config, rest string
		var crc sql.NullInt64
		err := rows.Scan(by.Dests(&q.ID, &q.Name, &started, &changed, &config, &q.Version, &q.Phase, &q.Data,
			&q.Seconds,
			&q.Spent, &rest,
			&crc, &q.sums, &q.Trials)...)
		if err == nil {
			err = check.Verify(crc, q.ID, q.Name, started, changed, config, q.Version, q.Phase, q.Data, q.Seconds,
				q.Spent, rest, q.sums)
		}
		if err != nil {
			return BadSearch(cmp.Or(q.Name, q.ID), err)
		}
		o := by.Owner()
		if q.Started, err = sqlfile.ParseTime(started); err == nil {
			q.Changed, err = sqlfile.ParseTime(changed)
		}
		if err != nil {
			return BadSearch(q.Name, err)
		}
		q.Config, q.Rest = json.RawMessage(config), json.RawMessage(rest)
		q.Host, q.Process, q.Running, q.Observed = o.Host, o.Process, o.Alive(time.Now()), sqlfile.SameMachine(
			o.Identity)
		out = append(out, q)
		return nil
	})
	return out, err
}

// TrialsOf returns those of a search in order.
func TrialsOf(ctx context.Context, tx *sql.Tx, q *Search) (out []Trial, err error) {
	version, err := rowcode.VersionNow(ctx, tx)
	if err != nil {
		return nil, err
	}
	check, left := rowcode.NewChecksummer("trials"), q.sums
	query := "SELECT number, run, state, why, seed, rung, final, choices, figures, " +
		rowcode.CRCColumn(version, "") + ` FROM trials
		WHERE search = (SELECT search FROM searches WHERE id = ?) ORDER BY number`
	err = sqlfile.EachRow(ctx, tx, query, []any{q.ID}, func(rows *sql.Rows) error {
		var t Trial
		var run sql.NullString
		var seed, choices, figures string
		var crc sql.NullInt64
		err := rows.Scan(&t.Number, &run, &t.State, &t.Reason, &seed, &t.Rung, &t.Final, &choices, &figures, &crc)
		if err == nil {
			err = check.Verify(crc, t.Number, rowcode.TextOrNull(run.String), t.State, t.Reason, seed, t.Rung, t.Final,
				choices,
				figures)
		}
		if err == nil {
			t.Seed, err = strconv.ParseUint(seed, 10, 64)
		}
		if err != nil {
			return BadSearch(q.Name, fmt.Errorf("trial %d: %w", t.Number, err))
		}
		left -= crc.Int64
		t.Run, t.Choices, t.Metrics = run.String, json.RawMessage(choices), json.RawMessage(figures)
		out = append(out, t)
		return nil
	})
	if err == nil && left != 0 {
		err = BadSearch(q.Name, ErrTrials)
	}
	return out, err
}

// ErrTrials is a search whose trials do not fit its checksum.
var ErrTrials = errors.New("trials are missing, or are of another search: their checksums do not add up")
