package reduce

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"newtop/internal/routine"
)

// Pool is a set of threads that networks compute on. Its workers live until Close; the goroutine that
// asks for work is one of them. A nil *Pool computes on the caller alone.
//
// Run owns the exchange: it writes the task, then offers each helper a turn; the helpers that take theirs draw task
// numbers from next until there are none left, and count themselves out of busy. What no helper has taken when all
// tasks are drawn, as another thread had its core, Run takes back. A helper whose work is done looks for its next turn
// for a while (spinFor), which takes less than a microsecond to be seen, and then sleeps until a token comes by its
// channel, which takes a hundred. Between two tasks a worker lets others have its processor: while a screen is drawn
// the other workers take the tasks. More processors than threads would be worse: at each yield an idle one takes the
// worker to another core. Only Run offers turns, only Close closes the channels, and mu keeps both and a second Run
// apart. So everything is over when Run returns, and the workers are gone when Close does.
type Pool struct {
	mu      sync.Mutex
	helpers []*helper    // the workers but the caller
	busy    atomic.Int64 // helpers that have not done with the run under way
	exited  sync.WaitGroup
	closed  atomic.Bool

	task  func(worker, i int)
	count int64
	next  atomic.Int64
	fault atomic.Pointer[string] // what the first task that panicked said, and where
}

// helper is a worker that Run wakes.
type helper struct {
	turn   atomic.Int64 // odd: a turn is offered; whoever makes it even has it
	asleep atomic.Bool  // it waits for a token, or is about to
	token  chan struct{}
	_      [64]byte // what the others write lies on other cache lines
}

// spinFor is how long a helper that has nothing to do looks for more: longer than what lies between two steps of a
// method, and not so long that a pool which is not used takes much of a core.
const spinFor = 300 * time.Microsecond

// NewPool starts a pool. threads ≤ 0 means GOMAXPROCS.
func NewPool(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{helpers: make([]*helper, threads-1)}
	for i := range p.helpers {
		h := &helper{token: make(chan struct{}, 1)}
		p.helpers[i] = h
		p.exited.Go(routine.Guard(func() { p.serve(i+1, h) }))
	}
	return p
}

// Threads returns how many threads compute, the caller's included.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return len(p.helpers) + 1
}

// Close ends the workers after the work under way. The pool must not be used afterwards, but may be
// closed again.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Swap(true) {
		return
	}
	for _, h := range p.helpers {
		close(h.token)
	}
	p.exited.Wait()
}

func (p *Pool) serve(worker int, h *helper) {
	for p.await(h) {
		if h.take() {
			p.draw(worker)
			p.busy.Add(-1)
		}
	}
}

// offered reports whether a turn is offered.
func (h *helper) offered() bool { return h.turn.Load()&1 == 1 }

// take reports whether there was a turn to take, or to take back.
func (h *helper) take() bool {
	turn := h.turn.Load()
	return turn&1 == 1 && h.turn.CompareAndSwap(turn, turn+1)
}

// await returns when a turn is offered, or false when there will be none. A token alone is no turn: one comes late when
// the helper saw its turn, did the work and fell asleep again before Run looked whether it sleeps, or when Run took the
// turn back.
func (p *Pool) await(h *helper) bool {
	for {
		for began := time.Now(); time.Since(began) < spinFor; runtime.Gosched() {
			for range spins {
				if h.offered() {
					return true
				}
			}
			if p.closed.Load() {
				return false
			}
		}
		h.asleep.Store(true)
		if h.offered() && h.asleep.CompareAndSwap(true, false) {
			return true // no token comes
		}
		if _, ok := <-h.token; !ok {
			return false
		}
	}
}

// spins is how often a turn is looked for between two looks at the clock.
const spins = 64

// Run calls task for i = 0…count−1, each once, with the number in [0, Threads) of the worker that has
// it. It returns when all are done and allocates nothing. A panic in a task is passed on to the caller.
// A task must not call Run.
func (p *Pool) Run(count int, task func(worker, i int)) {
	if p == nil {
		for i := range count {
			task(0, i)
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		panic("reduce: use of a closed Pool")
	}
	p.task, p.count = task, int64(count)
	p.next.Store(0)
	p.fault.Store(nil)
	helpers := p.helpers[:min(len(p.helpers), max(count-1, 0))]
	p.busy.Store(int64(len(helpers)))
	for _, h := range helpers {
		h.turn.Add(1)
		if h.asleep.CompareAndSwap(true, false) {
			h.token <- struct{}{}
		}
	}
	p.draw(0)
	for _, h := range helpers {
		if h.take() {
			p.busy.Add(-1)
		}
	}
	for p.busy.Load() > 0 {
		runtime.Gosched()
	}
	p.task = nil
	if fault := p.fault.Load(); fault != nil {
		panic(*fault)
	}
}

func (p *Pool) draw(worker int) {
	defer func() {
		if fault := recover(); fault != nil {
			text := fmt.Sprintf("%v\n\n%s", fault, debug.Stack())
			p.fault.CompareAndSwap(nil, &text)
			p.next.Store(p.count)
		}
	}()
	for i := p.next.Add(1) - 1; i < p.count; i = p.next.Add(1) - 1 {
		p.task(worker, int(i))
		if p.next.Load() < p.count {
			runtime.Gosched() // to a screen or a recorder, which has waited for no longer than a task
		}
	}
}
