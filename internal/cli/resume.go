package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/kernel"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// resumer goes on with recorded runs.
type resumer struct {
	store  StoreFlags
	limits trainer.Config // those that may differ from the run's
	memory string
	format string
	screen Screen
	serve  ServeFlags
	// again says that the flags are those of the run's first start, whose limits it may have reached.
	again bool
	group *Group
}

func newResume(processes *Group) *cobra.Command {
	r := resumer{group: processes}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a recorded run after a stop or a kill",
		Long: `Go on with a recorded run where its newest checkpoint is, to the same digits
as if it had never been stopped. RUN is an ID, a unique beginning or end of
one, a name, or last.

Limits count from the beginning of the run: --epochs 60 takes a run that
ended after 40 epochs 20 further.`,
		Example:           "newtop resume last\nnewtop resume last --epochs 60\nnewtop resume a1b2c3 --format jsonl > rest.jsonl\nnewtop resume nightly --listen 127.0.0.1:2222",
		Args:              OneArgument("a recorded run by ID or name, or last"),
		ValidArgsFunction: r.store.complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return r.resume(cmd, args[0]) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.IntVar(&r.limits.Epochs, "epochs", 0, "outer iterations in all, those before the stop included; 0: no limit; not given: the run's limit")
	set.DurationVar(&r.limits.TimeLimit, "time-limit", 0, "stop after this much work in all, as in 90s; 0: never; not given: the run's limit")
	set.Float64Var(&r.limits.TargetLoss, "target-loss", 0, "stop at this training loss; 0: never; not given: the run's target")
	set.Float64Var(&r.limits.TargetError, "target-error", 0, "stop at this test error as a fraction, or test RMSE; 0: never; not given: the run's target")
	set.IntVar(&r.limits.Threads, "threads", 0, "workers; 0: all cores; results do not depend on them")
	set.StringVar(&r.memory, "memory", "", "room for kept linearizations, as in 512M; empty: the run's")
	set.StringVar(&r.limits.Save, "save", "", "file for the weights at the end: .safetensors or .onnx; not given: the run's")
	set.StringVar(&r.format, "format", "", "text or jsonl, instead of the screen; empty: the screen in a terminal, else text")
	set.VisitAll(Wrap)
	r.store.add(cmd)
	r.screen.add(cmd)
	r.serve.add(cmd, resuming)
	return processes.Trains(cmd)
}

