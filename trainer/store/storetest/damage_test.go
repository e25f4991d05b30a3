package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/search"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/store/upkeep"
)

var flips = flag.Int("flips", nightly.Of(120, 60), "bits that TestFlippedBits flips, one after the other")

// heldStore is the file of a store with every kind of row, and checkpoints that can be read.
func heldStore(t testing.TB) []byte {
	s := temporary(t)
	for _, id := range []string{"a", "b"} {
		r := recorder.New(s, recorder.About{Name: "x" + id, Command: "newtop train"})
		record(t, r, everyKind(id, 5)...)
		r.EnqueueCheckpoint(held(1))
		for i := range rowcode.PeakStretch {
			record(t, r, event.EpochEvent{Epoch: i, Loss: event.Float(i)})
		}
		flush(t, r)
	}
	searching(t, s, "mine", "a", "b")
	return closed(t, s)
}

// told is what a program reads of a store, a text for each thing that it asks for; an error stands for what is noticed.
func told(ctx context.Context, path string) (texts map[string]string, noticed bool) {
	texts = map[string]string{}
	s, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return nil, true
	}
	defer s.Close()
	runs, err := s.Runs(ctx, store.Filter{})
	noticed = err != nil || len(runs) != 2
	for i := range runs {
		r := &runs[i]
		noticed = noticed || r.Damage != nil
		r.State, r.Damage = "", nil
		list, _ := json.Marshal(r)
		texts["run "+r.ID] = string(list)
	}
	for _, id := range []string{"a", "b"} {
		var lines []string
		_, err := s.Events(ctx, id, 0, func(e event.Event) bool {
			line, err := event.EncodeEvent(e)
			lines = append(lines, fmt.Sprint(string(line), err))
			return true
		})
		noticed = noticed || err != nil
		texts["events "+id] = strings.Join(lines, "\n")
		c, passed, err := s.Checkpoint(ctx, id)
		noticed = noticed || passed != nil || err != nil
		if err == nil && c != nil {
			text, err := c.MarshalBinary()
			texts["checkpoint "+id] = fmt.Sprint(text, err)
		}
	}
	q, trials, err := search.Find(ctx, s, "mine")
	noticed = noticed || err != nil
	if err == nil {
		q.Running, q.Observed, q.Process, q.Host = false, false, 0, ""
		texts["search"] = fmt.Sprintf("%+v %+v", *q, trials)
	}
	return texts, noticed
}

