package stream

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// TestSettingsBeside reads what PyYAML writes of the settings of a Lightning module, beside its metrics.csv.
func TestSettingsBeside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hparams.yaml": "batch_size: 32\nlr: 1.0e-03\nname: resnet18\nnote: 'it''s: quoted'\noptimizer:\n  betas:\n  - 0.9\n  - 0.999\n  eps: 1.0e-08\n  inner:\n    k: 2\n" +
			"layers: [1, 2]\nnone: null\ntext: 'two\n\n  lines'\npretrained: true\n# comment: 1\nlong: |-\n  text: of lines\n",
		"metrics.csv": "epoch,step,train_loss\n0,49,0.5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "metrics.csv"), past, past); err != nil {
		t.Fatal(err)
	}
	s, err := File(files.Here(filepath.Join(dir, "metrics.csv")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events, _ := all(t, s)
	if len(events) == 0 {
		t.Fatal("nothing was read")
	}
	run, is := events[0].(event.RunEvent)
	want := map[string]any{"batch_size": 32.0, "lr": 1e-3, "name": "resnet18", "note": "it's: quoted", "optimizer/eps": 1e-8, "optimizer/inner/k": 2.0, "pretrained": true}
	if !is || !reflect.DeepEqual(run.Settings, want) {
		t.Errorf("%+v", run.Settings)
	}
}
