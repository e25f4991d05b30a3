package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/store/upkeep"
)

// recorded makes a store with one run for each name, with events of every kind and a checkpoint, adam's in two parts.
func recorded(t testing.TB, ids map[string]string) *store.Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "source.DB"))
	for name, id := range ids {
		r := recorder.New(s, recorder.About{Name: name, Command: "newtop train --name " + name, Config: trainer.Config{Data: "letters"}, Version: "1"})
		record(t, r, everyKind(id, 300)...)
		r.Mu.Lock()
		r.Checkpoint.Pending = blob(2, 1e5)
		if name == "adam" {
			r.Checkpoint.Pending = blob(2, 3*recorder.PartSize/2)
		}
		r.Checkpoint.Pending.Seq = 3
		r.Mu.Unlock()
		flush(t, r)
	}
	return s
}

// searching puts a search with trials that are these runs into a store.
func searching(t testing.TB, s *store.Store, name string, runs ...string) *search.Search {
	t.Helper()
	q := &search.Search{Name: name, Config: json.RawMessage(`{"Trials":3}`), Phase: "done", Data: "letters"}
	r, err := search.New(t.Context(), s, q)
	if err != nil {
		t.Fatal(err)
	}
	var trials []search.Trial
	for i, run := range runs {
		trials = append(trials, search.Trial{Number: i + 1, Run: run, State: "done", Choices: json.RawMessage(`[]`), Metrics: json.RawMessage(`{}`)})
	}
	q.Spent = float64(len(runs))
	if err := errors.Join(r.Save(t.Context(), q, trials), r.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	return q
}

// allRows writes all rows of all tables, without the numbers that a database gives its runs and searches.
func allRows(t testing.TB, s *store.Store) string {
	t.Helper()
	var out strings.Builder
	for _, q := range []string{
		`SELECT json_array(id, name, begun, changed, opening, config, command, version, events, epochs, inner, bytes, first, last, best, done,
			generation, owner, host, process, identity, claimed) FROM runs ORDER BY id`,
		`SELECT json_array(id, seq, e.epoch, e.optimizer, loss, test_loss, error, test_error, radius, rho, equivalents, elapsed, rest) FROM epochs e JOIN runs USING (run) ORDER BY id, seq`,
		`SELECT json_array(id, seq, epoch, block, member, steps) FROM solves JOIN runs USING (run) ORDER BY id, seq`,
		`SELECT json_array(id, seq, json) FROM spectra JOIN runs USING (run) ORDER BY id, seq`,
		`SELECT json_array(id, seq, json) FROM marks JOIN runs USING (run) ORDER BY id, seq`,
		`SELECT json_array(id, p.first, p.last, extremes) FROM peaks p JOIN runs USING (run) ORDER BY id, p.first`,
		`SELECT json_array(id, seq, epoch, fingerprint, size) FROM checkpoints JOIN runs USING (run) ORDER BY id, seq`,
		`SELECT json_array(id, seq, part, length(p.data), hex(substr(p.data, 1, 100)), hex(substr(p.data, -100))) FROM parts p JOIN runs USING (run) ORDER BY id, seq, part`,
		`SELECT json_array(id, name, begun, changed, config, version, phase, data, seconds, spent, rest, owner, host, process) FROM searches ORDER BY id`,
		`SELECT json_array(id, number, run, state, why, seed, rung, final, choices, figures) FROM trials JOIN searches USING (search) ORDER BY id, number`,
	} {
		rows, err := s.DB.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

func merged(t testing.TB, into *store.Store, from string) upkeep.Merged {
	t.Helper()
	m, err := upkeep.Merge(t.Context(), into, from)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A store that is merged into an empty one is there to the last row; a second time nothing changes; the source's file
// does not.
func TestMerge(t *testing.T) {
	a := recorded(t, map[string]string{"adam": "20261121-120000-aaaaaa", "": "20261121-120001-bbbbbb"})
	searching(t, a, "mine", "20261121-120000-aaaaaa")
	want := allRows(t, a)
	before := closed(t, a)
	into := temporary(t)
	m := merged(t, into, a.Path())
	if m.Runs != (upkeep.Tally{Added: 2}) || m.Searches != (upkeep.Tally{Added: 1}) || len(m.Found) != 1 || len(m.Renamed) != 0 {
		t.Errorf("%+v", m)
	}
	if got := allRows(t, into); got != want || !strings.Contains(want, "checkpoint") && strings.Count(want, "\n") < 20 {
		t.Errorf("merged:\n%s\nexpected:\n%s", got, want)
	}
	m = merged(t, into, a.Path())
	if m.Runs != (upkeep.Tally{Same: 2}) || m.Searches != (upkeep.Tally{Same: 1}) || allRows(t, into) != want {
		t.Errorf("the second time: %+v", m)
	}
	if after, err := os.ReadFile(a.Path()); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the source has changed: %v", err)
	}
	if _, text := kept(t, into, "20261121-120000-aaaaaa"); len(text) != 3*recorder.PartSize/2 {
		t.Errorf("a checkpoint of %d bytes", len(text))
	}
	equal(t, events(t, into, "20261121-120001-bbbbbb"), everyKind("20261121-120001-bbbbbb", 300))
	// A run that is merged is anybody's to go on with.
	r, err := recorder.Continue(t.Context(), into, "20261121-120000-aaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	r.Flush()
}

// Names that others have get a number; another run of the same ID gets another ID, the same one each time, and its
// search's trials keep to it.
func TestMergeClashes(t *testing.T) {
	into := recorded(t, map[string]string{"adam": "20261121-120000-aaaaaa"})
	searching(t, into, "mine")
	other := recorded(t, map[string]string{"adam": "20261121-120009-cccccc", "same-id": "20261121-120000-aaaaaa"})
	searching(t, other, "mine", "20261121-120000-aaaaaa")
	for round := range 2 {
		m := merged(t, into, other.Path())
		if round == 0 && (m.Runs != (upkeep.Tally{Added: 2}) || m.Searches != (upkeep.Tally{Added: 1}) || fmt.Sprint(m.Renamed) != "[run adam is adam-2 search mine is mine-2]") ||
			round == 1 && (m.Runs != (upkeep.Tally{Same: 2}) || m.Searches != (upkeep.Tally{Same: 1}) || m.Renamed != nil) {
			t.Errorf("time %d: %+v", round+1, m)
		}
	}
	run := find(t, into, "same-id")
	_, trials, err := search.Find(t.Context(), into, "mine-2")
	if err != nil || run.ID == "20261121-120000-aaaaaa" || run.Opening.ID != run.ID || len(trials) != 1 || trials[0].Run != run.ID {
		t.Errorf("%s with the opening of %s, trials %+v: %v", run.ID, run.Opening.ID, trials, err)
	}
	if find(t, into, "adam").ID != "20261121-120000-aaaaaa" || find(t, into, "adam-2").ID != "20261121-120009-cccccc" {
		t.Error("names have changed hands")
	}
}

// What has gone further in the source is brought up to date under the name it has here; what has gone further here
// stays; what went on differently is refused, and nothing else of the source comes in.
func TestMergeOfWhatWentOn(t *testing.T) {
	const id = "20261121-120000-aaaaaa"
	source := recorded(t, map[string]string{"adam": id})
	q := searching(t, source, "mine", id)
	into := temporary(t)
	merged(t, into, source.Path())
	if err := into.Rename(t.Context(), id, "renamed"); err != nil {
		t.Fatal(err)
	}
	for s, note := range map[*store.Store]string{source: "theirs", into: "mine"} {
		if err := s.Annotate(t.Context(), id, note, nil); err != nil {
			t.Fatal(err)
		}
	}
	further := func(s *store.Store, loss string) {
		t.Helper()
		_, err := s.DB.Exec(`INSERT INTO epochs (run, seq, epoch, accepted, loss) SELECT run, events + 1, 1000, 1, ` + loss + ` FROM runs;
			UPDATE runs SET events = events + 1, epochs = epochs + 1, last = events + 1, changed = strftime('%Y-%m-%dT%H:%M:%fZ', changed, '+1 hour')`)
		if err == nil {
			err = s.Change(t.Context(), func(ctx context.Context, conn *sql.Conn) error { return rowcode.WriteChecksums(ctx, conn, "runs", "1") })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	further(source, "0.5")
	old := allRows(t, into)
	r, _, trials, err := search.Continue(t.Context(), source, "mine")
	if err != nil {
		t.Fatal(err)
	}
	q.Phase = "searching"
	trials = append(trials, search.Trial{Number: 2, Run: id, State: "done", Choices: json.RawMessage(`[]`)})
	if err := errors.Join(r.Save(t.Context(), q, trials), r.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	m := merged(t, into, source.Path())
	if m.Runs != (upkeep.Tally{Updated: 1}) || m.Searches != (upkeep.Tally{Updated: 1}) || find(t, into, "renamed").Last.Epoch != 1000 || find(t, into, "renamed").Note != "mine" {
		t.Errorf("%+v", m)
	}
	newer := allRows(t, into)
	if m = merged(t, into, source.Path()); m.Runs != (upkeep.Tally{Same: 1}) || m.Searches != (upkeep.Tally{Same: 1}) || allRows(t, into) != newer {
		t.Errorf("again: %+v", m)
	}
	behind := temporary(t)
	merged(t, behind, into.Path())
	further(into, "0.25")
	if m = merged(t, into, behind.Path()); m.Runs != (upkeep.Tally{Older: 1}) {
		t.Errorf("the older one: %+v", m)
	}
	// Another last epoch at the same place.
	further(source, "0.125")
	further(source, "0.125")
	extra := recorder.New(source, recorder.About{Name: "extra"})
	record(t, extra, everyKind("20261121-130000-dddddd", 3)...)
	flush(t, extra)
	before := allRows(t, into)
	var conflict *upkeep.ConflictError
	if _, err := upkeep.Merge(t.Context(), into, source.Path()); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "run "+id) {
		t.Errorf("a run that went on differently: %v", err)
	}
	if allRows(t, into) != before || before == old {
		t.Error("half of a source came in")
	}
}

// Every table's columns are copied, whatever versions add.
func TestMergeCopiesEveryTable(t *testing.T) {
	s := temporary(t)
	tables, err := s.DB.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	known := strings.Join(append([]string{"runs", "searches", "trials"}, upkeep.Children...), " ") + " "
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil || !strings.Contains(known, name+" ") {
			t.Errorf("table %s is not merged: %v", name, err)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	into := recorded(t, map[string]string{"adam": "20261121-120000-aaaaaa"})
	before := allRows(t, into)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign, newer, lacking := filepath.Join(dir, "foreign.db"), filepath.Join(dir, "newer.db"), filepath.Join(dir, "lacking.db")
	execute(t, foreign, "CREATE TABLE runs (id)")
	execute(t, newer, fmt.Sprintf("CREATE TABLE runs (id); PRAGMA application_id=%d; PRAGMA user_version=99", sqlfile.Application))
	open(t, lacking).Close()
	execute(t, lacking, "ALTER TABLE epochs DROP COLUMN rho")
	torn := recorded(t, map[string]string{"torn": "20261121-120000-eeeeee"})
	text := closed(t, torn)
	for i := len(text) / 2; i < len(text); i++ {
		text[i] ^= 0x5a
	}
	unreadable := recorded(t, map[string]string{"unreadable": "20261121-120000-ffffff"})
	if _, err := unreadable.DB.Exec("UPDATE runs SET config = '{'"); err != nil {
		t.Fatal(err)
	}
	live := temporary(t)
	r := recorder.New(live, recorder.About{Name: "live"})
	record(t, r, everyKind("20261121-120000-999999", 3)[:2]...)
	eventually(t, "the run is there", func() bool { _, err := live.Find(t.Context(), "live"); return err == nil })
	defer flush(t, r)
	searched := temporary(t)
	if _, err := search.New(t.Context(), searched, &search.Search{Name: "mine", Config: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked.db")
	if err := os.Link(into.Path(), linked); err != nil {
		linked = into.Path()
	}
	for _, c := range []struct{ path, want string }{
		{linked, "the run store that is merged into"},
		{filepath.Join(dir, "none.db"), "none.db"},
		{dir, "a directory"},
		{file("text.db", strings.Repeat("no database ", 100)), "no SQLite database"},
		{foreign, "of another program"},
		{newer, "version 99: expected version 4 at most"},
		{lacking, "no column rho in its table epochs"},
		{file("torn.db", string(text)), "damaged"},
		{file("short.db", string(text[:len(text)/3])), "damaged"},
		{unreadable.Path(), "runs of run 20261121-120000-ffffff: config"},
		{live.Path(), "is training it"},
		{searched.Path(), "searches: expected a store that no process writes to"},
		{into.Path(), "the run store that is merged into"},
	} {
		_, err := upkeep.Merge(t.Context(), into, c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Base(c.path)) {
			t.Errorf("%s: %v, expected %q", c.path, err, c.want)
		}
	}
	if _, err := upkeep.Merge(t.Context(), into, filepath.Join(dir, "none.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if allRows(t, into) != before {
		t.Error("a source that was refused has left something")
	}
}

// A source of the first version has no searches.
func TestMergeOfVersion1(t *testing.T) {
	path := version1(t)
	into := temporary(t)
	if m := merged(t, into, path); m.Runs.Added != 1 || m.Searches.All() != 0 || find(t, into, "old").Epochs != 4 {
		t.Errorf("%+v", m)
	}
}

// Whatever bytes of a source are wrong, a merge takes it or refuses it in a line, and the store stays sound.
func FuzzMerge(f *testing.F) {
	s := recorded(f, map[string]string{"adam": "20261121-120000-aaaaaa"})
	searching(f, s, "mine", "20261121-120000-aaaaaa")
	good := closed(f, s)
	for _, at := range []int{0, 20, 60, 100, 105, 4096, 4100, 8192 + 8, 3 * 4096, len(good) / 2, len(good) - 9} {
		f.Add(at, []byte{0xff, 0, 0x80})
	}
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		text := bytes.Clone(good)
		if at < 0 || at >= len(text) {
			return
		}
		copy(text[at:], change)
		path := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		into := temporary(t)
		m, err := upkeep.Merge(t.Context(), into, path)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
		runs, listed := into.Runs(t.Context(), store.Filter{})
		if listed != nil || len(runs) != m.Runs.Added && err == nil || len(runs) > 0 && err != nil {
			t.Errorf("%d runs after %+v, %v: %v", len(runs), m, err, listed)
		}
		var check string
		if err := into.DB.QueryRow("PRAGMA integrity_check(1)").Scan(&check); err != nil || check != "ok" {
			t.Errorf("the store is damaged: %s, %v", check, err)
		}
	})
}
