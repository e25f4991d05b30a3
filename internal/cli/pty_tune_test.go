//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"newtop/internal/cli/print"
)

// TestTuneScreen stops a search on the screen and goes on with it by a signal's leave.
func TestTuneScreen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	c := startConsole(t, 120, 40, nil, "tune", "--data", "sine", "--net", "3", "--budget", "5m", "--name", "seen", "--record", file)
	c.until(`searching`, `leaderboard`, `[1-9] done`)
	c.press("q")
	c.until(`(?i)stop the search`)
	c.press("q")
	code, output := c.exit()
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	restored(t, output)
	rest := output[strings.LastIndex(output, "\x1b[?1049l"):]
	for _, want := range []string{"TEST RMSE", "the best is trained by", "newtop train --data sine --validation 0.15 --net 3", "to continue: newtop tune --resume seen --record "} {
		if !strings.Contains(rest, want) {
			t.Errorf("the screen left behind %q, without %q", rest, want)
		}
	}

	c = startConsole(t, 80, 24, nil, "tune", "--resume", "seen", "--record", file)
	c.until(`searching`, `leaderboard`)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, output = c.exit()
	if code != print.ExitInterrupted || !strings.Contains(output, "newtop: interrupted; to continue: newtop tune --resume seen --record ") {
		t.Errorf("exit %d\n%s", code, output[strings.LastIndex(output, "\x1b[?1049l"):])
	}
	restored(t, output)
}
