// Package train has the commands that train, continue with a run, and watch one.
package train

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/cli/tune"
	"newtop/trainer"
	"newtop/trainer/event"
)

// starter begins a run without a screen in this terminal, or continues with it, and may serve it.
type starter struct {
	flags  flags.Run
	serve  job.ServeFlags
	screen flags.Screen
	format string
	goOn   bool
	serves bool // whatever the flags say
	group  *launch.Group
}

// NewTrain returns newtop train.
func NewTrain(processes *launch.Group) *cobra.Command {
	s := starter{group: processes}
	cmd := &cobra.Command{
		Use:   "train [flags]",
		Short: "Train without a screen, as text or JSON lines",
		Long: `Train without a screen in this terminal, and print the epochs.

With --name and --continue the same command starts a run, resumes it after any
interruption, and does nothing once it is done. Under mpirun or srun all
processes train one run together, each a part of the sums, if newtop version
shows MPI. --serve shows the run over SSH.

Exit codes: 0 done, 1 failed, 3 diverged, 4 a process stopped answering,
5 trained but not recorded, 64 wrong usage, 70 a bug, 130 interrupted, also by
USR1, with a checkpoint to resume from. A crash has 2.`,
		Example: `newtop train --data letters --opt tr-gn --epochs 40
newtop train --opt adam --set rate=0.003 --format jsonl > run.jsonl
newtop train --name nightly --continue --epochs 5000
mpirun -np 4 newtop train --data mnist --opt tr-newton
newtop train --epochs 5000 --serve 127.0.0.1:2222`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.flags.Add(cmd)
	set := cmd.Flags()
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	flags.Choices(cmd, "format", "text", "jsonl")
	flags.Under(flags.Output, set, "format")
	job.AddContinue(cmd, &s.goOn)
	s.serve.Add(cmd, job.Training)
	s.screen.Add(cmd)
	return processes.Trains(cmd)
}

func (s *starter) run(cmd *cobra.Command) error {
	printer, c, err := s.prepare(cmd)
	if err != nil {
		return err
	}
	served := s.serves
	if folds(&c) {
		return s.folds(cmd, c)
	}
	if served {
		defaultSpectra(cmd, &s.flags, &c)
	} else if served, err = s.serve.Wanted(cmd); err != nil {
		return err
	}
	if err := s.group.Join(); err != nil {
		return err
	}
	var h *job.Host
	if served {
		if h, err = s.serve.Host(cmd, &s.screen); err != nil {
			return err
		}
		defer h.Close()
	}
	j, err := s.job(cmd, c)
	switch {
	case j == nil || err != nil:
		return err
	case h == nil:
		return j.Train(cmd, printer)
	}
	return j.Serve(cmd, printer, h)
}

// folds trains all folds, in this process alone.
func (s *starter) folds(cmd *cobra.Command, c trainer.Config) error {
	served, err := s.serve.Wanted(cmd)
	switch {
	case err != nil:
		return err
	case s.serves || served:
		return flags.Invalid("--set folds", c.Folds, "--set fold=N beside it where the run is served")
	case s.goOn:
		return flags.Invalid("--continue", true, "it with --set fold=N; newtop tune --resume NAME continues folds")
	case !s.group.Single():
		return flags.Invalid("--set folds", c.Folds, "--set fold=N beside it where several processes train")
	}
	return tune.Folds(cmd, &s.flags, c, s.format, nil)
}

// prepare returns what prints the run, and what is to be trained. Also those of --config are flags, so that it comes
// before any other is looked at.
func (s *starter) prepare(cmd *cobra.Command) (trainer.Recorder, trainer.Config, error) {
	printer, err := print.NewRecorder(s.format, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return nil, trainer.Config{}, err
	}
	c, err := s.flags.Parse(cmd)
	return printer, c, err
}

// job returns what is to be trained; nil where --continue of newtop train finds that nothing is, so that a line that is
// repeated until it succeeds comes to an end.
func (s *starter) job(cmd *cobra.Command, c trainer.Config) (*job.Job, error) {
	j, err := job.Start(&s.flags, cmd, c, s.goOn)
	over, ok := errors.AsType[*job.FinishedError](err)
	switch {
	case ok && s.goOn && !s.serves && over.Reason == event.ReasonDiverged:
		return nil, &print.ExitError{Code: print.ExitDiverged, Err: err}
	case ok && s.goOn && !s.serves:
		fmt.Fprintf(cmd.ErrOrStderr(), "run %s %s: nothing is left to do\n", over.Run, over.What)
		return nil, nil
	case err != nil:
		return nil, err
	}
	j.Group = s.group
	return j, nil
}
