// Package filelock keeps processes out of one another's way.
package filelock

import "errors"

// ErrBusy says that another process, or another goroutine of this one, holds a lock.
var ErrBusy = errors.New("another one holds the lock")
