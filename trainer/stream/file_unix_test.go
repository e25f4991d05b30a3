//go:build unix

package stream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"newtop/trainer/logs/files"
)

// A named pipe that nobody writes to holds up nothing, and is read once somebody does.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	s, err := File(files.Here(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("a pipe without a writer gave %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a writer gave %v", err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString(lineOf(1) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Next(t.Context()); e == nil {
		t.Errorf("no event but %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
