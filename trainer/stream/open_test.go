package stream

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/files/filestest"
	"newtop/trainer/logs/shape"
)

// put writes a file below a directory. A text that begins with CREATE makes a database.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "CREATE") {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// container makes a file of W&B's or SwanLab's of records that are not long.
func container(ident string, magic uint16, version byte, records ...[]byte) string {
	out := append(binary.LittleEndian.AppendUint16([]byte(ident), magic), version)
	for _, r := range records {
		typed := append([]byte{1}, r...)
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(typed))
		out = binary.LittleEndian.AppendUint16(out, uint16(len(r)))
		out = append(out, typed...)
	}
	return string(out)
}

func wandbHistory(step, loss string) []byte {
	item := func(key, value string) []byte {
		return pbMessage(1, pbMessage(2, []byte(key)), pbMessage(16, []byte(value)))
	}
	return pbMessage(2, item("_step", step), item("loss", loss))
}

func swanScalar(step int, loss float64) []byte {
	return pbMessage(13, pbMessage(1, []byte("loss")), pbInt(2, uint64(step)), pbMessage(5, pbDouble(1, loss)))
}

const mlflowTables = `CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);
	CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT, experiment_id INTEGER);
	CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);
	CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT); CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
	INSERT INTO runs VALUES ('aaa', 'fox', 'RUNNING', 1700000000000, NULL, 'active', 0), ('bbb', 'owl', 'RUNNING', 1700000000001, NULL, 'active', 0);
	INSERT INTO metrics VALUES ('loss', 2, 1700000000002, 'aaa', 1, 0), ('loss', 1, 1700000000003, 'aaa', 2, 0),
		('loss', 9, 1700000000002, 'bbb', 1, 0), ('loss', 8, 1700000000009, 'bbb', 2, 0)`

const trackioTables = `CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT);
	INSERT INTO metrics VALUES (1, 'i', '2026-08-21T09:12:24+00:00', 'fox', 1, '{"loss": 2}'), (2, 'i', '2026-08-21T09:12:25+00:00', 'fox', 2, '{"loss": 1}'),
		(3, 'k', '2026-08-21T09:12:26+00:00', 'owl', 1, '{"loss": 9}'), (4, 'k', '2026-08-21T09:12:27+00:00', 'owl', 2, '{"loss": 8}')`