func (r *resumer) resume(cmd *cobra.Command, name string) error {
	cmd.SetErr(OneAtATime(cmd.ErrOrStderr()))
	printer, err := NewRecorder(cmp.Or(r.format, "text"), cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	options, err := r.screen.options()
	if err != nil {
		return err
	}
	served, err := r.serve.wanted(cmd)
	if err != nil {
		return err
	}
	if err := r.group.Join(); err != nil {
		return err
	}
	if served {
		return r.served(cmd, name, printer)
	}
	j, err := r.job(cmd, name)
	if err != nil {
		return err
	}
	in, out, ok := Terminal(cmd)
	if !ok || r.format != "" || !r.group.Single() {
		return j.train(cmd, printer)
	}
	options.Input, options.Output = in, out
	return j.show(cmd, options)
}

// served goes on with the run and serves it.
func (r *resumer) served(cmd *cobra.Command, name string, printer trainer.Recorder) error {
	h, err := r.serve.host(cmd, &r.screen)
	if err != nil {
		return err
	}
	defer h.close()
	j, err := r.job(cmd, name)
	if err != nil {
		return err
	}
	return j.serve(cmd, printer, h)
}

// job takes a run over and returns what is left of it.
func (r *resumer) job(cmd *cobra.Command, name string) (_ *Job, err error) {
	s, err := r.store.open(store.Options{Existing: true})
	if err != nil {
		return nil, err
	}
	j := &Job{record: &Record{store: s, place: r.store.File}, group: r.group}
	defer func() {
		if err != nil {
			j.record.abandon()
			err = cmp.Or(err, j.record.close())
		}
	}()
	run, err := s.Find(cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	if err := r.check(cmd, run); err != nil {
		return nil, err
	}
	if j.record.recorder, err = r.take(cmd, s, run.ID); err != nil {
		return nil, err
	}
	if before, now := run.Opening.Kernel, kernel.Selected().String(); !kernel.SameDigits(before, now) {
		Warn(cmd.ErrOrStderr(), fmt.Sprintf("the run was trained with the kernel %s, and goes on with %s: its digits will differ in the last places", before, now))
	}
	return j, r.load(cmd, j)
}

// load reads what the run goes on from, once nobody else can change it.
func (r *resumer) load(cmd *cobra.Command, j *Job) error {
	left, err := j.record.recorder.Resumable(cmd.Context())
	if err != nil {
		return err
	}
	if left.Passed != nil {
		Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s; the run goes on from the checkpoint before, of epoch %d", OneLine(left.Passed), left.From.Epoch))
	}
	config := left.Config
	if err := r.change(cmd, &config); err != nil {
		return err
	}
	j.record.recorder.Configure(Absolute(config))
	j.config, j.rest = config, &remainder{from: left.From, history: left.History}
	return nil
}

// change puts the limits of the flags in place of the run's.
func (r *resumer) change(cmd *cobra.Command, c *trainer.Config) (err error) {
	given := cmd.Flags().Changed
	if given("epochs") {
		c.Epochs = r.limits.Epochs
	}
	if given("time-limit") {
		c.TimeLimit = r.limits.TimeLimit
	}
	if given("target-loss") {
		c.TargetLoss = r.limits.TargetLoss
	}
	if given("target-error") {
		c.TargetError = r.limits.TargetError
	}
	if given("threads") {
		c.Threads = r.limits.Threads
	}
	if given("save") {
		c.Save = r.limits.Save
	}
	if r.memory != "" {
		if c.Memory, err = ParseSize(r.memory); err != nil {
			return &trainer.ConfigError{Field: "--memory", Value: r.memory, Expected: err.Error()}
		}
	}
	return c.Check()
}

// finishedError says that a run has nothing left to do as its limits are.
type finishedError struct {
	run            string
	reason         event.Reason // of its end
	what, expected string
}

func (e *finishedError) Error() string {
	return fmt.Sprintf("run %s %s: expected %s", e.run, e.what, e.expected)
}

// check refuses a run that would end at once.
func (r *resumer) check(cmd *cobra.Command, run *store.Run) error {
	c := run.Config
	if err := r.change(cmd, &c); err != nil {
		return err
	}
	epochs, given := epochOf(run), cmd.Flags().Changed
	switch d := run.Done; {
	case c.Epochs > 0 && c.Epochs <= epochs && given("epochs") && !r.again:
		return &trainer.ConfigError{Field: "--epochs", Value: strconv.Itoa(c.Epochs), Expected: fmt.Sprintf("more than the %d that the run has had, or 0 for no limit", epochs)}
	case d == nil:
		return nil
	case d.Reason == event.ReasonEpochs && c.Epochs > 0 && c.Epochs <= d.Epochs:
		return &finishedError{run.ID, d.Reason, fmt.Sprintf("has reached its %d epochs", d.Epochs), fmt.Sprintf("--epochs above %d", d.Epochs)}
	case d.Reason == event.ReasonTime && c.TimeLimit > 0 && c.TimeLimit.Seconds() <= float64(d.Elapsed):
		return &finishedError{run.ID, d.Reason, fmt.Sprintf("has reached its time limit of %s", run.Config.TimeLimit), fmt.Sprintf("--time-limit above %s", time.Duration(float64(d.Elapsed)*float64(time.Second)).Round(time.Millisecond))}
	case d.Reason == event.ReasonTarget && c.TargetLoss == run.Config.TargetLoss && c.TargetError == run.Config.TargetError:
		return &finishedError{run.ID, d.Reason, "has reached its target", "a lower --target-loss or --target-error, or 0 for none"}
	case d.Reason == event.ReasonStalled, d.Reason == event.ReasonDiverged:
		return &finishedError{run.ID, d.Reason, fmt.Sprintf("has %s in epoch %d", d.Reason, d.Epochs), "a run that can go on"}
	}
	return nil
}
