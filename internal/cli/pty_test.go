//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"newtop/internal/cli/print"
	"newtop/trainer/optim/methods"
)

// console is the program in a terminal of its own, whose screen is read back through an emulator. A run that must not end by
// itself is one of adam: second-order methods solve the spirals to the last digit within seconds, and stop.
type console struct {
	t       *testing.T
	cmd     *exec.Cmd
	file    *os.File
	mu      sync.Mutex // guards screen, whose cells are not copies, and raw
	screen  *vt.Emulator
	raw     strings.Builder
	readers sync.WaitGroup
}

func startConsole(t *testing.T, columns, rows int, env []string, args ...string) *console {
	t.Helper()
	return startCommand(t, columns, rows, env, process(t, args...))
}

// startCommand starts the program, or what will start it.
func startCommand(t *testing.T, columns, rows int, env []string, cmd *exec.Cmd) *console {
	t.Helper()
	c := &console{t: t, cmd: cmd, screen: vt.NewEmulator(columns, rows)}
	c.cmd.Env = append(os.Environ(), asNewtop+"=1", "TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=", "NEWTOP_CONFIG_DIR="+t.TempDir())
	c.cmd.Env = append(c.cmd.Env, env...)
	var err error
	c.file, err = pty.StartWithSize(c.cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err != nil {
		t.Fatal(err)
	}
	c.readers.Go(func() {
		buffer := make([]byte, 1<<15)
		for {
			n, err := c.file.Read(buffer)
			c.mu.Lock()
			c.raw.Write(buffer[:n])
			c.screen.Write(buffer[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	// What the emulator answers to the program's questions has to be carried back, or it blocks.
	go io.Copy(c.file, c.screen)
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.file.Close()
		c.readers.Wait()
		// Closing the emulator itself would race with the reading of its answers.
		c.screen.InputPipe().(io.Closer).Close()
	})
	return c
}

func (c *console) press(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.file, keys); err != nil {
		c.t.Fatal(err)
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for y := range c.screen.Height() {
		for x := range c.screen.Width() {
			if cell := c.screen.CellAt(x, y); cell != nil && cell.Width > 0 {
				b.WriteString(cell.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// until waits for a screen on which every pattern is found.
func (c *console) until(patterns ...string) string {
	c.t.Helper()
	missing := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		text := c.text()
		missing = ""
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(text) {
				missing = p
				break
			}
		}
		if missing == "" {
			return text
		}
	}
	c.t.Fatalf("never saw %q on the screen:\n%s", missing, c.text())
	return ""
}

// escape presses the key and waits until what it closes is gone: an escape and another key at once would
// be alt and the key.
func (c *console) escape(closes string) {
	c.t.Helper()
	c.press("\x1b")
	for deadline := time.Now().Add(patience); strings.Contains(c.text(), closes); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%q stayed on the screen:\n%s", closes, c.text())
		}
	}
}

// exit waits for the program's end.
func (c *console) exit() (code int, output string) {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		c.t.Fatalf("did not end:\n%s", c.text())
	}
	c.readers.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cmd.ProcessState.ExitCode(), c.raw.String()
}

// restored checks that the terminal was given back: the alternate screen left, the cursor shown, the mouse and
// pasting as before, no frame left open.
func restored(t *testing.T, output string) {
	t.Helper()
	for enter, leave := range map[string]string{
		"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?1003h": "\x1b[?1003l", "\x1b[?1006h": "\x1b[?1006l",
		"\x1b[?2004h": "\x1b[?2004l", "\x1b[?2026h": "\x1b[?2026l",
	} {
		if strings.LastIndex(output, leave) < strings.LastIndex(output, enter) {
			t.Errorf("the terminal was left with %q", enter)
		}
	}
}

const numeral = `\d+\.\d+`

func TestScreenShowsALiveRun(t *testing.T) {
	t.Parallel()
	c := startConsole(t, 120, 40, nil, "--data", "spirals", "--set", "spectrum-every=2", "--epochs", "0")
	c.until(
		`newtop +spirals +2-70-50-2`,
		`─ network`,
		`─ loss +train `+numeral+`.* test `+numeral,
		`─ error +train \d`,
		`─ inner +\d+ it [NBRL]`, `N \d+ +B \d+ +R \d+ +L \d+`,
		`─ spectrum .*λ`, `±`,
		`─ region +R `+numeral+` +ρ -?`+numeral,
		`─ work`, `─ log`,
		`epoch [1-9]\d*`,
	)
	c.press(" ")
	c.until(`paused`)
	sixth := methods.All()[5].Name
	c.press("6")
	epoch := regexp.MustCompile(`epoch (\d+)`)
	paused, err := strconv.Atoi(epoch.FindStringSubmatch(c.until(`paused`, sixth+` +\w`))[1])
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		c.press("s")
		c.until(`paused`, fmt.Sprintf(`epoch %d\b`, paused+n))
	}
	c.press("o")
	c.until(`tr-gn-jacobi`, `momentum`)
	c.escape(`type to search`)
	c.press("?")
	c.until(`one inner iteration`)
	c.escape(`one inner iteration`)
	c.press("q")
	code, output := c.exit()
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	restored(t, output)
	if !strings.Contains(output[strings.LastIndex(output, "\x1b[?1049l"):], "spirals: "+sixth) {
		t.Error("no summary was left behind")
	}
}

func TestScreenStaysAfterTheEnd(t *testing.T) {
	t.Parallel()
	c := startConsole(t, 80, 24, nil, "--data", "spirals", "--epochs", "3")
	c.until(`done|ended|finished`, `test`)
	c.press("q")
	if code, output := c.exit(); code != 0 {
		t.Errorf("exit %d", code)
	} else {
		restored(t, output)
	}
}

func TestScreenOfARunThatDiverges(t *testing.T) {
	t.Parallel()
	c := startConsole(t, 80, 24, nil, "--data", "sine", "--act", "identity", "--opt", "sgd", "--set", "rate=1e9")
	c.until(`(?i)diverged`)
	c.press("q")
	code, output := c.exit()
	if code != print.ExitDiverged || !strings.Contains(output, "newtop: sgd diverged in epoch") {
		t.Errorf("exit %d\n%s", code, output)
	}
	restored(t, output)
}

func TestScreenOfARunThatCannotBegin(t *testing.T) {
	t.Parallel()
	c := startConsole(t, 80, 24, nil, "--data", "letter", "--data-dir", t.TempDir())
	code, output := c.exit()
	if code != print.ExitFailed || !strings.Contains(output, "newtop data fetch letter") {
		t.Errorf("exit %d\n%s", code, output)
	}
	restored(t, output)
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		c := startConsole(t, 80, 24, nil, "--data", "spirals", "--opt", "adam", "--epochs", "0")
		c.until(`epoch [1-9]`)
		if err := c.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		code, output := c.exit()
		if code != print.ExitInterrupted {
			t.Errorf("%v: exit %d", s, code)
		}
		restored(t, output)
	}
}

// TestSuspend stops the program from an interactive shell and brings it back.
func TestSuspend(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no shell with job control")
	}
	c := startCommand(t, 80, 24, []string{"PS1=ready> "}, exec.Command(shell, "--norc", "--noprofile", "-i"))
	c.until(`ready>`)
	c.press("'" + process(t).Path + "' --data spirals --opt adam --epochs 0 --set spectrum-every=0\r")
	c.until(`epoch [1-9]`)
	c.press("\x1a")
	c.until(`Stopped`)
	c.mu.Lock()
	output, _, _ := strings.Cut(c.raw.String(), "Stopped") // then the shell's own prompt
	c.mu.Unlock()
	restored(t, output)
	c.press("fg\r")
	c.until(`─ loss`, `epoch [1-9]`)
	c.press("q")
	c.until(`spirals: `, `ready>`)
	c.press("exit\r")
	c.exit()
}

// TestThemeFlags opens screens as the flags and an earlier screen say.
func TestThemeFlags(t *testing.T) {
	config := t.TempDir()
	c := startConsole(t, 80, 24, []string{"NEWTOP_CONFIG_DIR=" + config}, "--data", "spirals", "--epochs", "2", "--glyphs", "ascii", "--no-mouse")
	c.until(`\+- *loss`)
	c.press("T")
	c.until(`theme: dark`)
	c.press("q")
	code, output := c.exit()
	if code != 0 || strings.Contains(output, "\x1b[?1002h") {
		t.Errorf("exit %d, mouse %v", code, strings.Contains(output, "\x1b[?1002h"))
	}
	if text, _ := os.ReadFile(filepath.Join(config, "ui.toml")); strings.TrimSpace(string(text)) != "theme = 'dark'" {
		t.Errorf("kept %q", text)
	}
	for _, args := range [][]string{{"--theme", "pink"}, {"--glyphs", "emoji"}} {
		refuses(t, print.ExitUsage, "expected auto, ", args...)
	}
}

func TestWithoutATerminalTextIsPrinted(t *testing.T) {
	out := succeed(t, "--data", "spirals", "--epochs", "1")
	if !strings.Contains(out, "epoch") || strings.Contains(out, "\x1b") {
		t.Errorf("printed %q", out)
	}
}
