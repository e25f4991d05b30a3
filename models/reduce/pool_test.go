package reduce

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestPoolRunsEachTaskOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(threads)
		for _, count := range []int{0, 1, 2, 100} {
			done := make([]atomic.Int32, count)
			p.Run(count, func(worker, i int) {
				if worker < 0 || worker >= threads {
					t.Errorf("worker %d of %d", worker, threads)
				}
				done[i].Add(1)
			})
			for i := range done {
				if n := done[i].Load(); n != 1 {
					t.Errorf("%d threads: task %d of %d ran %d times", threads, i, count, n)
				}
			}
		}
		p.Close()
	}
}

// A thread that calls for work may be stopped between the turn it gives and the token it sends, for long enough that the helper
// has done the work and sleeps again: the token must not count as a turn.
func TestPoolLateToken(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := NewPool(2)
	h := p.helpers[0]
	asleep := func() {
		for !h.asleep.Load() {
			if p.busy.Load() < 0 {
				t.Fatal("the helper worked without a turn")
			}
			runtime.Gosched()
		}
	}
	asleep()
	h.asleep.Store(false)
	h.token <- struct{}{}
	asleep()
	for range 3 {
		var ran atomic.Int32
		p.Run(100, func(int, int) { ran.Add(1) })
		if n, busy := ran.Load(), p.busy.Load(); n != 100 || busy != 0 {
			t.Errorf("%d tasks of 100 ran, %d helpers are busy", n, busy)
		}
	}
	p.Close()
}

func TestPoolPassesPanicsOn(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := NewPool(3)
	defer p.Close()
	for range 20 {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "on purpose") || !strings.Contains(text, "TestPoolPassesPanicsOn") {
					t.Errorf("panicked with %q, expected the task's word and stack", text)
				}
			}()
			p.Run(50, func(_, i int) {
				if i == 7 {
					panic("on purpose")
				}
			})
		}()
		var ran atomic.Int32
		if p.Run(9, func(_, _ int) { ran.Add(1) }); ran.Load() != 9 {
			t.Errorf("after a panic %d of 9 tasks ran", ran.Load())
		}
	}
}

// TestPoolIsShared: several goroutines may run on one pool; their runs take turns.
func TestPoolIsShared(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := NewPool(2)
	var inside, bound atomic.Int32
	finished := make(chan int)
	for range 4 {
		go func() {
			var total atomic.Int64
			for range 50 {
				p.Run(8, func(_, i int) {
					if now := inside.Add(1); now > bound.Load() {
						bound.Store(now)
					}
					total.Add(int64(i))
					inside.Add(-1)
				})
			}
			finished <- int(total.Load())
		}()
	}
	for range 4 {
		if total := <-finished; total != 50*28 {
			t.Errorf("sum %d, expected %d", total, 50*28)
		}
	}
	if bound.Load() > 2 {
		t.Errorf("%d tasks at once on 2 threads", bound.Load())
	}
	p.Close()
}

func TestNilPool(t *testing.T) {
	var p *Pool
	next := 0
	p.Run(5, func(worker, i int) {
		if worker != 0 || i != next {
			t.Errorf("worker %d, task %d, expected 0 and %d", worker, i, next)
		}
		next++
	})
	if next != 5 || p.Threads() != 1 {
		t.Errorf("%d tasks on %d threads", next, p.Threads())
	}
	p.Close()
}

// TestTurnTakenBack: work ends although a helper never gets a core.
func TestTurnTakenBack(t *testing.T) {
	p := &Pool{helpers: []*helper{{token: make(chan struct{}, 1)}}}
	for range 3 {
		done := 0
		p.Run(10, func(worker, i int) { done++ })
		if done != 10 || p.helpers[0].offered() {
			t.Fatalf("%d of 10 tasks are done, and a turn is offered: %v", done, p.helpers[0].offered())
		}
	}
}

// TestOthersAreLetIn: what waits for a processor has it between two tasks, or the next two where Go's scheduler takes
// the worker itself.
func TestOthersAreLetIn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := NewPool(1)
	defer p.Close()
	var drawn atomic.Bool
	p.Run(8, func(_, i int) {
		switch {
		case i == 0:
			go drawn.Store(true)
		case i == 7 && !drawn.Load():
			t.Error("a goroutine waits until all tasks are done")
		}
	})
}
