package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"newtop/internal/filelock"
)

// local is the file system of this machine.
type local struct{}

func (local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

func (local) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // and no *os.File that is nil
	}
	return f, nil
}

func (local) List(name string, most int) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

func (local) Same(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

func (local) Local(name string) string {
	if absolute, err := filepath.Abs(name); err == nil {
		return absolute
	}
	return name
}

// Copy copies files into a new directory of this machine, each by the last part of its name; those that are not there
// are left out. The directory is to be removed by done.
func Copy(of ...Path) (dir string, done func(), err error) {
	if dir, err = filelock.TempDir(""); err != nil {
		return "", nil, err
	}
	for _, p := range of {
		if err = copyTo(filepath.Join(dir, p.Base()), p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			filelock.RemoveDir(dir)
			return "", nil, err
		}
	}
	return dir, func() { filelock.RemoveDir(dir) }, nil
}

func copyTo(name string, p Path) error {
	from, err := p.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
