// Package filelock keeps processes out of one another's way.
package filelock

import (
	"errors"
	"os"
)

// ErrBusy says that another process, or another goroutine of this one, holds a lock.
var ErrBusy = errors.New("another one holds the lock")

// Lock makes the caller the only one, among all processes, until unlock, or returns ErrBusy if another one is. The file
// stays: removing it would let two hold locks on different files of the same name. The lock ends with the process. Only
// a lock that someone holds is a reason to refuse; a file system without locks is not.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if !tryLock(f) {
		f.Close()
		return nil, ErrBusy
	}
	return func() { f.Close() }, nil
}
