package bench

import (
	"fmt"
	"math"
	"math/bits"

	"newtop/models/reduce"
	"newtop/trainer/mpi"
)

// What a product of P processes takes, in Hockney's model: a message of b bytes takes α + b·β, in both directions at
// once, whoever else sends; to add two numbers takes γ; work that is not shared takes V a weight; and what is shared is
// done at F operations a second.
//
//	T = operations·share/F + V·N + announcement + broadcast(N) + reduction(N)
//
// share is the part of the rows that the busiest process has, and the announcement is a broadcast of what is to be done. The
// collectives are those of Thakur, Rabenseifner & Gropp, Optimization of collective communication operations in MPICH, 2005; with
// n numbers, 8n bytes, and L = ⌈log₂ P⌉:
//
//	broadcast   binomial tree          L·α          + L·8n·β
//	            scatter, all-gather    2L·α         + 2(P−1)/P·8n·β
//	reduction   binomial tree          L·α          + L·8n·β         + L·n·γ
//	            Rabenseifner           2L·α         + 2(P−1)/P·8n·β  + (P−1)/P·n·γ
//	all-reduce  recursive doubling     L·α          + L·8n·β         + L·n·γ
//	            Rabenseifner           2L·α         + 2(P−1)/P·8n·β  + (P−1)/P·n·γ
//	            ring                   2(P−1)·α     + 2(P−1)/P·8n·β  + (P−1)/P·n·γ
//
// Where P is no power of two, those that exchange in pairs have the processes beyond the largest power of two P′ hand in
// theirs first, n numbers in one message, and take P′ for P; in an all-reduce these get the result in another message.
// Sums in the tree's order travel up the tree, R messages one after another, ⌈log₂ P⌉ where each process has one node; or, of
// long ones, K nodes in all and k at most of one process are shared out for adding:
//
//	in order    up the tree            R·α          + R·8n·β         + (2R + k)·n·γ
//	            all-to-all, gather     2(P−1)·α·m   + (k+1)(P−1)/P·8n·β + (k + 1 + (k+K)/P)·n·γ
//
// where a number that is copied counts as added, and the second, of which mpi.Shared says when it is taken, takes m turns of up
// to mpi.PanelNumbers ÷ k numbers.
//
// MPI gathers pieces of several lengths one after another. It chooses among its algorithms for the rest; the model takes the fastest.

// cost is how much of each resource something takes. Resources are as in Model.
type cost [resources]float64

const (
	operations = iota // multiplications and additions of matrix products, those that are done at once counted once
	_                 // and of a second net, whose shapes are done faster or slower
	unshared          // weights
	messages
	sent // bytes
	additions
	sentLong // bytes and additions of vectors that fit into no cache
	additionsLong
	resources
)

// longNumbers is from how many numbers on a vector counts as long: 2 MiB.
const longNumbers = 1 << 18

func (c cost) plus(d cost) cost {
	for i := range c {
		c[i] += d[i]
	}
	return c
}

// Model is what a unit of each resource takes, in seconds.
type Model struct {
	Operation float64 `json:"operation_seconds"` // 1/F, of one process; of several nets' the least
	Weight    float64 `json:"weight_seconds"`    // V
	Latency   float64 `json:"latency_seconds"`   // α
	Byte      float64 `json:"byte_seconds"`      // β
	Addition  float64 `json:"addition_seconds"`  // γ
	// The same of long vectors, which within a machine go through its memory; 0: as of others.
	LongByte     float64 `json:"long_byte_seconds"`
	LongAddition float64 `json:"long_addition_seconds"`
}

func (m *Model) prices() cost {
	c := cost{m.Operation, m.Operation, m.Weight, m.Latency, m.Byte, m.Addition, m.LongByte, m.LongAddition}
	for _, long := range []int{sentLong, additionsLong} {
		if c[long] == 0 {
			c[long] = c[long-2]
		}
	}
	return c
}

func modelOf(prices cost) Model {
	return Model{min(prices[operations], prices[operations+1]), prices[unshared], prices[messages], prices[sent], prices[additions],
		prices[sentLong], prices[additionsLong]}
}

// seconds returns what c takes at some prices.
func (c cost) seconds(prices *cost) float64 {
	sum := 0.0
	for i := range c {
		if c[i] != 0 {
			sum += c[i] * prices[i]
		}
	}
	return sum
}

// cheapest returns the choice that takes the least.
func cheapest(prices *cost, choices ...cost) cost {
	best := choices[0]
	for _, c := range choices[1:] {
		if c.seconds(prices) < best.seconds(prices) {
			best = c
		}
	}
	return best
}

// logUp returns ⌈log₂ p⌉.
func logUp(p int) float64 { return float64(bits.Len(uint(p - 1))) }

// moved is the cost of m messages one after another that have so many times n numbers together, so many times n of
// which are added.
func moved(m, times, n, added float64) cost {
	if n >= longNumbers {
		return cost{messages: m, sentLong: 8 * times * n, additionsLong: added * n}
	}
	return cost{messages: m, sent: 8 * times * n, additions: added * n}
}

// broadcasts are the ways to bring n numbers from process 0 to all p.
func broadcasts(p int, n float64) []cost {
	l, s := logUp(p), most(p)
	return []cost{moved(l, l, n, 0), moved(2*l, 2*s, n, 0)}
}

