package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/logs/shape"
	"newtop/trainer/stream"
)

const (
	// pageWidth is how many columns a page of --explain has, so that it can be put into a report.
	pageWidth = 80
	// maxExplained bounds the shapes on it.
	maxExplained = 60
)

// explain prints how each of some logs is read.
func explain(w *watcher, cmd *cobra.Command, names []string) error {
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := explainLog(w, cmd, name); err != nil {
			return err
		}
	}
	return nil
}

func explainLog(w *watcher, cmd *cobra.Command, name string) (err error) {
	source, closed, err := w.open(cmd, name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, source.Close(), closed()) }()
	sum := summary{}
	unwrapped := source
	if name == "-" {
		source = patient{source}
	}
	refused := stream.ReadAll(cmd.Context(), source, func(e event.Event) error {
		sum.See(e)
		return nil
	}, func() { sum = summary{} })
	if cmd.Context().Err() != nil {
		return refused
	}
	page := explained{out: cmd.OutOrStdout()}
	page.line("", source.Name())
	if e := stream.Explain(unwrapped); e != nil && e.Lines > 0 {
		page.text(e)
	} else if refused == nil {
		page.line("", "a structured log: there is no text to explain")
	}
	page.series(&sum)
	switch {
	case page.err != nil:
		return page.err
	case len(sum.Told()) == 0:
		return &print.ExitError{Code: print.ExitFailed, Err: cmp.Or(
			refused, errors.New(source.Name()+": nothing was read"))}
	}
	return nil
}

// patient is a pipe that is read to its end.
type patient struct{ stream.Source }

func (p patient) Next(ctx context.Context) (e event.Event, err error) {
	for {
		if e, err = p.Source.Next(ctx); !errors.Is(err, stream.ErrNone) {
			return e, err
		}
		if err := p.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// explained is a page of --explain. The first error of its writer stays.
type explained struct {
	out io.Writer
	err error
}

// line writes a line, of which what does not fit is cut.
func (p *explained) line(indent, text string) {
	text = strings.TrimRight(ansi.Truncate(indent+print.Printable(text), pageWidth, "…"), " ")
	if _, err := fmt.Fprintln(p.out, text); p.err == nil {
		p.err = err
	}
}

// text says what became of lines.
func (p *explained) text(e *shape.Explanation) {
	for _, remark := range e.Remarks {
		p.line("", remark)
	}
	for i, s := range e.Shapes {
		if i == maxExplained {
			p.line("", "")
			p.line("", fmt.Sprintf("%d more shapes of at most %s", len(e.Shapes)-i, print.Count(s.Lines, "line")))
			break
		}
		p.shape(&s)
	}
	p.line("", "")
	p.line("", fmt.Sprintf("%d lines, with numbers %d", e.Lines, e.Numbers))
	p.causes(e.Causes)
}

func (p *explained) causes(list []shape.Cause) {
	for _, c := range list {
		p.line("", fmt.Sprintf("%9d %s", c.Lines, c.Text))
	}
}

// shape writes an example and what its numbers are.
func (p *explained) shape(s *shape.Shape) {
	p.line("", "")
	p.line("", fmt.Sprintf("%s × %s", print.Count(s.Lines, "line"), s.Example))
	if s.Kind != "" {
		p.line("    ", s.Kind)
	}
	number, role := 4, 8
	for _, h := range s.Holes {
		number = min(max(number, ansi.StringWidth(h.Text)), 16)
		role = min(max(role, ansi.StringWidth(h.Role)), 36)
	}
	for _, h := range s.Holes {
		p.line("    ", cell(h.Text, number)+"  "+cell(h.Role, role)+"  "+h.Why)
	}
	if len(s.Causes) > 0 {
		p.causes(s.Causes)
	}
}

// cell is a text in as many columns as are given.
func cell(text string, width int) string {
	text = ansi.Truncate(print.Printable(text), width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// series lists what was found.
func (p *explained) series(s *summary) {
	p.line("", "")
	told := s.Told()
	if len(told) == 0 {
		p.line("", "no series")
		return
	}
	x := s.Run.Counted()
	table := print.Table{Headers: []string{"series", ">points", ">first " + x, ">value", ">last " + x, ">value"}}
	for _, m := range told {
		name := m.Key
		if m.Info != nil {
			name = m.Info.Name
		}
		first, last := m.At(0), m.Last()
		table.Add(ansi.Truncate(name, 30, "…"), fmt.Sprint(m.Len()), fmt.Sprint(first.X),
			print.Number(first.V, 6),
			fmt.Sprint(last.X), print.Number(last.V, 6))
	}
	p.err = cmp.Or(p.err, table.Fit(p.out, pageWidth))
}
