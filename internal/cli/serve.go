package cli

import (
	"errors"
	"io/fs"
	"reflect"

	"newtop/trainer"
	"newtop/trainer/store"

	"github.com/spf13/cobra"
)

// server trains and serves the screen over SSH.
type server struct {
	flags  runFlags
	serve  serveFlags
	screen screenFlags
	format string
	goOn   bool
}

func newServe() *cobra.Command {
	var s server
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
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.serve.add(cmd, "127.0.0.1:2222")
	set := cmd.Flags()
	set.BoolVar(&s.goOn, "continue", false, "go on with the recorded run of this --name where it was cut short; begin it if there is none")
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	for _, name := range []string{"continue", "format"} {
		wrap(set.Lookup(name))
	}
	s.flags.add(cmd)
	s.screen.add(cmd)
	return cmd
}

func (s *server) run(cmd *cobra.Command) error {
	cmd.SetErr(oneAtATime(cmd.ErrOrStderr()))
	printer, err := newRecorder(s.format, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	// Also those of --config are flags, so that it is read before any is looked at.
	c, err := s.flags.config(cmd)
	if err != nil {
		return err
	}
	spectra(cmd, &c)
	h, err := s.serve.host(cmd, &s.screen)
	if err != nil {
		return err
	}
	defer h.close()
	j, err := s.job(cmd, c)
	if err != nil {
		return err
	}
	return j.serve(cmd, printer, h)
}

// job returns the run that the flags ask for: a new one, or with --continue the rest of the one that has its name.
func (s *server) job(cmd *cobra.Command, c trainer.Config) (*job, error) {
	if s.goOn {
		if s.flags.name == "" || s.flags.record == unrecorded {
			return nil, &trainer.ConfigError{Flag: "--continue", Value: "true", Expected: "a recorded run, and --name NAME to find it by"}
		}
		j, err := s.rest(cmd, c)
		if j != nil || err != nil {
			return j, err
		}
	}
	r, err := s.flags.keep(cmd, c)
	if err != nil {
		return nil, err
	}
	return &job{config: c, record: r}, nil
}

// rest returns what is left of the run of the name; nil if there is none.
func (s *server) rest(cmd *cobra.Command, c trainer.Config) (*job, error) {
	r := resumer{archive: archive{s.flags.record}, limits: c}
	if cmd.Flags().Changed("memory") {
		r.memory = s.flags.memory
	}
	var run *store.Run
	err := r.archive.with(store.Options{ReadOnly: true}, func(st *store.Store) (err error) {
		run, err = st.Find(cmd.Context(), s.flags.name)
		return err
	})
	var (
		none  *store.NotFoundError
		empty *emptyError
	)
	switch {
	case errors.As(err, &none), errors.As(err, &empty), errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case run.Name != s.flags.name: // it is another's ID that this is the beginning or the end of
		return nil, nil
	case !sameProblem(run.Config, absolute(c)):
		return nil, &otherFlagsError{run: run.Name, command: run.Command}
	}
	return r.job(cmd, run.ID)
}

// otherFlagsError says that a run was begun with other flags than those it is to go on with.
type otherFlagsError struct{ run, command string }

func (e *otherFlagsError) Error() string {
	return "run " + e.run + " was begun with other flags: expected another --name, or those of " + e.command
}

// sameProblem reports whether two runs differ in nothing but their limits and what a resume may change.
func sameProblem(a, b trainer.Config) bool {
	for _, c := range []*trainer.Config{&a, &b} {
		c.Epochs, c.TimeLimit, c.TargetLoss, c.TargetError = 0, 0, 0, 0
		c.Threads, c.Memory, c.Save = 0, 0, ""
		if len(c.Set) == 0 {
			c.Set = nil
		}
	}
	return reflect.DeepEqual(a, b)
}
