package pass

import "newtop/internal/vector"

// Sparse says for every node of a layer which nodes of another layer it takes from.
type Sparse struct {
	Start []int // node i's sources are Node[Start[i]:Start[i+1]]
	Node  []int // ascending for every node
}

// Nodes returns the number of nodes that have lists.
func (s *Sparse) Nodes() int { return len(s.Start) - 1 }

// Len returns the number of sources of all nodes together, the number of weights.
func (s *Sparse) Len() int { return len(s.Node) }

// Of returns the sources of node i in ascending order. It must not be changed.
func (s *Sparse) Of(i int) []int { return s.Node[s.Start[i]:s.Start[i+1]:s.Start[i+1]] }

// The products of a sparse block with what lies node by node: one axpy or dot product over the rows of data for
// every weight, and nothing else that grows with the layers.

func addMul[F Float](s *Sparse, c, a, b []F, rows int) {
	for i := range s.Nodes() {
		a, c := a[s.Start[i]:], c[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[0] += a[k] * b[j]
			}
			continue
		}
		for k, j := range s.Of(i) {
			vector.Axpy(c, a[k], b[j*rows:][:rows])
		}
	}
}

func addMulTrans[F Float](s *Sparse, c, a, b []F, rows int) {
	for i := range s.Nodes() {
		a, b := a[s.Start[i]:], b[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[j] += a[k] * b[0]
			}
			continue
		}
		for k, j := range s.Of(i) {
			vector.Axpy(c[j*rows:][:rows], a[k], b)
		}
	}
}

func addOuter[F Float](s *Sparse, c, a, b []F, rows int) {
	for i := range s.Nodes() {
		c, a := c[s.Start[i]:], a[i*rows:][:rows]
		if rows == 1 {
			for k, j := range s.Of(i) {
				c[k] += a[0] * b[j]
			}
			continue
		}
		for k, j := range s.Of(i) {
			c[k] += vector.Dot(a, b[j*rows:][:rows])
		}
	}
}