// losses reads what a source has now, and tells the losses.
func losses(t *testing.T, s Source) (out []float64) {
	t.Helper()
	t.Cleanup(func() { s.Close() })
	for range 3 { // a step may be held back for a moment
		events, err := all(t, s)
		for _, e := range events {
			if e, ok := e.(event.EpochEvent); ok {
				out = append(out, float64(e.Loss))
			}
		}
		if len(out) >= 2 || err != ErrNone {
			return out
		}
		if err := s.Wait(limit(t)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func first(s Source, _ error) Source { return s }

// Every kind of log that is found in a directory opens to its rows, by its directory and by the name of the run.
func TestOpenWhatIsFound(t *testing.T) {
	const wandbDir = "wandb/offline-run-20260101_000000-abc/"
	jsonLines := `{"step": 1, "loss": 2}` + "\n" + `{"step": 2, "loss": 1}` + "\n"
	for _, c := range []struct {
		kind  string
		files []string
		run   string
		want  []float64 // 2 and 1 where it is nil
	}{
		{kind: "csv", files: []string{"a/metrics.csv", "step,loss\n1,2\n2,1\n"}},
		{kind: "csv", files: []string{"a/training.log", "# of Keras\nepoch;loss\n0;2\n1;1\n"}},
		{kind: "jsonl", files: []string{"a/log.jsonl", jsonLines}, run: "a/log.jsonl"},
		{kind: "text", files: []string{"slurm-1.out", "step 1 loss 2\nstep 2 loss 1\n"}},
		{kind: "json", files: []string{"history.json", `{"loss": [2, 1], "val_loss": [3, 4]}`}},
		{kind: "trainer_state", files: []string{"out/checkpoint-2/trainer_state.json", `{"log_history": [{"step": 1, "loss": 2}, {"step": 2, "loss": 1}]}`}},
		{kind: "wandb", files: []string{wandbDir + "run-abc.wandb",
			container(":W&B", 0xbee1, 0, wandbHistory("1", "2"), wandbHistory("2", "1"))}, run: "abc"},
		{kind: "swanlab", files: []string{"swanlog/run-20260101_000000-k1/run-k1.swanlab",
			container(":SWL", 0xe1d6, 2, swanScalar(1, 2), swanScalar(2, 1))}, run: "k1"},
		{kind: "mlflow", files: []string{"mlflow.db", mlflowTables}, run: "fox"},
		{kind: "mlflow", files: []string{"mlflow.db", mlflowTables}, run: "aaa"},
		{kind: "mlflow", files: []string{"mlflow.db", mlflowTables}, want: []float64{9, 8}},
		{kind: "trackio", files: []string{"p.db", trackioTables}, run: "fox"},
		{kind: "trackio", files: []string{"p.db", trackioTables}, run: "i"},
		{kind: "trackio", files: []string{"p.db", trackioTables}, want: []float64{9, 8}},
		{kind: "mlruns", files: []string{
			"mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\n",
			"mlruns/0/ccc/meta.yaml",
			"run_id: ccc\nrun_name: emu\nstart_time: 1700000000000\nstatus: 1\nlifecycle_stage: active\n",
			"mlruns/0/ccc/metrics/loss", "1700000000001 2 1\n1700000000002 1 2\n",
		}, run: "emu"},
		{kind: "sacred", files: []string{"1/run.json", "{}", "1/config.json", "{}", "1/metrics.json", `{"loss": {"values": [2, 1], "steps": [1, 2], "timestamps": ["2026-01-01T00:00:00", "2026-01-01T00:00:01"]}}`}, run: "1"},
		{kind: "dvclive", files: []string{"dvclive/plots/metrics/loss.tsv", "step\tloss\n1\t2\n2\t1\n",
			"dvclive/metrics.json", "{}"}},
		{kind: "clearml", files: []string{"offline/t/metrics.jsonl", `[{"metric":"loss","variant":"train","iter":1,"value":2},{"metric":"loss","variant":"train","iter":2,"value":1}]` + "\n"}},
	} {
		t.Run(c.kind+" "+c.run, func(t *testing.T) {
			dir := t.TempDir()
			for pair := range slices.Chunk(c.files, 2) {
				put(t, dir, pair[0], pair[1])
			}
			var elsewhere filestest.Memory
			if err := elsewhere.Fill(os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == nil {
				want = []float64{2, 1}
			}
			for _, at := range []files.Path{files.Here(dir), elsewhere.Path(".")} {
				if list := Find(at); len(list) == 0 || list[0].Kind != c.kind {
					t.Fatalf("%T: found %v", at.In, list)
				}
				s, err := Open(at, c.run)
				if err != nil {
					t.Fatal(err)
				}
				if got := losses(t, s); !slices.Equal(got, want) {
					t.Errorf("%T: losses %v, expected %v: %s", at.In, got, want, s.(warner).Warning())
				}
				if _, err := Open(at, "none of them"); err == nil ||
					!strings.Contains(err.Error(), "no run none of them") {
					t.Errorf("%T: another run: %v", at.In, err)
				}
			}
		})
	}
}

// What lies where nothing tells of changes is followed as well: a file that grows and is replaced, and a database, which
// is copied each time.
func TestFollowElsewhere(t *testing.T) {
	var m filestest.Memory
	m.Write("a.log", "step 1 loss 3\n")
	s, err := Open(m.Path("a.log"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next := func(want float64) {
		t.Helper()
		for ctx := limit(t); ; {
			e, err := s.Next(ctx)
			if errors.Is(err, ErrNone) {
				err = s.Wait(ctx)
			}
			if err != nil && !errors.Is(err, ErrRestart) {
				t.Fatal(err)
			}
			if e, ok := e.(event.EpochEvent); ok {
				if float64(e.Loss) != want {
					t.Errorf("loss %v, expected %v", e.Loss, want)
				}
				return
			}
		}
	}
	next(3)
	m.Append("a.log", "step 2 loss 2\n")
	next(2)
	m.Remove("a.log")
	m.Write("a.log", "step 1 loss 1\n")
	next(1)

	dir := t.TempDir()
	put(t, dir, "p.db", trackioTables)
	copied := func() {
		if err := m.Fill(os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	copied()
	if s, err = Open(m.Path("p.db"), "fox"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next(2)
	next(1)
	put(t, dir, "p.db", `CREATE TABLE more (x);
		INSERT INTO metrics VALUES (5, 'i', '2026-08-21T09:12:28+00:00', 'fox', 3, '{"loss": 0.5}')`)
	copied()
	next(0.5)
}

// Event files are found where their writers put them: in parts of a run, in Guild's hidden directory, below a link.
func TestOpenEventFilesThatAreFound(t *testing.T) {
	for _, sub := range []string{".", "runs/a", "keras/train", ".guild/runs/r1/.guild",
		"deep/er/.guild/runs/r1/.guild/train"} {
		dir := t.TempDir()
		w := newEventWriter(t, filepath.Join(dir, sub, fileName), 1e9)
		w.put("loss", 1, 1e9, 2)
		w.put("loss", 2, 1e9+1, 1)
		w.old()
		var elsewhere filestest.Memory
		if err := elsewhere.Fill(os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		for _, at := range []files.Path{files.Here(dir), elsewhere.Path(".")} {
			s, err := Open(at, "")
			if err != nil {
				t.Errorf("%T, %s: %v", at.In, sub, err)
				continue
			}
			if got := losses(t, s); !slices.Equal(got, []float64{2, 1}) {
				t.Errorf("%T, %s: losses %v", at.In, sub, got)
			}
		}
	}
}

// A document is one by what is in it, not by its name; lines are no document, even where only half a line is there.
func TestDocumentsWithoutTheirEnding(t *testing.T) {
	for _, c := range []struct {
		text     string
		document bool
	}{
		{`{"loss": [2, 1]}`, true},
		{"{\n \"loss\": [2, 1],", true},
		{`[{"step": 1, "loss": 2}, {"step": 2, "loss": 1}]`, true},
		{`{"step": 1, "loss": 2}`, false},
		{`{"step": 1, "lo`, false},
		{"{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"lo", false},
		{"[0]", false},
		{"[0]\ttrain-rmse:0.3\n", false},
		{"[2026-01-01 10:00:00] step 1 loss 2\n", false},
		{"{'loss': 2}\n", false},
		{"", false},
	} {
		if got := shape.Look([]byte(c.text)) == shape.Document; got != c.document {
			t.Errorf("%q: %v", c.text, got)
		}
	}
	dir := t.TempDir()
	events := "{\"type\":\"epoch\",\"epoch\":1,\"loss\":2,\"figures\":[{\"key\":\"a\",\"value\":1}]}\n" // a list of objects in its first line
	put(t, dir, "events", events)
	for _, s := range []Source{first(Open(files.Here(filepath.Join(dir, "events")), "")), Lines(strings.NewReader(events), "x")} {
		if got := losses(t, s); !slices.Equal(got, []float64{2}) {
			t.Errorf("events: losses %v", got)
		}
	}
	put(t, dir, "history", `{"loss": [2, 1]}`)
	s, err := Open(files.Here(filepath.Join(dir, "history")), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := losses(t, s); !slices.Equal(got, []float64{2, 1}) {
		t.Errorf("losses %v", got)
	}
	for _, text := range []string{
		"{\n \"loss\": [\n  2,\n  1\n ]\n}\n", `{"loss": [2, 1]}`, "[\n {\"loss\": 2},\n {\"loss\": 1}\n]\n",
		"{\n\"step\": 1,\n\"loss\": 2\n}\n{\n\"step\": 2,\n\"loss\": 1\n}\n",
		"[0]\ntrain-rmse: 2\n\n{\"loss\": 2}\n{\"loss\": 1}\n",
	} {
		if got := losses(t, Lines(strings.NewReader(text), "x")); !slices.Equal(got, []float64{2, 1}) {
			t.Errorf("%q: losses %v", text, got)
		}
	}
}

// TestDatabaseThatCannotBeCopied: a full or missing directory for the copy of another host's database is the reason that
// is given, not that nothing is there, or that it is no text.
func TestDatabaseThatCannotBeCopied(t *testing.T) {
	here := t.TempDir()
	put(t, here, "trackio.db", "CREATE TABLE configs(run_name TEXT)")
	text, err := os.ReadFile(filepath.Join(here, "trackio.db"))
	if err != nil {
		t.Fatal(err)
	}
	var h filestest.Memory
	h.Write("logs/trackio.db", string(text))
	missing := filepath.Join(here, "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing) // of Windows
	for _, name := range []string{"logs", "logs/trackio.db"} {
		if s, err := Open(h.Path(name), ""); !strings.Contains(fmt.Sprint(err), missing) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
