package tui

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/screen"
)

// running is a screen beside the dashboard in a program of its own.
type running struct {
	keys  *io.PipeWriter
	out   *wire
	ended chan error
}

// startScreen runs a program and waits for its first bytes.
func startScreen(t *testing.T, ctx context.Context, bytes int64, open func(screen.Options) (*screen.Base, tea.Model), more ...tea.ProgramOption) *running {
	t.Helper()
	in, keys := io.Pipe()
	t.Cleanup(func() { keys.Close() })
	r := &running{keys: keys, out: &wire{}, ended: make(chan error, 1)}
	o := screen.Options{Input: in, Output: r.out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}}
	s, m := open(o)
	s.Width, s.Height = 120, 40
	go func() {
		r.ended <- s.Run(ctx, m, o, more...)
	}()
	for n := 0; r.out.bytes.Load() < bytes && n < 300; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	return r
}

// press types keys one after the other.
func (r *running) press(t *testing.T, keys string) {
	t.Helper()
	for _, k := range []byte(keys) {
		if _, err := r.keys.Write([]byte{k}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// endsWith waits for the end of the program and closes its keys.
func (r *running) endsWith(t *testing.T, want error) {
	t.Helper()
	defer r.keys.Close()
	select {
	case err := <-r.ended:
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("ended with %v, not %v", err, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still running")
	}
}
