// Package watch shows runs that are trained elsewhere: recorded ones, and whatever another program writes.
package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/machine"
	"newtop/trainer/alert"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
	"newtop/trainer/logs/shape"
	"newtop/trainer/peer"
	"newtop/trainer/stream"
	"newtop/tui/screen"
)

// watcher shows runs that are trained elsewhere.
type watcher struct {
	store    job.StoreFlags
	screen   flags.Screen
	options  stream.Options
	format   string
	browse   job.Browser
	run      string // of a log that holds several
	once     bool
	explains bool
	until    string
	alerts   alertFlags
	save     string
	system   bool
	pattern  []string // of lines, as the user says that they are read
	text     shape.Options
	share    string // of a program's time for looks at its model
	remote   job.Remote
}

// New returns newtop watch.
func New(browser job.Browser) *cobra.Command {
	w := watcher{browse: browser}
	cmd := &cobra.Command{
		Use:   "watch [RUN|FILE|DIR|HOST:PATH|-]... [-- PROGRAM ARGUMENT...]",
		Short: "Watch whatever a training program writes, or a recorded run",
		Long: `Watch what a training program writes, live or later. newtop detects the format:
JSON lines, a CSV, text with numbers in it, TensorBoard's files,
Hugging Face's trainer_state.json, the files of W&B, SwanLab, MLflow, trackio,
DVCLive, Sacred and ClearML, and newtop's own events and records.

FILE is followed as it grows. DIR is searched for logs; newtop waits if there
are none. - is standard input. RUN is a recorded run: its ID, a unique
beginning or end of it, its name, or last. HOST:PATH is a file or directory that
ssh reaches, where nothing needs to be installed. Several are shown over one
another. unix:PATH is a program that waits with newtop.probe(..., listen=PATH).
After -- newtop runs a program in its own terminal, shows and reads its lines,
and exits with its code. Without a terminal the numbers are printed as text.
docs/watch.md has a table of what is read.`,
		Example: "newtop watch train.log\nnewtop watch -- python3 train.py --lr 0.1\nnewtop watch runs/\nnewtop " +
			"watch a.csv b/ c.jsonl\nnewtop watch gpu1:runs/ me@gpu2:train.log\n" +
			"python3 train.py | newtop watch -\nnewtop watch metrics.csv --until 'val_loss<0.1' --alert bell\nnewtop " +
			"watch last --replay --speed 8",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: w.store.Complete(1, cobra.ShellCompDirectiveDefault),
		RunE:              func(cmd *cobra.Command, args []string) error { return w.watch(cmd, args) },
	}
	w.options.Writer = machine.WriterOf
	set := cmd.Flags()
	set.SortFlags = false
	w.store.Add(cmd)
	set.StringVar(&w.run, "run", "",
		"which run of a log that holds several: its `NAME` or ID; empty: the latest, or all that a directory has")
	set.BoolVar(&w.once, "once", false, "print what there is now, and end")
	set.BoolVar(&w.options.Replay, "replay", false,
		"on the screen: play the run from its first epoch, at its own speed")
	set.Float64Var(&w.options.Speed, "speed", 1, "speed of the replay as a multiple")
	set.StringVar(
		&w.format, "format", "",
		"text or jsonl, instead of the screen, or with --once json; empty: the screen in a terminal, else text")
	flags.Choices(cmd, "format", "text", "jsonl", "json")
	set.BoolVar(&w.explains, "explain", false, "print how each line of a log is read and why, and end")
	set.StringArrayVar(&w.pattern, "pattern", nil,
		"read lines as a `PATTERN` says, as 'iter {step} loss {loss}': {NAME} is a number's name, {} skips a number; "+
			"may be given several times")
	set.StringVar(&w.until, "until", "",
		"end when a `CONDITION` is met, as 'val_loss<0.1', 'acc>=0.9, epoch>=5' or 'error<5% or 90s'; exit code 1 "+
			"if the run ends before, or with --once if it is not met now")
	set.StringVar(&w.save, "save", "", "record the watched run in the run store under this `NAME`")
	set.StringVar(&w.share, "probe-share", "5%",
		"the most of a program's time that newtop.probe may take to measure curvature, as a `SHARE`; 0: none")
	set.BoolVar(&w.system, "system", false,
		"show only machines: processors, memory, disks, GPUs; of each HOST that is named, or this one")
	flags.Under(flags.Output, set, "run", "once", "replay", "speed", "format", "explain", "pattern", "until", "save",
		"probe-share", "system")
	w.alerts.add(cmd)
	w.screen.Add(cmd)
	return cmd
}

