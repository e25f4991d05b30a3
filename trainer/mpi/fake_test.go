package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"newtop/models/reduce"
)

// ether connects processes that are goroutines of a test.
type ether struct {
	mu    sync.Mutex
	moved *sync.Cond
	size  int
	over  bool // the test: who waits ends

	rounds [][]any // what each has brought to each collective call
	calls  []string
	gates  []int // how many have come to each barrier of ready
	bells  []message
	sent   map[int][][2]int64 // notes to each, and by whom
	mail   map[[2]int][][]float64
}

func newEther(t testing.TB, size int) *ether {
	e := &ether{size: size, sent: map[int][][2]int64{}, mail: map[[2]int][][]float64{}}
	e.moved = sync.NewCond(&e.mu)
	t.Cleanup(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.over = true
		e.moved.Broadcast()
	})
	return e
}

// fake is a process's end of an ether.
type fake struct {
	*ether
	rank, round, gate, bell int
	listening               bool
	name                    string
	stopped                 atomic.Bool // as by SIGSTOP
	broken                  atomic.Bool // MPI fails
}

var _ transport = (*fake)(nil)

func (e *ether) end(rank int) *fake {
	return &fake{ether: e, rank: rank, name: fmt.Sprintf("host%d", rank/2)}
}

// enter begins a call, which does not come back in a process that is stopped, or when the test is over. mu is held then.
func (f *fake) enter() {
	f.mu.Lock()
	for f.stopped.Load() && !f.over {
		f.moved.Wait()
	}
	if f.over {
		f.mu.Unlock()
		runtime.Goexit()
	}
}

// wait waits for what others do. mu is held.
func (f *fake) wait(until func() bool) {
	for !until() || f.stopped.Load() {
		if f.over {
			runtime.Goexit() // who calls unlocks mu
		}
		f.moved.Wait()
	}
}

// all brings something to a call that all processes make, and returns what each has brought.
func (f *fake) all(name string, mine any) ([]any, error) {
	f.enter()
	defer f.mu.Unlock()
	if f.broken.Load() {
		return nil, errors.New(name + ": broken")
	}
	at := f.round
	f.round++
	if at == len(f.rounds) {
		f.rounds = append(f.rounds, make([]any, f.size))
		f.calls = append(f.calls, name)
	}
	if f.calls[at] != name {
		panic(fmt.Sprintf("process %d calls %s where others call %s", f.rank, name, f.calls[at]))
	}
	f.rounds[at][f.rank] = mine
	f.moved.Broadcast()
	f.wait(func() bool { return !slices.Contains(f.rounds[at], nil) })
	return f.rounds[at], nil
}

func (f *fake) Rank() int             { return f.rank }
func (f *fake) Size() int             { return f.size }
func (f *fake) Alloc(n int) []float64 { return make([]float64, n) }

func (f *fake) Sum(x []float64) error {
	all, err := f.all("Sum", slices.Clone(x))
	if err != nil || f.rank > 0 {
		return err
	}
	for _, other := range all[1:] {
		for i, v := range other.([]float64) {
			x[i] += v
		}
	}
	return nil
}

func (f *fake) SumFixed(tree reduce.Tree, dst []float64, nodes [][]float64) error {
	own := make([][]float64, len(nodes))
	for i, x := range nodes {
		own[i] = slices.Clone(x)
	}
	all, err := f.all("SumFixed", own)
	if err != nil || f.rank > 0 {
		return err
	}
	var where []reduce.Node
	var sums [][]float64
	for rank, part := range all {
		where = append(where, tree.Nodes(rank, f.size)...)
		sums = append(sums, part.([][]float64)...)
	}
	copy(dst, tree.Combine(where, sums))
	return nil
}

func (f *fake) Bcast(x []float64, root int) error {
	all, err := f.all("Bcast", slices.Clone(x))
	if err == nil {
		copy(x, all[root].([]float64))
	}
	return err
}

func (f *fake) bcastBytes(text []byte) error {
	all, err := f.all("bcastBytes", slices.Clone(text))
	if err == nil {
		copy(text, all[0].([]byte))
	}
	return err
}

func (f *fake) Gather(text []byte) ([][]byte, error) {
	all, err := f.all("Gather", slices.Clone(text))
	if err != nil || f.rank > 0 {
		return nil, err
	}
	out := make([][]byte, f.size)
	for i, replies := range all {
		out[i] = replies.([]byte)
	}
	return out, nil
}

func (f *fake) Send(x []float64, to int) error {
	f.enter()
	defer f.mu.Unlock()
	f.mail[[2]int{f.rank, to}] = append(f.mail[[2]int{f.rank, to}], slices.Clone(x))
	f.moved.Broadcast()
	return nil
}

func (f *fake) probe(from int) (bool, error) {
	f.enter()
	defer f.mu.Unlock()
	return len(f.mail[[2]int{from, f.rank}]) > 0, nil
}

func (f *fake) Receive(x []float64, from int) error {
	f.enter()
	defer f.mu.Unlock()
	key := [2]int{from, f.rank}
	f.wait(func() bool { return len(f.mail[key]) > 0 })
	copy(x, f.mail[key][0])
	f.mail[key] = f.mail[key][1:]
	return nil
}

func (f *fake) ring(m message) error {
	f.enter()
	defer f.mu.Unlock()
	if f.broken.Load() {
		return errors.New("ring: broken")
	}
	f.bells = append(f.bells, m)
	return nil
}

func (f *fake) listen() error {
	f.enter()
	defer f.mu.Unlock()
	if f.listening {
		panic("listens twice")
	}
	f.listening = true
	return nil
}

func (f *fake) heard(time.Duration) (message, bool, error) {
	f.enter()
	defer f.mu.Unlock()
	if !f.listening {
		panic("hears and does not listen")
	}
	if f.bell == len(f.bells) {
		return message{}, false, nil
	}
	f.listening = false
	f.bell++
	return f.bells[f.bell-1], true, nil
}

func (f *fake) ready() error {
	f.enter()
	defer f.mu.Unlock()
	if f.gate == len(f.gates) {
		f.gates = append(f.gates, 0)
	}
	f.gates[f.gate]++
	f.gate++
	return nil
}

func (f *fake) allReady(time.Duration) (bool, error) {
	f.enter()
	defer f.mu.Unlock()
	return f.gates[f.gate-1] == f.size, nil
}

func (f *fake) note(to int, n int64) error {
	f.enter()
	defer f.mu.Unlock()
	f.sent[to] = append(f.sent[to], [2]int64{int64(f.rank), n})
	return nil
}

func (f *fake) notes() (int, int64, bool, error) {
	f.enter()
	defer f.mu.Unlock()
	sent := f.sent[f.rank]
	if len(sent) == 0 {
		return 0, 0, false, nil
	}
	n := sent[0]
	f.sent[f.rank] = sent[1:]
	return int(n[0]), n[1], true, nil
}

func (f *fake) library() string       { return "Fake MPI 1.0" }
func (f *fake) host() (string, error) { return f.name, nil }

func (f *fake) Close() error {
	_, err := f.all("Close", true)
	return err
}
