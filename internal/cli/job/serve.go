package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// What viewers read in their terminals when the screen has gone.
var (
	errServedOver = errors.New("the run is over, and no longer served")
	errServedCut  = errors.New("the run was interrupted")
	errServedNone = errors.New("the run could not continue")
)

// Serve does the job, printing it, and serves its screen.
//
// It trains in one goroutine and serves from another, and ends them in this order: the run, by its own means or the
// command's context; after it the server, at once where the context ended or there is nothing to look at, else when
// the host's time is over. A server that breaks leaves the run alone.
func (j *Job) Serve(cmd *cobra.Command, printer trainer.Recorder, h *Host) (err error) {
	defer func() { err = cmp.Or(err, j.record.close()) }()
	threads := j.config.Threads
	messages := cmd.ErrOrStderr()
	reminded := &reminder{Recorder: printer, messages: messages}
	session, err := j.session(j.Group.Announcing(&noteRecorder{reminded, messages, j.decisions}, messages, threads))
	if err != nil {
		return err
	}
	server, err := h.listen(session)
	if err != nil {
		j.record.abandon()
		return err
	}
	look := announce(messages, server)
	if _, terminal := print.Drawable(messages); terminal {
		reminded.line = look
	}
	j.record.announce(messages)

	serving, leave := context.WithCancelCause(context.WithoutCancel(cmd.Context()))
	served := make(chan error, 1)
	routine.Go(func() {
		err := server.Serve(serving)
		if err != nil {
			print.Warn(messages, "the run is no longer served: "+print.OneLine(err))
		}
		served <- err
	})
	runErr := session.Run(cmd.Context())
	missing := j.record.missing(cmd.Context())
	if _, text := printer.(*print.TextRecorder); text && !failed(runErr) && missing == nil {
		j.record.report(messages, false)
	}
	h.stay(cmd.Context(), messages, look, runErr, served)
	leave(closeReason(cmd.Context(), runErr))
	return cmp.Or(j.over(cmd, j.end(cmd, runErr), missing), <-served)
}

// reminder says again how to look, after as many epochs as a terminal has rows: their lines have scrolled it away.
type reminder struct {
	trainer.Recorder
	messages io.Writer
	line     string // "": never
	epochs   int
}

// Record passes an event on.
func (r *reminder) Record(e event.Event) error {
	err := r.Recorder.Record(e)
	if _, epoch := e.(event.EpochEvent); epoch && r.line != "" {
		const screenful = 20
		if r.epochs++; r.epochs%screenful == 0 {
			fmt.Fprintln(r.messages, r.line)
		}
	}
	return err
}

// Watch serves the screen of a source, and closes it. What is served continues to be until the context ends, or the
// source is none.
func (h *Host) Watch(cmd *cobra.Command, source stream.Source) error {
	player := stream.NewPlayer(source, stream.Options{})
	server, err := h.listen(player)
	if err != nil {
		return cmp.Or(err, source.Close())
	}
	messages := cmd.ErrOrStderr()
	announce(messages, server)
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	serving, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	routine.Go(func() {
		defer cancel()
		served <- server.Serve(serving)
	})
	err = player.Run(ctx)
	leave(closeReason(ctx, err))
	serveErr := <-served
	switch {
	case serveErr != nil:
		return serveErr
	case cmd.Context().Err() != nil:
		return nil
	}
	return err
}

// stay waits after the run's end until the server has served long enough, or broke; served still holds its error then.
func (h *Host) stay(ctx context.Context, messages io.Writer, look string, runErr error, served chan error) {
	if ctx.Err() != nil || unusable(runErr) || !h.forever && h.linger == 0 {
		return
	}
	var over <-chan time.Time
	until := "until ctrl+c"
	if !h.forever {
		timer := time.NewTimer(h.linger)
		defer timer.Stop()
		over, until = timer.C, "for "+h.linger.String()
	}
	what := "the run is over"
	if runErr != nil {
		what = print.OneLine(runErr)
	}
	fmt.Fprintf(messages, "%s; it is served %s; %s\n", what, until, look)
	select {
	case <-ctx.Done():
	case <-over:
	case err := <-served:
		served <- err
	}
}

// closeReason is why the server ends.
func closeReason(ctx context.Context, runErr error) error {
	switch {
	case unusable(runErr):
		return errServedNone
	case ctx.Err() != nil && errors.Is(runErr, context.Canceled):
		return errServedCut
	}
	return errServedOver
}
