package mpi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"newtop/internal/routine"
	"newtop/models"
	"newtop/trainer/objective"
)

// Comm is all processes of a run. One goroutine at a time uses it, but for what it watches itself.
type Comm struct {
	link    transport
	options Options
	config  config
	watch   watch
	reducer reducer

	problem *objective.Problem
	worker  *worker // at work in another process

	// Of process 0.
	last  int64        // the id given last
	depth atomic.Int32 // calls that others take part in and that have not come back

	patient bool // what the last message said
	pending *message
}

// defaultTimeout is what a zero Options.Timeout means.
const defaultTimeout = 5 * time.Minute

// About is what there is to say of a Comm before it trains.
type About struct {
	Library string   // as in Open MPI 4.1.4
	Hosts   []string // of each rank
	Threads []int    // of each rank, where the configuration leaves it open
	Reduce  string   // fixed or fast
}

// presence is what each process says of itself when it joins.
type presence struct {
	Host       string
	Program    string // that it was built from
	Processors string // that it may run on
	Threads    int    // that its processors have room for
}

// config is what all processes know of the processes.
type config struct {
	Hosts   []string
	Threads []int
	Fast    bool
	Timeout time.Duration
	Refusal string // why they can't work together; empty else
}

// processors is on how many this process may compute, before anybody has asked for more.
var processors = runtime.GOMAXPROCS(0)

// Join begins to speak MPI, and tells all processes what process 0's Options are. A launch is of two processes or more.
// It returns an error of one line if this program and the launcher do not belong together.
func Join(l Launch, o Options) (*Comm, error) {
	if !Built() {
		return nil, fmt.Errorf("%s has started %d processes, but this program was built without MPI: "+
			"expected one built by CC=mpicc go build -tags mpi", l.By, l.Size)
	}
	if err := reachable(l, Library()); err != nil {
		return nil, err
	}
	// Whoever does not join keeps the others in calls that nothing but the process's end can cut short.
	late := time.AfterFunc(defaultTimeout, routine.Guard(func() {
		fatal(o, fmt.Sprintf("rank %d: the processes that %s has started have not found each other for %s", l.Rank,
			l.By, defaultTimeout), ExitHung)
	}))
	defer late.Stop()
	link, err := connect()
	if err != nil {
		return nil, err
	}
	if link.Size() != l.Size {
		return nil, foreign(l, link.library(), link.Size())
	}
	return newComm(link, o)
}

// foreign is the error where an MPI does not know what the launcher has started.
func foreign(l Launch, library string, size int) error {
	other := ""
	if l.By == "srun" {
		other = ", or srun --mpi=pmi2"
		if name, _ := cutVersion(library); name == "Open MPI" {
			other = ", or srun --mpi=pmix"
		}
	}
	return fmt.Errorf("%s has started %d processes, but this program's %s sees %d: expected a program built with "+
		"the mpicc of the MPI of %s%s", l.By, l.Size, library, size, l.By, other)
}

// reachable returns an error if MPI would not find the other processes, and end this one with many lines.
func reachable(l Launch, library string) error {
	if l.By != "srun" || os.Getenv("PMIX_RANK") != "" || os.Getenv("PMI_RANK") != "" || os.Getenv("PMI_FD") != "" {
		return nil
	}
	if name, _ := cutVersion(library); name == "Open MPI" {
		return fmt.Errorf("srun has started %d processes in a way that %s does not know: expected srun --mpi=pmix",
			l.Size, library)
	}
	return nil
}

// newComm has the processes introduce themselves. All get the same answer.
func newComm(link transport, o Options) (*Comm, error) {
	c := &Comm{link: link, options: o}
	c.reducer.c = c
	host, err := link.host()
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(presence{Host: host, Program: program(), Processors: affinity(), Threads: processors})
	if err != nil {
		return nil, err
	}
	replies, err := link.Gather(own)
	if err != nil {
		return nil, err
	}
	var text []byte
	if link.Rank() == 0 {
		if text, err = json.Marshal(newConfig(replies, o)); err != nil {
			return nil, err
		}
	}
	if text, err = c.broadcast(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &c.config); err != nil {
		return nil, err
	}
	if c.config.Refusal != "" {
		return nil, errors.New(c.config.Refusal)
	}
	c.watch.prepare(c)
	if c.Rank() == 0 {
		c.watch.start()
	}
	return c, nil
}