// A bit that flips anywhere in the file changes nothing that is read, or is noticed.
func TestFlippedBits(t *testing.T) {
	whole := heldStore(t)
	path := filepath.Join(t.TempDir(), "runs.db")
	write := func(file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(whole)
	want, noticed := told(t.Context(), path)
	if noticed {
		t.Fatal("the whole store is damaged")
	}
	seen := 0
	for i := range *flips {
		bit := (8*len(whole)/(*flips))*i + i%61
		file := bytes.Clone(whole)
		file[bit/8] ^= 1 << (bit % 8)
		write(file)
		got, noticed := told(t.Context(), path)
		switch {
		case noticed:
			seen++
		case !reflect.DeepEqual(got, want):
			for key := range want {
				if got[key] != want[key] {
					t.Errorf("bit %d of byte %d went unnoticed: %s:\n got %.400s\nwant %.400s", bit%8, bit/8, key, got[key], want[key])
				}
			}
		}
	}
	if seen < *flips/20 {
		t.Errorf("%d of %d were noticed", seen, *flips)
	}
}

func checked(t *testing.T, path string, ids ...string) (upkeep.Checked, []string) {
	t.Helper()
	s := reading(t, path)
	defer s.Close() // as the file may be written next
	var lines []string
	c, err := upkeep.Check(t.Context(), s, ids, func(f upkeep.Finding) {
		lines = append(lines, fmt.Sprintf("%s %s %d: %s", f.Run, f.Table, f.Seq, f.Text))
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, lines
}

func TestCheck(t *testing.T) {
	whole := heldStore(t)
	for _, c := range []struct{ change, want string }{
		{"SELECT 1", ""},
		{"UPDATE epochs SET loss = 3 WHERE run = 1 AND epoch = 7", "a epochs "},
		{"UPDATE marks SET json = json || ' ' WHERE run = 1", "a marks "},
		{"UPDATE runs SET config = '{' WHERE id = 'b'", "b runs 0: config: "},
		{"UPDATE parts SET data = zeroblob(length(data)) WHERE run = 2", "b checkpoints "},
		{"UPDATE peaks SET extremes = '[]' WHERE run = 1", "a peaks "},
		{"DELETE FROM epochs WHERE run = 1 AND epoch = 100", "a runs 0: rows are missing"},
		{"UPDATE searches SET config = '{ }'", " searches 0: search mine: its checksum is another"},
		{"DELETE FROM trials WHERE number = 2", " trials 0: search mine: trials are missing"},
		{"PRAGMA foreign_keys=0; UPDATE epochs SET run = 9 WHERE run = 1 AND epoch = 100", " rows of no run"},
		{"DROP VIEW iterations", " iterations 0: the table is described differently"},
	} {
		path := filepath.Join(t.TempDir(), "runs.db")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		execute(t, path, c.change)
		sum, lines := checked(t, path)
		if sum.Damaged != len(lines) || (c.want == "") != (len(lines) == 0) || !strings.Contains(strings.Join(lines, "\n"), c.want) || sum.Runs != 2 {
			t.Errorf("%s: %+v\n%s", c.change, sum, strings.Join(lines, "\n"))
		}
		if strings.HasPrefix(c.want, "a ") {
			if sum, lines := checked(t, path, "b"); sum.Damaged != 0 || sum.Runs != 1 {
				t.Errorf("%s: the other run: %+v %q", c.change, sum, lines)
			}
		}
	}
}

// A run whose row tells of far more events than there are is looked at so far as it makes sense.
func TestCheckTooManyEvents(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	for i := range 300 {
		record(t, r, epoch(i, 1))
	}
	flush(t, r)
	execute(t, s.Path(), fmt.Sprintf("UPDATE runs SET events = %d", 4*upkeep.MaxFaults*store.Window))
	spoiled(t, s, "epochs", -1)
	if sum, lines := checked(t, s.Path(), "a"); sum.Damaged < upkeep.MaxFaults || sum.Damaged > upkeep.MaxFaults+5 {
		t.Errorf("%d findings: the first is %q", sum.Damaged, lines[0])
	}
}

// What can be read of a damaged store comes into a new one, and the rest is told.
func TestSalvage(t *testing.T) {
	s := temporary(t)
	path := s.Path()
	all := map[string][]event.Event{}
	for _, id := range []string{"a", "b", "c"} {
		all[id] = everyKind(id, 5)
		for i := range 300 {
			e := event.UnknownEpoch(i)
			e.Loss, e.Optimizer = event.Float(i), "adam"
			all[id] = append(all[id], e)
		}
		r := recorder.New(s, recorder.About{Name: "x" + id})
		record(t, r, all[id]...)
		r.EnqueueCheckpoint(held(1))
		flush(t, r)
	}
	searching(t, s, "mine", "a")
	before := allRows(t, s)
	into, v, lines := salvagedOf(t, s, false)
	if v.Left != 0 || allRows(t, into) != before {
		t.Errorf("a whole store: %+v %q", v, lines)
	}
	for _, id := range []string{"a", "b", "c"} {
		equal(t, events(t, into, id), all[id])
	}
	var format *sqlfile.FormatError
	if _, err := upkeep.Salvage(t.Context(), path, path, nil); !errors.As(err, &format) {
		t.Errorf("into a file that is there: %v", err)
	}

	execute(t, path, "UPDATE epochs SET loss = 1 WHERE run = 1 AND epoch = 77", "UPDATE epochs SET rest = '{', crc = NULL WHERE run = 1 AND epoch = 78 AND loss > 70")
	into, v, lines = salvagedOf(t, s, false)
	if left := len(all["a"]) - len(events(t, into, "a")); left != 2 || v.Left != 2 {
		t.Errorf("%d events of two damaged ones are missing: %q", left, lines)
	}
	equal(t, events(t, into, "b"), all["b"])
	execute(t, path, "UPDATE runs SET config = '{' WHERE id = 'c'", "UPDATE runs SET command = 'other' WHERE id = 'b'")
	if into, _, _ = salvagedOf(t, s, true); len(events(t, into, "c")) != len(all["c"]) {
		t.Error("a run with a bad row is not there")
	}
	if find(t, into, "b").Damage == nil {
		t.Error("a bad row is taken for sound")
	}

	// A page of epochs that can't be read takes its rows with it and no others.
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	pages := 0
	for at := 10 * page; at < len(file); at += page {
		if file[at] == 0x0a && bytes.Contains(file[at:at+page], []byte("adam")) { // a leaf of epochs
			if pages++; pages%3 == 0 && pages <= 12 {
				file[at] = 0x77
			}
		}
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	into, v, lines = salvagedOf(t, s, true)
	lost := 0
	for id := range all {
		lost += len(all[id]) - len(events(t, into, id))
	}
	if lost < 4 || lost > 4*200 || v.Runs != 3 || v.Checkpoints != 3 || v.Searches != 1 {
		t.Errorf("%d events of four pages are lost: %+v %q", lost, v, lines)
	}
}

// A run whose row is damaged stays so when it is gone on with: its configuration may be another.
func TestDamageStays(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{Command: "newtop train"})
	record(t, r, opening("a"), epoch(0, 1))
	r.EnqueueCheckpoint(held(0))
	flush(t, r)
	execute(t, s.Path(), "UPDATE runs SET command = 'newtop serve'")
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	record(t, r, opening("a"), epoch(1, 1))
	flush(t, r)
	if find(t, s, "a").Damage == nil || len(events(t, s, "a")) != 3 {
		t.Error("the run's row is taken for sound")
	}
}

// Where the newest checkpoint can't be read there is the one before.
func TestCheckpointBefore(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	for i := range 2 {
		record(t, r, epoch(i, 1))
		r.EnqueueCheckpoint(held(i))
		wait(r)
	}
	flush(t, r)
	if c, passed, err := s.Checkpoint(t.Context(), "a"); err != nil || passed != nil || c.Epoch != 1 {
		t.Errorf("%+v, %v, %v", c, passed, err)
	}
	execute(t, s.Path(), "UPDATE parts SET data = zeroblob(length(data)) WHERE seq = (SELECT max(seq) FROM parts)")
	if c, passed, err := s.Checkpoint(t.Context(), "a"); err != nil || passed == nil || c.Epoch != 0 || !strings.HasPrefix(passed.Error(), s.Path()) {
		t.Errorf("%+v, %v, %v", c, passed, err)
	}
}

// A row that takes all memory is refused, and salvage leaves it out.
func TestRowTooLarge(t *testing.T) {
	s := temporary(t)
	for _, id := range []string{"a", "b"} {
		written(t, s, recorder.About{}, opening(id), epoch(0, 1))
	}
	execute(t, s.Path(), fmt.Sprintf("UPDATE runs SET command = hex(zeroblob(%d)) WHERE id = 'a'", sqlfile.MaxRow/2+1))
	_, err := s.Runs(t.Context(), store.Filter{})
	if err == nil || !strings.HasSuffix(err.Error(), ": a row of more than 64 MB: newtop runs salvage -o NEW.db leaves it out") {
		t.Errorf("listed: %v", err)
	}
	if into, v, lines := salvagedOf(t, s, false); v.Runs != 1 || v.Left != 1 || len(events(t, into, "b")) != 2 {
		t.Errorf("%+v %q", v, lines)
	}
}

// A summary whose end or epochs are not what was recorded is marked, and these are not believed.
func TestDamagedSummary(t *testing.T) {
	for _, change := range []string{
		"UPDATE marks SET json = replace(json, 'epochs', 'target') WHERE seq = (SELECT done FROM runs)",
		"UPDATE epochs SET loss = loss + 1 WHERE seq = (SELECT last FROM runs)",
		"UPDATE epochs SET rest = '{' WHERE seq = (SELECT best FROM runs)",
	} {
		s := temporary(t)
		written(t, s, recorder.About{}, opening("a"), epoch(0, 2), epoch(1, 1), event.DoneEvent{Reason: event.ReasonEpochs})
		execute(t, s.Path(), change)
		runs, err := s.Runs(t.Context(), store.Filter{})
		if err != nil || len(runs) != 1 || runs[0].Damage == nil || runs[0].State == "target" || runs[0].Readable() != nil {
			t.Errorf("%s: %+v, %v", change, runs, err)
		}
	}
}
