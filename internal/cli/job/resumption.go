package job

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/kernel"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// Resumption continues with recorded runs.
type Resumption struct {
	Store StoreFlags
	Flags flags.Run // that change the run
	Group *launch.Group
	// again says that the flags are those of the run's first start, whose limits it may have reached.
	again bool
}

// Job takes a run over and returns what is left of it.
func (r *Resumption) Job(cmd *cobra.Command, name string) (_ *Job, err error) {
	s, err := r.Store.Open(store.Options{Existing: true})
	if err != nil {
		return nil, err
	}
	j := &Job{record: &Record{store: s, path: r.Store.File}, Group: r.Group}
	defer func() {
		if err != nil {
			j.record.abandon()
			err = cmp.Or(err, j.record.close())
		}
	}()
	run, err := Find(cmd, s, name)
	if err != nil {
		return nil, err
	}
	if err := r.check(cmd, run); err != nil {
		return nil, err
	}
	if j.record.recorder, err = r.claim(cmd, s, run.ID); err != nil {
		return nil, err
	}
	warnOfNetwork(cmd.ErrOrStderr(), s)
	if before, now := run.Opening.Kernel, kernel.Selected().String(); !kernel.SameDigits(before, now) {
		print.Warn(cmd.ErrOrStderr(),
			fmt.Sprintf("the run was trained with the kernel %s, and continues with %s: the last digits will "+
				"differ", before, now))
	}
	if o := run.Opening; max(o.Digits, 1) != event.Digits && o.Model.Program == "" {
		print.Warn(cmd.ErrOrStderr(),
			"the run was started by another version of newtop, which sums in another order: the last digits will "+
				"differ")
	}
	return j, r.load(cmd, j)
}

// load reads what the run resumes from, once nobody else can change it.
func (r *Resumption) load(cmd *cobra.Command, j *Job) error {
	left, err := recorder.Resumable(cmd.Context(), j.record.recorder)
	if err != nil {
		return err
	}
	if left.Skipped != nil {
		print.Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s; the run continues from the checkpoint before it, of epoch %d",
			print.OneLine(left.Skipped), left.From.Epoch))
	}
	if left.Damage != nil {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(left.Damage))
	}
	config := left.Config
	trainer.ChangeLimits(&config, left.History)
	if err := r.Flags.Change(cmd, &config); err != nil {
		return err
	}
	if strings.Contains(config.Model, format.Hidden) {
		return flags.Invalid("--model", config.Model, "the program with its secrets, which are not recorded")
	}
	j.record.recorder.Configure(flags.Absolute(config))
	j.config, j.rest = config, &remainder{from: left.From, history: left.History}
	return nil
}

// FinishedError says that a run has nothing left to do as its limits are.
type FinishedError struct {
	Run            string
	Reason         event.Reason // of its end
	What, expected string
}

func (e *FinishedError) Error() string {
	return fmt.Sprintf("run %s %s: expected %s", e.Run, e.What, e.expected)
}

// Unresumable says why a run can't be resumed as it is, nil if it can.
func Unresumable(cmd *cobra.Command, run *store.Run) error {
	if err := run.Readable(); err != nil {
		return err
	}
	return (&Resumption{}).check(cmd, run)
}

// trained is how long the optimizer of a run that is done was at work, to the millisecond.
func trained(d *event.DoneEvent) time.Duration {
	return time.Duration(float64(d.Elapsed) * float64(time.Second)).Round(time.Millisecond)
}

// check refuses a run that would end at once.
func (r *Resumption) check(cmd *cobra.Command, run *store.Run) error {
	c := run.Config
	if err := r.Flags.Change(cmd, &c); err != nil {
		return err
	}
	epochs := run.Epoch()
	given := r.Flags.Given(cmd, "epochs") || r.Flags.Given(cmd, "until")
	limit := run.Config.TimeLimit // it counts what Elapsed leaves out
	switch d := run.Done; {
	case c.Epochs > 0 && c.Epochs <= epochs && given && !r.again:
		return flags.Invalid("--epochs", c.Epochs, fmt.Sprintf(
			"more than the %d that the run has done, or 0 for no limit", epochs))
	case d == nil:
		return nil
	case run.Checkpoint < d.Epochs && d.Reason != event.ReasonDiverged: // its last epochs are trained again
		return nil
	case d.Reason == event.ReasonEpochs && c.Epochs > 0 && c.Epochs <= d.Epochs:
		return &FinishedError{run.ID, d.Reason, fmt.Sprintf("has reached its %d epochs", d.Epochs),
			fmt.Sprintf("--epochs above %d", d.Epochs)}
	case d.Reason == event.ReasonTime && c.TimeLimit > 0 && c.TimeLimit <= max(limit, trained(d)):
		return &FinishedError{run.ID, d.Reason, fmt.Sprintf("has reached its time limit of %s", limit),
			fmt.Sprintf("--until above %s", max(limit, trained(d)))}
	case d.Reason == event.ReasonTarget && c.TargetLoss == run.Config.TargetLoss &&
		c.TargetError == run.Config.TargetError && c.Until == run.Config.Until:
		return &FinishedError{run.ID, d.Reason, "has reached its target", "--until with another, or with a time alone"}
	case d.Reason == event.ReasonPatience && c.Patience > 0 && c.Patience <= d.Epochs-d.BestEpoch:
		return &FinishedError{run.ID, d.Reason, "has " + d.Message,
			fmt.Sprintf("--set patience=N above %d, or patience=never", d.Epochs-d.BestEpoch)}
	case d.Reason == event.ReasonStalled, d.Reason == event.ReasonDiverged:
		return &FinishedError{run.ID, d.Reason, fmt.Sprintf("has %s in epoch %d", d.Reason, d.Epochs),
			"a run that can continue"}
	}
	return nil
}
