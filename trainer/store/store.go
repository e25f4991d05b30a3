// Package store keeps runs in an SQLite database: what happened in them, and checkpoints to resume from.
//
//	             Record, Keep              one transaction             WAL, fsnotify
//	session ────────────────► queue ─────────────────────► runs.db ─────────────────► Source of a watcher,
//	           never waits    bounded   every 25 ms at most                           of any process
//
// The tables are open to anyone with SQL; docs/runs.md explains them. Any number of processes may record their runs
// in one database at the same time, and watch those of others; one process trains a run at a time.
package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"newtop/trainer/store/sqlfile"
)

// What concerns the file alone is sqlfile's.
type (
	Options       = sqlfile.Options
	FormatError   = sqlfile.FormatError
	RowError      = sqlfile.RowError
	NotFoundError = sqlfile.NotFoundError
	BusyError     = sqlfile.BusyError
	NameError     = sqlfile.NameError
	SearchError   = sqlfile.SearchError
)

// Store is an open database of runs. Its methods may be called from any goroutine.
type Store struct{ *sqlfile.File }

// Open opens or creates the database at path, as sqlfile.OpenFile does.
func Open(path string, o Options) (*Store, error) {
	f, err := sqlfile.OpenFile(path, o)
	if err != nil {
		return nil, err
	}
	return &Store{f}, nil
}

// DefaultPath returns runs.db in NEWTOP_STATE_DIR, in $XDG_STATE_HOME/newtop, or where the system has an application
// keep what it knows of a user: ~/.local/state/newtop, on macOS ~/Library/Application Support/newtop, on Windows
// %LocalAppData%\newtop.
func DefaultPath() (string, error) {
	const name = "runs.db"
	if dir := os.Getenv("NEWTOP_STATE_DIR"); dir != "" {
		return filepath.Join(dir, name), nil
	}
	dir, err := stateDir()
	if err != nil {
		return "", fmt.Errorf("no place for the run store: %w", err)
	}
	return filepath.Join(dir, "newtop", name), nil
}

func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // which is %LocalAppData%
	case "darwin":
		return os.UserConfigDir() // which is ~/Library/Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}
