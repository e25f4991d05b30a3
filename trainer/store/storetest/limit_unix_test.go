//go:build unix && !freebsd

package storetest

import (
	"syscall"
	"time"
)

// limit bounds the size of every file that this process writes, as a full disk would, for a while.
func (c *child) limit() error {
	if c.Limit == 0 {
		return nil
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		return err
	}
	free := now
	now.Cur = c.Limit
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		return err
	}
	time.AfterFunc(c.Lift, func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free) })
	return nil
}
