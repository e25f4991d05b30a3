package cli

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"newtop/trainer"
	"newtop/trainer/event"
)

// starter begins a run without a screen in this terminal, or goes on with it, and may serve it.
type starter struct {
	flags  Run
	serve  ServeFlags
	screen Screen
	format string
	goOn   bool
	group  *Group
}

func newTrain(processes *Group) *cobra.Command {
	s := starter{group: processes}
	cmd := &cobra.Command{
		Use:   "train [flags]",
		Short: "Train without a screen, as text or JSON lines",
		Long: `Train without a screen in this terminal, and print the epochs.

With --name and --continue the same line begins a run, goes on with it after
whatever ended it, and does nothing once it is done. Under mpirun or srun all
processes train one run together, each on its own rows: newtop version says
whether this program can. --serve lets people look over SSH meanwhile.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 diverged, 4 nothing was heard
of a process, 130 interrupted, by USR1 too, with a checkpoint to go on from.`,
		Example: `newtop train --data letters --opt tr-gn --epochs 40
newtop train --opt adam --set rate=0.003 --format jsonl > run.jsonl
newtop train --name nightly --continue --epochs 5000
mpirun -np 4 newtop train --data mnist --opt tr-newton
newtop train --epochs 5000 --serve 127.0.0.1:2222`,
		Args: NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.flags.Add(cmd)
	set := cmd.Flags()
	set.StringVar(&s.format, "format", "text", "text, or jsonl: one JSON event a line")
	AddContinue(cmd, &s.goOn)
	s.serve.Add(cmd, training)
	s.screen.Add(cmd)
	return processes.Trains(cmd)
}

func (s *starter) run(cmd *cobra.Command) error {
	printer, c, err := s.prepare(cmd)
	if err != nil {
		return err
	}
	served, err := s.serve.Wanted(cmd)
	if err != nil {
		return err
	}
	if err := s.group.Join(); err != nil {
		return err
	}
	var h *Host
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

// prepare returns what prints the run, and what is to be trained. Also those of --config are flags, so that it comes before
// any other is looked at.
func (s *starter) prepare(cmd *cobra.Command) (trainer.Recorder, trainer.Config, error) {
	cmd.SetErr(OneAtATime(cmd.ErrOrStderr()))
	printer, err := NewRecorder(s.format, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return nil, trainer.Config{}, err
	}
	c, err := s.flags.Parse(cmd)
	return printer, c, err
}

// job returns what is to be trained; nil where --continue finds that nothing is, so that a line that is repeated until
// it succeeds comes to an end.
func (s *starter) job(cmd *cobra.Command, c trainer.Config) (*Job, error) {
	j, err := Begin(&s.flags, cmd, c, s.goOn)
	var over *FinishedError
	switch {
	case s.goOn && errors.As(err, &over) && over.Reason == event.ReasonDiverged:
		return nil, &ExitError{ExitDiverged, err}
	case s.goOn && errors.As(err, &over):
		fmt.Fprintf(cmd.ErrOrStderr(), "run %s %s: nothing is left to do\n", over.Run, over.What)
		return nil, nil
	case err != nil:
		return nil, err
	}
	j.group = s.group
	return j, nil
}

// NewRecorder returns what prints a run in the given format.
func NewRecorder(format string, out, messages io.Writer) (trainer.Recorder, error) {
	switch format {
	case "text":
		return &TextRecorder{out: out, messages: messages}, nil
	case "jsonl":
		return trainer.NewJSONLines(out), nil
	}
	return nil, &trainer.ConfigError{Field: "--format", Value: format, Expected: "text or jsonl"}
}

// Outcome says in one line how a run went.
func Outcome(run *event.RunEvent, done *event.DoneEvent, optimizer string) string {
	epochs := "epochs"
	if done.Epochs == 1 {
		epochs = "epoch"
	}
	reason := string(done.Reason)
	if done.Reason == event.ReasonStalled {
		reason += ": " + done.Message
	}
	text := fmt.Sprintf("%s: %s, %d %s in %s (%s)", run.Data.Name, optimizer, done.Epochs, epochs, seconds(float64(done.Elapsed)), reason)
	switch {
	case run.Data.Classes > 0 && run.Data.TestRows > 0:
		text += fmt.Sprintf(", test error %s, best %s in epoch %d", Percent(done.TestError), Percent(done.BestTestError), done.BestEpoch)
	case run.Data.TestRows > 0:
		text += fmt.Sprintf(", test RMSE %s, best %s in epoch %d", Number(done.TestRMSE, 4), Number(done.BestTestRMSE, 4), done.BestEpoch)
	default:
		text += ", loss " + Number(done.Loss, 4)
	}
	return text
}

// Percent writes a fraction as a percentage, and a missing one as a dot.
func Percent(f event.Float) string {
	if math.IsNaN(float64(f)) {
		return "."
	}
	return fmt.Sprintf("%.2f %%", 100*float64(f))
}
