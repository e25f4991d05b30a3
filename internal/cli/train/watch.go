package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/feed"
	"newtop/trainer/store"
	"newtop/trainer/stream"
	"newtop/tui"
	"newtop/tui/screen"
)

// watcher shows runs that are trained elsewhere.
type watcher struct {
	store   job.StoreFlags
	screen  flags.Screen
	options stream.Options
	format  string
	browse  job.Browser
}

// NewWatch returns newtop watch.
func NewWatch(browser job.Browser) *cobra.Command {
	w := watcher{browse: browser}
	cmd := &cobra.Command{
		Use:   "watch RUN|FILE|DIR|-",
		Short: "Watch a recorded run, a file of events, or TensorBoard's files",
		Long: `Watch a run that is trained elsewhere, or replay one that is over.

RUN is a recorded run, live while it is trained: its ID, a unique beginning or
end of it, its name, or last. FILE holds events as newtop train --format jsonl
prints them, or is a run store, of which the newest run is shown. DIR holds
TensorBoard's event files. - reads events from standard input. Files are
followed as they grow. Without a terminal the epochs are printed as text.`,
		Example:           "newtop watch last\nnewtop watch last --replay --speed 8\nnewtop train --format jsonl | newtop watch -\npython3 loop.py | newtop watch -\nnewtop watch runs/",
		Args:              flags.OneArgument("a recorded run, a file, a directory or -"),
		ValidArgsFunction: w.store.Complete(1, cobra.ShellCompDirectiveDefault),
		RunE:              func(cmd *cobra.Command, args []string) error { return w.watch(cmd, args[0]) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	w.store.Add(cmd)
	set.BoolVar(&w.options.Replay, "replay", false, "on the screen: play the run from its first epoch, as fast as it went")
	set.Float64Var(&w.options.Speed, "speed", 1, "how many times as fast")
	set.StringVar(&w.format, "format", "", "text or jsonl, instead of the screen; empty: the screen in a terminal, else text")
	flags.Choices(cmd, "format", "text", "jsonl")
	flags.Under(flags.Output, set, "replay", "speed", "format")
	w.screen.Add(cmd)
	return cmd
}

func (w *watcher) watch(cmd *cobra.Command, name string) (err error) {
	if !(w.options.Speed >= stream.MinSpeed && w.options.Speed <= stream.MaxSpeed) {
		return flags.Wrong("--speed", w.options.Speed, fmt.Sprintf("a number from %g to %d", stream.MinSpeed, stream.MaxSpeed))
	}
	printer, err := newPrinter(cmp.Or(w.format, "text"), cmd.OutOrStdout(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	options, err := w.screen.Options()
	if err != nil {
		return err
	}
	source, closed, err := w.open(cmd, name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closed()) }()
	in, out, ok := screenOf(cmd, name == "-")
	if !ok || w.format != "" {
		return follow(cmd, source, printer)
	}
	if in != cmd.InOrStdin() {
		defer in.Close()
	}
	options.Input, options.Output = in, out
	options.Browse = w.browse(cmd, w.store, options)
	return play(cmd, source, w.options, options)
}

// screenOf returns the terminal to draw on and to read keys from. Keys come from the program's terminal where
// standard input is what is watched.
func screenOf(cmd *cobra.Command, piped bool) (in, out *os.File, ok bool) {
	if !piped {
		return print.Terminal(cmd)
	}
	if out, ok = print.Drawable(cmd.OutOrStdout()); !ok {
		return nil, nil, false
	}
	in, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return in, out, err == nil
}

// open returns the source that a name stands for: a path that exists, or a recorded run. The function closes what is
// beneath it.
func (w *watcher) open(cmd *cobra.Command, name string) (source stream.Source, closed func() error, err error) {
	closed = func() error { return nil }
	if name == "-" {
		if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(f.Fd()) {
			return nil, nil, flags.Usagef("%s -: standard input is the terminal: expected events from a pipe or a file", cmd.CommandPath())
		}
		return stream.JSONLines(cmd.InOrStdin(), "standard input"), closed, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		source, err = stream.TensorBoard(name)
	case err == nil && info.Mode().IsRegular() && isDatabase(name):
		return recorded(cmd, job.StoreFlags{File: name}, "last")
	case err == nil && strings.Contains(filepath.Base(name), "tfevents"):
		err = fmt.Errorf("%s: one of TensorBoard's event files: expected the directory that holds it", name)
	case err == nil:
		source, err = stream.File(name)
	case !errors.Is(err, fs.ErrNotExist):
	case strings.ContainsRune(name, filepath.Separator):
		err = fmt.Errorf("%s: expected a file, a directory, or a recorded run by ID or name", name)
	default:
		if source, closed, err = recorded(cmd, w.store, name); err != nil {
			err = fmt.Errorf("no file %s here, and %w", name, err)
		}
	}
	return source, closed, err
}

// recorded returns a source of a run in a store.
func recorded(cmd *cobra.Command, a job.StoreFlags, name string) (stream.Source, func() error, error) {
	s, err := a.Open(store.Options{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	r, err := job.Find(cmd, s, name)
	if err != nil {
		return nil, nil, cmp.Or(err, s.Close())
	}
	if host, _ := os.Hostname(); r.State == store.Running && r.Host != host {
		if network := s.Network(); network != "" {
			print.Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s is on %s and written by %s: what is seen from here may be old or damaged; expected ssh %s newtop watch, or --serve there",
				s.Path(), network, r.Host, r.Host))
		}
	}
	source, err := s.Source(cmd.Context(), r.ID)
	if err != nil {
		return nil, nil, cmp.Or(err, s.Close())
	}
	return source, s.Close, nil
}

// isDatabase reports whether a file begins as SQLite's do. It reads, which a pipe must be spared.
func isDatabase(path string) bool {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// play shows a source on the screen and closes it.
func play(cmd *cobra.Command, source stream.Source, how stream.Options, options screen.Options) error {
	name := source.Name()
	player := stream.NewPlayer(source, how)
	shown, last := player.Feed(), player.Feed()
	defer shown.Close()
	defer last.Close()
	var seen feed.Delta
	run := func(ctx context.Context) error {
		err := player.Run(ctx)
		seen = whatCame(last)
		return err
	}
	nothing := func(err error) bool { return err != nil && seen.Run == nil }
	playErr, screenErr := job.Behind(cmd.Context(), run, nothing, func(ctx context.Context) error { return tui.Run(ctx, shown, options) })
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
	return printWatched(cmd, name, &seen)
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
func printWatched(cmd *cobra.Command, name string, d *feed.Delta) (err error) {
	switch out := cmd.OutOrStdout(); {
	case d.Run == nil:
	case d.Done != nil:
		_, err = fmt.Fprintln(out, print.Outcome(d.Run, d.Done, d.Status.Optimizer))
	default:
		text := d.Run.Data.Name + ": "
		if d.Status.Optimizer != "" {
			text += d.Status.Optimizer + ", "
		}
		text += fmt.Sprintf("epoch %d", d.Status.Epoch)
		if d.Run.Data.Name != filepath.Base(name) {
			text += ", watched from " + name
		}
		_, err = fmt.Fprintln(out, print.Printable(text))
	}
	return err
}
