//go:build unix && !freebsd

package storetest

import "syscall"

// limit bounds the size of every file that this process writes, as a full disk would, until lift is called.
func (c *child) limit() (lift func(), err error) {
	if c.Limit == 0 {
		return func() {}, nil
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		return nil, err
	}
	free := now
	now.Cur = c.Limit
	return func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free) }, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)
}
