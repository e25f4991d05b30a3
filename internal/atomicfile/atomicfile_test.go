package atomicfile

import (
	"errors"
	"io"
	"io/fs"
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

// TestWriteKeepsTheMode replaces a file by one that as many may read.
func TestWriteKeepsTheMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o666} {
		path := filepath.Join(t.TempDir(), "a")
		if err := errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path) // which some systems know less modes of
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Write(path, func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != before.Mode() {
			t.Errorf("%v, %v: expected %v", info.Mode(), err, before.Mode())
		}
	}
}

// TestWriteThroughALink follows links to a file that is there and to one that is not.
func TestWriteThroughALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	link, second := filepath.Join(dir, "sub", "link"), filepath.Join(dir, "second")
	if err := errors.Join(os.Symlink(filepath.Join("..", "second"), link), os.Symlink("a", second)); err != nil {
		t.Skip(err)
	}
	for _, want := range []string{"old", "new"} {
		if _, err := Write(link, func(w io.Writer) error { _, err := io.WriteString(w, want); return err }); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a")); string(text) != want || err != nil {
			t.Errorf("%q, %v: expected %q", text, err, want)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
	}
}
