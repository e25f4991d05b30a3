package cli

import "github.com/spf13/cobra"

func newServe(processes *crew) *cobra.Command {
	s := starter{crew: processes}
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
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.runServed(cmd) },
	}
	s.serve.add(cmd, serving)
	set := cmd.Flags()
	addContinue(cmd, &s.goOn)
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	wrap(set.Lookup("format"))
	s.flags.add(cmd)
	s.screen.add(cmd)
	return processes.together(cmd)
}

func (s *starter) runServed(cmd *cobra.Command) error {
	printer, c, err := s.prepare(cmd)
	if err != nil {
		return err
	}
	spectra(cmd, &c)
	if err := s.crew.join(); err != nil {
		return err
	}
	h, err := s.serve.host(cmd, &s.screen)
	if err != nil {
		return err
	}
	defer h.close()
	j, err := s.flags.begin(cmd, c, s.goOn)
	if err != nil {
		return err
	}
	j.crew = s.crew
	return j.serve(cmd, printer, h)
}
