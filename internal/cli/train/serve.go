package train

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
)

// NewServe returns newtop serve.
func NewServe(processes *launch.Group) *cobra.Command {
	s := starter{group: processes, serves: true}
	var watched string
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Train, and serve the screen over SSH",
		Long: `Train as newtop train does, and serve the screen to any SSH client. The run
does not depend on its viewers.

Only public keys are accepted: those of --authorized-keys may watch, those of
--control may also control the run. ssh HOST status prints one line and ends.
After its end the run is served until ctrl+c, or for --linger.

With --watch newtop does not train: it serves what another program writes, in any
format that newtop watch shows.`,
		Example: `newtop serve --data letter --control ~/.ssh/id_ed25519.pub
newtop serve --listen :2222 --authorized-keys keys --control mine.pub
newtop serve --name nightly --continue --linger 10m
newtop serve --watch runs/ --authorized-keys keys
ssh -p 2222 localhost
ssh -p 2222 localhost status --json`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watched != "" {
				return s.watch(cmd, watched)
			}
			return s.run(cmd)
		},
	}
	s.serve.Add(cmd, job.Serving)
	set := cmd.Flags()
	job.AddContinue(cmd, &s.goOn)
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	flags.Choices(cmd, "format", "text", "jsonl")
	set.StringVar(&watched, "watch", "",
		"do not train, and serve the log at this `PATH`, or a recorded run, as newtop watch shows it")
	flags.Under(flags.Output, set, "format", "watch")
	s.flags.Add(cmd)
	s.screen.Add(cmd)
	return processes.Trains(cmd)
}

// watch serves what another program writes.
func (s *starter) watch(cmd *cobra.Command, name string) (err error) {
	var remote job.Remote
	defer remote.Close()
	if failed, _, err := remote.Connect(cmd.Context(), []string{name}); err != nil || len(failed) > 0 {
		return errors.Join(append(failed, err)...)
	}
	source, closed, err := job.OpenSource(cmd, job.StoreFlags{File: s.flags.Store}, &remote, name, "")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closed()) }()
	h, err := s.serve.Host(cmd, &s.screen)
	if err != nil {
		return cmp.Or(err, source.Close())
	}
	defer h.Close()
	return h.Watch(cmd, source)
}
