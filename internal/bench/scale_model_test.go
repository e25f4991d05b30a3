package bench

import (
	"math"
	"slices"
	"testing"
)

// tenGigabit is what SCALE.md's figures suppose: 1 Tflop/s a process, 10 Gbit/s.
var tenGigabit = Model{Operation: 1e-12, Latency: 25e-6, Byte: 8e-10}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

func TestCollectivesByHand(t *testing.T) {
	// 1,000 numbers are 8,000 bytes.
	for _, c := range []struct {
		name string
		got  []cost
		want []cost
	}{
		{"broadcast, 2", broadcasts(2, 1000), []cost{{messages: 1, sent: 8000}, {messages: 2, sent: 8000}}},
		{"broadcast, 8", broadcasts(8, 1000), []cost{{messages: 3, sent: 24000}, {messages: 6, sent: 14000}}},
		{"broadcast, 5", broadcasts(5, 1000), []cost{{messages: 3, sent: 24000}, {messages: 6, sent: 12800}}},
		{"reduction, 2", reductions(2, 1000), []cost{{messages: 1, sent: 8000, additions: 1000}, {messages: 2, sent: 8000, additions: 500}}},
		{"reduction, 8", reductions(8, 1000), []cost{{messages: 3, sent: 24000, additions: 3000}, {messages: 6, sent: 14000, additions: 875}}},
		{"reduction, 5: the fifth hands its numbers to one of four", reductions(5, 1000),
			[]cost{{messages: 3, sent: 24000, additions: 3000}, {messages: 5, sent: 20000, additions: 1750}}},
		{"all-reduce, 8", allReductions(8, 1000), []cost{{messages: 3, sent: 24000, additions: 3000},
			{messages: 6, sent: 14000, additions: 875}, {messages: 14, sent: 14000, additions: 875}}},
		{"all-reduce, 5", allReductions(5, 1000), []cost{{messages: 4, sent: 32000, additions: 3000},
			{messages: 6, sent: 28000, additions: 1750}, {messages: 8, sent: 12800, additions: 800}}},
		{"in order, 2 with a node each", []cost{orderedReduction(2, 1000, shares{nodes: 1, total: 2, rounds: 1})},
			[]cost{{messages: 1, sent: 8000, additions: 3000}}},
		{"in order, 8 with a node each", []cost{orderedReduction(8, 1000, shares{nodes: 1, total: 8, rounds: 3})},
			[]cost{{messages: 3, sent: 24000, additions: 7000}}},
		{"in order, 2 in two panels", []cost{orderedReduction(2, 8_000_000, shares{nodes: 1, total: 2, rounds: 1})},
			[]cost{{messages: 2, sentLong: 64e6, additionsLong: 24e6}}},
		{"in order, shared out", []cost{orderedReduction(8, 50000, shares{nodes: 1, total: 8, rounds: 3})},
			[]cost{{messages: 14, sent: 700000, additions: 156250}}},
		{"in order, shared out, four with up to 3 nodes, six turns", []cost{orderedReduction(4, 8_000_000, shares{nodes: 3, total: 9, rounds: 6})},
			[]cost{{messages: 36, sentLong: 192e6, additionsLong: 56e6}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The crossovers follow from the formulas: with p = 8 and nothing for additions, 3α + 24n·β against 6α + 14n·β, so at n = 3α/10β
// numbers; with p = 16 the ring's 30α and Rabenseifner's 8α have the same bytes, so that the ring never wins.
func TestCrossovers(t *testing.T) {
	m := tenGigabit
	prices := m.prices()
	at := 3 * m.Latency / (10 * m.Byte)
	for _, c := range []struct {
		n    float64
		want int
	}{{0.99 * at, 0}, {1.01 * at, 1}} {
		list := allReductions(8, c.n)
		if got := slices.Index(list, cheapest(&prices, list...)); got != c.want {
			t.Errorf("%g numbers: choice %d, want %d", c.n, got, c.want)
		}
	}
	for _, n := range []float64{1, 1e3, 1e6, 1e9} {
		if list := allReductions(16, n); cheapest(&prices, list...) == list[2] {
			t.Errorf("16 processes, %g numbers: the ring", n)
		}
	}
	// Of 1,000 processes 488 would hand in first: the ring wins as soon as 2n numbers cost more than its 1,978 messages.
	list := allReductions(1000, 1e8)
	if cheapest(&prices, list...) != list[2] {
		t.Error("1000 processes, 10⁸ numbers: no ring")
	}
}

// With more and more numbers what counts are bytes, which no choice has fewer of than 2(P−1)/P·8n; with one number it is messages.
func TestAsymptotics(t *testing.T) {
	m := tenGigabit
	prices := m.prices()
	for _, p := range []int{2, 4, 64, 1024} {
		least := 2 * float64(p-1) / float64(p)
		if p == 2 {
			least = 1 // the tree
		}
		for _, list := range [][]cost{broadcasts(p, 1e12), reductions(p, 1e12)} {
			if got := cheapest(&prices, list...).seconds(&prices) / (8e12 * m.Byte); !near(got, least, 1e-6) {
				t.Errorf("%d processes, 10¹² numbers: %g vectors' time, want %g", p, got, least)
			}
		}
		if got := cheapest(&prices, broadcasts(p, 1)...).seconds(&prices) / m.Latency; !near(got, math.Log2(float64(p)), 1e-3) {
			t.Errorf("%d processes, one number: %g messages' time", p, got)
		}
	}
}

// SCALE.md's figures, of all-reduces: an Hv of 10⁶ weights.
func TestAllReduceAsKnown(t *testing.T) {
	for _, c := range []struct {
		rows       int
		p          int
		seconds    float64
		efficiency float64
	}{
		{1e9, 10, 1000, 0.9999}, {1e9, 100, 100, 0.9998}, {1e9, 1000, 10, 0.999},
		{1e6, 10, 1.01, 0.987}, {1e6, 100, 0.115, 0.87}, {1e6, 1024, 0.025, 0.40}, // there 1000, as if it were a power of two
	} {
		h := &product{n: 1e6, rows: c.rows, perRow: 1e7}
		prices := tenGigabit.prices()
		total := cost{operations: h.perRow * float64(h.rows) / float64(c.p)}.plus(cheapest(&prices, allReductions(c.p, 1e6)...))
		seconds := total.seconds(&prices)
		efficiency := h.seconds(1, AllReduce, &tenGigabit) / float64(c.p) / seconds
		if !near(seconds, c.seconds, 0.08) || !near(efficiency, c.efficiency, 0.06) {
			t.Errorf("%d rows, %d processes: %g s, efficiency %g; known are %g s and %g", c.rows, c.p, seconds, efficiency, c.seconds, c.efficiency)
		}
	}
}

func TestShareOut(t *testing.T) {
	for _, c := range []struct {
		rows, p int
		want    shares
	}{
		{32 * 96, 1, shares{rows: 32 * 96, nodes: 1, total: 1}},
		{32 * 96, 2, shares{rows: 16 * 96, nodes: 1, total: 2, rounds: 1}},
		{32 * 96, 4, shares{rows: 8 * 96, nodes: 1, total: 4, rounds: 2}},
		{32 * 96, 32, shares{rows: 96, nodes: 1, total: 32, rounds: 5}},
		{32 * 96, 40, shares{rows: 96, nodes: 1, total: 32, rounds: 6}}, // process 0 has none, and is sent the sum
		// Process 0 has the leaves [0, 8) and [8, 10), 1 has [10, 12), [12, 16), [16, 20), 20, and 2 has 21, [22, 24), [24, 32). So 1 sends
		// [10, 12) and [12, 16) to 0, 2 sends 21, [22, 24) and [24, 32) to 1, and 1 sends [16, 32) to 0.
		{32 * 96, 3, shares{rows: 11 * 96, nodes: 4, total: 9, rounds: 6}},
	} {
		if got := shareOut(c.rows, c.p); got != c.want {
			t.Errorf("%d rows, %d processes: %+v, want %+v", c.rows, c.p, got, c.want)
		}
	}
}

// Two processes: 10·N·rows/F + V·N against half of it, 80 bytes that say what to do, and a broadcast and a reduction of N numbers.
func TestProductByHand(t *testing.T) {
	m := Model{Operation: 1e-11, Weight: 2e-9, Latency: 1e-4, Byte: 1e-9, Addition: 1e-10}
	h := &product{n: 6000, rows: 96 * 128, perRow: 60000}
	one := 6e4*96*128*1e-11 + 6000*2e-9
	two := 6e4*96*64*1e-11 + 6000*2e-9 + (1e-4 + 80e-9) + (1e-4 + 48000*1e-9) + (1e-4 + 48000*1e-9 + 6000*1e-10)
	for how, two := range map[Reduction]float64{AnyOrder: two, InOrder: two + 12000*1e-10} {
		if got := h.seconds(1, how, &m); !near(got, one, 1e-12) {
			t.Errorf("%s, one process: %g, want %g", how, got, one)
		}
		if got := h.seconds(2, how, &m); !near(got, two, 1e-12) {
			t.Errorf("%s, two processes: %g, want %g", how, got, two)
		}
		if got := h.speedup(2, how, &m); !near(got, one/two, 1e-12) {
			t.Errorf("%s: %g times as fast, want %g", how, got, one/two)
		}
	}
	reduce := two - (1e-4 + 80e-9) - (1e-4 + 48000*1e-9)
	if got := h.seconds(2, AllReduce, &m); !near(got, reduce, 1e-12) {
		t.Errorf("all-reduce: %g, want %g", got, reduce)
	}
}

// At the rows that pays returns two processes are as much faster as was asked for.
func TestPays(t *testing.T) {
	m := tenGigabit
	m.Weight, m.Addition = 1e-9, 1e-10
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		for _, gain := range []float64{1, 1.8} {
			h := &product{n: n, perRow: 10 * float64(n)}
			rows := h.pays(gain, &m)
			h.rows = 96 * 2 * int(math.Ceil(rows/(96*2))) // what two can share evenly
			if got := h.speedup(2, InOrder, &m); rows > 192*100 && !near(got, gain, 0.01) {
				t.Errorf("%d weights, %g rows: %g times as fast, want %g", n, rows, got, gain)
			}
		}
	}
	if got := (&product{n: 1000, perRow: 1e20}).pays(1, &m); got != 192 {
		t.Errorf("work without end in each row: %g rows, want two blocks", got)
	}
}
