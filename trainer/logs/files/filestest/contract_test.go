package filestest

import (
	"os"
	"path/filepath"
	"testing"

	"newtop/trainer/logs/files"
)

// disk writes below a directory.
type disk struct {
	t   *testing.T
	dir string
}

func (d disk) Write(name, text string)  { d.put(name, text, os.O_TRUNC) }
func (d disk) Append(name, text string) { d.put(name, text, os.O_APPEND) }

func (d disk) put(name, text string, how int) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|how, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		d.t.Fatal(err)
	}
}

func (d disk) Remove(name string) {
	if err := os.RemoveAll(filepath.Join(d.dir, name)); err != nil {
		d.t.Fatal(err)
	}
}

func TestContract(t *testing.T) {
	dir := t.TempDir()
	Contract(t, files.Here(dir), disk{t, dir})
	var m Memory
	Contract(t, m.Path("."), &m)
}
