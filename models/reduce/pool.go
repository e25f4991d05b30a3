package reduce

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Pool is a set of threads that networks compute on. Its workers live until Close; the goroutine that
// asks for work is one of them. A nil *Pool computes on the caller alone.
//
// Run owns the exchange: it writes the task, then sends one token to every worker's wake channel; the
// workers draw task numbers from next until there are none left, and answer through done. Only Run
// sends, only Close closes the channels, and mu keeps both and a second Run apart. So everything is
// over when Run returns, and the workers are gone when Close does.
type Pool struct {
	mu     sync.Mutex
	wake   []chan struct{} // one for each worker but the caller
	done   sync.WaitGroup  // of the run under way
	exited sync.WaitGroup
	closed bool

	task  func(worker, i int)
	count int64
	next  atomic.Int64
	fault atomic.Pointer[string] // what the first task that panicked said, and where
}

// NewPool starts a pool. threads ≤ 0 means GOMAXPROCS.
func NewPool(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{wake: make([]chan struct{}, threads-1)}
	for i := range p.wake {
		p.wake[i] = make(chan struct{})
		p.exited.Add(1)
		go p.serve(i+1, p.wake[i])
	}
	return p
}

// Threads returns how many threads compute, the caller's included.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return len(p.wake) + 1
}

// Close ends the workers after the work under way. The pool must not be used afterwards, but may be
// closed again.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for _, c := range p.wake {
		close(c)
	}
	p.exited.Wait()
}

func (p *Pool) serve(worker int, wake <-chan struct{}) {
	defer p.exited.Done()
	for range wake {
		p.draw(worker)
		p.done.Done()
	}
}

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
	if p.closed {
		panic("reduce: use of a closed Pool")
	}
	p.task, p.count = task, int64(count)
	p.next.Store(0)
	p.fault.Store(nil)
	helpers := p.wake[:min(len(p.wake), max(count-1, 0))]
	p.done.Add(len(helpers))
	for _, c := range helpers {
		c <- struct{}{}
	}
	p.draw(0)
	p.done.Wait()
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
	}
}
