package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/internal/cli/print"
	"newtop/models/modelfile"
	"newtop/trainer"
	"newtop/trainer/store"
)

// Model is a trained network, and what it was trained on where that is known.
type Model struct {
	*modelfile.Model
	// Data loads the data of a recorded run, with its own splits; nil for a file.
	Data func() (*datasets.Dataset, error)
}

// OpenModel returns what a name stands for: a model's file, or a recorded run by its ID or name, whose latest
// checkpoint it is.
func OpenModel(cmd *cobra.Command, a *StoreFlags, name string) (*Model, error) {
	_, err := os.Stat(name)
	_, wrong := modelfile.Format(name)
	if !errors.Is(err, fs.ErrNotExist) || wrong == nil || strings.ContainsRune(name, filepath.Separator) {
		m, err := modelfile.Read(name)
		return &Model{Model: m}, err
	}
	r, from, err := LatestCheckpoint(cmd, a, name)
	if r == nil && err != nil {
		return nil, fmt.Errorf("no file %q, and %w", name, err)
	} else if err != nil {
		return nil, err
	}
	out := new(Model)
	out.Model, out.Data, err = trainer.Restore(r.Config, from, r.Opening)
	return out, err
}

// LatestCheckpoint returns a recorded run by its ID or name, nil where there is none, and its latest checkpoint.
func LatestCheckpoint(cmd *cobra.Command, a *StoreFlags, name string) (r *store.Run, from *trainer.Checkpoint,
	err error) {
	err = a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
		var passed error
		if r, err = Find(cmd, s, name); err != nil {
			r = nil
			return err
		}
		from, passed, err = s.Checkpoint(cmd.Context(), r.ID)
		switch {
		case err != nil:
			return err
		case from == nil:
			return fmt.Errorf("run %s: it has no checkpoint, so no weights", r.ID)
		case passed != nil:
			print.Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s; the weights are from the checkpoint before it, of epoch %d",
				print.OneLine(passed), from.Epoch))
		}
		return nil
	})
	return r, from, err
}
