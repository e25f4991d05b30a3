package watch

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/internal/machine"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
	"newtop/trainer/stream"
)

// printOnce prints what each of some logs has now, and of directories each run that they hold. A run that can't be read
// is told of, and the others are printed.
func (w *watcher) printOnce(cmd *cobra.Command, names []string) error {
	// Points, which stay, have no pointers: what goes is cheap to tell from them.
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	printed := 0
	next := func(source stream.Source, title string, closed func() error) error {
		if printed++; printed > 1 && w.format != "jsonl" && w.format != "json" {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		return cmp.Or(w.printNow(cmd, source, title), closed())
	}
	for _, name := range names {
		dir, _, err := w.remote.Path(name)
		if err != nil {
			return err
		}
		if runs := w.found(dir); len(runs) > 1 {
			for _, c := range runs {
				source, err := stream.OpenFound(c, dir)
				if err == nil {
					stream.Configure(source, w.text)
					err = next(source, c.Name, func() error { return nil })
				}
				if cmd.Context().Err() != nil {
					return err
				}
				if err != nil {
					print.Warn(cmd.ErrOrStderr(), print.OneLine(err))
				}
			}
			continue
		}
		source, closed, err := w.open(cmd, name)
		if err == nil {
			err = next(source, "", closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// found lists the runs in a directory or a database of which all are shown.
func (w *watcher) found(dir files.Path) []find.Candidate {
	if w.run != "" || w.listened() || !stream.HoldsRuns(dir) {
		return nil
	}
	return stream.Find(dir)
}

// printNow prints what a source has now: a table of its metrics, its epochs, or as JSON all that is known of the run.
// It closes the source. The title is what a run is called whose log does not say it; empty: as its source.
func (w *watcher) printNow(cmd *cobra.Command, source stream.Source, title string) (err error) {
	defer func() { err = cmp.Or(err, source.Close()) }()
	sum := summary{}
	var printer *printer
	if w.format != "" && w.format != "json" {
		if printer, err = newPrinter(w.format, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	log := source
	source, l, err := listen(w, cmd, source, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.close(cmd)) }()
	if printer == nil && !w.listened() {
		stream.Lend(log, sum.SeeEpoch)
	}
	if err := stream.ReadAll(cmd.Context(), source, func(e event.Event) error {
		if printer != nil {
			return printer.print(e)
		}
		sum.See(e)
		return nil
	}, func() { sum = summary{} }); err != nil {
		return err
	}
	warning := stream.Warning(source)
	if warning != "" {
		print.Warn(cmd.ErrOrStderr(), warning)
	}
	switch {
	case printer != nil:
		err = printer.out.Flush()
	case !sum.Began:
		return fmt.Errorf("%s: nothing to print yet", source.Name())
	case w.format == "json":
		now := sum.Now()
		now.Name, now.Source, now.Warning = sum.name(source.Name(), title), source.Name(), warning
		now.State, now.Written = stateOf(log, now.State)
		if list := stream.Images(log); list != nil {
			_, now.Images = list.Now()
		}
		err = print.JSON(cmd.OutOrStdout(), now)
	default:
		err = cmp.Or(sum.print(cmd.OutOrStdout(), source.Name(), title), printImages(cmd.OutOrStdout(), log))
	}
	return l.over(cmd, err)
}

// printImages counts the images of a log, which the screen shows.
func printImages(out io.Writer, log stream.Source) error {
	list := stream.Images(log)
	if list == nil {
		return nil
	}
	images, count := list.Now()
	if images == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s by %s, on the screen\n", print.Count(count, "image"),
		print.Count(len(images.Names), "name"))
	return err
}

// stateOf says whether a run that has not ended is live or quiet, and when its log was written last. What is not
// written for a minute, and open in no process, is quiet.
func stateOf(log stream.Source, ended string) (state string, written *time.Time) {
	if last := stream.Written(log); !last.IsZero() {
		written = &last
	}
	if ended != "" || written == nil {
		return ended, written
	}
	age := time.Since(*written)
	open := age <= time.Minute
	if !open && age < stream.Quiet {
		_, open = machine.WriterOf(log.Name())
	}
	if open {
		return "live", written
	}
	return "quiet", written
}

// summary is what a run has of each of its metrics.
type summary struct{ print.Collector }

// name is the run's. The title takes the place of a name that is the source's.
func (s *summary) name(source, title string) string {
	if name := cmp.Or(s.Run.Data.Name, source); title == "" || name != stream.NameOf(source) {
		return name
	}
	return title
}

// print prints the table.
func (s *summary) print(out io.Writer, source, title string) error {
	line := s.name(source, title)
	line += ": " + print.Count(s.Epochs(), s.Run.Counted())
	if s.Elapsed > 0 {
		line += " in " + print.Elapsed(s.Elapsed)
	}
	if s.Done != nil {
		line += ", " + string(s.Done.Reason)
		if s.Done.Message != "" {
			line += ": " + s.Done.Message
		}
	}
	if _, err := fmt.Fprintln(out, print.Printable(line)); err != nil {
		return err
	}
	err := printSeries(out, "metric", s.Run.Counted(), s.Told())
	if err == nil && s.Machine != nil {
		err = printSeries(out, "machine", "second", s.Machine.Told())
	}
	return err
}

// printSeries prints what is known of series, the heading of whose x is given.
func printSeries(out io.Writer, heading, x string, series []*event.Series) error {
	x = ">" + x
	table := print.Table{
		Headers: []string{heading, ">latest", x, ">least", x, ">greatest", x, ">values", ">not finite"},
		Ranks:   []int{0, 0, 3, 1, 4, 2, 5, 6, 7}}
	for _, m := range series {
		name := m.Key
		if m.Info != nil {
			name = m.Info.Name
		}
		text := func(v event.Float) string {
			if m.Info != nil && m.Info.Share {
				return print.Percent(v)
			}
			return print.Number(v, 6)
		}
		latest := m.Last()
		cells := []string{name, text(latest.V), fmt.Sprint(latest.X), "", "", "", "", fmt.Sprint(m.Len()), ""}
		least, greatest, broken := m.Range()
		if least != nil {
			cells[3], cells[4], cells[5], cells[6] = text(least.V), fmt.Sprint(least.X), text(greatest.V),
				fmt.Sprint(greatest.X)
		}
		if broken > 0 {
			cells[8] = fmt.Sprint(broken)
		}
		table.Add(cells...)
	}
	return table.Fit(out, print.Width(out))
}