// newConfig makes the config of those who have introduced themselves.
func newConfig(replies [][]byte, o Options) config {
	c := config{Fast: o.Fast, Timeout: o.Timeout}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	all := make([]presence, len(replies))
	for rank, text := range replies {
		if err := json.Unmarshal(text, &all[rank]); err != nil {
			return config{Refusal: fmt.Sprintf("rank %d: %v", rank, err)}
		}
		p := &all[rank]
		c.Hosts = append(c.Hosts, p.Host)
		if p.Program != all[0].Program {
			return config{Refusal: fmt.Sprintf(
				"rank %d on %s runs another program than rank 0 on %s: expected the same build on every host", rank,
				p.Host, all[0].Host)}
		}
	}
	for _, p := range all {
		c.Threads = append(c.Threads, max(1, p.Threads/sharing(&p, all)))
	}
	return c
}

// sharing returns how many processes may run on some processor of p's.
func sharing(p *presence, all []presence) int {
	count := 0
	for _, other := range all {
		if other.Host == p.Host && overlap(other.Processors, p.Processors) {
			count++
		}
	}
	return count
}

// broadcast brings process 0's text to all.
func (c *Comm) broadcast(text []byte) ([]byte, error) {
	length := []float64{float64(len(text))}
	if err := c.link.Bcast(length, 0); err != nil {
		return nil, err
	}
	if c.link.Rank() > 0 {
		text = make([]byte, int(length[0]))
	}
	return text, c.link.bcastBytes(text)
}

// program says what this program was built from.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.String()
	}
	return ""
}

// Rank returns the number of this process, from 0.
func (c *Comm) Rank() int { return c.link.Rank() }

// Size returns how many processes there are.
func (c *Comm) Size() int { return c.link.Size() }

// Collectives returns what the processes are connected by, for use in all of them before the others begin to work.
func (c *Comm) Collectives() Collectives { return c.link }

// Gather returns in process 0 what each process says, in order. All call it before the others begin to work.
func (c *Comm) Gather(text []byte) ([][]byte, error) { return c.link.Gather(text) }

// About describes the processes.
func (c *Comm) About() About {
	a := About{Library: c.link.library(), Hosts: slices.Clone(c.config.Hosts), Threads: slices.Clone(c.config.Threads),
		Reduce: "fixed"}
	if c.config.Fast {
		a.Reduce = "fast"
	}
	return a
}

// Work does in any other process what process 0 asks for until it says that this is over, takes leave of MPI and
// returns the exit code that process 0 said. What breaks meanwhile ends the process by Options.Fatal. Work does not
// look at signals, which launchers send to all processes: process 0 ends the run in order. It returns ctx's error, and
// the Comm is broken then, if ctx ends while there is nothing to do.
func (c *Comm) Work(ctx context.Context) (code int, err error) {
	code, err = c.work(ctx)
	if err != nil {
		return 0, err
	}
	return code, c.leave()
}

func (c *Comm) work(ctx context.Context) (code int, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			c.fatal(fmt.Sprintf("%v\n\n%s", fault, debug.Stack()), ExitFailed)
		}
	}()
	c.must(c.link.listen())
	c.watch.expect()
	c.watch.start()
	defer c.watch.stop()
	w := &worker{Comm: c, bound: map[int64]*models.Linearization{}}
	c.worker = w
	defer func() { w.pool.Close() }()
	for {
		m, err := w.next(ctx)
		if err != nil {
			return 0, err
		}
		if m.op() == opEnd {
			return int(m[arguments]), nil
		}
		w.do(&m)
	}
}

// Close ends the others' work in process 0: the others' Work returns code. It does so in order unless a call of a
// Linearization has not come back, as after a panic; then the others are left to the launcher, which ends them when
// this process ends, and an error says so.
func (c *Comm) Close(code int) error {
	if err := c.end(code); err != nil {
		return err
	}
	return c.leave()
}

// end has the others' Work return.
func (c *Comm) end(code int) error {
	c.watch.stop()
	if c.depth.Load() > 0 {
		return errors.New("the other processes still wait for a sum that was given up, and did not end cleanly")
	}
	if c.Size() == 1 {
		return nil
	}
	return c.link.ring(message{indexOp: int64(opEnd), arguments: int64(code)})
}

// leave stops to speak MPI. Whoever does not leave too must not keep this process for ever.
func (c *Comm) leave() error {
	left := make(chan error, 1)
	routine.Go(func() { left <- c.link.Close() })
	select {
	case err := <-left:
		return err
	case <-time.After(min(c.config.Timeout, leaveTimeout)):
		return errors.New("the other processes did not end cleanly")
	}
}

// leaveTimeout is how long a process waits for the others to leave.
const leaveTimeout = 5 * time.Second
