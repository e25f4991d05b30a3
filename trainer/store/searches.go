package store

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
)

// Search is one search over settings, of whose trials each is a run. What its JSON means is known to package tune.
type Search struct {
	ID      string // the same wherever the search is copied to
	Name    string
	Begun   time.Time
	Changed time.Time
	Config  json.RawMessage
	Version string // of newtop
	Phase   string
	Data    string
	Seconds float64 // over all resumes
	Spent   float64 // gradient equivalents
	Rest    json.RawMessage
	Trials  int
	Running bool // a living process searches
	Looked  bool // Running is what this machine's table of processes says, not the heartbeat
	Host    string
	Process int

	sums int64 // of the trials' checksums
}

// Trial is one trial of a search.
type Trial struct {
	Number  int
	Run     string // ID of its run; may be empty
	State   string
	Why     string
	Seed    uint64
	Rung    int
	Final   bool
	Choices json.RawMessage
	Figures json.RawMessage
}

// SearchRecord writes a search of this process's. One goroutine uses it.
type SearchRecord struct {
	store *Store
	name  string
	row   int64
	owner owner
}

// NewSearch begins a search. An empty name becomes tune- with the time; one that another search has is a *SearchError.
func NewSearch(ctx context.Context, s *Store, q *Search) (*SearchRecord, error) {
	now := time.Now()
	var tail [3]byte
	rand.Read(tail[:])
	q.ID = now.UTC().Format("20060102-150405-") + hex.EncodeToString(tail[:])
	q.Name = cmp.Or(q.Name, "tune-"+q.ID)
	q.Begun = now.UTC().Truncate(time.Millisecond)
	if err := CheckName(q.Name); err != nil {
		return nil, err
	}
	r := &SearchRecord{store: s, name: q.Name, owner: self()}
	err := s.changeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var taken bool
		if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM searches WHERE name = ?)", q.Name).Scan(
			&taken); err != nil {
			return err
		}
		if taken {
			return &SearchError{Name: q.Name, Found: "there is one of that name",
				Expected: "another name, or it to be resumed"}
		}
		res, err := conn.ExecContext(ctx, `INSERT INTO searches
			(id, name, begun, changed, config, version, phase, data, rest, `+ownerColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.owner.args(q.ID, q.Name, formatTime(q.Begun), formatTime(now), string(q.Config), q.Version, q.Phase,
				q.Data, orEmpty(q.Rest))...)
		if err != nil {
			return err
		}
		if r.row, err = res.LastInsertId(); err != nil {
			return err
		}
		return sealSearch(ctx, conn, r.row)
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

// ContinueSearch takes a search that no living process has, and returns it with its trials in order. It returns a
// *SearchError for one that is not there or is being searched.
func ContinueSearch(ctx context.Context, s *Store, name string) (*SearchRecord, *Search, []Trial, error) {
	q, trials, err := FindSearch(ctx, s, name)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &SearchRecord{store: s, name: q.Name, owner: self()}
	err = s.changeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if r.row, err = idleSearch(ctx, conn, q); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, "UPDATE searches SET ("+ownerColumns+") = (?, ?, ?, ?, ?) WHERE search = ?",
			append(r.owner.args(), r.row)...)
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return r, q, trials, nil
}

// idleSearch returns the row of a search, or a *SearchError where a living process has it.
func idleSearch(ctx context.Context, conn *sql.Conn, q *Search) (row int64, err error) {
	var by ownerRow
	err = conn.QueryRowContext(ctx, "SELECT search, "+ownerColumns+" FROM searches WHERE id = ?", q.ID).Scan(
		by.dests(&row)...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &SearchError{Name: q.Name, Found: "it has just been removed", Expected: "one that is there"}
	}
	if err != nil {
		return 0, err
	}
	o := by.owner()
	if o.alive(time.Now()) {
		return 0, &SearchError{Name: q.Name, Found: o.String() + " searches", Expected: "a search that no process has",
			Busy: true}
	}
	return row, nil
}

