package filelock

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v, expected %v", err, ErrBusy)
	}
	unlock()
	if unlock, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	unlock()
}
