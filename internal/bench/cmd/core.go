package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

const coreDescription = `Measure matrix products, vector functions, and the passes and epochs of the
letter net 16-70-50-26 against what this machine can do. About 25 seconds,
with --quick 6. docs/performance.md says what each table means.`

func newBenchCore() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:     "core [flags]",
		Short:   "Measure products, functions and passes against this machine",
		Long:    coreDescription,
		Example: "newtop-bench core --quick\nnewtop-bench core --threads 1 --format json > core.json",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			o := bench.Options{Threads: f.threads, Quick: f.quick}
			o.Progress = progressLine(cmd.ErrOrStderr())
			return benchCore(cmd.Context(), cmd.OutOrStdout(), f.format, o)
		},
	}
	f.add(cmd, "text", "json")
	return cmd
}

// progressLine returns what shows on a terminal what is being measured; "" ends it.
func progressLine(errs io.Writer) func(what string) {
	f, ok := print.Drawable(errs)
	if !ok {
		return nil
	}
	return func(what string) {
		line := "\r\x1b[K"
		if what != "" {
			line += "measuring: " + what + " "
		}
		fmt.Fprint(f, line)
	}
}

func benchCore(ctx context.Context, out io.Writer, format string, o bench.Options) error {
	c, err := bench.MeasureCore(ctx, o)
	if o.Progress != nil {
		o.Progress("")
	}
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(out, c)
	}
	_, err = io.WriteString(out, coreText(c))
	return err
}

// coreText writes the tables, at most 80 columns wide.
func coreText(c *bench.Core) string {
	var b strings.Builder
	machineText(&b, &c.Machine)
	productsText(&b, c.Products)
	functionsText(&b, c.Functions)
	if len(c.Letter) > 0 {
		fmt.Fprintf(&b, "\nletter net, %d weights, %d rows, tanh, squared error\n", c.Letter[0].Weights, c.Letter[0].Rows)
	}
	for i := range c.Letter {
		letterText(&b, &c.Letter[i])
	}
	scalingText(&b, c.Scaling, c.Machine.Threads)
	epochsText(&b, c.Epochs)
	fmt.Fprintf(&b, "\nmeasured in %.0f s\n", c.Seconds)
	return b.String()
}

func machineText(b *strings.Builder, m *bench.Machine) {
	if m.CPU != "" {
		fmt.Fprintln(b, m.CPU)
	}
	fmt.Fprintln(b, coresWords(m))
	if m.PeakGFLOPS > 0 {
		fmt.Fprintf(b, "FMA peak %s GFLOP/s of one core, %s of all threads at once\n", short(m.PeakGFLOPS), short(m.PeakAllGFLOPS))
	}
}

func coresWords(m *bench.Machine) string {
	return fmt.Sprintf("%s, %s/%s, %s; kernel %s, %s", print.Count(m.Cores, "core"), m.OS, m.Arch, m.Go, m.Kernel, print.Count(m.Threads, "thread"))
}

// machineWords describes a machine in one line.
func machineWords(m *bench.Machine) string {
	if m.CPU == "" {
		return coresWords(m)
	}
	return m.CPU + ", " + coresWords(m)
}

func productsText(b *strings.Builder, list []bench.Product) {
	const form = "%-36s %9s %9s %9s  %s"
	heading(b, form, "matrix products, one core", "GFLOP/s", "best", "of peak", "")
	for i := range list {
		p := &list[i]
		name := fmt.Sprintf("%-9s %d×%d · %d×%d", p.Name, p.Rows, p.Inner, p.Inner, p.Columns)
		if p.Name == bench.AllLetter {
			name = "all these, of a letter gradient"
		}
		row(b, form, name, short(p.GFLOPS), short(p.BestGFLOPS), fmt.Sprintf("%.0f %%", 100*p.PeakShare), bound(p.Goal))
	}
}

func functionsText(b *strings.Builder, list []bench.Function) {
	const form = "%-36s %9s %9s %9s"
	heading(b, form, "vector functions, one core", "ns each", "best", "numbers")
	for i := range list {
		f := &list[i]
		row(b, form, f.Name, short(f.MedianNS), short(f.BestNS), fmt.Sprint(f.Elements))
	}
}

func letterText(b *strings.Builder, l *bench.Letter) {
	const form = "%-23s %7s %7s %8s %9s %5s  %s"
	kept := "kept"
	if !l.Kept {
		kept = "anew"
	}
	heading(b, form, print.Count(l.Threads, "thread")+", passes "+kept, "ms", "best", "GFLOP/s", "gradients", "bytes", "")
	for i := range l.Passes {
		p := &l.Passes[i]
		row(b, form, passName(p.Name), short(p.MedianMS), short(p.BestMS), short(p.GFLOPS),
			fmt.Sprintf("%.2f", p.Gradients), fmt.Sprint(p.AllocatedBytes), bound(p.Goal))
	}
}

func scalingText(b *strings.Builder, list []bench.Scaling, threads int) {
	const form = "%-23s %11s %12s %13s  %s"
	heading(b, form, "scaling, "+print.Count(threads, "thread"), "sizes", "best ms", "exponent", "")
	for i := range list {
		s := &list[i]
		first, last := s.Points[0], s.Points[len(s.Points)-1]
		row(b, form, passName(s.Pass)+" with "+s.With, fmt.Sprintf("%d…%d", first.Size, last.Size),
			short(first.BestMS)+"…"+short(last.BestMS), fmt.Sprintf("%.3f ± %.3f", s.Exponent, s.StandardError), bound(s.Goal))
	}
}

func epochsText(b *strings.Builder, list []bench.Epoch) {
	const form = "%-36s %9s %9s %9s %9s"
	for i := range list {
		e := &list[i]
		if i == 0 {
			heading(b, form, fmt.Sprintf("epochs of %d rows, one core", e.Rows), "ms", "best", "rows/s", "GFLOP/s")
		}
		row(b, form, fmt.Sprintf("batches of %d", e.Batch), short(e.MedianMS), short(e.BestMS),
			fmt.Sprintf("%.0f", e.RowsPerSecond), short(e.GFLOPS))
	}
}

// heading writes a table's first line behind an empty one.
func heading(b *strings.Builder, form string, cells ...any) {
	b.WriteByte('\n')
	line(b, form, cells)
}

// row writes a table's line, its name set in.
func row(b *strings.Builder, form, name string, cells ...any) {
	line(b, form, append([]any{"  " + name}, cells...))
}

func line(b *strings.Builder, form string, cells []any) {
	b.WriteString(strings.TrimRight(fmt.Sprintf(form, cells...), " "))
	b.WriteByte('\n')
}
