//go:build mpi

package mpi

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"newtop/internal/routine"
	"newtop/models/reduce"
)

// Built reports whether this program can speak MPI: it was built with the tag mpi.
func Built() bool { return true }

// bridge is MPI. One call is made at a time; a call that waits for other processes keeps the rest waiting.
//
// MPI wants to be begun and ended by one thread, which main's goroutine is locked to. Where MPI was begun funneled that
// goroutine makes all other calls too.
type bridge struct {
	mu         sync.Mutex
	main       chan func()
	funneled   bool
	rank, size int
	panel      int // panelNumbers, or fewer in tests

	owned   map[*float64][]float64 // from Alloc
	out, in []float64              // what is copied through
	plans   map[reduce.Tree]*plan
}

var _ transport = (*bridge)(nil)

// connect begins MPI.
func connect() (transport, error) { return connectAt(serialized) }

// Levels of support for threads: one for all calls, or any, one at a time.
const (
	funneled   = C.level_funneled
	serialized = C.level_serialized
)

func connectAt(level int) (*bridge, error) {
	c := &bridge{
		main:  make(chan func()),
		panel: panelNumbers,
		owned: map[*float64][]float64{},
		plans: map[reduce.Tree]*plan{},
	}
	routine.Go(func() {
		runtime.LockOSThread()
		for f := range c.main {
			f()
		}
	})
	var provided, rank, size C.int
	c.funneled = true // until it is known
	if err := c.call("MPI_Init_thread", func() C.int {
		return C.bridge_init(C.int(level), &provided, &rank, &size)
	}); err != nil {
		return nil, err
	}
	if provided < funneled {
		return nil, fmt.Errorf("this MPI was built without support for threads: expected MPI_THREAD_FUNNELED or more")
	}
	c.funneled = provided < serialized
	c.rank, c.size = int(rank), int(size)
	return c, nil
}

// call makes a call of MPI.
func (c *bridge) call(name string, f func() C.int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.funneled {
		return failure(name, f())
	}
	return c.callMain(name, f)
}

// callMain makes a call of MPI in the thread that began it. mu is held.
func (c *bridge) callMain(name string, f func() C.int) error {
	answer := make(chan error, 1)
	c.main <- func() { answer <- failure(name, f()) }
	return <-answer
}

// failure returns MPI's own words for an error code.
func failure(name string, code C.int) error {
	if code == 0 {
		return nil
	}
	text, err := words(func(p *C.char, room C.int) C.int { return C.bridge_error(code, p, room) })
	if err != nil {
		return fmt.Errorf("%s: MPI's error %d", name, int(code))
	}
	return fmt.Errorf("%s: %s", name, text)
}

// words returns the text that f writes.
func words(f func(p *C.char, room C.int) C.int) (string, error) {
	const room = 4096
	p := (*C.char)(C.malloc(room))
	defer C.free(unsafe.Pointer(p))
	if code := f(p, room); code != 0 {
		return "", fmt.Errorf("MPI's error %d", int(code))
	}
	return C.GoString(p), nil
}

func (c *bridge) library() string { return library() }

// library may be asked before connect.
func library() string {
	text, err := words(func(p *C.char, room C.int) C.int { return C.bridge_library(p, room) })
	if err != nil {
		return "MPI"
	}
	return nameOf(text)
}

func (c *bridge) Rank() int { return c.rank }
func (c *bridge) Size() int { return c.size }

func (c *bridge) host() (text string, err error) {
	err = c.call("MPI_Get_processor_name", func() (code C.int) {
		text, err = words(func(p *C.char, room C.int) C.int {
			code = C.bridge_host(p, room)
			return code
		})
		return code
	})
	return strings.TrimSpace(text), err
}

func (c *bridge) Alloc(n int) []float64 {
	x := c.alloc(n)
	if n > 0 {
		c.owned[&x[0]] = x
	}
	return x
}

func (c *bridge) alloc(n int) []float64 {
	if n == 0 {
		return nil
	}
	var p *C.double
	if err := c.call("MPI_Alloc_mem", func() C.int { return C.bridge_alloc(C.int64_t(n), &p) }); err != nil {
		panic(fmt.Sprintf("mpi: %d numbers: %v", n, err))
	}
	return unsafe.Slice((*float64)(p), n)
}

func (c *bridge) free(x []float64) error {
	if len(x) == 0 {
		return nil
	}
	return c.call("MPI_Free_mem", func() C.int { return C.bridge_free(begin(x)) })
}

// room returns n numbers at p, more than before if need be.
func (c *bridge) room(p *[]float64, n int) []float64 {
	if cap(*p) < n {
		if err := c.free((*p)[:cap(*p)]); err != nil {
			panic("mpi: " + err.Error())
		}
		*p = c.alloc(n)
	}
	return (*p)[:n]
}

// begin returns where x begins, nil if it is empty.
func begin(x []float64) *C.double { return (*C.double)(unsafe.SliceData(x)) }

// panelNumbers is how many numbers MPI is given at a time, 32 MiB: enough to be fast, few enough for counts of 32 bits
// and for the memory that they are copied through.
const panelNumbers = 1 << 22

