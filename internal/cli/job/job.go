// Package job trains what a command asks for, a new run or the rest of a recorded one: as text, behind the screen, or
// served over SSH.
package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui"
	"newtop/tui/screen"
)

// Job is what a command trains: a new run, or the rest of one.
type Job struct {
	config    trainer.Config
	rest      *remainder    // nil for a new run
	record    *Record       // nil for a run that is not kept
	decisions []string      // what was decided for a new run
	Group     *launch.Group // nil for a run that this process trains by itself
}

// remainder is what a run resumes from.
type remainder struct {
	from    *trainer.Checkpoint // nil: the start
	history []event.Event
}

// New returns the new run that the flags ask for, changed by adapt before it is recorded.
func New(f *flags.Run, cmd *cobra.Command, adapt func(*trainer.Config)) (*Job, error) {
	c, err := f.Parse(cmd)
	if err != nil {
		return nil, err
	}
	if adapt != nil {
		adapt(&c)
	}
	if err := KeepInput(cmd, &c); err != nil {
		return nil, err
	}
	WarnOfUnused(cmd, &c)
	decisions := ResolveDefaults(&c)
	r, err := keepRecord(f, cmd, c, false)
	if err != nil {
		return nil, err
	}
	return &Job{config: c, record: r, decisions: decisions}, nil
}

// WarnOfUnused says which flags have no effect on the method that a run begins with. It is no error: a run can be
// switched to a method that has what they say, and a file of flags may serve several methods.
func WarnOfUnused(cmd *cobra.Command, c *trainer.Config) {
	for _, field := range c.Unused() {
		flag := flags.Of(field)
		print.Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s has no effect on %s, which has no %s", flag,
			cmp.Or(c.Optimizer, trainer.DefaultOptimizer), unusedNames[field]))
	}
}

// unusedNames are what fields of a configuration are about.
var unusedNames = map[string]string{"Batch": "batches", "Blocks": "blocks", "Schedule": "schedule"}

// session returns the session that does the job.
func (j *Job) session(recorders ...trainer.Recorder) (s *trainer.Session, err error) {
	if !j.Group.Single() {
		j.config = flags.Absolute(j.config) // whichever directory the others are in
	}
	recorders = append(recorders, j.record.recorders()...)
	if j.rest == nil {
		s, err = trainer.New(j.config, recorders...)
	} else {
		s, err = trainer.Resume(j.config, j.rest.from, j.rest.history, recorders...)
	}
	if err != nil {
		j.record.abandon()
		return nil, err
	}
	s.NameFields(flags.Of)
	j.Group.Attach(s)
	return s, nil
}

// Train does the job without a screen.
func (j *Job) Train(cmd *cobra.Command, printer trainer.Recorder) (err error) {
	defer func() { err = cmp.Or(err, j.record.close()) }()
	session, err := j.session(j.Group.Announcing(&noteRecorder{printer, cmd.ErrOrStderr(), j.decisions},
		cmd.ErrOrStderr(),
		j.config.Threads))
	if err != nil {
		return err
	}
	j.record.announce(cmd.ErrOrStderr())
	err = j.end(cmd, session.Run(cmd.Context()))
	missing := j.record.missing(cmd.Context())
	if _, text := printer.(*print.TextRecorder); text && !failed(err) && missing == nil {
		j.record.report(cmd.ErrOrStderr(), false)
	}
	return j.over(cmd, err, missing)
}

// printNotes prints what was decided about a run's data.
func printNotes(w io.Writer, run *event.RunEvent) {
	for _, note := range run.Data.Notes {
		fmt.Fprintln(w, print.Printable(note))
	}
}

// over returns how a run ended. That it is not recorded is said, and is its error where there is no other.
func (j *Job) over(cmd *cobra.Command, err, missing error) error {
	if err != nil && missing != nil {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(missing))
	}
	return cmp.Or(err, missing)
}

