package hessianfree

import (
	"math"

	"newtop/trainer/krylov"
)

// path keeps some iterates of a solve: those with the numbers 1, 2, 3, 4, 6, 8, 11 and so on, each 1.3 times the one
// before or one more (Martens 2010, section 4.6, has ⌈1.3^j⌉).
type path struct {
	iterates [][]float64
	spare    [][]float64
	next     float64 // the number of the next one
	n        int
}

// reset begins the path of a solve for n unknowns.
func (p *path) reset(n int) {
	if p.n != n {
		*p = path{n: n}
	}
	p.spare = append(p.spare, p.iterates...)
	p.iterates, p.next = p.iterates[:0], 1
}

// pathGrowth is from a kept iterate's number to the next one's.
const pathGrowth = 1.3

// add sees an iterate.
func (p *path) add(s []float64, it krylov.Iteration) {
	if float64(it.Number) < p.next {
		return
	}
	for float64(it.Number) >= p.next {
		p.next = max(math.Ceil(p.next*pathGrowth), p.next+1)
	}
	var room []float64
	if last := len(p.spare) - 1; last >= 0 {
		room, p.spare = p.spare[last], p.spare[:last]
	} else {
		room = make([]float64, p.n)
	}
	copy(room, s)
	p.iterates = append(p.iterates, room)
}
