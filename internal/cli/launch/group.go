// Package launch is this process among those that mpirun or srun started together, and the signals that end it.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/kernel"
	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/mpi"
)

// Group is this process among those that mpirun or srun started together. By itself it is a group of one, which does
// all as if there were no launcher.
//
// Of several, process 0 does what the command says: it reads the flags, has the store, prints. The others read no more
// than that there is nothing wrong with the flags, open nothing and print nothing: they join and work until process 0
// closes the world, last of all, since a launcher may end every process once one has ended with another code than 0.
type Group struct {
	launch mpi.Launch
	size   int // of the group; 1 without a launcher
	errs   io.Writer
	reduce string
	hang   time.Duration
	world  *mpi.Comm // once this process has joined
	team   trainer.Team
	leads  bool // process 0 has others that wait for it to join or to close
}

// firstPrints is the annotation of commands of which process 0 alone prints anything. Others do in every process what
// they always do.
const firstPrints = "process 0 prints"

// defaultHang is how long nothing may be heard of a process.
const defaultHang = 5 * time.Minute

// New returns the group that this process is of; errs is where it says what went wrong with the others.
func New(errs io.Writer) *Group {
	c := &Group{size: 1, errs: errs}
	if l, ok := mpi.Launched(); ok && l.Size > 1 {
		c.launch, c.size = l, l.Size
	}
	return c
}

// Single reports whether this process trains by itself.
func (c *Group) Single() bool { return c == nil || c.size == 1 }

// Quiet reports whether this process leaves printing, and ending in order after a signal, to process 0.
func (c *Group) Quiet(cmd *cobra.Command) bool {
	return !c.Single() && c.launch.Rank > 0 && cmd.Annotations[firstPrints] != ""
}

// Context returns one that ends with the first signal that asks for an orderly end. By itself a process acts by default
// on a second one, which ends it whatever it waits for; a launcher's processes get several and are killed if they take
// too long.
func (c *Group) Context(quiet bool) (ctx context.Context, stop context.CancelFunc) {
	if quiet {
		signal.Ignore(ending()...)
		return context.WithCancel(context.Background())
	}
	stopBetweenTransactions()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // so that a write fails, after which a run can end in order
	ctx, stop = signal.NotifyContext(context.Background(), signals()...)
	if c.Single() {
		context.AfterFunc(ctx, routine.Guard(stop))
	}
	return ctx, stop
}

// SingleOnly marks a command that several processes must not do at once.
func (c *Group) SingleOnly(cmd *cobra.Command, instead string) *cobra.Command {
	FirstPrints(cmd)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !c.Single() {
			return flags.Usagef("%s started %d processes of %s: expected %s", c.launch.By, c.size, cmd.CommandPath(),
				instead)
		}
		return run(cmd, args)
	}
	return cmd
}

// Trains marks a command that trains, in all processes.
func (c *Group) Trains(cmd *cobra.Command) *cobra.Command {
	FirstPrints(cmd)
	set := cmd.Flags()
	set.StringVar(
		&c.reduce, "reduce", "fixed",
		"how processes sum: fixed (with the digits of one process) or fast (by MPI; the last digits depend on the "+
			"number of processes)")
	set.DurationVar(
		&c.hang, "hang-timeout", defaultHang,
		"end with code 4 when one of several processes has not answered for this long")
	flags.Choices(cmd, "reduce", "fixed", "fast")
	flags.Under(flags.Computing, set, "reduce", "hang-timeout")
	flags.Long(set, "reduce", "hang-timeout")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !c.Single() && c.launch.Rank > 0 {
			return c.work(cmd)
		}
		c.leads = !c.Single()
		return run(cmd, args)
	}
	return cmd
}

// FirstPrints marks a command of which process 0 alone prints anything.
func FirstPrints(cmd *cobra.Command) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[firstPrints] = "alone"
}

// check checks the flags.
func (c *Group) check() error {
	if err := flags.OneOf("--reduce", c.reduce, "fixed", "fast"); err != nil || c.hang >= time.Second {
		return err
	}
	return flags.Invalid("--hang-timeout", c.hang, "a duration ≥ 1s")
}

// Join checks the flags and has process 0 meet the others, before it opens any file that they must not have a hand in.
func (c *Group) Join() error {
	if err := c.check(); err != nil || !c.leads {
		return err
	}
	return c.meet(mpi.Options{Fast: c.reduce == "fast", Timeout: c.hang})
}

// meet joins the others. All do so in the same order.
func (c *Group) meet(o mpi.Options) (err error) {
	o.Fatal = c.fatal
	if c.world, err = mpi.Join(c.launch, o); err != nil {
		c.leads = false // as nobody waits
		return &flags.UsageError{Message: print.OneLine(err)}
	}
	said, err := c.world.Gather([]byte(kernel.Selected().String()))
	if err != nil || c.launch.Rank > 0 {
		return err
	}
	c.team = c.world.Team() // now, as the others hear of this process from here on, however long it waits for a file
	if text := mixed(said, c.world.About().Hosts); text != "" {
		print.Warn(c.errs, text)
	}
	return nil
}

// mixed warns of kernels whose digits differ, so that those of a sum are neither's.
func mixed(kernels [][]byte, hosts []string) string {
	for rank, k := range kernels {
		if !kernel.SameDigits(string(k), string(kernels[0])) {
			return fmt.Sprintf(
				"process %d on %s computes with the kernel %s, and process 0 on %s with %s: the last digits will "+
					"match neither: set %s=%s in all processes",
				rank, hosts[rank], k, hosts[0], kernels[0], kernel.Variable, kernel.Generic)
		}
	}
	return ""
}

// fatal ends this process after the group broke.
func (c *Group) fatal(text string, code int) {
	fmt.Fprintln(c.errs, "newtop:", text)
	os.Exit(code)
}

// work does what process 0 asks for, and ends with its code.
func (c *Group) work(cmd *cobra.Command) error {
	if err := c.meet(mpi.Options{}); err != nil {
		return err
	}
	code, err := c.world.Work(cmd.Context())
	if err != nil {
		print.Report(c.errs, fmt.Errorf("process %d: %w", c.launch.Rank, err))
	}
	return &print.ExitError{Code: code, Err: err}
}

// Attach has a session train with the group.
func (c *Group) Attach(s *trainer.Session) {
	if c != nil && c.team != nil {
		s.JoinTeam(c.team)
	}
}

// Leave has the others end with a code, once nothing is left to do but to end with it. After a bug they may wait within
// a sum that nobody can bring to an end, and are left to the launcher.
func (c *Group) Leave(code int, err error) {
	if _, bug := errors.AsType[*trainer.PanicError](err); bug || !c.leads {
		return
	}
	if c.world == nil {
		if c.meet(mpi.Options{}) != nil {
			return // whose reason the others have as well
		}
	}
	if err := c.world.Close(code); err != nil {
		print.Warn(c.errs, print.OneLine(err))
	}
}

// joinPatience is how long a process that can't join waits before it ends.
const joinPatience = 3 * time.Second

// Linger gives process 0, which may have begun later, time to say why none can train: a launcher kills all once one has
// ended with another code than 0. If process 0 was faster the launcher says so by TERM.
func (c *Group) Linger() {
	if c.world == nil {
		signal.Reset(syscall.SIGTERM)
		time.Sleep(joinPatience)
	}
}
