package filestest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/logs/files"
)

// Writer changes what a file system holds, by names from a directory of it that is empty at first.
type Writer interface {
	Write(name, text string) // a file, over the one that is there
	Append(name, text string)
	Remove(name string) // a file, or a directory with all that is in it
}

var _ Writer = (*Memory)(nil)

// Contract checks that a file system does what readers need, at a directory that a Writer writes.
func Contract(t *testing.T, dir files.Path, w Writer) {
	path := dir.Join("a", "b.txt")
	stat := func() fs.FileInfo {
		t.Helper()
		info, err := path.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	_, gone := path.Stat()
	if _, err := path.Open(); !errors.Is(err, fs.ErrNotExist) || !errors.Is(gone, fs.ErrNotExist) || path.Exists() {
		t.Errorf("nothing there: Stat says %v, Open %v", gone, err)
	}

	w.Write("a/b.txt", "one\n")
	w.Write("a/c/d.txt", "deep")
	var keys []string
	for key, e := range dir.Below(nil) {
		if e.IsDir() {
			key += "/"
		}
		keys = append(keys, key)
	}
	if got := strings.Join(keys, " "); got != "a/ a/b.txt a/c/ a/c/d.txt" {
		t.Errorf("below: %s", got)
	}
	some, err := dir.Join("a").List(1)
	if err != nil || len(some) != 1 || !dir.Join("a", "c").IsDir() || !path.IsFile() || path.Written().IsZero() {
		t.Errorf("%d of a directory, %v", len(some), err)
	}

	f, err := path.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := func(want string) {
		t.Helper()
		text, err := io.ReadAll(f)
		if info, wrong := f.Stat(); err != nil || string(text) != want || wrong != nil ||
			info.Size() < int64(len(want)) {
			t.Errorf("%q, %v, %v", text, err, wrong)
		}
	}
	read("one\n")
	first := stat()
	w.Append("a/b.txt", "two\n")
	read("two\n")
	b := make([]byte, 8)
	if n, err := f.ReadAt(b, 4); n != 4 || err != io.EOF || string(b[:n]) != "two\n" {
		t.Errorf("at 4: %q, %v", b[:n], err)
	}
	if now := stat(); now.Size() != 8 || !dir.In.Same(first, now) {
		t.Errorf("grown: %d bytes, the same: %v", now.Size(), dir.In.Same(first, now))
	}
	w.Remove("a/b.txt")
	w.Write("a/b.txt", "other\n")
	if own, err := f.Stat(); err != nil || dir.In.Same(own, stat()) || !dir.In.Same(own, first) {
		t.Errorf("another file in its place is the same, %v", err)
	}
	if n, err := f.ReadAt(b, 0); string(b[:n]) != "one\ntwo\n" && (n > 0 || err != io.EOF) {
		t.Errorf("the old file: %q", b[:n])
	}

	copied, done, err := files.Copy(path, dir.Join("none"))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if text, err := os.ReadFile(filepath.Join(copied, "b.txt")); string(text) != "other\n" {
		t.Errorf("the copy: %q, %v", text, err)
	}
}
