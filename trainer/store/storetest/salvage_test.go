package storetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/search"
	"newtop/trainer/store/upkeep"
)

const pageSize = 4096

// leavesOf returns where the leaves of a table begin in a file, in order.
func leavesOf(t *testing.T, s *store.Store, file []byte, table string) (leaves []int) {
	t.Helper()
	var root int
	if err := s.DB.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root); err != nil {
		t.Fatal(err)
	}
	var visit func(page int)
	visit = func(page int) {
		at := (page - 1) * pageSize
		if kind := file[at]; kind == 0x0a || kind == 0x0d {
			leaves = append(leaves, at)
			return
		}
		for i := range cellsAt(file, at) {
			cell := int(binary.BigEndian.Uint16(file[at+12+2*i:]))
			visit(int(binary.BigEndian.Uint32(file[at+cell:])))
		}
		visit(int(binary.BigEndian.Uint32(file[at+8:])))
	}
	visit(root)
	return leaves
}

func cellsAt(file []byte, at int) int { return int(binary.BigEndian.Uint16(file[at+3:])) }

// spoiled makes some leaves of a table unreadable in a store's file, and returns how many rows they hold.
func spoiled(t *testing.T, s *store.Store, table string, which ...int) (rows int) {
	t.Helper()
	if _, err := s.DB.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	leaves := leavesOf(t, s, file, table)
	for _, i := range which {
		if i < 0 { // from the end
			i += len(leaves)
		}
		rows += cellsAt(file, leaves[i])
		file[leaves[i]] ^= 0xff
	}
	s.Close()
	if err := os.WriteFile(s.Path(), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return rows
}

// salvagedOf returns what is salvaged of a store into another one, and what is left out. Rows of runs that are damaged
// stay so, where there are any.
func salvagedOf(t *testing.T, s *store.Store, damaged bool) (*store.Store, upkeep.Salvaged, []string) {
	t.Helper()
	s.Close()
	to := filepath.Join(t.TempDir(), "new.db")
	var lines []string
	v, err := upkeep.Salvage(t.Context(), s.Path(), to, func(f upkeep.Finding) { lines = append(lines, fmt.Sprintf("%s %s: %s", f.Run, f.Table, f.Text)) })
	if err != nil {
		t.Fatal(err)
	}
	if v.Left != len(lines) {
		t.Errorf("%d left out: %q", v.Left, lines)
	}
	if sum, lines := checked(t, to); sum.Damaged > 0 && !damaged {
		t.Errorf("the new store: %q", lines)
	}
	return open(t, to), v, lines
}

// Between two places that can't be read every epoch is, and how many are not is told.
func TestSalvageBetweenPages(t *testing.T) {
	const n = 600
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	for i := range n {
		record(t, r, epoch(i, 1))
	}
	flush(t, r)
	lost := spoiled(t, s, "epochs", 2, 7)
	into, v, lines := salvagedOf(t, s, false)
	if got := len(events(t, into, "a")) - 1; got != n-lost || v.Left != 1 || !strings.HasPrefix(lines[0], fmt.Sprintf("a epochs: %d of %d rows can't be read: ", lost, n)) {
		t.Errorf("%d epochs without %d of %d: %q", got, lost, n, lines)
	}
}

// Runs between two pages that can't be read are there, and each that is not is named.
func TestSalvageBetweenRuns(t *testing.T) {
	const n = 20
	s := temporary(t)
	for i := range n {
		written(t, s, recorder.About{Command: strings.Repeat("x", 900), Config: trainer.Config{Data: "letters"}}, opening(fmt.Sprintf("run-%02d", i)), epoch(0, 1))
	}
	lost := spoiled(t, s, "runs", 1, 4)
	into, v, lines := salvagedOf(t, s, false)
	runs, err := into.Runs(t.Context(), store.Filter{})
	if err != nil || v.Runs != n-lost || len(runs) != n-lost || v.Left != lost {
		t.Errorf("%d runs without %d of %d, %v: %+v", len(runs), lost, n, err, v)
	}
	for i := range lines {
		if !strings.HasPrefix(lines[i], " runs: run-") {
			t.Errorf("%q", lines[i])
		}
	}
}

// A search ends before its first trial that is damaged, so that it can be gone on with.
func TestSalvageASearch(t *testing.T) {
	s := temporary(t)
	searching(t, s, "mine", "a", "b", "c", "d")
	execute(t, s.Path(), "UPDATE trials SET state = 'x' WHERE number = 2")
	into, v, lines := salvagedOf(t, s, false)
	_, trials, err := search.Find(t.Context(), into, "mine")
	if err != nil || len(trials) != 1 || v.Searches != 1 || v.Rows != 1 || v.Left != 2 || !strings.HasSuffix(lines[1], "trials: search mine: 2 trials behind a missing one") {
		t.Errorf("%+v, %v: %+v %q", trials, err, v, lines)
	}
}

// A row that contradicts the tables' rules is left out, and no reason to give up the rest.
func TestSalvageContradictingRows(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	r.EnqueueCheckpoint(held(0))
	flush(t, r)
	execute(t, s.Path(), "CREATE TABLE twice AS SELECT * FROM checkpoints", "INSERT INTO twice SELECT * FROM checkpoints",
		"DROP TABLE checkpoints", "ALTER TABLE twice RENAME TO checkpoints",
		"CREATE TABLE more AS SELECT * FROM parts", "INSERT INTO more SELECT run, seq, 1, NULL FROM parts",
		"DROP TABLE parts", "ALTER TABLE more RENAME TO parts")
	into, v, lines := salvagedOf(t, s, false)
	if c, _, err := into.Checkpoint(t.Context(), "a"); err != nil || c == nil || v.Checkpoints != 1 || v.Left != 2 {
		t.Errorf("%+v, %v: %+v %q", c, err, v, lines)
	}
}

// What is cut, or has another header, is read as far as it is there.
func TestSalvageWithoutHeader(t *testing.T) {
	const n = 400
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	for i := range n {
		record(t, r, epoch(i, 1))
	}
	flush(t, r)
	whole := closed(t, s)
	cases := map[string]struct {
		file []byte
		rows int // that there are at least
	}{
		"half":                {whole[:len(whole)/2], n / 4},
		"all but a page":      {whole[:len(whole)-pageSize], n / 2},
		"all but half a page": {whole[:len(whole)-pageSize/2], n / 2},
		"nothing of a header": {append(make([]byte, 100), whole[100:]...), n},
		"a page too many":     {append(bytes.Clone(whole), make([]byte, pageSize)...), n},
		"an unknown version":  {changed(whole, 63, 1), n},
	}
	step := nightly.Of(1, 9)
	for at := 0; at < 100; at += step {
		for _, bits := range []byte{1 << (at % 8), 0xff} {
			cases[fmt.Sprintf("byte %d with other bits %x", at, bits)] = struct {
				file []byte
				rows int
			}{changed(whole, at, bits), n}
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "damaged.db")
			for suffix, content := range map[string][]byte{"": c.file, "-wal": nil} { // of which nothing is left
				if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v, err := upkeep.Salvage(t.Context(), path, path+".new", func(upkeep.Finding) {})
			if err != nil || v.Runs != 1 || v.Rows < c.rows {
				t.Errorf("%+v, %v: expected %d rows", v, err, c.rows)
			}
		})
	}
}

// changed returns a file with some bits of a byte turned.
func changed(file []byte, at int, bits byte) []byte {
	file = bytes.Clone(file)
	file[at] ^= bits
	return file
}

// A store of a newer newtop, and another program's database, are refused as by all other commands.
func TestSalvageOfOthers(t *testing.T) {
	for want, statements := range map[string][]string{
		"nothing can be salvaged": {"PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = 'CREATE' WHERE name = 'epochs'"},
		"a newer newtop made it":  {"CREATE TABLE later (a)", "PRAGMA user_version = 99"},
		"of another program":      {"DROP TABLE runs", "PRAGMA application_id = 1"},
	} {
		s := temporary(t)
		s.Close()
		execute(t, s.Path(), statements...)
		_, err := upkeep.Salvage(t.Context(), s.Path(), filepath.Join(t.TempDir(), "new.db"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: expected %s", err, want)
		}
	}
}
