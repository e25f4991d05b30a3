//go:build mpi

package mpi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/models/reduce"
)

var lengths = []int{0, 1, 2, 3, 7, 1000, 3071, 20_000, 65537, 1_000_000}

// numbers are of such different sizes that every order of addition has other last digits.
func numbers(seed uint64, n int) []float64 {
	r := rand.NewPCG(seed, 7)
	x := make([]float64, n)
	for i := range x {
		bits := r.Uint64()
		x[i] = math.Ldexp(float64(int32(bits)), int(bits>>59))
	}
	return x
}

func TestSum(t *testing.T) {
	c := together(t)
	c.panel = 300_001 // for more than one
	defer func() { c.panel = panelNumbers }()
	for _, n := range lengths {
		for _, ours := range []bool{false, true} {
			x := make([]float64, n)
			if ours {
				x = c.Alloc(n)
			}
			copy(x, numbers(uint64(c.Rank()), n))
			if err := c.Sum(x); err != nil {
				t.Fatal(err)
			}
			if c.Rank() > 0 {
				continue
			}
			want, scale := make([]float64, n), make([]float64, n)
			for rank := range c.Size() {
				for i, v := range numbers(uint64(rank), n) {
					want[i] += v
					scale[i] += math.Abs(v)
				}
			}
			for i := range want {
				if math.Abs(x[i]-want[i]) > 1e-15*scale[i]*float64(c.Size()) {
					t.Fatalf("%d numbers, from Alloc %v: number %d is %v, expected %v", n, ours, i, x[i], want[i])
				}
			}
		}
	}
}

// sumOver adds up the leaves [first, last) of leaves that lie under a node 2^level wide, as the drawing in reduce.Tree says.
func sumOver(leaf func(i int) []float64, first, level, leaves int) []float64 {
	if level == 0 {
		return slices.Clone(leaf(first))
	}
	half := 1 << (level - 1)
	sum := sumOver(leaf, first, level-1, leaves)
	if first+half < leaves {
		for i, v := range sumOver(leaf, first+half, level-1, leaves) {
			sum[i] += v
		}
	}
	return sum
}

// TestSumFixed: the bits are those of the tree, however the sum was made.
func TestSumFixed(t *testing.T) {
	c := together(t)
	c.panel = 300_001 // for more than one
	defer func() { c.panel = panelNumbers }()
	for _, rows := range []int{1, 95, 97, 96 * 3, 96*5 + 1, 96*11 - 4} {
		tree := reduce.NewTree(rows)
		for _, n := range lengths {
			if n == 1_000_000 && rows != 96*5+1 {
				continue
			}
			leaf := func(i int) []float64 { return numbers(uint64(100+i), n) }
			var nodes [][]float64
			for _, node := range tree.Nodes(c.Rank(), c.Size()) {
				nodes = append(nodes, sumOver(leaf, node.Index<<node.Level, node.Level, tree.Leaves()))
			}
			dst := make([]float64, n)
			if err := c.SumFixed(tree, dst, nodes); err != nil {
				t.Fatal(err)
			}
			if c.Rank() > 0 {
				continue
			}
			want := sumOver(leaf, 0, 10, tree.Leaves())
			if !slices.Equal(dst, want) {
				t.Errorf("%d rows, %d numbers: other bits", rows, n)
			}
		}
	}
}

// TestPieces: sums that are made in pieces, either way, have the same bits.
func TestPieces(t *testing.T) {
	c := together(t)
	tree := reduce.NewTree(96 * 7)
	const n = 10_007
	leaf := func(i int) []float64 { return numbers(uint64(i), n) }
	var nodes [][]float64
	for _, node := range tree.Nodes(c.Rank(), c.Size()) {
		nodes = append(nodes, sumOver(leaf, node.Index<<node.Level, node.Level, tree.Leaves()))
	}
	want := sumOver(leaf, 0, 5, tree.Leaves())
	p := newPlan(tree, c.rank, c.size)
	for _, width := range []int{50, 999, n} {
		for _, way := range []struct {
			name string
			add  func(reduce.Tree, *plan, []float64, [][]float64, int, int) error
		}{{"climbing", c.climb}, {"shared", c.shareNodes}} {
			dst, nodes := make([]float64, n), slices.Clone(nodes)
			for i := range nodes {
				nodes[i] = slices.Clone(nodes[i])
			}
			for first := 0; first < n; first += width {
				if err := way.add(tree, p, dst, nodes, first, min(first+width, n)); err != nil {
					t.Fatal(err)
				}
			}
			if c.Rank() == 0 && !slices.Equal(dst, want) {
				t.Errorf("%s in pieces of %d: other bits", way.name, width)
			}
		}
	}
}

