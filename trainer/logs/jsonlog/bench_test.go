package jsonlog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/logs/files"
)

func BenchmarkTrainerState(b *testing.B) {
	var entries strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&entries, "    {\n      \"epoch\": %v,\n      \"grad_norm\": 0.5,\n      \"learning_rate\": 4.9970059880239524e-05,\n      \"loss\": %v,\n      \"step\": %d\n    },\n", float64(i)/1e3, 1/float64(i+1), i)
	}
	path := filepath.Join(b.TempDir(), "trainer_state.json")
	text := fmt.Sprintf(state, 10, strings.TrimSuffix(entries.String(), ",\n"))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := OpenTrainerState(files.Here(path))
		if err != nil {
			b.Fatal(err)
		}
		var c counter
		for more := true; more; {
			if more, err = r.Read(context.Background(), &c); err != nil {
				b.Fatal(err)
			}
		}
	}
}
