// Package atomicfile writes files that are there as a whole or not at all.
package atomicfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"newtop/internal/filelock"
)

// Check returns an error unless Write could replace a file there: a directory that is not there or not to be written
// to, or something that is no regular file. It leaves nothing behind.
func Check(path string) error {
	if !replaceable(path) {
		return fmt.Errorf("%s is no regular file: expected one to replace, or none", path)
	}
	f, err := temporary(destination(path))
	if err != nil {
		return named(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replaceable reports whether there is a regular file, or nothing.
func replaceable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// Write makes path what write writes, as a whole or not at all, and returns how many bytes that are: whoever opens path
// finds the old file or the new one, even after a crash. A device or a pipe is written to as it is. The writer is
// buffered.
func Write(path string, write func(io.Writer) error) (size int64, err error) {
	if !replaceable(path) {
		return writeThrough(path, write)
	}
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
	if size, err = fill(f, write); err != nil {
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

// writeThrough writes to what is no regular file.
func writeThrough(path string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	size, err = fill(f, write)
	return size, cmp.Or(err, f.Close())
}

// fill returns how many bytes write has written to f.
func fill(f *os.File, write func(io.Writer) error) (int64, error) {
	var size counter
	buffered := bufio.NewWriterSize(io.MultiWriter(f, &size), 1<<16)
	err := cmp.Or(write(buffered), buffered.Flush())
	return int64(size), err
}

// counter counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// maxLinks bounds the symbolic links that are followed to a file that is not there.
const maxLinks = 40

// destination follows symbolic links, so that what they point to is replaced, or made, and not the link.
func destination(path string) string {
	for range maxLinks {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return to
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

// temporary creates a new file beside path, with its permissions, or without such a file with those of the user's other
// new ones.
func temporary(path string) (*os.File, error) {
	old, none := os.Stat(path)
	mode := fs.FileMode(0o666)
	if none == nil {
		mode = old.Mode().Perm()
	}
	f, err := filelock.TempFile(filepath.Dir(path), mode)
	if err == nil && none == nil {
		_ = f.Chmod(mode) // beyond the umask; some systems have no modes
	}
	return f, err
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
