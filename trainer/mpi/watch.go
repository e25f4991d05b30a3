package mpi

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"newtop/internal/routine"
)

// watch ends this process if the others are gone. Two goroutines run from start to stop, in process 0 from the
// beginning, in the others while they work: one beats, which tells process 0, and from it all others, a few times
// within a Timeout that this process is there, and misses those that it does not hear; one looks whether the process
// itself has been for longer than that in a call of MPI, which nothing but the process's end can cut short. Beats go
// straight from one process to another, as those in between, through which messages come, may be computing.
//
// A process that computes is not hung however long it takes: it still beats. Sums for which one may be far behind are
// waited for as messages are, and entered together. What is missed is that a process has stopped to get anywhere, as
// on a file system that does not answer, while its other threads run.
type watch struct {
	c       *Comm
	timeout time.Duration
	started bool
	quit    chan struct{}
	running sync.WaitGroup

	awake   atomic.Int64           // for how long this process has been watched, in nanoseconds
	checked time.Time              // when that was last counted
	call    atomic.Pointer[string] // what the call of MPI in progress does; nil if there is none
	called  atomic.Int64           // since when, by awake

	notes    sync.Mutex    // for what follows
	lastSeen map[int]int64 // when each that is expected to beat was last heard, by awake
	prepared []bool        // in process 0: which have tried to prepare since the last time it was asked for
}

func (h *watch) prepare(c *Comm) {
	h.c, h.timeout = c, c.config.Timeout
	h.lastSeen, h.prepared = map[int]int64{}, make([]bool, c.Size())
}

// start begins to watch, if that was not done.
func (h *watch) start() {
	if h.started || h.c.Size() == 1 {
		return
	}
	h.started = true
	h.quit = make(chan struct{})
	h.checked = time.Now()
	h.running.Go(routine.Guard(func() { h.every(h.timeout/5, h.heartbeat) }))
	h.running.Go(routine.Guard(func() { h.every(h.timeout/checksPerTimeout, h.checkCall) }))
}

// checksPerTimeout is how often within a Timeout a process looks for how long it has been in a call.
const checksPerTimeout = 20

// expect has those missed whom this process hears, all by process 0 and it by the others, if they are not heard from
// now on.
func (h *watch) expect() {
	h.notes.Lock()
	defer h.notes.Unlock()
	for _, rank := range h.others() {
		h.lastSeen[rank] = h.awake.Load()
	}
}

// others returns the processes that this one beats for.
func (h *watch) others() (ranks []int) {
	if h.c.Rank() > 0 {
		return []int{0}
	}
	for rank := 1; rank < h.c.Size(); rank++ {
		ranks = append(ranks, rank)
	}
	return ranks
}

func (h *watch) stop() {
	if !h.started {
		return
	}
	h.started = false
	close(h.quit)
	h.running.Wait()
}

// every does something again and again until stop.
func (h *watch) every(interval time.Duration, do func()) {
	ticker := time.NewTicker(max(interval, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-h.quit:
			return
		}
	}
}

// heartbeat tells others that this process is there, and looks who has not done so.
func (h *watch) heartbeat() {
	for _, rank := range h.others() {
		h.c.must(h.c.link.note(rank, noteHeartbeat))
	}
	h.receiveNotes()
	h.notes.Lock()
	defer h.notes.Unlock()
	for rank, when := range h.lastSeen {
		if h.awake.Load()-when > int64(h.timeout) {
			h.c.hung(fmt.Sprintf("%s has not answered for %s", h.c.name(rank), h.timeout))
		}
	}
}

// receiveNotes reads what others have sent to this process.
func (h *watch) receiveNotes() {
	h.notes.Lock()
	defer h.notes.Unlock()
	for {
		from, note, come, err := h.c.link.notes()
		h.c.must(err)
		if !come {
			return
		}
		if _, expected := h.lastSeen[from]; expected {
			h.lastSeen[from] = h.awake.Load()
		}
		if note == notePrepared {
			h.prepared[from] = true
		}
	}
}

// allPrepared reports whether all other processes have tried to prepare their parts, and if so, forgets it.
func (h *watch) allPrepared() bool {
	h.receiveNotes()
	h.notes.Lock()
	defer h.notes.Unlock()
	for rank, done := range h.prepared {
		if rank > 0 && !done {
			return false
		}
	}
	clear(h.prepared)
	return true
}

