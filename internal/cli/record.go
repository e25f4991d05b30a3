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
		Short: "Record a session on the screen, for asciinema",
		Long: `Record the screen of newtop, or of the newtop COMMAND that follows, in the format
of asciinema: asciinema play FILE.cast plays it, agg makes a GIF of it.`,
		Example:            "newtop record demo.cast --data spirals --epochs 200\nnewtop record look.cast watch last",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				cmd.Root().SetArgs([]string{"help", cmd.Name()})
				return cmd.Root().ExecuteContext(cmd.Context())
			}
			if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
				return flags.Usagef(
					"record: expected a file for the recording first, as in newtop record demo.cast watch last")
			}
			if _, _, ok := print.Terminal(cmd); !ok {
				return flags.Usagef("record: expected a terminal: it records the screen")
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
