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
