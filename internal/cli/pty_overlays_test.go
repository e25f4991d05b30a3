//go:build unix

package cli

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"newtop/internal/cli/print"
)

// openings are the keys that put something in front, and what then stands on the screen.
var openings = []struct{ key, shows string }{
	{"f", "race from the current weights"},
	{":", "type to search commands"},
	{"e", "settings of adam"},
	{"u", "back to an epoch"},
	{"?", "help · esc closes"},
	{"z", "0 all"},
}

// TestEveryOpening opens everything in turn on a live run in a storm of sizes, comes back each time, and quits.
func TestEveryOpening(t *testing.T) {
	t.Parallel()
	c := startConsole(t, 100, 30, nil, "--data", "spirals", "--opt", "adam", "--epochs", "0", "--set", "spectrum-every=0")
	c.beyond(1)
	c.press(" ")
	c.until(`paused`)
	for i, o := range openings {
		c.press(o.key)
		c.until(o.shows)
		c.storm(i)
		c.until(o.shows)
		c.escape(o.shows)
		c.until(`─ loss`, `q stop`) // a frame of the storm that comes late may have no room for what is open
	}
	c.press("q")
	code, output := c.exit()
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	restored(t, output)
}

// storm changes the terminal's size many times, down to nothing, and then back.
func (c *console) storm(seed int) {
	c.t.Helper()
	for i := range 24 {
		c.resize(1+(37*i+11*seed)%160, 1+(13*i+7*seed)%50)
		time.Sleep(4 * time.Millisecond)
	}
	c.resize(100, 30)
}

func (c *console) resize(columns, rows int) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.Resize(columns, rows)
	c.mu.Unlock()
	if err := pty.Setsize(c.file, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		c.t.Fatal(err)
	}
}

// TestSignalsRestoreWhatIsOpen ends the program from outside while something is in front, the mouse followed
// wherever it goes among it.
func TestSignalsRestoreWhatIsOpen(t *testing.T) {
	t.Parallel()
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}
	for i, o := range openings[3:] {
		c := startConsole(t, 80, 24, nil, "--data", "spirals", "--opt", "adam", "--epochs", "0", "--set", "spectrum-every=0")
		c.until(`epoch [1-9]`)
		c.press(o.key)
		c.until(o.shows)
		if err := c.cmd.Process.Signal(signals[i%len(signals)]); err != nil {
			t.Fatal(err)
		}
		code, output := c.exit()
		if code != print.ExitInterrupted {
			t.Errorf("%s, %v: exit %d", o.key, signals[i%len(signals)], code)
		}
		restored(t, output)
		if followed := strings.Contains(output, "\x1b[?1003h"); followed != (o.key == "z") {
			t.Errorf("%s: every motion followed: %v", o.key, followed)
		}
	}
}
