//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock makes the caller the only one, among all processes, until unlock, or returns ErrBusy if another one is. The file stays:
// removing it would let two hold locks on different files of the same name. The lock ends with the process.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	// Only a lock that someone holds is a reason to refuse; a file system without locks is not.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, ErrBusy
	}
	return func() { f.Close() }, nil
}
