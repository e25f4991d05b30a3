package cli

import (
	"encoding/csv"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/models/modelfile"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
	"newtop/trainer/stream"
)

// TestExportCSV holds the table against the events.
func TestExportCSV(t *testing.T) {
	db, ids := collection(t)
	for _, id := range ids {
		file := filepath.Join(t.TempDir(), "run.csv")
		succeed(t, "runs", "export", id, "--format", "csv", "-o", file, "--record", db)
		rows, err := csv.NewReader(strings.NewReader(readFile(t, file))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		all := epochs(decode(t, recordedEvents(t, db, id)))
		if len(rows) != len(all)+1 {
			t.Fatalf("%d rows for %d epochs", len(rows)-1, len(all))
		}
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		for i, e := range all {
			row := rows[i+1]
			for name, want := range map[string]event.Float{"epoch": event.Float(e.Epoch), "loss": e.Loss, "test_rmse": e.TestRMSE, "elapsed": e.Elapsed, "radius": e.Radius, "inner_solves": event.Float(len(e.Inner))} {
				text := row[at[name]]
				if got, err := strconv.ParseFloat(text, 64); want == want && (err != nil || got != float64(want)) || want != want && text != "" {
					t.Errorf("epoch %d: %s is %q, expected %v", e.Epoch, name, text, want)
				}
			}
		}
	}
}

// What is exported as events is what was recorded, and it can be watched.
func TestExportEvents(t *testing.T) {
	db, ids := collection(t)
	out := succeed(t, "runs", "export", ids[0], "--format", "jsonl", "--record", db)
	if want := recordedEvents(t, db, ids[0]); out != want {
		t.Errorf("exported\n%s\nrecorded\n%s", out, want)
	}
	file := write(t, "run.jsonl", out)
	if again := succeed(t, "watch", file, "--format", "jsonl"); again != out {
		t.Errorf("watched\n%s\nwritten\n%s", again, out)
	}
}

// Of a run store that is named as a file the newest run is watched.
func TestWatchAStore(t *testing.T) {
	db, ids := collection(t)
	if out := succeed(t, "watch", db, "--format", "jsonl"); out != recordedEvents(t, db, ids[2]) {
		t.Errorf("watched\n%s", out)
	}
}

// The weights of the newest checkpoint are those that a run saves at its end.
func TestExportWeights(t *testing.T) {
	db := database(t)
	dir := t.TempDir()
	for _, format := range []string{"safetensors", "onnx"} {
		at := filepath.Join(dir, "end."+format)
		args := []string{"--data", "spirals", "--opt", "adam", "--epochs", "2", "--net", "4"}
		if format == "onnx" { // and which ends within an epoch
			args = []string{"--data", "letters", "--opt", "tr-newton", "--net", "9", "--until", "150ms"}
		}
		id := recordedRun(t, db, append(args, "--save", at)...)
		exported := filepath.Join(dir, "exported."+format)
		succeed(t, "runs", "export", id, "--format", format, "-o", exported, "--record", db)
		want, err := modelfile.Read(at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := modelfile.Read(exported)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Weights, want.Weights) || !reflect.DeepEqual(got.Inputs, want.Inputs) || !reflect.DeepEqual(got.Classes, want.Classes) {
			t.Errorf("%s: exported %+v, saved %+v", format, got, want)
		}
		refuses(t, print.ExitUsage, "."+format, "runs", "export", id, "--format", format, "-o", at+".zip", "--record", db)
	}
}

// What is exported for TensorBoard is read back by the reader of its files, to single precision.
func TestExportTensorBoard(t *testing.T) {
	db, ids := collection(t)
	for _, id := range ids {
		dir := filepath.Join(t.TempDir(), "logs")
		succeed(t, "runs", "export", id, "--format", "tensorboard", "-o", dir, "--record", db)
		source, err := stream.TensorBoard(files.Here(dir))
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		var got []event.EpochEvent
		want := epochs(decode(t, recordedEvents(t, db, id)))
		deadline := time.Now().Add(time.Minute)
		for len(got) < len(want) && time.Now().Before(deadline) {
			e, err := source.Next(t.Context())
			if err != nil {
				source.Wait(t.Context())
				continue
			}
			if e, ok := e.(event.EpochEvent); ok {
				got = append(got, e)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d epochs, expected %d", len(got), len(want))
		}
		for i := range want {
			if float32(got[i].Loss) != float32(want[i].Loss) || float32(got[i].TestLoss) != float32(want[i].TestLoss) || got[i].Epoch != want[i].Epoch {
				t.Errorf("epoch %d: loss %v and %v, expected %v and %v", want[i].Epoch, got[i].Loss, got[i].TestLoss, want[i].Loss, want[i].TestLoss)
			}
		}
	}
}
