package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"newtop/internal/kernel"

	"github.com/spf13/cobra"
)

// Version returns the module's version, or the commit it was built from, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go release, the platform and its kernel",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "newtop %s %s %s/%s %s\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Selected())
			return err
		},
	}
}
