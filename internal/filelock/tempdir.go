package filelock

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What a killed process left is taken away once it is leftOld, which spares a directory whose lock is about to be made;
// maxLeft bounds the entries that are looked at.
const (
	prefix  = "newtop-"
	lockIn  = ".newtop-lock"
	leftOld = time.Hour
	maxLeft = 4096
)

// held has the unlock functions of this process's directories.
var held sync.Map

// TempDir makes a private directory in parent, or the system's for "", which RemoveDir takes away. If this process is
// killed, a later TempDir of any process in the same parent does, an hour on.
func TempDir(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", err
	}
	lock := filepath.Join(dir, lockIn)
	unlock, err := Lock(lock)
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	held.Store(dir, unlock)
	if free, err := Lock(lock); err == nil { // there are no locks here, and so no telling who lives
		free()
	} else {
		sweep(filepath.Dir(dir), time.Now().Add(-leftOld))
	}
	return dir, nil
}

// RemoveDir takes away a directory of TempDir's.
func RemoveDir(dir string) error {
	if unlock, ok := held.LoadAndDelete(dir); ok {
		unlock.(func())()
	}
	return os.RemoveAll(dir)
}

// sweep takes away the directories of dead processes that nothing was put into since a time.
func sweep(parent string, since time.Time) {
	d, err := os.Open(parent)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxLeft)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if info, err := e.Info(); err == nil && info.ModTime().Before(since) && left(dir) {
			os.RemoveAll(dir) // of another user it fails
		}
	}
}

// left reports whether a directory has a lock that nobody holds.
func left(dir string) bool {
	root, err := os.OpenRoot(dir) // no link of another user leads out of it
	if err != nil {
		return false
	}
	defer root.Close()
	if info, err := root.Lstat(lockIn); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.OpenFile(lockIn, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return !isLocked(f)
}
