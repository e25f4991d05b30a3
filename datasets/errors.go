package datasets

import (
	"errors"
	"fmt"
	"strings"

	"newtop/datasets/fault"
	"newtop/internal/fields"
	"newtop/internal/format"
)

// UnknownError says that a name is neither that of a set nor that of a file. Known holds all names of sets.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown data set %q: expected one of %s, or a CSV file", e.Name, strings.Join(e.Known, ", ")) +
		format.DidYouMean(e.Name, e.Known)
}

// NotFoundError says that the files of a set are not there. For a CSV file Name is its path, or the pattern of several,
// and Files and Looked are empty.
type NotFoundError struct {
	Name     string
	Files    []string // the names of the missing files, without .gz
	Searched []string // the directories that were searched
}

func (e *NotFoundError) Error() string { return e.In(fields.Plain) }

// In is Error with what helps called by other names, as flags of a command line.
func (e *NotFoundError) In(name func(field string) string) string {
	if len(e.Files) == 0 && strings.ContainsAny(e.Name, "*?[") {
		return fmt.Sprintf("no file that %q matches", e.Name)
	}
	if len(e.Files) == 0 {
		return fmt.Sprintf("no file %q", e.Name)
	}
	return fmt.Sprintf("%s: no %s in %s; get it with: ", e.Name, strings.Join(e.Files, ", "),
		strings.Join(e.Searched, " or ")) +
		fault.Options.In("{Fetch} "+e.Name+", or say where it is with {DataDir} DIR", name)
}

// ErrGenerated is what Fetch and Verify answer for a set that is made here and has no file.
var ErrGenerated = errors.New("this set is generated: there is no file to fetch or verify")

// ErrBusy is what Fetch answers while another one, perhaps of another process, writes to the same place.
var ErrBusy = errors.New("another download into this directory is under way")

// NetworkError says that a file could not be downloaded from any of its addresses, and what to do
// instead. Err is what the last address answered.
type NetworkError struct {
	Name     string   // the set
	File     string   // the file that failed
	URLs     []string // the addresses of all files of the set that are still missing, one for each
	Dir      string   // where the files belong
	Received int64    // bytes kept for a later resume
	Err      error
}

func (e *NetworkError) Error() string { return e.In(fields.Plain) }

// In is Error with what helps called by other names, as flags of a command line.
func (e *NetworkError) In(name func(field string) string) string {
	kept := ""
	if e.Received > 0 {
		kept = fmt.Sprintf(" (%d bytes are kept, the same command resumes)", e.Received)
	}
	return fmt.Sprintf(
		"%s: can't download %s: %v%s; download %s by hand into %s, or use %s letters, which needs no file",
		e.Name, e.File, e.Err, kept, strings.Join(e.URLs, " and "), e.Dir, name("Data"))
}

func (e *NetworkError) Unwrap() error { return e.Err }

// ChecksumError says that a download is not the file it should be. What was downloaded is removed.
type ChecksumError struct {
	File, URL   string
	Sum, Wanted string // SHA-256 in hexadecimal
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s from %s has the wrong checksum and was removed: found SHA-256 %s, expected %s",
		e.File, e.URL, e.Sum, e.Wanted)
}
