package blas

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"newtop/internal/kernel"
)

// pages gives out slices that end where memory does, or begin there: a number read or written outside is a fault.
type pages struct {
	t     *testing.T
	begin bool
}

func (p *pages) slice(n int) []float64 {
	size := syscall.Getpagesize()
	inner := (8*n + size - 1) / size * size
	room, err := syscall.Mmap(-1, 0, inner+2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := syscall.Munmap(room); err != nil {
			p.t.Error(err)
		}
	})
	for _, fence := range [][]byte{room[:size], room[size+inner:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			p.t.Fatal(err)
		}
	}
	from := size + inner - 8*n
	if p.begin {
		from = size
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&room[from])), n)
}

func (p *pages) fenced(x []float64) []float64 {
	if len(x) == 0 {
		return x
	}
	fenced := p.slice(len(x))
	copy(fenced, x)
	return fenced
}

func TestNothingOutsideIsTouched(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, begin := range []bool{false, true} {
			p := &pages{t, begin}
			for range 300 {
				s := shape{m: 1 + rng.IntN(30), n: 1 + rng.IntN(70), start: Start(rng.IntN(3)), gap: rng.IntN(2)}
				if rng.IntN(4) == 0 {
					s.n, s.gap = 1, 0
				}
				s.ks, s.trans = []int{1 + rng.IntN(20)}, []bool{rng.IntN(2) == 0}
				q := random(rng, s)
				term := &q.terms[0]
				term.A, term.B, q.bias = p.fenced(term.A), p.fenced(term.B), p.fenced(q.bias)
				c := p.fenced(q.c)
				sum(k, c, q.m, q.n, q.stride, q.start, q.bias, q.terms)
				transpose(k, p.slice(q.m*q.n), q.m, c, q.stride, q.m, q.n)
			}
		}
	})
}