// failed reports whether a run ended before it had gone as far as it could.
func failed(err error) bool {
	var (
		diverged *trainer.DivergedError
		unsaved  *trainer.SaveError // which the record can make good
	)
	return err != nil && !errors.As(err, &diverged) && !errors.As(err, &unsaved)
}

// end says how to continue with a run that was interrupted, or whose model has gone.
func (j *Job) end(cmd *cobra.Command, err error) error {
	interrupted := errors.Is(err, context.Canceled) && cmd.Context().Err() != nil || errors.Is(err, syscall.EPIPE)
	if _, broken := errors.AsType[*trainer.ModelError](err); broken && j.record.name() != "" {
		return fmt.Errorf("%w; to continue: %s", err, j.record.command(true))
	}
	if j.record.name() == "" || !interrupted {
		return err
	}
	return &print.InterruptedError{Cause: err, Next: j.record.command(true)}
}

// Browser returns what opens the runs of a record over a run's screen with the options, as screen.Options.Browse has
// it.
type Browser func(cmd *cobra.Command, record StoreFlags, o screen.Options) func() (screen.Layer, func(), error)

// Show does the job behind the screen, from which the recorded runs can be opened.
func (j *Job) Show(cmd *cobra.Command, options screen.Options, browser Browser) (err error) {
	defer func() { err = cmp.Or(err, j.record.close()) }()
	if j.record != nil {
		options.Browse = browser(cmd, StoreFlags{File: j.record.path}, options)
	}
	session, err := j.session()
	if err != nil {
		return err
	}
	session.WaitAtEnd()
	feed, last := session.Feed(), session.Feed()
	defer feed.Close()
	defer last.Close()
	runErr, screenErr := Behind(cmd.Context(), session.Run, unusable,
		func(ctx context.Context) error { return tui.Run(ctx, feed, options) })
	j.record.complain(cmd.ErrOrStderr())
	missing := j.record.missing(cmd.Context())
	if err := cmd.Context().Err(); err != nil {
		return j.over(cmd, j.end(cmd, err), missing)
	}
	if err := cmp.Or(runErr, screenErr); err != nil {
		return j.over(cmd, j.end(cmd, err), missing)
	}
	return cmp.Or(j.printOutcome(cmd, last, missing == nil), missing)
}

// Behind runs something in one goroutine and shows it from another. Whichever ends first for good ends the other: what
// could not begin, which is what hopeless says of its error, closes the screen; a screen that was closed ends the run.
// That one ended the other is no error of either's.
func Behind(ctx context.Context, run func(context.Context) error, hopeless func(error) bool,
	show func(context.Context) error) (runErr, screenErr error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	routine.Go(func() {
		err := run(ctx)
		if hopeless(err) {
			cancel()
		}
		ended <- err
	})
	screenErr = show(ctx)
	cancel()
	return uncancelled(<-ended), uncancelled(screenErr)
}

func uncancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// unusable reports whether a run ended so early or so badly that there is nothing to look at.
func unusable(err error) bool {
	_, unprepared := errors.AsType[*trainer.PrepareError](err)
	_, bug := errors.AsType[*trainer.PanicError](err)
	return unprepared || bug
}

// printOutcome leaves lines behind in the terminal when the screen is gone: how the run went, and where it is.
func (j *Job) printOutcome(cmd *cobra.Command, feed feed.Feed, recorded bool) error {
	// Everything was published before Run returned, so that Wait does not block.
	d, err := feed.Wait(context.Background())
	if err != nil || d.Run == nil || d.Done == nil {
		return err
	}
	printNotes(cmd.ErrOrStderr(), d.Run)
	if _, err = fmt.Fprintln(cmd.OutOrStdout(), print.Outcome(d.Run, d.Done, d.Status.Optimizer)); err != nil {
		return err
	}
	if recorded {
		j.record.report(cmd.ErrOrStderr(), d.Done.Reason == event.ReasonStopped)
	}
	return nil
}
