package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A damaged row keeps nobody from a run: it is listed, shown, exported, watched and gone on with, a line says what was left
// out, check says what is damaged, and salvage leaves it out of a new store.
func TestRunsWithDamage(t *testing.T) {
	db := database(t)
	id := recordedRun(t, db, "--data", "sine", "--opt", "adam", "--epochs", "5", "--name", "hurt")
	recordedRun(t, db, "--data", "sine", "--opt", "adam", "--epochs", "3", "--name", "well")
	if out := succeed(t, "runs", "check", "--record", db); !strings.Contains(out, ": whole: 2 runs, ") {
		t.Errorf("a whole store: %q", out)
	}
	inSQL(t, db, "UPDATE epochs SET rest = '{' WHERE epoch = 2 AND run = (SELECT run FROM runs WHERE name = 'hurt')")
	const left = "1 damaged event was left out: newtop runs check " // its ID
	for _, args := range [][]string{
		{"runs", "show", "hurt"}, {"runs", "export", "hurt"}, {"runs", "export", "hurt", "--format", "jsonl"}, {"runs", "compare", "hurt", "well"},
		{"watch", "hurt", "--format", "jsonl"}, {"resume", "hurt", "--epochs", "7"},
	} {
		_, errs, code := newtop(append(args, "--record", db)...)
		if code != 0 || strings.Count(errs, left+id) != 1 {
			t.Errorf("%s: exit %d: %s", strings.Join(args, " "), code, errs)
		}
	}
	inSQL(t, db, "UPDATE runs SET config = '{' WHERE name = 'well'")
	if out := succeed(t, "runs", "--record", db); !strings.Contains(out, "epochs, damaged") || strings.Count(out, "\n") != 3 {
		t.Errorf("listed:\n%s", out)
	}
	refuses(t, 1, "config: ", "runs", "show", "well", "--record", db)
	out, errs, code := newtop("runs", "check", "--record", db)
	if code != 1 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "run "+id+": epochs, event ") || !strings.Contains(out, ": runs: config: ") || !strings.Contains(errs, "2 places are damaged: newtop runs salvage") {
		t.Errorf("checked: exit %d:\n%s%s", code, out, errs)
	}
	if out, _, code := newtop("runs", "check", "well", "--record", db); code != 1 || strings.Count(out, "\n") != 1 {
		t.Errorf("one checked: exit %d: %s", code, out)
	}
	fresh := filepath.Join(t.TempDir(), "new.db")
	if out := succeed(t, "runs", "salvage", "--record", db, "-o", fresh); !strings.Contains(out, ": 2 runs, ") || !strings.Contains(out, "; 2 places are left out") {
		t.Errorf("salvaged: %s", out)
	}
	refuses(t, 1, "expected a new name", "runs", "salvage", "--record", db, "-o", fresh)
	succeed(t, "runs", "rm", "--state", "damaged", "-y", "--record", fresh)
	if out := succeed(t, "runs", "check", "--record", fresh); !strings.Contains(out, ": whole: 1 run, ") {
		t.Errorf("the new store: %s", out)
	}
	if out := succeed(t, "runs", "--state", "damaged", "--record", db); strings.Count(out, "\n") != 2 {
		t.Errorf("the damaged ones:\n%s", out)
	}
	inSQL(t, db, "UPDATE parts SET data = zeroblob(length(data)) WHERE seq = (SELECT max(seq) FROM parts WHERE run = (SELECT run FROM runs WHERE name = 'hurt'))")
	weights := filepath.Join(t.TempDir(), "w.safetensors")
	if _, errs, code := newtop("runs", "export", "hurt", "--format", "safetensors", "-o", weights, "--record", db); code != 0 || !strings.Contains(errs, "; the weights are from the checkpoint before it, of epoch ") {
		t.Errorf("exported: exit %d: %s", code, errs)
	}
}
