package find

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs/files"

	_ "modernc.org/sqlite"
)

// tree writes files, each a minute after the one before, and returns their directory. A text that begins with CREATE or PRAGMA
// makes a database.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := files[i+1]
		if strings.HasPrefix(text, "CREATE") || strings.HasPrefix(text, "PRAGMA") {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// found lists what is found as kind path, and run and name where there are several in one.
func found(t *testing.T, dir string) (list []string) {
	t.Helper()
	candidates, err := Dir(files.Here(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range candidates {
		rel, err := filepath.Rel(dir, c.Path)
		if err != nil {
			t.Fatal(err)
		}
		line := c.Kind + " " + filepath.ToSlash(rel)
		if c.Run != "" {
			line += " " + c.Run + " " + c.Name
		}
		list = append(list, line)
		if c.Name == "" || c.Written.IsZero() || i > 0 && c.Written.After(candidates[i-1].Written) {
			t.Errorf("%+v", c)
		}
	}
	return list
}

func want(t *testing.T, dir string, lines ...string) {
	t.Helper()
	got := found(t, dir)
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

const threeLines = "epoch 1 loss 0.5\nepoch 2 loss 0.25\nepoch 3 loss 0.125\n"

const jsonLine = `{"step": 1, "loss": 0.5}` + "\n"

func TestLooseFiles(t *testing.T) {
	want(t, tree(t,
		"metrics.csv", "epoch,step,train_loss_epoch,grad_norm_preclip_step\n0,0,,3.5\n",
		"yolo/results.csv", "                  epoch,      train/box_loss\n                  1,      0.5\n",
		"keras/training.log", "epoch;accuracy;loss\n0;0.5;0.7\n",
		"data/iris.csv", "sepal,petal,class\n1,2,x\n",
		"data/plain.csv", "1,2\n3,4\n",
		"log.jsonl", jsonLine,
		"docker/json.log", `{"log":"step 1 loss 0.5\n","stream":"stdout"}`+"\n"+`{"log":"step 2 loss 0.25\n","stream":"stdout"}`+"\n",
		"nan.jsonl", `{"train/loss": NaN}`+"\n",
		"chat.jsonl", `{"messages": [], "id": 3}`+"\n",
		"detectron/metrics.json", jsonLine+jsonLine,
		"pretty/metrics.json", "{\n  \"loss\": 1\n}\n",
		"slurm-123.out", threeLines,
		"4711.out", threeLines,
		"job.o1234", threeLines,
		"train_0.err", threeLines,
		"logs/%x-%j.out", threeLines,
		"any", strings.Repeat("a line of the program's own\n", 1500)+threeLines,
		"wide.log", string([]byte("\xff\xfes\x00t\x00e\x00p\x00 \x001\x00 \x00l\x00o\x00s\x00s\x00 \x002\x00\n\x00s\x00t\x00e\x00p\x00 \x002\x00 \x00l\x00o\x00s\x00s\x00 \x001\x00\n\x00s\x00t\x00e\x00p\x00 \x003\x00 \x00l\x00o\x00s\x00s\x00 \x000\x00\n\x00")),
		"table", "step,loss\n1,0.5\n2,0.25\n",
		"lines", jsonLine+jsonLine,
		"README.md", threeLines,
		"requirements.txt", "numpy==1.26.4\ntorch==2.1.0\nmlflow==3.1.2\n",
		"config.json", `{"learning_rate": 0.1, "steps": 10, "widths": [1, 2]}`,
		"begun.log", "epoch 1 loss 0.5\n",
		"other.log", "started 3 workers\n",
		"detr/log.txt", jsonLine,
		"nohup.out", "1 x\n"+threeLines,
		"nothing/nohup.out", "x\n",
		"keras/history.json", `{"loss": [2, 1], "val_loss": [3, 2]}`,
		"chats/history.json", `{"messages": [{"id": 1}]}`,
		"binary.log", "x\x00\x01\n",
		"empty.log", "",
		"notes.txt", "epoch 1 loss 0.5\n",
		".hidden/metrics.csv", "epoch,loss\n1,2\n",
		"1/2/3/4/5/6/7/8/deep.jsonl", jsonLine,
		"1/2/3/4/5/6/7/8/9/deeper.jsonl", jsonLine,
	), "csv metrics.csv", "csv yolo/results.csv", "csv keras/training.log", "jsonl log.jsonl", "jsonl docker/json.log", "jsonl nan.jsonl", "jsonl detectron/metrics.json",
		"text slurm-123.out", "text 4711.out", "text job.o1234", "text train_0.err", "text logs/%x-%j.out", "text any", "text begun.log", "text wide.log",
		"csv table", "jsonl lines", "jsonl detr/log.txt", "text nohup.out", "json keras/history.json", "jsonl 1/2/3/4/5/6/7/8/deep.jsonl")
}

func TestRunDirectories(t *testing.T) {
	want(t, tree(t,
		"wandb/offline-run-20260101_000000-abc/run-abc.wandb", "x",
		"wandb/offline-run-20260101_000000-abc/files/output.log", "x\n",
		"swanlog/run-20260101_000000-k1/run-k1.swanlab", "x",
		".wandb/run-20260101_000000-def/run-def.wandb", "x",
		"runs/a/events.out.tfevents.1.x", "x",
		"runs/a/loss_train/events.out.tfevents.2.x", "x",
		"runs/a/metrics.csv", "epoch,loss\n1,2\n",
		"keras/train/events.out.tfevents.1.x", "x",
		"keras/validation/events.out.tfevents.1.x", "x",
		"catboost/learn/events.out.tfevents", "x",
		"catboost/test/events.out.tfevents", "x",
		"catboost/test_error.tsv", "iter\tLogloss\n0\t0.6\n1\t0.5\n",
		".guild/runs/r1/.guild/events.out.tfevents.1.x", "x",
		"sacred/1/run.json", "{}",
		"sacred/1/config.json", "{}",
		"sacred/1/cout.txt", "x",
		"dvclive/plots/metrics/train/loss.tsv", "step\tloss\n1\t2\n",
		"dvclive/metrics.json", "{}",
		"offline/task/metrics.jsonl", `[{"metric":"loss","iter":1,"value":2}]`+"\n",
		"offline/task/log.jsonl", jsonLine,
		"out/checkpoint-5/trainer_state.json", "{}",
		"out/checkpoint-10/trainer_state.json", "{}",
	), "wandb wandb abc wandb/offline-run-20260101_000000-abc",
		"swanlab swanlog/run-20260101_000000-k1/run-k1.swanlab k1 swanlog/run-20260101_000000-k1",
		"wandb .wandb def .wandb/run-20260101_000000-def",
		"tensorboard runs/a", "tensorboard keras", "tensorboard catboost", "tensorboard .guild/runs/r1", "sacred sacred/1", "dvclive dvclive", "clearml offline/task",
		"trainer_state out")
}

func TestTensorBoardBesideFiles(t *testing.T) {
	want(t, tree(t, "events.out.tfevents.1.x", "x", "metrics.csv", "epoch,loss\n1,2\n", "other/metrics.csv", "epoch,loss\n1,2\n", "train.log", threeLines),
		"tensorboard .", "csv other/metrics.csv", "text train.log")
}

func TestDatabases(t *testing.T) {
	dir := tree(t,
		"mlflow.db", `CREATE TABLE experiments (experiment_id INTEGER, name TEXT);
			CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT, experiment_id INTEGER);
			CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);
			CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT); CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
			INSERT INTO runs VALUES ('aaa', 'fox', 'RUNNING', 1700000000000, NULL, 'active', 0), ('bbb', 'owl', 'FINISHED', 1700000000001, 1700000000002, 'active', 0)`,
		"trackio/p.db", `CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT);
			INSERT INTO metrics VALUES (1, 'i', '2026-08-21T09:12:24+00:00', 'n', 0, '{}')`,
		"trackio/none.sqlite", `CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)`,
		"runs.db", "PRAGMA application_id=0x6e657774; CREATE TABLE runs (run INTEGER)",
		"other.db", "CREATE TABLE metrics (x)",
		"text.db", "text",
		"mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\n",
		"mlruns/0/ccc/meta.yaml", "run_id: ccc\nrun_name: emu\nstart_time: 1700000000000\nstatus: 1\nlifecycle_stage: active\n",
		"mlruns/0/ccc/metrics/loss", "1 2 3\n",
		"mlruns/0/ccc/artifacts/x.log", "x\n",
	)
	want(t, dir, "mlflow mlflow.db aaa fox", "mlflow mlflow.db bbb owl", "trackio trackio/p.db i n", "trackio trackio/none.sqlite", "newtop runs.db", "mlruns mlruns ccc emu")
	want(t, dir+"/mlflow.db", "mlflow . aaa fox", "mlflow . bbb owl")
}

// A store of MLflow's is given as such, or by the directory of an experiment or of a run.
func TestStoreOfFiles(t *testing.T) {
	dir := tree(t,
		"mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\n",
		"mlruns/0/ccc/meta.yaml", "experiment_id: '0'\nrun_id: ccc\nrun_name: emu\nstart_time: 1\nstatus: 1\nlifecycle_stage: active\n",
		"mlruns/0/ccc/metrics/loss", "1 2 3\n",
		"mlruns/0/ddd/meta.yaml", "experiment_id: '0'\nrun_id: ddd\nrun_name: gnu\nstart_time: 2\nstatus: 1\nlifecycle_stage: active\n",
		"mlruns/0/ddd/metrics/loss", "1 2 3\n")
	want(t, filepath.Join(dir, "mlruns"), "mlruns . ccc emu", "mlruns . ddd gnu")
	want(t, filepath.Join(dir, "mlruns", "0"), "mlruns . ccc emu", "mlruns . ddd gnu")
	want(t, filepath.Join(dir, "mlruns", "0", "ccc"), "mlruns . ccc emu")
}

// A log that has just begun is shown where there is nothing else.
func TestLogsThatBegin(t *testing.T) {
	want(t, tree(t, "train.log", "epoch 1 loss 0.5\n", "notes.txt", "epoch 1 loss 0.5\n"), "text train.log")
}

// The lines of a container are a log by what they say.
func TestContainers(t *testing.T) {
	line := `{"log":"step 3 | loss 0.5\n","stream":"stdout","time":"2026-11-28T08:12:57.1Z"}` + "\n"
	want(t, tree(t, "0123abcd-json.log", strings.Repeat(line, 3)), "jsonl 0123abcd-json.log")
}

func TestNewestFirst(t *testing.T) {
	got := found(t, tree(t, "old.jsonl", jsonLine, "new.jsonl", jsonLine, "newest/events.out.tfevents.1.x", "x"))
	if want := []string{"tensorboard newest", "jsonl new.jsonl", "jsonl old.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNoDirectory(t *testing.T) {
	dir := tree(t, "a.log", "x\n")
	for _, path := range []string{filepath.Join(dir, "a.log"), filepath.Join(dir, "absent")} {
		if _, err := Dir(files.Here(path)); err == nil {
			t.Errorf("%s: expected an error", path)
		}
	}
	want(t, t.TempDir())
}

// neptune is how Neptune 1.14 begins its log of a run.
const neptune = `{"obj": {"type": "AssignString", "path": ["sys", "name"], "value": "a"}, "version": 1, "at": 1795855492.5}
{"obj": {"type": "LogFloats", "path": ["loss"], "items": [{"value": 1.0, "step": 0, "ts": 1.5}]}, "version": 2, "at": 1.5}
`

func TestRefused(t *testing.T) {
	dir := tree(t, "a/.aim/x", "", "b/.neptune/x", "", "c/.cometml-runs/x.zip", "", "d/.aim", "",
		"e/.neptune/offline/run/data-1.log", neptune, "f/1.zip", "PK\x03\x04\x14\x00\x0f\x00\x00\x00experiment.json{",
		"g/s.db", "CREATE TABLE study_user_attributes (study_id INTEGER)")
	want(t, filepath.Join(dir, "e/.neptune"))
	for sub, word := range map[string]string{"a": "RocksDB", "b": "5 March 2026", "c": "not published", "a/.aim": "RocksDB", "d": "", ".": "",
		"e/.neptune/offline/run": "5 March 2026", "f": "not published", "g": "newtop watch --"} {
		got := Refused(files.Here(filepath.Join(dir, sub)))
		if !strings.Contains(got, word) || (got == "") != (word == "") || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", sub, got)
		}
	}
}

// A directory of many files does not keep the search from what lies beside it.
func TestManyFiles(t *testing.T) {
	files := []string{"z/metrics.csv", "epoch,loss\n1,2\n"}
	for i := range 300 {
		files = append(files, fmt.Sprintf("pictures/%d.png", i), "")
	}
	want(t, tree(t, files...), "csv z/metrics.csv")
}

func FuzzHeads(f *testing.F) {
	for _, head := range []string{"epoch,loss\n1,2\n", jsonLine, "{", "epoch\tloss\n", "\xff", `{"a":{"lr":NaN}}`, "'s 1\n"} {
		f.Add([]byte(head))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, head []byte) {
		path := filepath.Join(dir, "a.log")
		if err := os.WriteFile(path, head, 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := Dir(files.Here(dir)); err != nil || len(list) > 1 {
			t.Errorf("%q: %v, %v", head, list, err)
		}
	})
}
