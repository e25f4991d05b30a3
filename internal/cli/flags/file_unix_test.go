//go:build unix

package flags

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeWithoutWriter: a file of flags that never comes is waited for until the context ends.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
