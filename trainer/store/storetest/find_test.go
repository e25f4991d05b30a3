package storetest

import (
	"path/filepath"
	"testing"

	"newtop/trainer/logs/files"
	logfind "newtop/trainer/logs/find"
	"newtop/trainer/store"
	"newtop/trainer/store/sqlfile"
)

// A search for logs knows a run store, which it recognizes by a number of its own.
func TestStoreIsFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	s, err := store.Open(path, sqlfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := logfind.Dir(files.Here(dir))
	if err != nil || len(got) != 1 || got[0].Kind != "newtop" || got[0].Path != path {
		t.Errorf("%+v, %v", got, err)
	}
}
