package sqlfile

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqlError says in words what SQLite's error means to the owner of a file.
type sqlError struct {
	err    *sqlite.Error
	holder string // of the lock that is waited for; empty: not known
}

func (e *sqlError) Unwrap() error { return e.err }

func (e *sqlError) Error() string {
	switch CodeOf(e.err) {
	case sqlite3.SQLITE_FULL:
		return "the disk is full"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return cmp.Or(e.holder, "another program") + " has locked the file"
	case sqlite3.SQLITE_READONLY:
		return "the file can't be written"
	case sqlite3.SQLITE_CANTOPEN:
		if crowded() {
			return "too many files are open (ulimit -n)"
		}
		return "the file can't be opened, or its directory not written"
	case sqlite3.SQLITE_CORRUPT:
		return "the file is damaged: newtop runs salvage -o NEW.db writes what can be read into a new one"
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Sprintf("a row of more than %d MB: newtop runs salvage -o NEW.db leaves it out", MaxRow>>20)
	case sqlite3.SQLITE_NOTADB:
		return "the file is no SQLite database"
	case sqlite3.SQLITE_NOMEM:
		return "there is no memory left"
	case sqlite3.SQLITE_IOERR:
		return failedIO(e.err.Code())
	}
	return strings.ReplaceAll(e.err.Error(), "\n", " ")
}

// filesOfStore is how many files are open while a store is opened: the database, those beside it, and its directory.
const filesOfStore = 8

// crowded reports whether that many files are open that a store's can't be as well. Some of them are closed again once
// opening has failed.
func crowded() bool {
	for range filesOfStore {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return true
		}
		defer f.Close()
	}
	return false
}

// failedIO says which call of the system's failed.
func failedIO(code int) string {
	switch code {
	case sqlite3.SQLITE_IOERR_WRITE:
		if limit := sizeLimit(); limit != "" {
			return "the file may not grow beyond " + limit + " (ulimit -f)"
		}
		return "the disk can't be written"
	case sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_FSTAT:
		return "the disk can't be read"
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE,
		sqlite3.SQLITE_IOERR_CLOSE:
		return "the disk does not take what was written"
	case sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_UNLOCK, sqlite3.SQLITE_IOERR_RDLOCK,
		sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK:
		return "the file can't be locked: expected a file system with locks"
	case sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMLOCK,
		sqlite3.SQLITE_IOERR_SHMMAP:
		return "the file beside it whose name ends in -shm can't be used"
	case sqlite3.SQLITE_IOERR_NOMEM:
		return "there is no memory left"
	}
	return fmt.Sprintf("the disk gave an error (SQLite's %d)", code)
}
