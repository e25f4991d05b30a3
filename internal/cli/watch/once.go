package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// printOnce prints what each of some logs has now.
func (w *watcher) printOnce(cmd *cobra.Command, names []string) error {
	for i, name := range names {
		if i > 0 && w.format != "jsonl" {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := w.printNow(cmd, name); err != nil {
			return err
		}
	}
	return nil
}

// printNow prints what a log has now: a table of its metrics, or with a format its epochs.
func (w *watcher) printNow(cmd *cobra.Command, name string) (err error) {
	source, closed, err := w.open(cmd, name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, source.Close(), closed()) }()
	sum := summary{}
	var printer *printer
	if w.format != "" {
		if printer, err = newPrinter(w.format, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	source, l, err := listen(w, cmd, source, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.close(cmd)) }()
	if err := readAll(cmd.Context(), source, func(e event.Event) error {
		if printer != nil {
			return printer.print(e)
		}
		sum.add(e)
		return nil
	}, func() { sum = summary{} }); err != nil {
		return err
	}
	if warning := warningOf(source); warning != "" {
		print.Warn(cmd.ErrOrStderr(), warning)
	}
	switch {
	case printer != nil:
		err = printer.out.Flush()
	case sum.epochs == 0:
		return fmt.Errorf("%s: nothing to print yet", source.Name())
	default:
		err = sum.print(cmd.OutOrStdout(), source.Name())
	}
	return l.over(cmd, err)
}

// readAll gives a function all that a source has now.
func readAll(ctx context.Context, source stream.Source, take func(event.Event) error, restart func()) error {
	for again := true; ; {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			if err := take(e); err != nil {
				return err
			}
		case errors.Is(err, stream.ErrRestart):
			restart()
		case errors.Is(err, stream.ErrNone) && again: // a pipe may have more, and a step may be held back for a moment
			again = false
			stream.Final(source)
			wait, cancel := context.WithTimeout(ctx, stream.Moment)
			_ = source.Wait(wait)
			cancel()
		case errors.Is(err, stream.ErrNone), errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

func warningOf(s stream.Source) string {
	if s, ok := s.(interface{ Warning() string }); ok {
		return s.Warning()
	}
	return ""
}

// summary is what a run has of each of its metrics.
type summary struct {
	run     event.RunEvent
	done    *event.DoneEvent
	epochs  int // that were reported
	latest  int
	elapsed event.Float
	metrics []metric
	at      map[string]int
}

// metric is one number of a run's epochs.
type metric struct {
	name          string
	share         bool
	latest        event.Float
	epoch         int // of the newest
	min, max      float64
	minAt         int
	maxAt         int
	count, broken int
}

func (s *summary) add(e event.Event) {
	switch e := e.(type) {
	case event.RunEvent:
		if s.run.ID != e.ID {
			*s = summary{}
		}
		s.run = e
	case event.DoneEvent:
		s.done = &e
	case event.EpochEvent:
		if s.epochs == 0 || e.Epoch != s.latest {
			s.epochs++
		}
		s.latest = e.Epoch
		if !e.Elapsed.Absent() {
			s.elapsed = e.Elapsed
		}
		for q := range event.QuantityCount {
			if q != event.Elapsed && q != event.Seconds {
				s.addPoint(q.Info().Name, q.Info().Share, e.Epoch, *q.Of(&e))
			}
		}
		for i := range e.Metrics {
			s.addPoint(e.Metrics[i].Key, false, e.Epoch, e.Metrics[i].Value)
		}
	}
}

func (s *summary) addPoint(name string, share bool, epoch int, v event.Float) {
	if v.Absent() {
		return
	}
	i, ok := s.at[name]
	if !ok {
		if s.at == nil {
			s.at = map[string]int{}
		}
		i = len(s.metrics)
		s.at[name] = i
		s.metrics = append(s.metrics, metric{name: name, share: share})
	}
	m := &s.metrics[i]
	m.latest, m.epoch = v, epoch
	if m.count++; !v.Finite() {
		m.broken++
		return
	}
	if x := float64(v); m.count-m.broken == 1 {
		m.min, m.max, m.minAt, m.maxAt = x, x, epoch, epoch
	} else if x < m.min {
		m.min, m.minAt = x, epoch
	} else if x > m.max {
		m.max, m.maxAt = x, epoch
	}
}

func (s *summary) print(out io.Writer, source string) error {
	line := cmp.Or(s.run.Data.Name, source)
	line += ": " + print.Count(s.epochs, s.run.Counted())
	if s.elapsed > 0 {
		line += " in " + print.Elapsed(s.elapsed)
	}
	if s.done != nil {
		line += ", " + string(s.done.Reason)
		if s.done.Message != "" {
			line += ": " + s.done.Message
		}
	}
	if _, err := fmt.Fprintln(out, print.Printable(line)); err != nil {
		return err
	}
	table := print.Table{Headers: []string{"metric", ">newest", ">" + s.run.Counted(), ">least", ">" + s.run.Counted(),
		">greatest", ">" + s.run.Counted(), ">values", ">not finite"}, Ranks: []int{0, 0, 3, 1, 4, 2, 5, 6, 7}}
	for i := range s.metrics {
		m := &s.metrics[i]
		text := func(v float64) string {
			if m.share {
				return print.Percent(event.Float(v))
			}
			return print.Number(event.Float(v), 6)
		}
		cells := []string{m.name, text(float64(m.latest)), fmt.Sprint(m.epoch), "", "", "", "", fmt.Sprint(m.count), ""}
		if m.count > m.broken {
			cells[3], cells[4], cells[5], cells[6] = text(m.min), fmt.Sprint(m.minAt), text(m.max),
				fmt.Sprint(m.maxAt)
		}
		if m.broken > 0 {
			cells[8] = fmt.Sprint(m.broken)
		}
		table.Add(cells...)
	}
	return table.Fit(out, print.Width(out))
}
