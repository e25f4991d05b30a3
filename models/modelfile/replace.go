package modelfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Writable returns an error unless Write could write a file there: an unknown extension, a directory that is not
// there or not to be written to. It leaves nothing behind.
func Writable(path string) error {
	if _, err := Format(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: expected one to replace, or none", path)
	}
	f, err := temporary(destination(path))
	if err != nil {
		return named(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replace makes path what write writes, as a whole or not at all, and returns how many bytes that are: whoever opens
// path finds the old file or the new one, even after a crash.
func replace(path string, write func(io.Writer) error) (size int64, err error) {
	to := destination(path)
	f, err := temporary(to)
	if err != nil {
		return 0, named(path, err)
	}
	defer func() {
		if err != nil {
			f.Close() // a second time where it was closed, which does nothing
			os.Remove(f.Name())
			err = named(path, err)
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err := write(buffered); err != nil {
		return 0, err
	}
	if err := buffered.Flush(); err != nil {
		return 0, err
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), to); err != nil {
		return 0, err
	}
	if dir, err := os.Open(filepath.Dir(to)); err == nil {
		_ = dir.Sync() // the file is there; some systems can't sync directories
		dir.Close()
	}
	return size, nil
}

// destination follows a symbolic link, so that what it points to is replaced and not the link.
func destination(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// temporary creates a new file beside path, with the permissions that the user's other new files have.
func temporary(path string) (*os.File, error) {
	var tail [6]byte
	rand.Read(tail[:])
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".newtop-%x.tmp", tail))
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// named returns an error of the file system as one of path: the temporary file's name would tell the user nothing.
func named(path string, err error) error {
	cause := err
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		cause = wrong.Err
	} else if wrong, ok := errors.AsType[*os.LinkError](err); ok {
		cause = wrong.Err
	} else {
		return err
	}
	return &fs.PathError{Op: "write", Path: path, Err: cause}
}
