package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/bench/papers"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/version"
)

const reproductionDescription = `Run what a paper measured and print its figures beside newtop's, with the
claims that hold and those that do not. The seeds are 1, 2, … and the results
but the times are the same on every run.

Real data are used where their files are: in --data-dir, or in the cache that
newtop data fetch fills; generated ones otherwise, which the report then says.
ctrl+c prints what was measured until then.

With --resume FILE a bench that was stopped goes on where it was, and one that
is done prints its report anew. --trials, --only and --format may change from
one time to the next; a file of another commit, machine or problem is refused.`

const formatBrief = "brief"

// reportFormats are those of the papers' reports.
var reportFormats = []string{"text", "json", "md", formatBrief}

// papersBench is a reproduction as a command.
type papersBench struct {
	what    papers.Reproduction
	flags   benchFlags
	options papers.Options
	resume  string // the journal's file; empty: none
}

// newBenchPapers returns a command for each reproduction.
func newBenchPapers() (list []*cobra.Command) {
	for _, r := range papers.All() {
		list = append(list, newReproduction(r))
	}
	return list
}

func newReproduction(r papers.Reproduction) *cobra.Command {
	b := &papersBench{what: r}
	cmd := &cobra.Command{
		Use:     r.Name + " [flags]",
		Short:   headed(r.Short),
		Long:    r.Short + ".\n\n" + reproductionDescription,
		Example: fmt.Sprintf("newtop-bench %s --quick\nnewtop-bench %[1]s --trials 3 --format md > %[1]s.md", r.Name),
		Args:    flags.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.IntVar(&b.options.Trials, "trials", 0, fmt.Sprintf("trials of each column, with the seeds 1, 2, …; 0: as many as the paper, %d, with --quick fewer", r.Trials))
	set.StringSliceVar(&b.options.Only, "only", nil, "columns to run, by name and separated by commas; empty: all")
	set.StringVar(&b.options.Data, "data", "", "another data set than the paper's, by name; empty: the paper's where its files are")
	set.StringVar(&b.options.DataDir, "data-dir", "", "`DIR` where the files of real data are; empty: the cache that newtop data fetch fills")
	set.StringVar(&b.resume, "resume", "", "`FILE` with a JSON line for each trial that is done; trials in it are not run again, others are added")
	flags.Complete(cmd, "data", flags.DataSets)
	flags.Complete(cmd, "data-dir", flags.Directories)
	b.flags.add(cmd, reportFormats...)
	set.Lookup("format").Usage = "text, json: one JSON object, md: tables for GitHub, or brief: of these what docs/papers.md has"
	set.Lookup("threads").Usage = "threads; 0: all cores; only times depend on them"
	set.Lookup("quick").Usage = "fewer trials of smaller problems, in less than a minute"
	return cmd
}

// headed puts the part of a paper before the paper: the help capitalizes the first word, and [MD] would become [Md].
func headed(short string) string {
	paper, rest, tagged := strings.Cut(short, "] ")
	part, about, ok := strings.Cut(rest, ": ")
	if !tagged || !ok {
		return short
	}
	return part + " of " + paper + "]: " + about
}

func (b *papersBench) check() error {
	if err := b.flags.check(reportFormats...); err != nil {
		return err
	}
	const most = 1_000_000
	if n := b.options.Trials; n < 0 || n > most {
		return flags.Invalid("--trials", n, fmt.Sprintf("a whole number from 1 to %d, or 0 for the paper's", most))
	}
	return nil
}

func (b *papersBench) run(cmd *cobra.Command) error {
	if err := b.check(); err != nil {
		return err
	}
	o := b.options
	o.Threads, o.Quick = b.flags.threads, b.flags.quick
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	on := bench.Here(threads)
	if b.resume != "" {
		arguments := fmt.Sprintf("bench %s, data %q, quick %t", b.what.Name, o.Data, o.Quick)
		var err error
		if o.Journal, err = papers.OpenJournal(b.resume, papers.Origin{Commit: thisProgram(), Machine: machineWords(&on), Arguments: arguments}); err != nil {
			return err
		}
		defer o.Journal.Close()
	}
	begun := time.Now()
	m := print.NewMeter(cmd.ErrOrStderr(), begun)
	o.Progress = func(p papers.Progress) { m.Show(time.Now(), p.Share, p.What) }
	report, err := b.what.Run(cmd.Context(), o)
	m.End()
	cut := errors.Is(err, context.Canceled) && cmd.Context().Err() != nil
	if report == nil || err != nil && !cut {
		return err
	}
	r := &reproduction{Report: report, Short: b.what.Short, Machine: on, Version: version.Program(), Command: cmd.Root().Annotations[flags.CommandLine], Begun: begun,
		Seconds: time.Since(begun).Seconds(), Quick: o.Quick, Interrupted: cut}
	format, d := b.flags.format, r.document()
	if format == formatBrief {
		format, d = "md", r.brief()
	}
	return cmp.Or(writeReport(cmd.OutOrStdout(), format, r.json(), d), err)
}

// thisProgram tells which newtop this is: its version, and where that leaves out changes the first digits of the file's
// SHA-256.
func thisProgram() string {
	text := version.Program()
	if text != "devel" && !strings.HasSuffix(text, "+dirty") {
		return text
	}
	path, err := os.Executable()
	if err != nil {
		return text
	}
	file, err := os.Open(path)
	if err != nil {
		return text
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return text
	}
	return fmt.Sprintf("%s, SHA-256 %x", text, sum.Sum(nil)[:6])
}