// RemoveSearches deletes searches with the runs of their trials, all or none. It returns a *SearchError for one that is
// not there or has a living process, and a *BusyError where a run of it is being trained.
func RemoveSearches(ctx context.Context, s *Store, names ...string) error {
	var found []*Search
	for _, name := range names {
		q, _, err := FindSearch(ctx, s, name)
		if err != nil {
			return err
		}
		found = append(found, q)
	}
	err := s.change(ctx, func(ctx context.Context, conn *sql.Conn) error {
		for _, q := range found {
			row, err := idleSearch(ctx, conn, q)
			if err != nil {
				return err
			}
			ids, err := texts(ctx, conn, "SELECT id FROM runs WHERE id IN (SELECT run FROM trials WHERE search = ?)",
				row)
			if err == nil {
				err = removeRuns(ctx, conn, ids)
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
	return s.shrink(ctx)
}

// errSearchTaken says that the search belongs to somebody else now, or is no more.
var errSearchTaken = errors.New("the search was removed, or another process has taken it over")

// Put writes how far the search is and the trials that are new or have changed, all or nothing. Called at least every
// few seconds it also says that the search lives.
func (r *SearchRecord) Put(ctx context.Context, q *Search, trials []Trial) error {
	return r.store.changeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		now := formatTime(time.Now())
		res, err := conn.ExecContext(ctx, `UPDATE searches SET changed = ?, heartbeat = ?, config = ?, phase = ?, data = ?, seconds = ?, spent = ?, rest = ?
			WHERE search = ? AND owner = ?`, now, now, string(q.Config), q.Phase, q.Data, q.Seconds, q.Spent, orEmpty(q.Rest), r.row, r.owner.token)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errSearchTaken)
		}
		check := newSealer("trials")
		for i := range trials {
			t := &trials[i]
			values := []any{t.Number, textOrNull(t.Run), t.State, t.Why, strconv.FormatUint(t.Seed, 10), t.Rung,
				t.Final,
				string(t.Choices), orEmpty(t.Figures)}
			_, err := conn.ExecContext(ctx, "INSERT OR REPLACE INTO trials (search, "+sealed["trials"]+`, crc)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(append([]any{r.row}, values...), check.of(values...))...)
			if err != nil {
				return err
			}
		}
		return sealSearch(ctx, conn, r.row)
	})
}

// Release gives the search up, so that another process may go on with it at once.
func (r *SearchRecord) Release(ctx context.Context) error {
	return r.store.changeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE searches SET owner = NULL WHERE search = ? AND owner = ?", r.row,
			r.owner.token)
		return err
	})
}

// Searches returns all searches, newest first.
func Searches(ctx context.Context, s *Store) (out []Search, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		out, err = searchesWhere(ctx, tx, "")
		return err
	})
	return out, err
}

// FindSearch returns a search by its name or ID, or by last the newest one, with its trials in order. It returns a
// *SearchError where there is none.
func FindSearch(ctx context.Context, s *Store, name string) (q *Search, trials []Trial, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		where, args := "WHERE id = ?1 OR name = ?1", []any{name}
		if name == "last" {
			where, args = "", nil
		}
		found, err := searchesWhere(ctx, tx, where, args...)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return noSearch(ctx, tx, name)
		}
		q = &found[0]
		trials, err = trialsOf(ctx, tx, q)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return q, trials, nil
}

// noSearch lists what there is.
func noSearch(ctx context.Context, tx *sql.Tx, name string) error {
	all, err := searchesWhere(ctx, tx, "")
	if err != nil {
		return err
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	if len(names) == 0 {
		return &SearchError{Name: name, Found: "there are no searches yet", Expected: "one that newtop tune has begun"}
	}
	return &SearchError{Name: name, Found: "there is none of that name",
		Expected: "one of " + strings.Join(names[:min(len(names), maxNear)], ", ") + format.DidYouMean(name, names)}
}

func badSearch(name string, err error) error {
	return &RowError{Table: "searches", Run: name, Err: err}
}

// hasSearches reports whether there are tables of searches: not in a file of version 1 that is only read.
func hasSearches(ctx context.Context, tx *sql.Tx) (there bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'trials')").Scan(&there)
	return there, err
}

func searchesWhere(ctx context.Context, tx *sql.Tx, where string, args ...any) (out []Search, err error) {
	if there, err := hasSearches(ctx, tx); err != nil || !there {
		return nil, err
	}
	version, err := versionNow(ctx, tx)
	if err != nil {
		return nil, err
	}
	check, sums := newSealer("searches"), "0"
	if version >= checksums {
		sums = "sums"
	}
	query := `SELECT id, name, begun, changed, config, version, phase, data, seconds, spent, rest, ` + crcColumn(version, "") + ", " + sums + `,
		(SELECT count(*) FROM trials t WHERE t.search = s.search), ` + ownerColumns + `
		FROM searches s ` + where + " ORDER BY search DESC"
	err = eachRow(ctx, tx, query, args, func(rows *sql.Rows) error {
		var q Search
		var by ownerRow
		var begun, changed, config, rest string
		var crc sql.NullInt64
		err := rows.Scan(by.dests(&q.ID, &q.Name, &begun, &changed, &config, &q.Version, &q.Phase, &q.Data, &q.Seconds,
			&q.Spent, &rest,
			&crc, &q.sums, &q.Trials)...)
		if err == nil {
			err = check.verify(crc, q.ID, q.Name, begun, changed, config, q.Version, q.Phase, q.Data, q.Seconds,
				q.Spent, rest, q.sums)
		}
		if err != nil {
			return badSearch(cmp.Or(q.Name, q.ID), err)
		}
		o := by.owner()
		if q.Begun, err = parseTime(begun); err == nil {
			q.Changed, err = parseTime(changed)
		}
		if err != nil {
			return badSearch(q.Name, err)
		}
		q.Config, q.Rest = json.RawMessage(config), json.RawMessage(rest)
		q.Host, q.Process, q.Running, q.Looked = o.host, o.process, o.alive(time.Now()), sameMachine(o.identity)
		out = append(out, q)
		return nil
	})
	return out, err
}

// trialsOf returns those of a search in order.
func trialsOf(ctx context.Context, tx *sql.Tx, q *Search) (out []Trial, err error) {
	version, err := versionNow(ctx, tx)
	if err != nil {
		return nil, err
	}
	check, left := newSealer("trials"), q.sums
	query := `SELECT number, run, state, why, seed, rung, final, choices, figures, ` + crcColumn(version, "") + ` FROM trials
		WHERE search = (SELECT search FROM searches WHERE id = ?) ORDER BY number`
	err = eachRow(ctx, tx, query, []any{q.ID}, func(rows *sql.Rows) error {
		var t Trial
		var run sql.NullString
		var seed, choices, figures string
		var crc sql.NullInt64
		err := rows.Scan(&t.Number, &run, &t.State, &t.Why, &seed, &t.Rung, &t.Final, &choices, &figures, &crc)
		if err == nil {
			err = check.verify(crc, t.Number, textOrNull(run.String), t.State, t.Why, seed, t.Rung, t.Final, choices,
				figures)
		}
		if err == nil {
			t.Seed, err = strconv.ParseUint(seed, 10, 64)
		}
		if err != nil {
			return badSearch(q.Name, fmt.Errorf("trial %d: %w", t.Number, err))
		}
		left -= crc.Int64
		t.Run, t.Choices, t.Figures = run.String, json.RawMessage(choices), json.RawMessage(figures)
		out = append(out, t)
		return nil
	})
	if err == nil && left != 0 {
		err = badSearch(q.Name, errTrials)
	}
	return out, err
}

var errTrials = errors.New("trials are missing, or are of another search: their checksums do not add up")
