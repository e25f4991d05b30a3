package train

import (
	"cmp"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/trainer"
)

// resumer is newtop resume.
type resumer struct {
	job.Resumption
	format string
	screen flags.Screen
	serve  job.ServeFlags
	browse job.Browser
}

// NewResume returns newtop resume.
func NewResume(processes *launch.Group, browser job.Browser) *cobra.Command {
	r := resumer{Resumption: job.Resumption{Group: processes}, browse: browser}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Resume a recorded run after a stop or a kill",
		Long: `Resume a recorded run from its latest checkpoint, with the same digits as a run
that never stopped. RUN is an ID, a unique beginning or end of one, a name, or
last.

Limits count from the start of the run: --epochs 60 adds 20 epochs to a run that
ended after 40.`,
		Example: "newtop resume last\nnewtop resume last --epochs 60\nnewtop resume a1b2c3 --format jsonl " +
			"> rest.jsonl\nnewtop resume nightly --listen 127.0.0.1:2222",
		Args:              flags.OneArgument("a recorded run by ID or name, or last"),
		ValidArgsFunction: r.Store.Complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return r.resume(cmd, args[0]) },
	}
	r.Flags.AddAgain(cmd, "epochs", "until")
	set := cmd.Flags()
	set.StringVar(
		&r.format, "format", "", "text or jsonl, instead of the screen; empty: the screen in a terminal, else text")
	flags.Choices(cmd, "format", "text", "jsonl")
	flags.Under(flags.Output, set, "format")
	r.Store.Add(cmd)
	flags.Under(flags.Recording, cmd.PersistentFlags(), "record")
	r.screen.Add(cmd)
	r.serve.Add(cmd, job.Resuming)
	return processes.Trains(cmd)
}

func (r *resumer) resume(cmd *cobra.Command, name string) error {
	printer, err := print.NewRecorder(cmp.Or(r.format, "text"), cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	options, err := r.screen.Options()
	if err != nil {
		return err
	}
	served, err := r.serve.Wanted(cmd)
	if err != nil {
		return err
	}
	if err := r.Group.Join(); err != nil {
		return err
	}
	if served {
		return r.served(cmd, name, printer)
	}
	j, err := r.Job(cmd, name)
	if err != nil {
		return err
	}
	in, out, ok := print.Terminal(cmd)
	if !ok || r.format != "" || !r.Group.Single() {
		return j.Train(cmd, printer)
	}
	options.Input, options.Output = in, out
	return j.Show(cmd, options, r.browse)
}

// served continues with the run and serves it.
func (r *resumer) served(cmd *cobra.Command, name string, printer trainer.Recorder) error {
	h, err := r.serve.Host(cmd, &r.screen)
	if err != nil {
		return err
	}
	defer h.Close()
	j, err := r.Job(cmd, name)
	if err != nil {
		return err
	}
	return j.Serve(cmd, printer, h)
}
