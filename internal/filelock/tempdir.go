package filelock

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What a killed process left is taken away once it is leftOld, which spares what is about to be locked or renamed;
// maxLeft bounds the entries that are looked at.
const (
	prefix  = "newtop-"
	lockIn  = ".newtop-lock"
	hidden  = ".newtop-"
	ending  = ".tmp"
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
	sweep(filepath.Dir(dir), lock)
	return dir, nil
}

// TempFile makes a file in a directory, hidden, and locked until it is closed: its maker renames or removes it. If this
// process is killed, a later TempFile or TempDir of any process there takes it away, an hour on.
func TempFile(dir string, mode fs.FileMode) (*os.File, error) {
	name := filepath.Join(dir, hidden+rand.Text()+ending)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if err == nil {
		tryLock(f)
		sweep(dir, name)
	}
	return f, err
}

// RemoveDir takes away a directory of TempDir's.
func RemoveDir(dir string) error {
	if unlock, ok := held.LoadAndDelete(dir); ok {
		unlock.(func())()
	}
	return os.RemoveAll(dir)
}

// sweep takes away the files and directories of dead processes. The lock is one that is held.
func sweep(parent, lock string) {
	if free, err := Lock(lock); err == nil { // there are no locks here, and so no telling who lives
		free()
		return
	}
	d, err := os.Open(parent)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxLeft)
	for _, e := range entries {
		name, dir, lock := e.Name(), parent, e.Name()
		if e.IsDir() && strings.HasPrefix(name, prefix) {
			dir, lock = filepath.Join(parent, name), lockIn
		} else if !strings.HasPrefix(name, hidden) || !strings.HasSuffix(name, ending) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftOld && left(dir, lock) {
			os.RemoveAll(filepath.Join(parent, name)) // of another user it fails
		}
	}
}

// left reports whether a directory has a lock that nobody holds.
func left(dir, lock string) bool {
	root, err := os.OpenRoot(dir) // no link of another user leads out of it
	if err != nil {
		return false
	}
	defer root.Close()
	if info, err := root.Lstat(lock); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return tryLock(f)
}
