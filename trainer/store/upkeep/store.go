package upkeep

import (
	"context"
	"os"

	"newtop/trainer/store"
	"newtop/trainer/store/sqlfile"
)

// Merge copies what the database at path has and s has not: runs with their events and checkpoints, searches with their
// trials. All of it is copied or, where it returns an error, nothing; the source is only read. Runs and searches are
// the same where their IDs are: one that has gone further in the source takes the place of the one here and keeps the
// name that it has here. A name that another one has here gets a number behind it. It returns a *FormatError or
// *RowError for a source that is damaged or no run store, a *BusyError or *SearchError where a process writes to it,
// and a *ConflictError.
func Merge(ctx context.Context, s *store.Store, path string) (Merged, error) {
	if s.ReadOnly {
		panic("store: Merge into a store that is open for reading")
	}
	if info, err := os.Stat(path); err == nil && os.SameFile(info, s.Info) { // which SQLite must not open by two names
		return Merged{}, &sqlfile.FormatError{File: path, Found: "the run store that is merged into",
			Expected: "another one"}
	}
	source, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return Merged{}, err
	}
	defer source.Close()
	if source.Empty {
		return Merged{}, nil
	}
	m := merge{store: s, source: source, ids: map[string]string{}}
	if err := sqlfile.RetryBusy(func() error { return m.attempt(ctx) }); err != nil {
		return Merged{}, err
	}
	return m.Merged, nil
}
