//go:build mpi

package mpi

// #include "bridge.h"
import "C"

import (
	"fmt"

	"newtop/models/reduce"

	"gonum.org/v1/gonum/floats"
)

// plan says who has which nodes of a tree.
type plan struct {
	nodes  []reduce.Node // all processes', in order
	counts []int         // how many each has
	most   int           // the most that one has
	sums   [][]float64   // room for Combine's
	schedule
	own []step // of the schedule, this process's
	// For the calls in progress, of each process.
	outCounts, outPlaces, inCounts, inPlaces []C.int
}

func newPlan(tree reduce.Tree, rank, size int) *plan {
	p := &plan{schedule: newSchedule(tree, size)}
	for of := range size {
		nodes := tree.Nodes(of, size)
		p.nodes = append(p.nodes, nodes...)
		p.counts = append(p.counts, len(nodes))
		p.most = max(p.most, len(nodes))
	}
	p.sums = make([][]float64, len(p.nodes))
	p.own = p.of(rank)
	for _, s := range []*[]C.int{&p.outCounts, &p.outPlaces, &p.inCounts, &p.inPlaces} {
		*s = make([]C.int, size)
	}
	return p
}

// SumFixed has sums travel up the tree, from process to process, or, if that takes longer, has every process add up a
// part of the numbers of all nodes, which process 0 then collects. Every number is added up by itself in the tree's
// order, so that both have the same bits.
//
//	             up the tree                 shared out
//	process 0    ◄─┐     ◄─┐                 ⤨ all nodes, numbers [0, n/P)      ◄── sums
//	process 1    ──┘       │                 ⤨ all nodes, numbers [n/P, 2n/P)   ──►
//	process 2    ◄─┐     ──┘                 ⤨ …
//	process 3    ──┘                         ⤨
func (c *bridge) SumFixed(tree reduce.Tree, dst []float64, nodes [][]float64) error {
	p := c.plans[tree]
	if p == nil {
		p = newPlan(tree, c.rank, c.size)
		c.plans[tree] = p
	}
	if len(nodes) != p.counts[c.rank] {
		panic(fmt.Sprintf("mpi: SumFixed: %d nodes, expected %d", len(nodes), p.counts[c.rank]))
	}
	for _, x := range nodes {
		if len(x) != len(dst) {
			panic(fmt.Sprintf("mpi: SumFixed: a node of %d numbers, expected %d", len(x), len(dst)))
		}
	}
	piece, width := c.climb, c.panel
	if shared(len(dst), c.size, p.rounds, p.most) {
		piece, width = c.shareNodes, max(c.panel/p.most, c.size)
	}
	for first := 0; first < len(dst); first += width {
		if err := piece(tree, p, dst, nodes, first, min(first+width, len(dst))); err != nil {
			return err
		}
	}
	return nil
}

// climb adds up the numbers [first, last) on their way to process 0. It spoils the nodes.
func (c *bridge) climb(_ reduce.Tree, p *plan, dst []float64, nodes [][]float64, first, last int) error {
	for _, s := range p.own {
		switch {
		case s.from == s.to:
			floats.Add(nodes[s.addition][first:last], nodes[s.source][first:last])
		case s.from == c.rank:
			if err := c.Send(nodes[s.source][first:last], s.to); err != nil {
				return err
			}
		default:
			came := c.room(&c.in, last-first)
			if err := c.receive(came, s.from); err != nil {
				return err
			}
			floats.Add(nodes[s.addition][first:last], came)
		}
	}
	switch {
	case c.rank == 0 && p.home == 0:
		copy(dst[first:last], nodes[0][first:last])
	case c.rank == 0:
		return c.Receive(dst[first:last], p.home)
	case c.rank == p.home:
		return c.Send(nodes[0][first:last], 0)
	}
	return nil
}

// shareNodes adds up in every process a share of the numbers [first, last), and brings them to process 0.
func (c *bridge) shareNodes(tree reduce.Tree, p *plan, dst []float64, nodes [][]float64, first, last int) error {
	width := last - first
	share := func(rank int) (from, to int) { return first + rank*width/c.size, first + (rank+1)*width/c.size }
	out := c.room(&c.out, max(len(nodes), 1)*width)
	at := 0
	for rank := range c.size {
		from, to := share(rank)
		for _, x := range nodes {
			at += copy(out[at:], x[from:to])
		}
	}
	from, to := share(c.rank)
	in := c.room(&c.in, len(p.nodes)*(to-from))
	lay(p.outCounts, p.outPlaces, func(rank int) int {
		from, to := share(rank)
		return len(nodes) * (to - from)
	})
	lay(p.inCounts, p.inPlaces, func(rank int) int { return p.counts[rank] * (to - from) })
	err := c.call("MPI_Alltoallv", func() C.int {
		return C.bridge_exchange(begin(out), &p.outCounts[0], &p.outPlaces[0], begin(in), &p.inCounts[0],
			&p.inPlaces[0])
	})
	if err != nil {
		return err
	}
	lay(p.inCounts, p.inPlaces, func(rank int) int {
		from, to := share(rank)
		return to - from
	})
	x, all := p.combine(tree, in, to-from), out[:width]
	err = c.call("MPI_Gatherv", func() C.int { // to where process 0's inCounts and inPlaces say
		return C.bridge_gather(begin(x), C.int(len(x)), begin(all), &p.inCounts[0], &p.inPlaces[0])
	})
	if err != nil || c.rank > 0 {
		return err
	}
	copy(dst[first:last], out)
	return nil
}

// combine adds up numbers of all nodes, width of each, one node's after another's.
func (p *plan) combine(tree reduce.Tree, all []float64, width int) []float64 {
	if width == 0 {
		return nil
	}
	for i := range p.sums {
		p.sums[i] = all[i*width : (i+1)*width]
	}
	return tree.Combine(p.nodes, p.sums)
}

// lay stores how many numbers each process has, and where they begin.
func lay(counts, places []C.int, count func(rank int) int) {
	at := 0
	for rank := range counts {
		n := count(rank)
		counts[rank], places[rank] = C.int(n), C.int(at)
		at += n
	}
}