// reductions are the ways to bring the sum of all p processes' n numbers to process 0.
func reductions(p int, n float64) []cost {
	l := logUp(p)
	pairs, whole := paired(p)
	rabenseifner := moved(2*logUp(pairs), 2*most(pairs), n, most(pairs))
	if !whole {
		rabenseifner = rabenseifner.plus(moved(1, 1, n, 1))
	}
	return []cost{moved(l, l, n, l), rabenseifner}
}

// allReductions are the ways to bring that sum to all processes.
func allReductions(p int, n float64) []cost {
	pairs, whole := paired(p)
	l := logUp(pairs)
	doubling, rabenseifner := moved(l, l, n, l), moved(2*l, 2*most(pairs), n, most(pairs))
	if !whole {
		doubling, rabenseifner = doubling.plus(moved(2, 2, n, 1)), rabenseifner.plus(moved(2, 2, n, 1))
	}
	return []cost{doubling, rabenseifner, moved(2*float64(p-1), 2*most(p), n, most(p))}
}

// orderedReduction brings the sum of the nodes' n numbers to process 0 in the order of the tree.
func orderedReduction(p int, n float64, s shares) cost {
	rounds, k, others := float64(s.rounds), float64(s.nodes), float64(p-1)
	if !mpi.Shared(int(n), p, s.rounds, s.nodes) {
		return moved(rounds*math.Ceil(n/mpi.PanelNumbers), rounds, n, 2*rounds+k)
	}
	return moved(2*others*math.Ceil(n*k/mpi.PanelNumbers), (k+1)*most(p), n, k+1+(k+float64(s.total))/float64(p))
}

// most is the part of a vector that a process sends to others if it sends each its piece.
func most(p int) float64 { return float64(p-1) / float64(p) }

// paired returns the largest power of two up to p, and whether that is p.
func paired(p int) (pairs int, whole bool) {
	pairs = 1 << (bits.Len(uint(p)) - 1)
	return pairs, pairs == p
}

// Reduction is how sums over rows meet.
type Reduction string

// The reductions. AllReduce is none of newtop's: it is what a program would wait for whose processes all go through the same
// steps and need no broadcast.
const (
	InOrder   Reduction = "fixed"
	AnyOrder  Reduction = "fast"
	AllReduce Reduction = "all-reduce"
)

// announcement is how long a message is that says what is to be done, in numbers.
const announcement = 10

// product is a product with a matrix of n × n, the mean over rows.
type product struct {
	n      int
	rows   int
	perRow float64 // operations
	second int     // 1: of the second net
}

// taken is what it takes with p processes, whose seconds are to be set.
func (c *product) taken(p int, how Reduction) observation {
	n := float64(c.n)
	o := observation{fixed: cost{unshared: n}}
	o.fixed[operations+c.second] = c.perRow * float64(c.rows)
	if p == 1 {
		return o
	}
	share := shareOut(c.rows, p)
	o.fixed[operations+c.second] = c.perRow * float64(share.rows)
	switch how {
	case InOrder:
		o.fixed = o.fixed.plus(orderedReduction(p, n, share))
		o.choices = [][]cost{broadcasts(p, announcement), broadcasts(p, n)}
	case AnyOrder:
		o.choices = [][]cost{broadcasts(p, announcement), broadcasts(p, n), reductions(p, n)}
	case AllReduce:
		o.choices = [][]cost{allReductions(p, n)}
	default:
		panic(fmt.Sprintf("bench: reduction %q", how))
	}
	return o
}

// shares is how rows are shared out.
type shares struct {
	rows   int // that the busiest process has
	nodes  int // of the tree, the most that one has
	total  int // nodes that all have
	rounds int // messages one after another until the sum of all nodes is in process 0
}

func shareOut(rows, p int) (s shares) {
	tree := reduce.NewTree(rows)
	s.rounds = mpi.Rounds(tree, p)
	for rank := range p {
		first, last := tree.Rows(rank, p)
		nodes := tree.Nodes(rank, p)
		s.rows, s.nodes = max(s.rows, last-first), max(s.nodes, len(nodes))
		s.total += len(nodes)
	}
	return s
}

// seconds returns what the product takes with p processes.
func (c *product) seconds(p int, how Reduction, m *Model) float64 {
	o, prices := c.taken(p, how), m.prices()
	return o.at(&prices).seconds(&prices)
}

// speedup returns how many times faster p processes are than one.
func (c *product) speedup(p int, how Reduction, m *Model) float64 {
	return c.seconds(1, how, m) / c.seconds(p, how, m)
}

// pays returns from how many rows on two processes with evenly shared rows are gain times as fast as one, gain < 2:
//
//	perRow·rows/F + V·n = gain·(perRow·rows/2F + V·n + announcement + broadcast + reduction in order)
//
// If there is work enough in fewer, these are a block of rows each.
func (c *product) pays(gain float64, m *Model) float64 {
	n, prices := float64(c.n), m.prices()
	wait := orderedReduction(2, n, shares{nodes: 1, total: 2, rounds: 1})
	for _, list := range [][]cost{broadcasts(2, announcement), broadcasts(2, n)} {
		wait = wait.plus(cheapest(&prices, list...))
	}
	rows := ((gain-1)*m.Weight*n + gain*wait.seconds(&prices)) / (c.perRow * m.Operation * (1 - gain/2))
	return math.Max(math.Ceil(rows), 2*reduce.BlockRows)
}
