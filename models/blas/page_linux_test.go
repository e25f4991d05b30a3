package blas

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"newtop/internal/kernel"
)

// pages gives out slices that end where memory does, or begin there: a number read or written outside is a fault.
type pages struct {
	t     *testing.T
	begin bool
}

func slice[F Float](p *pages, n int) []F {
	size := syscall.Getpagesize()
	inner := (sizeOf[F]()*n + size - 1) / size * size
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
	from := size + inner - sizeOf[F]()*n
	if p.begin {
		from = size
	}
	return unsafe.Slice((*F)(unsafe.Pointer(&room[from])), n)
}

func fenced[F Float](p *pages, x []F) []F {
	if len(x) == 0 {
		return x
	}
	y := slice[F](p, len(x))
	copy(y, x)
	return y
}

func TestImplementationTouchesNothingOutside(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(3, 4))
		lib := Implementation{kernel: k}
		for _, begin := range []bool{false, true} {
			p := &pages{t, begin}
			for _, size := range [][3]int{{1, 20, 1}, {17, 33, 5}, {97, 101, 130}, {70, 520, 131}} {
				m, n, depth := size[0], size[1], size[2]
				a, b, c := fenced(p, noise(rng, m*depth)), fenced(p, noise(rng, depth*n)), slice[float64](p, m*n)
				x, y := fenced(p, noise(rng, m)), fenced(p, noise(rng, n))
				for _, tA := range transposes {
					for _, tB := range transposes {
						lda, ldb := depth, n
						if tA != blas.NoTrans {
							lda = m
						}
						if tB != blas.NoTrans {
							ldb = depth
						}
						lib.Dgemm(tA, tB, m, n, depth, 0.5, a, lda, b, ldb, 1, c, n)
					}
					lib.Dgemv(blas.NoTrans, m, n, 1, c, n, y, 1, 0, x, 1)
					lib.Dgemv(blas.Trans, m, n, 1, c, n, x, 1, 1, y, 1)
				}
				lib.Dger(m, n, 0.5, x, 1, y, 1, c, n)
				s, square := slice[float64](p, m*m), slice[float64](p, m*m)
				for _, ul := range uplos {
					lib.Dsyrk(ul, blas.NoTrans, m, depth, 1, a, depth, 1, s, m)
					for i := range m {
						square[i*m+i] = 1
					}
					lib.Dtrsm(blas.Left, ul, blas.NoTrans, blas.NonUnit, m, n, 1, square, m, c, n)
				}
			}
		}
	})
}

func TestNothingOutsideIsTouched(t *testing.T) {
	inBoth(t, testNothingOutsideIsTouched[float64], testNothingOutsideIsTouched[float32])
}

func testNothingOutsideIsTouched[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, begin := range []bool{false, true} {
			p := &pages{t, begin}
			for i := range 300 {
				s := shape{m: 1 + rng.IntN(30), n: 1 + rng.IntN(70), start: Start(rng.IntN(3)), gap: rng.IntN(2)}
				if rng.IntN(4) == 0 {
					s.n, s.gap = 1, 0
				}
				s.ks, s.trans = []int{1 + rng.IntN(20)}, []bool{rng.IntN(2) == 0}
				if i%30 == 0 { // large enough to go panel by panel
					s.m, s.n, s.ks[0] = 64+rng.IntN(9), 200+rng.IntN(70), 250+rng.IntN(20)
				}
				q := random[F](rng, s)
				term := &q.terms[0]
				term.A, term.B, q.bias = fenced(p, term.A), fenced(p, term.B), fenced(p, q.bias)
				c := fenced(p, q.c)
				sum(k, c, q.m, q.n, q.stride, q.start, q.bias, q.terms)
				transpose(k, slice[F](p, q.m*q.n), q.m, c, q.stride, q.m, q.n)
			}
		}
	})
}
