//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

// TestRunsOnTheScreen goes through the recorded runs with keys: it watches one, compares two, writes a note, removes one,
// has it back, removes another for good, and goes on with a run.
func TestRunsOnTheScreen(t *testing.T) {
	db := filepath.Join(t.TempDir(), "runs.db")
	for _, name := range []string{"first", "second", "third"} {
		succeed(t, "train", "--data", "spirals", "--epochs", "3", "--name", name, "--record", db)
	}
	succeed(t, "tune", "--data", "sine", "--net", "3", "--trials", "2", "--epochs", "2", "--name", "search", "--record", db)
	c := startConsole(t, 100, 30, nil, "runs", "--record", db)
	c.until(`3 runs +1 search`, `search`, `third +■ done +spirals`, `second`, `first`)
	c.press("/thi\r")
	c.until(`runs +latest first.* /thi`, `▸ +third`)
	c.press("\r")
	c.until(`─ loss +train`, `epoch 3 of 3`, `q back`)
	c.press("q")
	c.until(`/thi`, `▸ +third`)
	c.escape("/thi")
	c.until(`first`)
	c.press("  c")
	c.until(`2 runs`, `differences`)
	c.escape("differences")
	c.until(`✓ 2 marked`)
	c.press("nslow\r")
	c.press("\x1b[H") // home: the search
	c.until(`▸ ▸ search`)
	c.press("l")
	c.until(`▾ search`, `· search.1`, `· search.2`)
	c.press("\r")
	c.until(`tune search`, `leaderboard`)
	c.press("q")
	c.until(`▾ search`, `▸ ▾ search`)
	c.press("h/second\r")
	c.until(`▸.*second`)
	c.press("d")
	c.until(`removed second: u undoes`)
	c.press("u")
	c.until(`second is back`, `▸.*second`)
	c.press("d")
	c.until(`removed second: u undoes`)
	if left := c.leave(); strings.TrimSpace(left) == "" {
		t.Error("nothing restored the terminal")
	}
	if _, _, code := newtop("runs", "show", "second", "--record", db); code != print.ExitUsage {
		t.Error("second is still there")
	}
	if out := succeed(t, "runs", "show", "first", "--record", db); !strings.Contains(out, "slow") {
		t.Errorf("no note:\n%s", out)
	}
	c = startConsole(t, 100, 30, nil, "runs", "--record", db)
	c.press("/first\r") // before there is a list
	c.until(`▸ +first`, `esc all runs`)
	c.press("r")
	c.until(`has reached its 3 epochs`)
	if c.leave(); strings.Contains(succeed(t, "runs", "--record", db), "second") {
		t.Error("second is listed")
	}
}

// TestRunsOverTraining looks at the recorded runs while one is trained, and comes back to it.
func TestRunsOverTraining(t *testing.T) {
	db := filepath.Join(t.TempDir(), "runs.db")
	succeed(t, "train", "--data", "spirals", "--epochs", "3", "--name", "before", "--record", db)
	c := startConsole(t, 120, 40, nil, "--data", "spirals", "--opt", "adam", "--epochs", "10000000", "--record", db)
	c.until(`─ loss +train`, `running`)
	c.press("R")
	c.until(`2 runs +● 1 running`, `before`, `q back`)
	c.press("k") // where the list was open before the run was recorded, the cursor is on the one below
	c.until(`▸.*● running`)
	c.press("j\r")
	c.until(`epoch 3 of 3`)
	c.escape("epoch 3 of 3")
	c.until(`▸.*before`)
	c.escape("2 runs")
	n := c.epoch()
	c.beyond(n)
	c.press("q")
	if code, output := c.exit(); code != print.ExitDone || !strings.Contains(output, "recorded as 20") {
		t.Errorf("exit %d\n%s", code, output[strings.LastIndex(output, "\x1b[?1049l"):])
	}
}

// TestResumeFromTheList leaves the list for the screen of the run that is gone on with.
func TestResumeFromTheList(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "runs.db")
	c := startConsole(t, 100, 30, nil, "--data", "spirals", "--opt", "adam", "--epochs", "10000000", "--name", "stopped", "--record", db)
	c.until(`epoch \d`)
	c.press("q")
	if code, _ := c.exit(); code != print.ExitDone {
		t.Fatalf("exit %d", code)
	}
	c = startConsole(t, 100, 30, nil, "runs", "--record", db)
	c.until(`▸.*stopped +– stopp`)
	c.press("r")
	c.until(`─ loss +train`, `running`)
	c.beyond(c.epoch())
	c.leave()
}
