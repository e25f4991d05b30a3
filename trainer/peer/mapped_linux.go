package peer

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newMapped makes a file that has no name but that of a descriptor of this process. Its memory is there from the
// beginning, and its length is sealed: neither a full machine nor a peer can make a page go, which would end this
// process.
func newMapped(size int64, _ string) (*mapped, error) {
	fd, err := unix.MemfdCreate("newtop", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	memory, err := allocate(fd, size)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &mapped{
		memory: memory,
		path:   fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd),
		unlink: func() { unix.Close(fd) },
		unmap:  func() { _ = unix.Munmap(memory) },
	}, nil
}

func allocate(fd int, size int64) ([]byte, error) {
	if err := unix.Fallocate(fd, 0, 0, size); err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
		unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
