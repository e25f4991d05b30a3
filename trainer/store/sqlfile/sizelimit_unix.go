//go:build unix

package sqlfile

import (
	"math"
	"syscall"

	"newtop/internal/format"
)

// sizeLimit returns how large this process may make a file; empty: as large as the disk allows.
func sizeLimit() string {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt64/2 {
		return ""
	}
	return format.Bytes(int64(limit.Cur))
}
