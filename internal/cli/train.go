package cli

import (
	"fmt"
	"io"
	"math"

	"newtop/trainer"

	"github.com/spf13/cobra"
)

func newTrain() *cobra.Command {
	var flags runFlags
	var format string
	cmd := &cobra.Command{
		Use:     "train [flags]",
		Short:   "Train without a screen, as text or JSON lines",
		Example: "newtop train --data letters --opt tr-gn --epochs 40\nnewtop train --opt adam --set rate=0.003 --format jsonl > run.jsonl",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			printer, err := newRecorder(format, cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			j, err := flags.job(cmd, nil)
			if err != nil {
				return err
			}
			return j.train(cmd, printer)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text, or jsonl: one JSON event a line")
	return cmd
}

// newRecorder returns what prints a run in the given format.
func newRecorder(format string, out, messages io.Writer) (trainer.Recorder, error) {
	switch format {
	case "text":
		return &textRecorder{out: out, messages: messages}, nil
	case "jsonl":
		return trainer.NewJSONLines(out), nil
	}
	return nil, &trainer.ConfigError{Flag: "--format", Value: format, Expected: "text or jsonl"}
}

// summary says in one line how a run went.
func summary(run *trainer.RunEvent, done *trainer.DoneEvent, optimizer string) string {
	epochs := "epochs"
	if done.Epochs == 1 {
		epochs = "epoch"
	}
	reason := string(done.Reason)
	if done.Reason == trainer.ReasonStalled {
		reason += ": " + done.Message
	}
	text := fmt.Sprintf("%s: %s, %d %s in %s (%s)", run.Data.Name, optimizer, done.Epochs, epochs, seconds(float64(done.Elapsed)), reason)
	switch {
	case run.Data.Classes > 0 && run.Data.TestRows > 0:
		text += fmt.Sprintf(", test error %s, best %s in epoch %d", percent(done.TestError), percent(done.BestTestError), done.BestEpoch)
	case run.Data.TestRows > 0:
		text += fmt.Sprintf(", test RMSE %s, best %s in epoch %d", number(done.TestRMSE, 4), number(done.BestTestRMSE, 4), done.BestEpoch)
	default:
		text += ", loss " + number(done.Loss, 4)
	}
	return text
}

// percent writes a fraction as a percentage, and a missing one as a dot.
func percent(f trainer.Float) string {
	if math.IsNaN(float64(f)) {
		return "."
	}
	return fmt.Sprintf("%.2f %%", 100*float64(f))
}
