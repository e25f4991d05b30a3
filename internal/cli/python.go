package cli

import (
	"io"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	module "newtop/internal/python"
)

func newPython() *cobra.Command {
	return &cobra.Command{
		Use:   "python",
		Short: "Print newtop.py, for training loops and PyTorch models",
		Long: `Print newtop.py, one file without dependencies for Python 3.8 and later. In
a training loop

  import newtop
  newtop.log(loss=loss, val_loss=val_loss)

writes a line of JSON, which newtop watch shows: from a pipe, from the file
that NEWTOP_LOG names, or from newtop.jsonl in the working directory.
newtop.watch(model) adds the norms of gradients and weights.

newtop.serve(model, loss_fn, batch) lets newtop train a PyTorch model, and
newtop.probe(model, loss_fn, batch) lets it measure the curvature while your own
loop trains; newtop.spectrum(model, loss_fn, batch) returns eigenvalues.
docs/own-model.md has examples.`,
		Example: "newtop python > newtop.py\npython3 train.py | newtop watch -\nnewtop watch newtop.jsonl\nnewtop " +
			"--model model.py\nnewtop watch -- python3 train.py",
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), module.Module())
			return err
		},
	}
}
