package cli

import (
	"fmt"
	"io"

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
			config, err := flags.config(cmd)
			if err != nil {
				return err
			}
			return train(cmd, config, format)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text, or jsonl: one JSON event a line")
	return cmd
}

func train(cmd *cobra.Command, config trainer.Config, format string) error {
	recorder, err := newRecorder(format, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	session, err := trainer.New(config, recorder)
	if err != nil {
		return err
	}
	return session.Run(cmd.Context())
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

// open trains behind the screen, or prints text where there is none.
func open(cmd *cobra.Command, config trainer.Config, screen *screenFlags) error {
	options, err := screen.options()
	if err != nil {
		return err
	}
	in, out, ok := terminal(cmd)
	if !ok {
		return train(cmd, config, "text")
	}
	options.Input, options.Output = in, out
	return openScreen(cmd, config, options)
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

func percent(f trainer.Float) string { return fmt.Sprintf("%.2f %%", 100*float64(f)) }
