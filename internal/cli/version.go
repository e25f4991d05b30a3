package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/kernel"
	"newtop/internal/licenses"
	"newtop/internal/version"
	"newtop/trainer/mpi"
)

func newVersion() *cobra.Command {
	notices := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the platform, its kernel and MPI",
		Args:  flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if notices {
				_, err := io.WriteString(cmd.OutOrStdout(), licenses.Text())
				return err
			}
			with := "without MPI"
			if mpi.Built() {
				with = "with " + mpi.Library()
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "newtop %s %s %s/%s %s, %s\n", version.Program(),
				runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Selected(), with)
			return err
		},
	}
	cmd.Flags().BoolVar(&notices, "licenses", false, "print the licences of all that is in the program instead")
	return cmd
}
