//go:build unix

package dashboard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"

	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
)

// brokenPane panics where its name says.
type brokenPane struct {
	pane.Loss
	when string
}

func (p *brokenPane) ToggleLog() bool {
	if p.when == "update" {
		panic("broken in Update")
	}
	return true
}

func (p *brokenPane) Body(v *pane.View, w, h int, zoomed bool) []string {
	if p.when == "view" && v.H.Epochs > 3 {
		panic("broken in View")
	}
	return nil
}

// breakDown is the child of TestPanicsRestoreTheTerminal.
func breakDown(when string) error {
	feed := &panicFeed{&tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 5}), Pace: 40 * time.Millisecond}}
	a := New(feed, screen.Options{})
	a.Panes[layout.Loss] = &brokenPane{when: when}
	return runApp(context.Background(), a, screen.Options{})
}

// TestPanicsRestoreTheTerminal breaks the program in each of its goroutines, on a terminal of its own.
func TestPanicsRestoreTheTerminal(t *testing.T) {
	const asExpected = 7 // not testing's own code, which would tell of races in Bubble Tea's recovery
	if when := os.Getenv("NEWTOP_TUI_PANIC"); when != "" {
		if err := breakDown(when); !errors.Is(err, tea.ErrProgramPanic) {
			t.Fatalf("ended with %v", err)
		}
		os.Exit(asExpected)
	}
	for when, key := range map[string]string{"update": "y", "view": "", "command": "s"} {
		t.Run(when, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "TestPanicsRestoreTheTerminal")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "NEWTOP_TUI_PANIC="+when, "TERM=xterm-256color", "LANG=C.UTF-8", "GORACE=exitcode=0")
			file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var out bytes.Buffer
			pressed := key == ""
			buffer := make([]byte, 1<<15)
			for {
				n, err := file.Read(buffer)
				out.Write(buffer[:n])
				if err != nil {
					break
				}
				if !pressed && strings.Contains(out.String(), "loss") {
					pressed = true
					if _, err := file.WriteString(key); err != nil {
						t.Fatal(err)
					}
				}
			}
			if cmd.Wait(); cmd.ProcessState.ExitCode() != asExpected {
				t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), out.String())
			}
			for enter, leave := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l"} {
				if last := strings.LastIndex(out.String(), enter); last < 0 || strings.LastIndex(out.String(), leave) < last {
					t.Errorf("the terminal was left with %q", enter)
				}
			}
			// What a command's goroutine says may come after the program's end.
			if when != "command" && !strings.Contains(out.String(), "broken in") {
				t.Error("says nothing of the panic")
			}
		})
	}
}
