// Package fault has the errors that readers of data return.
package fault

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"newtop/internal/fields"
)

// FormatError says that a file is not what it should be. Line counts from 1 in a text file and is 0 in a binary one,
// where Offset counts bytes from 0 (after decompression); it is Whole for the file as such. Found and Expected are
// phrases.
type FormatError struct {
	File     string
	Line     int
	Offset   int64
	Row      int    // from 1, where a table is no text; 0 where it is not known
	Column   string // the column's name, or its number from 1; empty where there is none
	Found    string
	Expected string
}

// Whole is the offset in a FormatError of what is wrong with a file as such.
const Whole = -1

// Error calls options by their fields.
func (e *FormatError) Error() string { return e.In(fields.Plain) }

// Options are the fields that texts of errors have in braces: of datasets.Options and csv.Options, and what commands
// do.
var Options = fields.Names{
	"Data": true, "DataDir": true, "Fetch": true, "Target": true, "Header": true, "Missing": true, "Decimal": true,
	"Thousands": true, "Drop": true, "Keep": true,
}

// In is Error with options called by other names, as flags of a command line.
func (e *FormatError) In(name func(field string) string) string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Row > 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
	} else if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	} else if e.Offset != Whole {
		fmt.Fprintf(&b, ": offset %d", e.Offset)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %q", e.Column)
	}
	fmt.Fprintf(&b, ": found %s, expected %s", e.Found, Options.In(e.Expected, name))
	return b.String()
}

// OptionError says that an option has a value that is not allowed or does not fit the set.
type OptionError struct {
	Field    string // of Options, in lower case: "test", "target", "rows", "noise"
	Value    string
	Expected string
}

// Error calls options by their fields.
func (e *OptionError) Error() string { return e.In(fields.Plain) }

// In is Error with the options in Expected called by other names, as flags of a command line.
func (e *OptionError) In(name func(field string) string) string {
	return fmt.Sprintf("%s %q: expected %s", e.Field, e.Value, Options.In(e.Expected, name))
}

// Torn tells a file that ends too early or does not unpack from one that can't be read.
func Torn(file string, offset int64, expected string, err error) error {
	e := &FormatError{File: file, Offset: offset, Expected: expected}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Found = "the end of the file"
	case IsPathError(err):
		return err
	default:
		e.Found = fmt.Sprintf("damaged data (%v)", err)
	}
	return e
}

// IsPathError reports whether the file system refused.
func IsPathError(err error) bool {
	_, ok := errors.AsType[*os.PathError](err)
	return ok
}

// Quote shows what was found in a file, shortened so that an error stays one line.
func Quote(s string) string {
	const maxRunes = 40
	if r := []rune(s); len(r) > maxRunes {
		s = string(r[:maxRunes]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Changed says that a file was not the same when it was read again.
func Changed(file string) error { return fmt.Errorf("%s: it was changed while it was read", file) }
