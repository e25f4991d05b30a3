package filelock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTempDirSweeps(t *testing.T) {
	parent := t.TempDir()
	private := func() string {
		dir, err := TempDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	old := time.Now().Add(-2 * leftOld)
	living, young, dead, user := private(), private(), private(), filepath.Join(parent, "newtop-results")
	for _, dir := range []string{young, dead} { // as the end of their process unlocks them
		unlock, _ := held.LoadAndDelete(dir)
		unlock.(func())()
	}
	if err := os.Mkdir(user, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{living, dead, user} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	last := private()
	for dir, want := range map[string]bool{living: true, young: true, dead: false, user: true, last: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v, expected it to stay: %v", dir, err, want)
		}
	}
	for _, dir := range []string{living, last} {
		if err := RemoveDir(dir); err != nil {
			t.Error(err)
		}
	}
}
