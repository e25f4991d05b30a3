package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/machine"
	"newtop/trainer/feed"
	"newtop/trainer/probe"
	"newtop/trainer/stream"
	"newtop/tui"
	"newtop/tui/screen"
)

// follow prints a source as text or events, until it is over.
func (w *watcher) follow(cmd *cobra.Command, source stream.Source, l *listeners) error {
	printer, err := newPrinter(cmp.Or(w.format, "text"), cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return cmp.Or(err, source.Close())
	}
	ctx, cancel := l.context(cmd.Context())
	defer cancel()
	err = follow(ctx, cmd.ErrOrStderr(), source, printer)
	if errors.Is(err, context.Canceled) && cmd.Context().Err() == nil {
		err = nil // the condition is met
	}
	return l.over(cmd, err)
}

// play shows a source on the screen and closes it.
func (w *watcher) play(cmd *cobra.Command, source stream.Source, l *listeners, options screen.Options) error {
	name := source.Name()
	player := stream.NewPlayer(source, w.options)
	shown, last := player.Feed(), player.Feed()
	defer shown.Close()
	defer last.Close()
	var seen feed.Delta
	run := func(ctx context.Context) error {
		err := player.Run(ctx)
		seen = whatCame(last)
		return err
	}
	ctx, cancel := l.context(cmd.Context())
	defer cancel()
	nothing := func(err error) bool { return err != nil && seen.Run == nil }
	playErr, screenErr := job.Behind(ctx, run, nothing, func(
		ctx context.Context) error {
		return tui.Run(ctx, shown, options)
	})
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if nothing(playErr) {
		return playErr
	}
	if playErr != nil {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(playErr))
	}
	if screenErr != nil {
		return screenErr
	}
	return cmp.Or(printWatched(cmd, name, options.Program, &seen), l.over(cmd, l.quit()))
}

// quit is what an end by the user is to --until: none of the run's.
func (l *listeners) quit() error {
	if l.until != nil && !l.until.isMet() {
		return &print.ExitError{Code: print.ExitFailed, Err: fmt.Errorf("left before %s", l.until.until)}
	}
	return nil
}

// program runs a program and shows what it prints. It ends as the program did.
func (w *watcher) program(cmd *cobra.Command, args []string, onScreen bool, options screen.Options) (err error) {
	share, err := shareOf(w.share)
	if err != nil {
		return err
	}
	var beside stream.Beside
	if share > 0 {
		prober, err := probe.Start(probe.Options{Share: share, Model: asModel(args)})
		if err != nil {
			return err
		}
		defer prober.Close()
		beside = stream.Beside{Env: prober.Environ, Lines: prober.Lines()}
	}
	p, err := stream.Start(args, beside)
	if err != nil {
		return err
	}
	stream.Configure(p, w.text)
	source, l, err := listen(w, cmd, p, onScreen)
	if err != nil {
		return cmp.Or(err, p.Close())
	}
	defer func() { err = cmp.Or(err, l.close(cmd)) }()
	if onScreen {
		sampler := machine.NewSampler(machine.Options{PID: p.PID()})
		defer sampler.Close()
		options.Machine, options.Program = sampler.Sample, true
	}
	err = w.attend(cmd, source, l, onScreen, options)
	if err != nil || l.until != nil && l.until.isMet() {
		return err
	}
	return ended(p.Status())
}

// look returns a source of what is measured of a model whose program waits at a path.
func (w *watcher) look(cmd *cobra.Command, path string) (stream.Source, func() error, error) {
	share, err := shareOf(w.share)
	if err != nil {
		return nil, nil, err
	}
	print.Warn(cmd.ErrOrStderr(), "waits for the next look that the program at "+path+" offers")
	prober, err := probe.Dial(cmd.Context(), path, probe.Options{Share: share})
	if err != nil {
		return nil, nil, err
	}
	return stream.Lines(prober.Lines(), filepath.Base(path)), prober.Close, nil
}

// asModel is a program as --model has it: the script alone, where Python runs it by itself.
func asModel(args []string) string {
	if len(args) == 2 && strings.HasPrefix(filepath.Base(args[0]), "python") && filepath.Ext(args[1]) == ".py" {
		return args[1]
	}
	if len(args) == 1 {
		return args[0]
	}
	return "'" + strings.Join(args, " ") + "'"
}

// shareOf reads a share as 5% or 0.05.
func shareOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, flags.Invalid("--probe-share", text, "a share from 0 to 1, as in 5% or 0.05")
	}
	return v, nil
}

// ended is the end of a program as the end of this one.
func ended(status error) error {
	exit, ok := errors.AsType[*exec.ExitError](status)
	if !ok {
		return status
	}
	code := exit.ExitCode()
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		code = 128 + int(s.Signal()) // as shells have it
	}
	return &print.ExitError{Code: code}
}

// whatCame returns all that came into a feed into which nothing comes any more.
func whatCame(f feed.Feed) feed.Delta {
	const patience = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d, err := f.Wait(ctx)
	if err != nil { // nothing came at all
		return feed.Delta{}
	}
	return d
}

// printWatched leaves a line behind in the terminal when the screen is gone.
func printWatched(cmd *cobra.Command, name string, program bool, d *feed.Delta) (err error) {
	switch out := cmd.OutOrStdout(); {
	case d.Run == nil:
	case d.Done != nil:
		_, err = fmt.Fprintln(out, print.Outcome(d.Run, d.Done, d.Status.Optimizer))
	default:
		text := d.Run.Data.Name + ": "
		if d.Status.Optimizer != "" {
			text += d.Status.Optimizer + ", "
		}
		text += fmt.Sprintf("%s %d", d.Run.Counted(), d.Status.Epoch)
		if !program && d.Run.Data.Name != stream.NameOf(name) {
			text += ", watched from " + name
		}
		_, err = fmt.Fprintln(out, print.Printable(text))
	}
	return err
}
