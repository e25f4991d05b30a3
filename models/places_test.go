package models

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// places says where the weights of an architecture are, counted anew from its connections.
type places struct {
	a       Architecture
	nodes   []int
	weights [][][][]int // by layer, source, node and source's node
	biases  []int       // by layer
	gates   int         // of a mixture
}

// nowhere marks a pair of nodes without a weight between them.
const nowhere = -1

// layOut counts them.
func (n *places) layOut() {
	layers := len(n.nodes)
	n.weights, n.biases = make([][][][]int, layers), make([]int, layers)
	next := 0
	for l := 1; l < layers; l++ {
		n.weights[l] = make([][][]int, l)
		for r := range l {
			for _, c := range n.a.Connections {
				if c.To != l || c.From != r || c.Gate != 0 {
					continue
				}
				n.weights[l][r] = make([][]int, n.nodes[l])
				for i := range n.weights[l][r] {
					n.weights[l][r][i] = make([]int, n.nodes[r])
					for j := range n.weights[l][r][i] {
						if c.Sources != nil && !slices.Contains(c.Sources.Of(i), j) {
							n.weights[l][r][i][j] = nowhere
							continue
						}
						n.weights[l][r][i][j] = next
						next++
					}
				}
			}
		}
		if n.biases[l] = next; n.a.Mixture == nil || l < layers-1 {
			next += n.nodes[l]
		}
	}
	n.gates = next
}

// at returns where the weight from node j of layer r to node i of layer l is, or nowhere.
func (n *places) at(l, r, i, j int) int {
	if n.weights[l][r] == nil {
		return nowhere
	}
	return n.weights[l][r][i][j]
}

// newPlaces lays out the weights of an architecture.
func newPlaces(a Architecture) *places {
	n := &places{a: a, nodes: []int{a.Inputs}}
	for _, l := range a.Layers {
		n.nodes = append(n.nodes, l.Nodes)
	}
	n.layOut()
	return n
}

func kronecker(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

func times(m mat.Matrix, x []float64) []float64 {
	y := mat.NewVecDense(len(x), nil)
	y.MulVec(m, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}
