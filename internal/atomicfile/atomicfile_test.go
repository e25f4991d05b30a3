package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestWrite leaves what was there where a write breaks off, and nothing beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if size, err := Write(path, func(w io.Writer) error { _, err := w.Write([]byte("old")); return err }); size != 3 || err != nil {
		t.Fatal(size, err)
	}
	broken := errors.New("broken")
	if _, err := Write(path, func(w io.Writer) error { w.Write(make([]byte, 1<<20)); return broken }); err != broken {
		t.Errorf("%v: expected %v", err, broken)
	}
	if text, err := os.ReadFile(path); string(text) != "old" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if names, err := os.ReadDir(dir); len(names) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestWriteToADevice goes to the device.
func TestWriteToADevice(t *testing.T) {
	if size, err := Write(os.DevNull, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); size != 3 || err != nil {
		t.Error(size, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	if Check(os.DevNull) == nil || Check(filepath.Join(t.TempDir(), "none", "a")) == nil {
		t.Error("what can't be replaced is taken for a file")
	}
}
