package sqlfile

import (
	"errors"
	"fmt"
	"strings"

	"newtop/internal/fields"
)

// FormatError says why a file is no run store.
type FormatError struct{ File, Found, Expected string }

func (e *FormatError) Error() string { return e.File + ": " + e.Found + ": expected " + e.Expected }

// RowError says which row of a database is not what a recorder writes.
type RowError struct {
	File, Table string
	Run         string // its ID, or its number where that is what is wrong
	Seq         int64  // the event's number; 0: none
	Err         error
}

func (e *RowError) Unwrap() error { return e.Err }

func (e *RowError) Error() string {
	where := e.Table + " of run " + e.Run
	if e.Seq != 0 {
		where += fmt.Sprintf(", event %d", e.Seq)
	}
	return fmt.Sprintf("%s: %s: %v", e.File, where, strings.ReplaceAll(e.Err.Error(), "\n", " "))
}

// NotFoundError says that a name stands for no run, or for several.
type NotFoundError struct {
	Name  string
	Near  []string // runs that it could mean
	Meant string   // names of runs that were probably meant, as format.DidYouMean says it
}

func (e *NotFoundError) Error() string {
	switch {
	case len(e.Near) > 0:
		return fmt.Sprintf("run %s: expected one of %s", e.Name, strings.Join(e.Near, ", "))
	case e.Name == "last":
		return "run last: there are no runs yet"
	}
	return fmt.Sprintf("run %s: expected the ID or name of a run, a unique beginning or end of one, or last", e.Name) +
		e.Meant
}

// BusyError says that another process is training the run.
type BusyError struct {
	Run, Owner string
	Sure       bool // the process was looked at, on this machine; of another one a sign of life is not old
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("run %s: %s is training it: expected a run that no process records", e.Run, e.Owner)
}

// NameError says why a run can't have a name.
type NameError struct{ Name, Expected string }

func (e *NameError) Error() string {
	return fmt.Sprintf("name %q: expected %s", e.Name, e.Expected)
}

// SearchError says that a name is that of no search, or that a search can't be taken or have it.
type SearchError struct {
	Name, Found, Expected string
	Busy                  bool // a living process has it
}

// Error calls fields by their names.
func (e *SearchError) Error() string { return e.In(fields.Plain) }

// searchFields are those of a tune.Config that Expected may have in braces, and what names the database.
var searchFields = fields.Names{"Name": true, "Record": true, "Budget": true, "MaxWork": true, "Trials": true}

// In is Error with fields called by other names, as flags of a command line.
func (e *SearchError) In(name func(field string) string) string {
	return fmt.Sprintf("search %s: %s: expected %s", e.Name, e.Found, searchFields.In(e.Expected, name))
}

// Is reports whether an error is or wraps one of a type.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
