package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestSweeps(t *testing.T) {
	parent := t.TempDir()
	die := func(dir string) string { // as the end of its process unlocks it
		unlock, _ := held.LoadAndDelete(dir)
		unlock.(func())()
		return dir
	}
	living, young, dead, user := must(TempDir(parent)), die(must(TempDir(parent))), die(must(TempDir(parent))), filepath.Join(parent, "newtop-results")
	file := func() *os.File { return must(TempFile(parent, 0o600)) }
	livingFile, youngFile, deadFile, userFile := file(), file(), file(), filepath.Join(parent, ".newtop-notes")
	if err := errors.Join(youngFile.Close(), deadFile.Close(), os.Mkdir(user, 0o700), os.WriteFile(userFile, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * leftOld)
	for _, name := range []string{living, dead, user, livingFile.Name(), deadFile.Name(), userFile} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{living: true, young: true, dead: false, user: true, file().Name(): true,
		livingFile.Name(): true, youngFile.Name(): true, deadFile.Name(): false, userFile: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, expected it to stay: %v", name, err, want)
		}
	}
	RemoveDir(living)
}
