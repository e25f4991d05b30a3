package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/version"
	"newtop/trainer/mpi"
)

const scaleDescription = `Measure what processes wait for each other, and products of several processes
beside those of one. About 40 s, with --quick 10 s. docs/cluster.md says what
each table means.

It needs a program that is built with MPI. By itself it starts mpirun, which
must be in PATH, with two processes of its own; under mpirun or srun it
measures the processes that those started. Open MPI does not run for root
unless OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM are 1: that
is for you to set.`

// scaleBench is the command.
type scaleBench struct {
	flags benchFlags
	ranks int
}

func newBenchScale() *cobra.Command {
	b := &scaleBench{}
	cmd := &cobra.Command{
		Use:     "scale [flags]",
		Short:   "Measure several processes beside one",
		Long:    scaleDescription,
		Example: "newtop-bench scale --quick\nmpirun -np 4 --host a:2,b:2 newtop-bench scale --threads 1\nnewtop-bench scale --format md > scale.md",
		Args:    flags.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	launch.FirstPrints(cmd) // process 0 alone prints
	b.flags.add(cmd, "text", "json", "md")
	set := cmd.Flags()
	set.IntVar(&b.ranks, "ranks", 0, "processes to start; 0: 2, or as many as mpirun or srun started")
	set.Lookup("format").Usage = "text, json: one JSON object, or md: tables for GitHub"
	set.Lookup("threads").Usage = "threads of each process; 0: the processors it may use, shared with those beside it"
	set.Lookup("quick").Usage = "smaller sizes, fewer repetitions"
	return cmd
}

func (b *scaleBench) check() error {
	if err := b.flags.check("text", "json", "md"); err != nil {
		return err
	}
	if b.ranks != 0 && (b.ranks < 2 || b.ranks > bench.MostRanks) {
		return flags.Invalid("--ranks", b.ranks, fmt.Sprintf("a whole number from 2 to %d", bench.MostRanks))
	}
	return nil
}

func (b *scaleBench) run(cmd *cobra.Command) error {
	if err := b.check(); err != nil {
		return err
	}
	if !mpi.Built() {
		return flags.Usagef("scale: this newtop-bench is built without MPI: build it with CC=mpicc go build -C internal/bench -tags mpi -o newtop-bench ./cmd")
	}
	started, launched := mpi.Launched()
	switch {
	case !launched:
		return b.start(cmd)
	case started.Size < 2 || started.Size > bench.MostRanks:
		return flags.Usagef("scale: %s started %s: expected 2 to %d", started.By, print.CountOf(started.Size, "process", "processes"), bench.MostRanks)
	case b.ranks != 0 && b.ranks != started.Size:
		return flags.Invalid("--ranks", b.ranks, fmt.Sprintf("%d, as %s started so many", started.Size, started.By))
	}
	comm, err := mpi.Join(started, mpi.Options{})
	if err != nil {
		return &flags.UsageError{Message: print.OneLine(err)}
	}
	o := bench.ScaleOptions{Threads: b.flags.threads, Local: started.Local, Quick: b.flags.quick}
	if started.Rank > 0 {
		return b.work(cmd.Context(), comm, o)
	}
	r, err := b.measure(cmd, comm, o)
	if err != nil {
		return err // and the launcher ends the others
	}
	if err := comm.Close(print.ExitDone); err != nil {
		return err
	}
	return writeReport(cmd.OutOrStdout(), b.flags.format, r, r.document())
}

// start has mpirun start processes that do the same.
func (b *scaleBench) start(cmd *cobra.Command) error {
	path, err := exec.LookPath("mpirun")
	if err != nil {
		return errors.New("scale: no mpirun in PATH: install Open MPI or MPICH, or start newtop-bench scale with srun")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-np", strconv.Itoa(max(b.ranks, 2)), self, "scale"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if args = append(args, "--"+f.Name); f.Value.Type() == "bool" {
			args[len(args)-1] += map[string]string{"false": "=false"}[f.Value.String()]
		} else {
			args = append(args, f.Value.String())
		}
	})
	run := exec.CommandContext(cmd.Context(), path, args...)
	run.Stdout, run.Stderr = direct(cmd.OutOrStdout()), direct(cmd.ErrOrStderr())
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 5 * time.Second
	// Processes that Open MPI binds to a core each could not show what one with several threads does.
	run.Env = append([]string{"OMPI_MCA_hwloc_base_binding_policy=none", "PRTE_MCA_hwloc_default_binding_policy=none"}, os.Environ()...)
	if say := progressLine(cmd.ErrOrStderr()); say != nil {
		say(fmt.Sprintf("%d processes", max(b.ranks, 2)))
		defer say("")
	}
	if err := run.Run(); err != nil {
		return cmp.Or(cmd.Context().Err(), fmt.Errorf("scale: %s -np %d: %w", path, max(b.ranks, 2), err))
	}
	return nil
}

// direct returns the file that out writes to, if it is one, for processes that print as this one does.
func direct(out io.Writer) io.Writer {
	if f, ok := print.File(out); ok {
		return f
	}
	return out
}

// work does process 0's exchanges and products, and ends with its code.
func (b *scaleBench) work(ctx context.Context, comm *mpi.Comm, o bench.ScaleOptions) error {
	code := print.ExitFailed
	_, err := bench.MeasureExchanges(ctx, comm.Collectives(), o)
	if err == nil {
		code, err = comm.Work(ctx)
	}
	if err != nil { // which is no matter of process 0's
		print.Report(os.Stderr, fmt.Errorf("process %d: %w", comm.Rank(), err))
	} else if code == print.ExitDone {
		return nil
	}
	return &print.ExitError{Code: code, Err: err}
}

// scaleReport is what was measured, with where and when.
type scaleReport struct {
	*bench.Scale
	Version string    `json:"version"`
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	Quick   bool      `json:"quick"`
}

// measure has process 0 measure with the others.
func (b *scaleBench) measure(cmd *cobra.Command, comm *mpi.Comm, o bench.ScaleOptions) (*scaleReport, error) {
	begun := time.Now()
	exchanges, err := bench.MeasureExchanges(cmd.Context(), comm.Collectives(), o)
	if err != nil {
		return nil, err
	}
	products, err := bench.MeasureTeam(cmd.Context(), comm.Team(), o)
	if err != nil {
		return nil, err
	}
	s := bench.NewScale(comm.Size(), exchanges, products, o)
	about := comm.About()
	s.Library, s.Hosts, s.Seconds = about.Library, about.Hosts, time.Since(begun).Seconds()
	return &scaleReport{Scale: s, Version: version.Program(), Command: cmd.Root().Annotations[flags.CommandLine], Begun: begun.UTC(), Quick: o.Quick}, nil
}
