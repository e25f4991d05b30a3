package cli

import (
	"fmt"
	"runtime"

	"newtop/internal/kernel"
	"newtop/internal/version"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go release, the platform and its kernel",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "newtop %s %s %s/%s %s\n", version.Program(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Selected())
			return err
		},
	}
}