// watch does what the flags say.
func (w *watcher) watch(cmd *cobra.Command, args []string) error {
	names, program := args, []string(nil)
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		names, program = args[:at], args[at:]
	}
	if err := w.check(cmd, names, program); err != nil {
		return err
	}
	options, err := w.screen.Options()
	if err != nil {
		return err
	}
	in, out, ok := screenOf(cmd, len(names) == 1 && names[0] == "-")
	if in != nil && in != cmd.InOrStdin() {
		defer in.Close()
	}
	options.Input, options.Output = in, out
	if w.system {
		if !ok {
			return flags.Usagef("%s --system: expected a terminal", cmd.CommandPath())
		}
		return showMachines(w, cmd, names, options)
	}
	onScreen := ok && w.format == "" && !w.once
	defer w.remote.Close()
	if err := w.connect(cmd, names, onScreen); err != nil {
		return err
	}
	switch {
	case program != nil:
		return w.program(cmd, program, onScreen, options)
	case w.explains:
		return explain(w, cmd, names)
	case w.once:
		return w.printOnce(cmd, names)
	case len(names) > 1 && !onScreen:
		return flags.Usagef("%s %s: text shows one log: expected a terminal, or --once", cmd.CommandPath(),
			strings.Join(names, " "))
	}
	dir, host, err := w.remote.Path(names[0])
	if err != nil {
		return err
	}
	if onScreen && host == nil {
		sampler := machine.NewSampler(machine.Options{PID: writerOf(names)})
		defer sampler.Close()
		options.Machine = sampler.Sample
	}
	var found []find.Candidate
	if onScreen && len(names) == 1 && w.run == "" && !w.listened() && stream.HoldsRuns(dir) {
		found = stream.Find(dir)
	}
	if len(names) > 1 || len(found) > 1 {
		return several(w, cmd, names, found, options)
	}
	return w.one(cmd, names[0], onScreen, options)
}

// connect connects to the hosts of names. Where there are several on a screen, those that are away may come later.
func (w *watcher) connect(cmd *cobra.Command, names []string, onScreen bool) error {
	w.remote.Once = w.once || w.explains
	failed, all, err := w.remote.Connect(cmd.Context(), names)
	if err != nil || len(failed) == all || !onScreen {
		return errors.Join(append(failed, err)...)
	}
	for _, err := range failed {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(err))
	}
	return nil
}

// open returns the source that a name stands for, which reads text as the flags say.
func (w *watcher) open(cmd *cobra.Command, name string) (stream.Source, func() error, error) {
	if path, ok := strings.CutPrefix(name, peer.SocketPrefix); ok {
		return w.look(cmd, path)
	}
	source, closed, err := job.OpenSource(cmd, w.store, &w.remote, name, w.run)
	if _, missing := os.Stat(name); err != nil && errors.Is(missing, fs.ErrNotExist) && !w.once && !w.explains &&
		(filepath.Ext(name) != "" || strings.ContainsRune(name, filepath.Separator)) {
		source, closed, err = stream.Await(files.Here(name), w.run), func() error { return nil }, nil
	}
	if err == nil {
		stream.Configure(source, w.text)
	}
	return source, closed, err
}

// one watches a single log.
func (w *watcher) one(cmd *cobra.Command, name string, onScreen bool, options screen.Options) (err error) {
	source, closed, err := w.open(cmd, name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closed()) }()
	source, l, err := listen(w, cmd, source, onScreen)
	if err != nil {
		return cmp.Or(err, source.Close())
	}
	defer func() { err = cmp.Or(err, l.close(cmd)) }()
	return w.attend(cmd, source, l, onScreen, options)
}

// attend shows or prints a source, and closes it.
func (w *watcher) attend(cmd *cobra.Command, source stream.Source, l *listeners, onScreen bool,
	options screen.Options) error {
	if !onScreen {
		return w.follow(cmd, source, l)
	}
	options.Browse = w.browse(cmd, w.store, options)
	if l.rings != nil {
		options.Rings = l.rings
	}
	return w.play(cmd, source, l, options)
}

// listened reports whether something hears of the events, which is for one log.
func (w *watcher) listened() bool { return w.until != "" || w.save != "" || w.alerts.wanted() }

// check refuses what can't be done together.
func (w *watcher) check(cmd *cobra.Command, names, program []string) error {
	switch path := cmd.CommandPath(); {
	case !(w.options.Speed >= stream.MinSpeed && w.options.Speed <= stream.MaxSpeed):
		return flags.Invalid("--speed", w.options.Speed, fmt.Sprintf(
			"a number from %g to %d", stream.MinSpeed, stream.MaxSpeed))
	case w.system:
		return checkMachines(w, cmd, names, program)
	case program != nil && len(program) == 0:
		return flags.Usagef("%s --: expected a program", path)
	case program != nil && len(names) > 0:
		return flags.Usagef("%s %s -- %s: expected logs, or a program", path, names[0], program[0])
	case program == nil && len(names) == 0:
		return flags.Usagef("%s: expected a recorded run, a file, a directory, - or -- and a program", path)
	case len(names) > 1 && w.listened():
		return flags.Usagef("%s: --until, --save and --alert are for one log: got %d", path, len(names))
	case w.explains && (w.listened() || program != nil || w.once || w.format != ""):
		return flags.Usagef("%s --explain: it prints how a log is read: expected no other output", path)
	case w.format == "json" && !w.once:
		return flags.Usagef("%s --format json: it prints the current state: expected --once with it", path)
	case w.once && (w.alerts.wanted() || program != nil):
		return flags.Usagef("%s --once: it prints the current state: expected no --alert or program", path)
	}
	w.text.Explain = w.explains
	for _, text := range w.pattern {
		p, err := shape.ParsePattern(text)
		if err != nil {
			return flags.Invalid("--pattern", text, err.Error())
		}
		w.text.Patterns = append(w.text.Patterns, p)
	}
	if w.until != "" {
		if _, err := alert.ParseUntil(w.until); err != nil {
			return flags.Invalid("--until", w.until, err.Error())
		}
	}
	return w.alerts.check()
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
	in, _, err := uv.OpenTTY() // /dev/tty, or the console of Windows
	return in, out, err == nil
}

// writerOf is the process that writes a log, 0 where that is not to be found.
func writerOf(names []string) int {
	if len(names) != 1 {
		return 0
	}
	pid, _ := machine.WriterOf(names[0])
	return pid
}
