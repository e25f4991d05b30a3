package runs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

// A file that can't be written whole is not left behind.
func TestExportThatFails(t *testing.T) {
	x := exporter{file: filepath.Join(t.TempDir(), "run.csv")}
	wrong := errors.New("out of ink")
	err := x.output(&cobra.Command{}, func(w io.Writer) error {
		io.WriteString(w, "half")
		return wrong
	})
	if _, gone := os.Stat(x.file); !errors.Is(err, wrong) || gone == nil {
		t.Errorf("%v, and the file is there: %v", err, gone == nil)
	}
}

// TestDiscard removes a file that was begun, and nothing that was not made here.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	begun, err := os.Create(filepath.Join(dir, "begun"))
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Skip(err)
	}
	device, err := os.Create(link)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	discard(begun)
	discard(device)
	if _, err := os.Lstat(begun.Name()); err == nil {
		t.Error("a file that was not written whole is still there")
	}
	if _, err := os.Lstat(link); err != nil {
		t.Error("what leads to a device was removed")
	}
}
