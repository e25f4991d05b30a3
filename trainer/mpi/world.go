package mpi

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/objective"
)

// World is all processes of a run. One goroutine at a time uses it, but for what it watches itself.
type World struct {
	wire    wire
	options Options
	charter charter
	watch   watch
	joiner  joiner

	problem *objective.Problem
	said    []byte                          // of another process, when it has prepared the problem
	bound   map[int64]*models.Linearization // of another process, by id
	scratch scratch
	pool    *models.Pool // of another process

	// Of process 0.
	last      int64        // the id given last
	forgotten forgotten    // ids that nobody uses any more
	depth     atomic.Int32 // calls that others take part in and that have not come back

	patient bool // what the last message said
	pending *message
}

// defaultTimeout is what a zero Options.Timeout means.
const defaultTimeout = 5 * time.Minute

// About is what there is to say of a World before it trains.
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

// charter is what all processes know of the world.
type charter struct {
	Hosts   []string
	Threads []int
	Fast    bool
	Timeout time.Duration
	Refusal string // why there can't be a world; empty else
}

// processors is on how many this process may compute, before anybody has asked for more.
var processors = runtime.GOMAXPROCS(0)

// Join begins to speak MPI, and tells all processes what process 0's Options are. A launch of one process, or none, needs
// no MPI. It returns an error of one line if this program and the launcher do not belong together.
func Join(l Launch, o Options) (*World, error) {
	if l.Size <= 1 {
		return newWorld(serial{}, o)
	}
	if !Built() {
		return nil, fmt.Errorf("%s has started %d processes, but this program was built without MPI: "+
			"expected one built by CC=mpicc go build -tags mpi", l.By, l.Size)
	}
	if err := reachable(l, Library()); err != nil {
		return nil, err
	}
	// Whoever does not join keeps the others in calls that nothing but the process's end can cut short.
	late := time.AfterFunc(defaultTimeout, func() {
		fatal(o, fmt.Sprintf("rank %d: the processes that %s has started have not found each other for %s", l.Rank, l.By, defaultTimeout), ExitHung)
	})
	defer late.Stop()
	w, err := connect()
	if err != nil {
		return nil, err
	}
	if w.Size() != l.Size {
		return nil, foreign(l, w.library(), w.Size())
	}
	return newWorld(w, o)
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
	return fmt.Errorf("%s has started %d processes, of which this program's %s sees %d: "+
		"expected a program built with the mpicc of the MPI that %s is of%s", l.By, l.Size, library, size, l.By, other)
}

// reachable returns an error if MPI would not find the other processes, and end this one with many lines.
func reachable(l Launch, library string) error {
	if l.By != "srun" || os.Getenv("PMIX_RANK") != "" || os.Getenv("PMI_RANK") != "" || os.Getenv("PMI_FD") != "" {
		return nil
	}
	if name, _ := cutVersion(library); name == "Open MPI" {
		return fmt.Errorf("srun has started %d processes in a way that %s does not know: expected srun --mpi=pmix", l.Size, library)
	}
	return nil
}

// newWorld has the processes introduce themselves. All get the same answer.
func newWorld(wire wire, o Options) (*World, error) {
	w := &World{wire: wire, options: o, bound: map[int64]*models.Linearization{}}
	w.joiner.w = w
	host, err := wire.host()
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(presence{Host: host, Program: program(), Processors: affinity(), Threads: processors})
	if err != nil {
		return nil, err
	}
	said, err := wire.Gather(own)
	if err != nil {
		return nil, err
	}
	var text []byte
	if wire.Rank() == 0 {
		if text, err = json.Marshal(found(said, o)); err != nil {
			return nil, err
		}
	}
	if text, err = w.spread(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &w.charter); err != nil {
		return nil, err
	}
	if w.charter.Refusal != "" {
		return nil, errors.New(w.charter.Refusal)
	}
	w.watch.prepare(w)
	if w.Rank() == 0 {
		w.watch.start()
	}
	return w, nil
}

// found makes the charter of those who have introduced themselves.
func found(said [][]byte, o Options) charter {
	c := charter{Fast: o.Fast, Timeout: o.Timeout}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	all := make([]presence, len(said))
	for rank, text := range said {
		if err := json.Unmarshal(text, &all[rank]); err != nil {
			return charter{Refusal: fmt.Sprintf("rank %d: %v", rank, err)}
		}
		p := &all[rank]
		c.Hosts = append(c.Hosts, p.Host)
		if p.Program != all[0].Program {
			return charter{Refusal: fmt.Sprintf("rank %d on %s runs another program than rank 0 on %s: expected the same build on every host", rank, p.Host, all[0].Host)}
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

// spread brings process 0's text to all.
func (w *World) spread(text []byte) ([]byte, error) {
	length := []float64{float64(len(text))}
	if err := w.wire.Bcast(length, 0); err != nil {
		return nil, err
	}
	if w.wire.Rank() > 0 {
		text = make([]byte, int(length[0]))
	}
	return text, w.wire.bcastBytes(text)
}

// program says what this program was built from.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.String()
	}
	return ""
}

// Rank and Size are this process's number and how many there are.
func (w *World) Rank() int { return w.wire.Rank() }
func (w *World) Size() int { return w.wire.Size() }

// Reducer returns what the world's processes are connected by, for use in all of them before the others begin to work.
func (w *World) Reducer() Reducer { return w.wire }

// Joiner returns what adds up for Linearizations that all processes call themselves, when Reducer may be used. Its Chain works
// only where process 0 is asked and the others work.
func (w *World) Joiner() models.Joiner { return &w.joiner }

// About describes the world.
func (w *World) About() About {
	a := About{Library: w.wire.library(), Hosts: slices.Clone(w.charter.Hosts), Threads: slices.Clone(w.charter.Threads), Reduce: "fixed"}
	if w.charter.Fast {
		a.Reduce = "fast"
	}
	return a
}

// Close ends the world in process 0: the others' Work returns code. It does so in order unless a call of a Linearization
// has not come back, as after a panic; then the others are left to the launcher, which ends them when this process ends, and
// an error says so.
func (w *World) Close(code int) error {
	if err := w.end(code); err != nil {
		return err
	}
	return w.leave()
}

// end has the others' Work return.
func (w *World) end(code int) error {
	w.watch.stop()
	if w.depth.Load() > 0 {
		return errors.New("the other processes wait for the end of a sum that was given up, and are not ended in order")
	}
	if w.Size() == 1 {
		return nil
	}
	return w.wire.ring(message{placeOp: int64(opEnd), arguments: int64(code)})
}

// leave stops to speak MPI. Whoever does not leave too must not keep this process for ever.
func (w *World) leave() error {
	left := make(chan error, 1)
	go func() { left <- w.wire.Close() }()
	select {
	case err := <-left:
		return err
	case <-time.After(min(w.charter.Timeout, leaveTimeout)):
		return errors.New("the other processes have not ended in order")
	}
}

// leaveTimeout is how long a process waits for the others to leave.
const leaveTimeout = 5 * time.Second

// scratch is what another process computes in.
type scratch struct {
	v, sum []float64 // from Alloc
	dst    []float64
	matrix *mat.SymDense // of GaussNewtonMatrixTo
}

// vectors returns two vectors.
func (s *scratch) vectors(r Reducer, n int) (v, dst []float64) {
	if len(s.v) < n {
		s.v, s.dst = r.Alloc(n), make([]float64, n)
	}
	return s.v[:n], s.dst[:n]
}