func TestBcast(t *testing.T) {
	c := together(t)
	c.panel = 300_001 // for more than one
	defer func() { c.panel = panelNumbers }()
	for root := range c.Size() {
		for _, n := range lengths {
			x := make([]float64, n)
			if c.Rank() == root {
				copy(x, numbers(uint64(root), n))
			}
			if err := c.Bcast(x, root); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(x, numbers(uint64(root), n)) {
				t.Fatalf("%d numbers from process %d came otherwise", n, root)
			}
		}
	}
}

// TestSend hands numbers round all processes.
func TestSend(t *testing.T) {
	c := together(t)
	c.panel = 300_001 // for more than one
	defer func() { c.panel = panelNumbers }()
	if c.Size() == 1 {
		t.Skip("one process has nobody to send to")
	}
	for _, n := range []int{0, 1, 1000, 1_000_003} {
		x := make([]float64, n)
		if c.Rank() > 0 {
			for n > 0 {
				if come, err := c.probe(c.Rank() - 1); err != nil {
					t.Fatal(err)
				} else if come {
					break
				}
			}
			if err := c.Receive(x, c.Rank()-1); err != nil {
				t.Fatal(err)
			}
		}
		for i := range x {
			x[i] += float64(i)
		}
		if err := c.Send(x, (c.Rank()+1)%c.Size()); err != nil {
			t.Fatal(err)
		}
		if c.Rank() == 0 {
			if err := c.Receive(x, c.Size()-1); err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if v != float64(i*c.Size()) {
					t.Fatalf("number %d of %d is %v, expected %d", i, n, v, i*c.Size())
				}
			}
		}
	}
}

func TestGather(t *testing.T) {
	c := together(t)
	text := strings.Repeat("x", c.Rank()) + fmt.Sprint(c.Rank())
	if c.Rank() == 1 {
		text = ""
	}
	said, err := c.Gather([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c.Rank() > 0 {
		if said != nil {
			t.Errorf("process %d heard %q", c.Rank(), said)
		}
		return
	}
	if len(said) != c.Size() {
		t.Fatalf("%d answers from %d processes", len(said), c.Size())
	}
	for rank, got := range said {
		want := strings.Repeat("x", rank) + fmt.Sprint(rank)
		if rank == 1 {
			want = ""
		}
		if string(got) != want {
			t.Errorf("process %d said %q, expected %q", rank, got, want)
		}
	}
}

// TestBell: messages come in their order, and wait until they are asked for.
func TestBell(t *testing.T) {
	c := together(t)
	const count = 50
	for i := range count {
		if c.Rank() == 0 {
			if err := c.ring(message{int64(i), math.MaxInt64}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := c.listen(); err != nil {
			t.Fatal(err)
		}
		for {
			m, come, err := c.heard(0)
			if err != nil {
				t.Fatal(err)
			}
			if come {
				if m != (message{int64(i), math.MaxInt64}) {
					t.Fatalf("message %d is %v", i, m)
				}
				break
			}
		}
	}
}

func TestReady(t *testing.T) {
	c := together(t)
	for range 20 {
		if err := c.ready(); err != nil {
			t.Fatal(err)
		}
		for all := false; !all; {
			var err error
			if all, err = c.allReady(time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNotes(t *testing.T) {
	c := together(t)
	if c.Rank() > 0 {
		for i := range 3 {
			if err := c.note(0, int64(10*c.Rank()+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for got := make([]int, c.Size()); c.Rank() == 0 && slices.Min(append(got[1:], 3)) < 3; {
		from, note, come, err := c.notes()
		if err != nil {
			t.Fatal(err)
		}
		if !come {
			continue
		}
		if note != int64(10*from+got[from]) {
			t.Fatalf("process %d: note %d, expected %d", from, note, 10*from+got[from])
		}
		if got[from]++; got[from] == 3 {
			if err := c.note(from, 7); err != nil {
				t.Fatal(err)
			}
		}
	}
	for answered := c.Rank() == 0; !answered; {
		from, note, come, err := c.notes()
		if err != nil || come && (from != 0 || note != 7) {
			t.Fatalf("note %d of process %d, %v, expected 7 of process 0", note, from, err)
		}
		answered = come
	}
	if _, err := c.Gather(nil); err != nil { // so that no later note comes here
		t.Fatal(err)
	}
}

// TestErrors: what MPI refuses comes back in its own words.
func TestErrors(t *testing.T) {
	c := together(t)
	err := c.Send(make([]float64, 1), c.Size()+7)
	if err == nil || !strings.HasPrefix(err.Error(), "MPI_Send: ") || !strings.Contains(strings.ToLower(err.Error()), "rank") {
		t.Errorf("sent to nobody: %v", err)
	}
}

func TestAlloc(t *testing.T) {
	c := together(t)
	if x := c.Alloc(0); len(x) != 0 {
		t.Errorf("%d numbers, expected 0", len(x))
	}
	x := c.Alloc(1000)
	if len(x) != 1000 || slices.Max(x) != 0 || slices.Min(x) != 0 {
		t.Error("expected 1000 zeros")
	}
}