// through has f work on x in pieces, in memory that MPI may keep: x itself, if it is from Alloc, or a copy, into which
// load and from which store ask to have x copied.
func (c *bridge) through(x []float64, load, store bool, f func(piece []float64) error) error {
	_, ours := c.owned[unsafe.SliceData(x)]
	for len(x) > 0 {
		part := x[:min(len(x), c.panel)]
		piece := part
		if !ours {
			piece = c.room(&c.out, len(part))
		}
		if !ours && load {
			copy(piece, part)
		}
		if err := f(piece); err != nil {
			return err
		}
		if !ours && store {
			copy(part, piece)
		}
		x = x[len(part):]
	}
	return nil
}

func (c *bridge) Sum(x []float64) error {
	return c.through(x, true, c.rank == 0, func(x []float64) error {
		return c.call("MPI_Reduce", func() C.int { return C.bridge_reduce(begin(x), C.int(len(x))) })
	})
}

func (c *bridge) Bcast(x []float64, root int) error {
	return c.through(x, c.rank == root, c.rank != root, func(x []float64) error {
		return c.call("MPI_Bcast", func() C.int { return C.bridge_bcast(begin(x), C.int(len(x)), C.int(root)) })
	})
}

func (c *bridge) Send(x []float64, to int) error {
	return c.through(x, true, false, func(x []float64) error {
		return c.call("MPI_Send", func() C.int { return C.bridge_send(begin(x), C.int(len(x)), C.int(to)) })
	})
}

func (c *bridge) Receive(x []float64, from int) error {
	return c.through(x, false, true, func(x []float64) error { return c.receive(x, from) })
}

// receive is Receive into memory that MPI may keep.
func (c *bridge) receive(x []float64, from int) error {
	return c.call("MPI_Recv", func() C.int { return C.bridge_receive(begin(x), C.int(len(x)), C.int(from)) })
}

func (c *bridge) Gather(text []byte) ([][]byte, error) {
	lengths := make([]C.int64_t, c.size)
	err := c.call("MPI_Gather", func() C.int { return C.bridge_gather_int(C.int64_t(len(text)), &lengths[0]) })
	if err != nil {
		return nil, err
	}
	counts, places := make([]C.int, c.size), make([]C.int, c.size)
	all := 0
	if c.rank == 0 {
		for i, n := range lengths {
			counts[i], places[i] = C.int(n), C.int(all)
			all += int(n)
		}
	}
	if all > 1<<31-1 {
		return nil, fmt.Errorf("MPI_Gatherv: %d bytes, expected less than 2 GiB", all)
	}
	whole := make([]byte, all)
	err = c.call("MPI_Gatherv", func() C.int {
		return C.bridge_gather_bytes((*C.char)(unsafe.Pointer(unsafe.SliceData(text))), C.int(len(text)),
			(*C.char)(unsafe.Pointer(unsafe.SliceData(whole))), &counts[0], &places[0])
	})
	if err != nil || c.rank > 0 {
		return nil, err
	}
	said := make([][]byte, c.size)
	for i := range said {
		end := int(places[i] + counts[i])
		said[i] = whole[places[i]:end:end]
	}
	return said, nil
}

func (c *bridge) bcastBytes(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return c.call("MPI_Bcast", func() C.int {
		return C.bridge_bcast_bytes((*C.char)(unsafe.Pointer(&text[0])), C.int(len(text)))
	})
}

func (c *bridge) ring(m message) error {
	return c.call("MPI_Ibcast", func() C.int { return C.bridge_ring((*C.int64_t)(&m[0])) })
}

func (c *bridge) listen() error {
	return c.call("MPI_Ibcast", func() C.int { return C.bridge_listen() })
}

func (c *bridge) heard(spin time.Duration) (m message, come bool, err error) {
	var flag C.int
	err = c.call("MPI_Test", func() C.int {
		return C.bridge_heard(C.double(spin.Seconds()), (*C.int64_t)(&m[0]), &flag)
	})
	return m, flag != 0, err
}

func (c *bridge) ready() error {
	return c.call("MPI_Ibarrier", func() C.int { return C.bridge_ready() })
}

func (c *bridge) allReady(spin time.Duration) (bool, error) {
	var flag C.int
	err := c.call("MPI_Test", func() C.int { return C.bridge_all_ready(C.double(spin.Seconds()), &flag) })
	return flag != 0, err
}

func (c *bridge) note(to int, n int64) error {
	return c.call("MPI_Send", func() C.int { return C.bridge_note(C.int64_t(n), C.int(to)) })
}

func (c *bridge) notes() (from int, note int64, come bool, err error) {
	var source, flag C.int
	var n C.int64_t
	err = c.call("MPI_Recv", func() C.int { return C.bridge_notes(&source, &n, &flag) })
	return int(source), int64(n), flag != 0, err
}

func (c *bridge) probe(from int) (bool, error) {
	var flag C.int
	err := c.call("MPI_Iprobe", func() C.int { return C.bridge_probe(C.int(from), &flag) })
	return flag != 0, err
}

func (c *bridge) Close() error {
	for _, x := range c.owned {
		if err := c.free(x); err != nil {
			return err
		}
	}
	clear(c.owned)
	for _, p := range []*[]float64{&c.out, &c.in} {
		if err := c.free((*p)[:cap(*p)]); err != nil {
			return err
		}
		*p = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.callMain("MPI_Finalize", func() C.int { return C.bridge_finalize() })
	close(c.main)
	return err
}
