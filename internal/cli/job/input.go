package job

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/filelock"
	"newtop/trainer"
	"newtop/trainer/store"
)

// StandardInput is the name of data that come by standard input.
const StandardInput = "-"

// KeepInput has a run whose data are standard input read them from a file beside the run store: they are read more than
// once, and again when the run is resumed. The same data make the same file.
func KeepInput(cmd *cobra.Command, c *trainer.Config) error {
	if c.Data != StandardInput {
		return nil
	}
	usual, err := store.DefaultPath()
	if err != nil {
		return err
	}
	if c.Data, err = SaveInput(cmd, filepath.Join(filepath.Dir(usual), "data")); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "standard input is kept for newtop resume: %s\n", print.Printable(c.Data))
	return nil
}

// SaveInput writes standard input to a file in a directory, named after its content, and returns the path.
func SaveInput(cmd *cobra.Command, dir string) (path string, err error) {
	in := cmd.InOrStdin()
	if f, ok := in.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return "", flags.Usagef("%s: standard input is the terminal: expected the rows of a CSV file from a pipe",
			cmd.CommandPath())
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file, err := filelock.TempFile(dir, 0o600)
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) // unless it is renamed
	defer file.Close()
	sum := sha256.New()
	size, err := launch.Until(cmd.Context(), func() (int64, error) { return io.Copy(io.MultiWriter(file, sum), in) })
	switch {
	case err != nil:
		return "", err
	case size == 0:
		return "", errors.New("standard input: nothing came: expected the rows of a CSV file")
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "stdin-"+hex.EncodeToString(sum.Sum(nil)[:6])+".csv")
	return path, os.Rename(file.Name(), path)
}