// checkCall looks for how long this process has been in a call. The time for which it was stopped itself, as all
// processes of a job are that Slurm suspends, is not counted.
func (h *watch) checkCall() {
	now := time.Now()
	h.awake.Add(int64(min(now.Sub(h.checked), 2*h.timeout/checksPerTimeout)))
	h.checked = now
	if what := h.call.Load(); what != nil && h.awake.Load()-h.called.Load() > int64(h.timeout) {
		h.c.hung(fmt.Sprintf("%s did not end within %s", *what, h.timeout))
	}
}

// name names a process.
func (c *Comm) name(rank int) string {
	return fmt.Sprintf("rank %d on %s", rank, c.config.Hosts[rank])
}

// hung ends the process because others do not answer.
func (c *Comm) hung(text string) {
	c.fatal(text+": another process or the network between them has stopped", ExitHung)
}

// must ends the process if MPI has failed.
func (c *Comm) must(err error) {
	if err != nil {
		c.fatal(err.Error(), ExitFailed)
	}
}

// fatal ends the process. It does not take leave of MPI, so that the launcher ends the others.
func (c *Comm) fatal(text string, code int) { fatal(c.options, c.name(c.Rank())+": "+text, code) }

func fatal(o Options, text string, code int) {
	if o.Fatal == nil {
		fmt.Fprintln(os.Stderr, "newtop: "+text)
		os.Exit(code)
	}
	o.Fatal(text, code)
	panic("mpi: Fatal came back: " + text)
}

// What a process may wait in.
var (
	inMessage = "a message to the other processes"
	inVector  = "the broadcast of a vector"
	inSum     = "a sum over all processes"
	inGather  = "a message of all processes"
)

// during has a call of MPI that waits for other processes watched.
func (c *Comm) during(what *string, call func() error) {
	c.watch.called.Store(c.watch.awake.Load())
	c.watch.call.Store(what)
	err := call()
	c.watch.call.Store(nil)
	c.must(err)
}

// A process that waits asks without a pause at first, since in a run in progress something comes soon, then less and
// less often, so that one that has nothing to do for long takes no time from others, and loses a small part of the time
// waited.
const (
	firstSpin   = 100 * time.Microsecond
	firstPause  = 20 * time.Microsecond
	longPause   = 20 * time.Millisecond
	pauseAmount = 32 // of the time waited
)

// await asks poll until it says that what it waits for has come.
func (c *Comm) await(poll func(spin time.Duration) (come bool, err error)) {
	start := time.Now()
	for spin := firstSpin; ; spin = 0 {
		come, err := poll(spin)
		c.must(err)
		if come {
			return
		}
		time.Sleep(min(max(time.Since(start)/pauseAmount, firstPause), longPause))
	}
}

// pollMessage reports whether there is a message, which is pending then.
func (c *Comm) pollMessage(spin time.Duration) (bool, error) {
	if c.pending != nil {
		return true, nil
	}
	m, come, err := c.link.heard(spin)
	if err != nil || !come {
		return false, err
	}
	c.pending = &m
	if m.op() != opEnd {
		err = c.link.listen()
	}
	return true, err
}

// meet waits until all processes have come to the same sum, where the last message asked for that.
func (c *Comm) meet() {
	if !c.patient || c.Size() == 1 {
		return
	}
	c.must(c.link.ready())
	c.await(c.withMessages(c.link.allReady))
}

// withMessages returns poll with an ear for messages.
func (c *Comm) withMessages(poll func(spin time.Duration) (bool, error)) func(spin time.Duration) (bool, error) {
	if c.Rank() == 0 {
		return poll
	}
	return func(spin time.Duration) (bool, error) {
		if _, err := c.pollMessage(0); err != nil {
			return false, err
		}
		return poll(spin)
	}
}

// receive waits for numbers of another process.
func (c *Comm) receive(x []float64, from int) {
	if len(x) == 0 {
		return
	}
	c.await(c.withMessages(func(time.Duration) (bool, error) { return c.link.probe(from) }))
	c.during(&inVector, func() error { return c.link.Receive(x, from) })
}
