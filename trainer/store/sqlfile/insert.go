package sqlfile

import (
	"encoding/json"
	"errors"

	sqlite3 "modernc.org/sqlite/lib"
)

// Permanent reports whether trying again is of no use: the rows contradict what is there.
func Permanent(err error) bool {
	switch CodeOf(err) {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE:
		return true
	}
	return Unencodable(err)
}

// Unencodable reports whether an event can't be written as JSON, which is no fault of the disk's.
func Unencodable(err error) bool {
	var value *json.UnsupportedValueError
	var kind *json.UnsupportedTypeError
	return errors.As(err, &value) || errors.As(err, &kind)
}
