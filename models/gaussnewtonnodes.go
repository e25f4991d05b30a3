package models

import (
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

const (
	// nodeGroup is how many nodes share a pass over all δ, and nodeColumns about how many columns of the matrix are
	// formed at a time, which the second-level cache should hold.
	nodeGroup, nodeColumns = 8, 256
	// nodeUnits is how many units of data a part of the work has at most, and nodeWork about how many multiply-adds.
	nodeUnits, nodeWork = 8, 1 << 32
	// reportedWork is how many multiply-adds are worth a report, so that little is one part however many processes
	// share it.
	reportedWork = 1 << 24
	// nodeDepth is how many units are added at a time, so that the first-level cache holds a strip of the columns.
	nodeDepth = 2
)

// nodeAssembly computes the Gauss–Newton matrix by nodes (pass.NodeRows): the rows of the matrix that belong to the
// weights into node ν are
//
//	G_ν = Σ_p u (D_ν∘u)ᵀ      over rows p of data; u of ν's sources, and D_ν∘u of all weights' nodes and sources
//
// so that outputs are summed over once for two nodes, and not once for two weights. Every group of nodes is brought up
// to date by one worker, block by block of the data in their order, so that the result depends on no number of threads.
// Where no output feels two nodes, as two of the output layer, D is 0 and nothing is added.
type nodeAssembly struct {
	of     *assembly
	l      *Linearization
	nodes  int   // of all layers
	biases []int // where those of a layer are; in a mixture's last one the gates' parameters
	groups []nodeRange
	pieces []nodePiece
	height int                      // rows of data of a unit: a block, or a piece of one where the nodes are many
	units  []pass.NodeRows[float64] // as many as a part has
	spaces []nodeSpace              // of a worker each

	each         int // parts that are reported as one
	first, count int // units of the part under way
	form, update func(worker, i int)
}

// nodeRange is nodes first, first+1, … of a layer; in the last layer of a mixture they are the gates' parameters.
type nodeRange struct{ layer, first, count int }

// nodePiece is the weights into some nodes that lie together: from one block, or with u = 1 their biases.
type nodePiece struct {
	nodeRange
	block *pass.Block // nil: biases
	bias  int         // where those of the layer are
}

// columns returns where the weights are in the matrix, and how many.
func (p *nodePiece) columns() (column, size int) {
	if p.block == nil {
		return p.bias + p.first, p.count
	}
	from, _ := p.block.RowSpan(p.first)
	_, to := p.block.RowSpan(p.first + p.count - 1)
	return p.block.Offset + from, to - from
}

// nodeSpace is what one worker works with.
type nodeSpace struct {
	d       []float64 // D_ν of the nodes of a group, nodeGroup × rows × nodes
	formed  []float64 // D_ν∘u of a piece
	sources []float64 // u of a node's sources, where those are not a layer
	ones    []float64
	terms   [nodeDepth]blas.Term[float64]
}

func newNodeAssembly(a *assembly) *nodeAssembly {
	n := a.l.net
	g := &nodeAssembly{of: a, l: a.l, nodes: n.NodeCount(), biases: make([]int, n.Last()+1)}
	perRow := n.Outputs()*g.nodes + 2*n.NodeOffset(n.Last())
	g.height = max(1, min(a.l.rows, reduce.BlockRows, panelMemory/perRow))
	units := min(g.all(), nodeUnits, panelMemory/perRow/g.height, max(nodeDepth, nodeWork/(g.height*n.Dim*(n.Dim+1)/2)))
	for range max(1, units) {
		g.units = append(g.units, pass.NewNodeRows[float64](n, g.height))
	}
	g.each = max(1, reportedWork/(len(g.units)*g.height*n.Dim*(n.Dim+1)/2))
	for l := 1; l <= n.Last(); l++ {
		if g.biases[l] = n.Dim - n.LayerNodes(l); l <= len(n.Biases) {
			g.biases[l] = n.Biases[l-1].Offset
		}
		for first, nodes := 0, n.LayerNodes(l); first < nodes; first += nodeGroup {
			g.groups = append(g.groups, nodeRange{l, first, min(nodeGroup, nodes-first)})
		}
		g.addPieces(l)
	}
	widest, sources := 1, 1
	for _, p := range g.pieces {
		_, size := p.columns()
		widest = max(widest, size)
		if p.block != nil {
			sources = max(sources, p.block.Cols)
		}
	}
	for range a.l.pool.Threads() {
		s := nodeSpace{
			d:      make([]float64, nodeGroup*len(g.units)*g.height*g.nodes),
			formed: make([]float64, nodeDepth*g.height*widest), sources: make([]float64, nodeDepth*g.height*sources),
			ones: make([]float64, g.height),
		}
		for i := range s.ones {
			s.ones[i] = 1
		}
		g.spaces = append(g.spaces, s)
	}
	g.form, g.update = g.formUnit, g.updateGroup
	return g
}

// addPieces divides the columns that belong to weights into a layer.
func (g *nodeAssembly) addPieces(layer int) {
	n := g.l.net
	for i := range n.Incoming[layer] {
		p := nodePiece{nodeRange{layer, 0, 0}, &n.Incoming[layer][i], 0}
		for node := range p.block.Rows {
			p.count++
			if _, size := p.columns(); size > nodeColumns && p.count > 1 {
				p.count--
				g.pieces = append(g.pieces, p)
				p.first, p.count = node, 1
			}
		}
		g.pieces = append(g.pieces, p)
	}
	g.pieces = append(g.pieces, nodePiece{nodeRange{layer, 0, n.LayerNodes(layer)}, nil, g.biases[layer]})
}

// perBlock returns how many units a block of data makes, and all how many there are; the last ones may be without rows.
func (g *nodeAssembly) perBlock() int { return (reduce.BlockRows + g.height - 1) / g.height }
func (g *nodeAssembly) all() int      { return g.l.blocks() * g.perBlock() }

// parts returns how many parts the work has.
func (g *nodeAssembly) parts() int { return (g.all() + len(g.units) - 1) / len(g.units) }

// part adds what the rows of data of a part add.
func (g *nodeAssembly) part(part int) {
	g.first = part * len(g.units)
	g.count = min(len(g.units), g.all()-g.first)
	g.l.pool.Run(g.count, g.form)
	g.l.pool.Run(len(g.groups), g.update)
}

// formUnit computes what the rows of a unit say.
func (g *nodeAssembly) formUnit(worker, i int) {
	block, from := (g.first+i)/g.perBlock(), (g.first+i)%g.perBlock()*g.height
	u := &g.units[i]
	u.Rows = max(0, min(g.height, g.l.blockSize(block)-from))
	if u.Rows == 0 {
		return
	}
	g.l.formNodes(worker, block, from, u)
}

// updateGroup brings the rows of the matrix up to date that belong to weights into a group of nodes.
func (g *nodeAssembly) updateGroup(worker, i int) {
	s, group, units := &g.spaces[worker], g.groups[i], g.units[:g.count]
	outputs, rows := g.l.net.Outputs(), 0
	for _, u := range units {
		rows += u.Rows
	}
	from, at := g.l.net.NodeOffset(group.layer)+group.first, 0
	for _, u := range units {
		for p := range u.Rows {
			delta := u.Delta[p*outputs*g.nodes:][:outputs*g.nodes]
			s.terms[0] = blas.Term[float64]{A: delta[from:], RowStride: 1, ColStride: g.nodes, B: delta,
				Stride: g.nodes, K: outputs}
			blas.Sum(s.d[at:], group.count, g.nodes, rows*g.nodes, blas.Zero, nil, s.terms[:1])
			at += g.nodes
		}
	}
	g.l.count(worker, group.count*rows*outputs*g.nodes)
	for node := range group.count {
		d := s.d[node*rows*g.nodes:]
		for _, p := range g.pieces {
			at := 0
			for b := 0; b < len(units); b += nodeDepth {
				some := units[b:min(b+nodeDepth, len(units))]
				g.add(worker, nodeRange{group.layer, group.first + node, 1}, p, d[at:], some)
				for _, u := range some {
					at += u.Rows * g.nodes
				}
			}
		}
	}
}

// add adds what some units of data add to the rows of a node ν and the columns of a piece, given D_ν.
func (g *nodeAssembly) add(worker int, node nodeRange, p nodePiece, d []float64, units []pass.NodeRows[float64]) {
	p.nodeRange = g.felt(p.nodeRange, node)
	if p.count == 0 {
		return
	}
	formed := false
	incoming := g.l.net.Incoming[node.layer]
	for i := range len(incoming) + 1 {
		rows := nodePiece{node, nil, g.biases[node.layer]}
		if i < len(incoming) {
			rows.block = &incoming[i]
		}
		first, _ := rows.columns()
		column, size := p.columns()
		if column+size <= first {
			continue
		}
		if !formed {
			g.formColumns(worker, p, d, units)
			formed = true
		}
		g.addRows(worker, rows, p, max(0, first-column), units)
	}
}

// felt returns the nodes of a range for which D of a node is not 0 whatever the data are.
func (g *nodeAssembly) felt(r, node nodeRange) nodeRange {
	switch n := g.l.net; {
	case !n.Single(r.layer) || !n.Single(node.layer):
		return r
	case r.first <= node.first && node.first < r.first+r.count:
		return nodeRange{r.layer, node.first, 1}
	}
	return nodeRange{r.layer, r.first, 0}
}

// formColumns computes D_ν∘u of the piece's columns, row by row of data.
func (g *nodeAssembly) formColumns(worker int, p nodePiece, d []float64, units []pass.NodeRows[float64]) {
	_, size := p.columns()
	to, at := g.spaces[worker].formed, g.l.net.NodeOffset(p.layer)+p.first
	for _, u := range units {
		for row := range u.Rows {
			if d := d[at:][:p.count]; p.block == nil {
				copy(to, d)
			} else {
				pass.ScaledSources(p.block, to[:size], d, u.ByRow[p.block.From][row*p.block.Cols:][:p.block.Cols],
					p.first)
			}
			to, at = to[size:], at+g.nodes
		}
	}
}

// addRows adds u of a node's sources times the columns that formColumns left, from one of them on.
func (g *nodeAssembly) addRows(worker int, rows, p nodePiece, from int, units []pass.NodeRows[float64]) {
	s := &g.spaces[worker]
	first, height := rows.columns()
	column, size := p.columns()
	formed, sources, depth := s.formed[from:], s.sources, 0
	for i, u := range units {
		t := blas.Term[float64]{A: s.ones, RowStride: u.Rows, ColStride: 1, B: formed, Stride: size, K: u.Rows}
		switch {
		case rows.block == nil:
		case rows.block.Sparse == nil:
			t.A = u.U[rows.block.From]
		default:
			t.A = sources
			for _, source := range rows.block.Sparse.Of(rows.first) {
				sources = sources[copy(sources, u.U[rows.block.From][source*u.Rows:][:u.Rows]):]
			}
		}
		s.terms[i] = t
		formed, depth = formed[min(u.Rows*size, len(formed)):], depth+u.Rows
	}
	stride := g.of.dst.Stride
	blas.Sum(g.of.dst.Data[first*stride+column+from:], height, size-from, stride, blas.Add, nil, s.terms[:len(units)])
	g.l.count(worker, height*(size-from)*depth)
}
