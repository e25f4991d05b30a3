//go:build unix && !linux

package peer

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"newtop/internal/filelock"
)

// newMapped makes a file in a directory, or in a private one if that is "". Zeros are written to it, so that a full
// disk shows here and not when a page is used.
func newMapped(size int64, dir string) (*mapped, error) {
	remove := func() {}
	if dir == "" {
		private, err := filelock.TempDir("")
		if err != nil {
			return nil, err
		}
		dir, remove = private, func() { filelock.RemoveDir(private) }
	}
	f, err := os.CreateTemp(dir, "map-")
	if err != nil {
		remove()
		return nil, err
	}
	defer f.Close()
	unlink := func() {
		os.Remove(f.Name())
		remove()
	}
	if _, err := io.CopyN(f, zeros{}, size); err != nil {
		unlink()
		return nil, err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unlink()
		return nil, err
	}
	return &mapped{memory: memory, path: f.Name(), unlink: unlink, unmap: func() { _ = unix.Munmap(memory) }}, nil
}

// zeros is read as zeros without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
