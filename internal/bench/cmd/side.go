package main

import (
	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/models"
)

const sideDescription = `Be newtop's side of .ci/peers: read the problem in a folder, and do what standard
input asks for line by line: list, out WORK FILE, run WORK SECONDS or peak.`

func newBenchSide() *cobra.Command {
	var f benchFlags
	var precision string
	cmd := &cobra.Command{
		Use:   "side DIR",
		Short: "Be newtop's side of .ci/peers",
		Long:  sideDescription,
		Args:  flags.OneArgument("the folder of a problem"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := models.ParsePrecision(precision)
			if err != nil {
				return flags.Invalid("--precision", precision, "float64 or float32")
			}
			p, err := bench.ReadProblem(args[0], in)
			if err != nil {
				return err
			}
			return p.Answer(cmd.Context(), f.threads, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&precision, "precision", "float64", "float64 or float32")
	cmd.Flags().IntVar(&f.threads, "threads", 0, "threads; 0: all cores")
	return cmd
}
