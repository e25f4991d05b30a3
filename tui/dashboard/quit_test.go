//go:build unix

package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestQuitRestoresTheTerminal sends SIGQUIT to a process that has a screen on its own terminal, and to one that has a
// viewer's: both terminals are put back, and Go prints its stacks and ends with its own code.
func TestQuitRestoresTheTerminal(t *testing.T) {
	feed := &tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 5})}
	switch os.Getenv("NEWTOP_TUI_QUIT") {
	case "own":
		runApp(context.Background(), New(feed, screen.Options{Output: os.Stdout}), screen.Options{Output: os.Stdout})
	case "viewer":
		in, _ := io.Pipe()
		Run(context.Background(), feed, screen.Options{Input: in, Output: os.Stdout, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"},
			Viewer: &screen.Viewer{Name: "lou"}, Size: screen.Size{Width: 80, Height: 24}})
	}
	for _, whose := range []string{"own", "viewer"} {
		t.Run(whose, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "TestQuitRestoresTheTerminal")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "NEWTOP_TUI_QUIT="+whose, "TERM=xterm-256color", "LANG=C.UTF-8")
			file, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			defer tty.Close()
			if err := pty.Setsize(file, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
				t.Fatal(err)
			}
			before, err := term.GetState(tty.Fd())
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out := &guestTerminal{}
			go io.Copy(out, file)
			out.until(t, "letters")
			if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			if cmd.Wait(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), "SIGQUIT") || !strings.Contains(errs.String(), "goroutine ") {
				t.Errorf("exit %d, and on standard error\n%.300s", cmd.ProcessState.ExitCode(), errs.String())
			}
			out.until(t, "\x1b[?1049l")
			for enter, leave := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l"} {
				if text := out.String(); strings.LastIndex(text, leave) < strings.LastIndex(text, enter) {
					t.Errorf("the terminal was left with %q", enter)
				}
			}
			if after, err := term.GetState(tty.Fd()); err != nil || fmt.Sprint(*after) != fmt.Sprint(*before) {
				t.Errorf("the terminal's driver was left as %v, %v", after, err)
			}
		})
	}
}

// brokenReader is an input that breaks.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("broken input") }

// TestBrokenInput: where a viewer's input or its parser breaks, the screen ends with that and the process goes on.
func TestBrokenInput(t *testing.T) {
	out := &guestTerminal{}
	err := Run(t.Context(), &silent{}, screen.Options{Input: brokenReader{}, Output: out, Environ: []string{"TERM=xterm-256color"},
		Viewer: &screen.Viewer{Name: "lou"}, Size: screen.Size{Width: 80, Height: 24}})
	if err == nil || !strings.Contains(err.Error(), "broken input") || !strings.HasSuffix(out.String(), "\x1b[?1049l") {
		t.Errorf("%v", err)
	}
	sent := make(chan tea.Msg, 4)
	listen(t.Context(), func(_ context.Context, events chan<- uv.Event) error {
		events <- uv.KeyPressEvent{Code: 'a'}
		panic("broken parser")
	}, func(m tea.Msg) { sent <- m })
	for range 2 {
		select {
		case msg := <-sent:
			failure, broke := msg.(failedMsg)
			if key, ok := msg.(tea.KeyPressMsg); !broke && (!ok || key.Code != 'a') || broke && !strings.Contains(failure.reason.Error(), "broken parser") {
				t.Errorf("%#v", msg)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing is said of it")
		}
	}
}
