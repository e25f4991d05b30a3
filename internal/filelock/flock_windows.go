package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// isLocked locks the file's first byte, which need not be there, or reports that it is locked.
func isLocked(f *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
