package sqlfile

import (
	"errors"
	"io/fs"
	"os"
)

// same returns an error unless the file is the one that was opened: SQLite writes on to one that was removed or
// replaced, for nobody to find.
func (s *File) Same() error {
	info, err := os.Stat(s.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(s.Path() + ": the file is gone")
	case err != nil:
		return err
	case !os.SameFile(info, s.Info):
		return &FormatError{File: s.Path(), Found: "another file than when the run began",
			Expected: "it to be moved back"}
	}
	return nil
}
