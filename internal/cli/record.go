package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

// newRecord makes a film of another command's screen.
func newRecord() *cobra.Command {
	return &cobra.Command{
		Use:   "record FILE.cast [COMMAND ...]",
		Short: "Film a session on the screen, for asciinema",
		Long: `Film what newtop shows on the screen, of training as newtop without a command
does or of the command that follows, in the format of asciinema: asciinema play
FILE.cast shows it again, agg makes a GIF of it.`,
		Example:            "newtop record demo.cast --data spirals --epochs 200\nnewtop record look.cast watch last",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				cmd.Root().SetArgs([]string{"help", cmd.Name()})
				return cmd.Root().ExecuteContext(cmd.Context())
			}
			if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
				return flags.Usagef(
					"record: expected a file for the film first, as in newtop record demo.cast watch last")
			}
			if _, _, ok := print.Terminal(cmd); !ok {
				return flags.Usagef("record: expected a terminal: it films the screen")
			}
			root := cmd.Root()
			rest := args[1:]
			end := slices.Index(rest, "--")
			if end < 0 {
				end = len(rest)
			}
			root.SetArgs(slices.Insert(slices.Clone(rest), end, "--cast", args[0]))
			return root.ExecuteContext(cmd.Context())
		},
	}
}
