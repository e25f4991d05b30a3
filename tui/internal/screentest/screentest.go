// Package screentest types at screens in tests, and reads what they write.
package screentest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/screen"
	"newtop/tui/style"
)

// Typed is the message of a key by its name.
func Typed(s string) tea.KeyPressMsg {
	special := map[string]rune{"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "left": tea.KeyLeft,
		"right": tea.KeyRight,
		"up":    tea.KeyUp, "down": tea.KeyDown, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete}
	if c, ok := special[s]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if rest, ok := strings.CutPrefix(s, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if s == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

// Quits reports whether a command ends the program.
func Quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

// OneMeaning fails if a key of a screen means something else there than on other screens, or two things in the present
// state.
func OneMeaning[M screen.Model](t *testing.T, bindings []*screen.Binding[M], m M) {
	t.Helper()
	seen := map[string]string{}
	for _, b := range bindings {
		for _, k := range b.Keys {
			for _, g := range screen.Grammar {
				if (k == g.Key || k == g.Also) && !slices.Contains(b.Verbs, g.Verb) {
					t.Errorf("%s is a key of all screens, and here %q", k, b.Help)
				}
			}
			if b.Absent(m) {
				continue
			}
			if other, twice := seen[k]; twice {
				t.Errorf("%s is both %q and %q", k, other, b.Help)
			}
			seen[k] = b.Help
		}
	}
}

// Plain fails if a row of a frame has anything but printable text and the sequences that colour it.
func Plain(t *testing.T, rows []string, w, h int, ascii bool) (text string) {
	t.Helper()
	if len(rows) != h {
		t.Fatalf("%d rows, not %d", len(rows), h)
	}
	for i, row := range rows {
		if ascii {
			for _, r := range row {
				if r > unicode.MaxASCII && strings.Contains(style.ToASCII(string(r)), "?") {
					t.Fatalf("row %d has %q, which has no counterpart: %q", i, r, row)
				}
			}
			row = style.ToASCII(row)
		}
		if n := ansi.StringWidth(row); n != w {
			t.Fatalf("row %d is %d wide, not %d: %q", i, n, w, ansi.Strip(row))
		}
		stripped := ansi.Strip(row)
		for _, r := range stripped {
			if !unicode.IsGraphic(r) || ascii && r > unicode.MaxASCII {
				t.Fatalf("row %d has %q: %q", i, r, stripped)
			}
		}
		text += stripped + "\n"
	}
	return text
}

// Wire is a terminal that counts what it is sent.
type Wire struct{ Bytes, Writes atomic.Int64 }

func (w *Wire) Write(p []byte) (int, error) {
	w.Bytes.Add(int64(len(p)))
	w.Writes.Add(1)
	return len(p), nil
}

// Rest fails unless a screen is written and then nothing any more, for longer than the slowest clock of a screen waits.
// A busy machine may take its time to write it.
func (w *Wire) Rest(t *testing.T) {
	t.Helper()
	const quiet = 1200 * time.Millisecond
	bytes, writes := w.Bytes.Load(), w.Writes.Load()
	for tries := 1; ; tries++ {
		time.Sleep(quiet)
		more, again := w.Bytes.Load()-bytes, w.Writes.Load()-writes
		if more == 0 && again == 0 && bytes >= 1000 {
			return
		}
		if tries == 40 {
			t.Fatalf("%d bytes were written for the screen, and %d in %d writes at rest", bytes, more, again)
		}
		bytes, writes = bytes+more, writes+again
	}
}

// Running is a screen beside the dashboard in a program of its own.
type Running struct {
	keys  *io.PipeWriter
	Out   *Wire
	Ended chan error
}

// Start runs a program and waits for its first bytes.
func Start(t *testing.T, ctx context.Context, bytes int64,
	open func(screen.Options) (*screen.Base, tea.Model)) *Running {
	t.Helper()
	in, keys := io.Pipe()
	t.Cleanup(func() { keys.Close() })
	r := &Running{keys: keys, Out: &Wire{}, Ended: make(chan error, 1)}
	o := screen.Options{Input: in, Output: r.Out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"},
		Size: screen.Size{Width: 120, Height: 40}}
	s, m := open(o)
	go func() {
		r.Ended <- s.Run(ctx, m, o)
	}()
	for n := 0; r.Out.Bytes.Load() < bytes && n < 300; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	return r
}

// Press types keys one after the other.
func (r *Running) Press(t *testing.T, keys string) {
	t.Helper()
	for _, k := range []byte(keys) {
		if _, err := r.keys.Write([]byte{k}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// EndsWith waits for the end of the program and closes its keys.
func (r *Running) EndsWith(t *testing.T, want error) {
	t.Helper()
	defer r.keys.Close()
	select {
	case err := <-r.Ended:
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("ended with %v, not %v", err, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still running")
	}
}
