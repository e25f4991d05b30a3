package train

import (
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
)

// NewServe returns newtop serve.
func NewServe(processes *launch.Group) *cobra.Command {
	s := starter{group: processes, serves: true}
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Train, and serve the screen over SSH",
		Long: `Train as newtop train does, and serve the screen to any SSH client. The run
does not depend on anyone who looks: they come and go.

Only public keys are let in: those of --authorized-keys look, those of
--control also steer. ssh HOST status prints one line and ends. After its end
the run is served until ctrl+c, or as long as --linger says.`,
		Example: `newtop serve --data letter --control ~/.ssh/id_ed25519.pub
newtop serve --listen :2222 --authorized-keys keys --control mine.pub
newtop serve --name nightly --continue --linger 10m
ssh -p 2222 localhost
ssh -p 2222 localhost status --json`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.serve.Add(cmd, job.Serving)
	set := cmd.Flags()
	job.AddContinue(cmd, &s.goOn)
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	flags.Choices(cmd, "format", "text", "jsonl")
	flags.Under(flags.Output, set, "format")
	s.flags.Add(cmd)
	s.screen.Add(cmd)
	return processes.Trains(cmd)
}
