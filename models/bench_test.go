package models

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// letterProblem returns the net and rows of the shape of [MD]'s letter problem: 16-70-50-26, tanh,
// squared error, targets ±1.
func letterProblem(tb testing.TB, rows int) (n *Network, w []float64, x, t *mat.Dense) {
	n = mustNetwork(tb, Chain(16, []int{70, 50}, 26, Tanh, Tanh, SquaredError, SkipNone))
	rng := rand.New(rand.NewPCG(1, 2))
	w = make([]float64, n.Dim())
	init, err := ParseInit("uniform:0.2")
	if err != nil {
		tb.Fatal(err)
	}
	n.InitTo(w, init, rng)
	x, t = mat.NewDense(rows, 16, nil), mat.NewDense(rows, 26, nil)
	for p := range rows {
		for i := range 16 {
			x.Set(p, i, rng.NormFloat64())
		}
		for k := range 26 {
			t.Set(p, k, -1)
		}
		t.Set(p, rng.IntN(26), 1)
	}
	return n, w, x, t
}

// inEach runs the benchmark in both precisions.
func inEach(b *testing.B, f func(b *testing.B, p Precision)) {
	for _, p := range []Precision{Double, Single} {
		b.Run(p.String(), func(b *testing.B) { f(b, p) })
	}
}

func BenchmarkLetter(b *testing.B) { inEach(b, benchmarkLetter) }

func benchmarkLetter(b *testing.B, precision Precision) {
	const rows = 16000
	n, w, x, t := letterProblem(b, rows)
	n = n.In(precision)
	cost := n.Cost()
	v, dst := make([]float64, n.Dim()), make([]float64, n.Dim())
	for i := range v {
		v[i] = float64(i%7) - 3
	}
	for threads := 1; threads <= runtime.NumCPU(); threads *= 2 {
		pool := reduce.NewPool(threads)
		l := n.Bind(x, t, Options{Pool: pool})
		l.Update(w)
		gradient := 0.0 // ns
		for _, c := range []struct {
			name            string
			multiplications float64
			run             func()
		}{
			{"gradient", cost.Gradient, func() { l.Update(w); l.GradientTo(dst) }},
			{"loss", cost.Loss, func() { l.EvaluateAt(w) }},
			{"hessian", cost.Hessian, func() { l.HessianTo(dst, v) }},
			{"gauss-newton", cost.GaussNewton, func() { l.GaussNewtonTo(dst, v) }},
			{"diagonal", cost.Diagonal, func() { l.GaussNewtonDiagTo(dst) }},
		} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.run()
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(2*c.multiplications*rows/ns, "GFLOP/s")
				if c.name == "gradient" {
					gradient = ns
				} else if gradient > 0 {
					b.ReportMetric(ns/gradient, "gradients")
				}
			})
		}
		pool.Close()
	}
}

// BenchmarkWeightedRows has rows that count alike, and rows that do not, by the sums of their targets.
func BenchmarkWeightedRows(b *testing.B) { inEach(b, benchmarkWeightedRows) }

func benchmarkWeightedRows(b *testing.B, precision Precision) {
	const rows = 16000
	for _, weighted := range []bool{false, true} {
		_, _, x, t := letterProblem(b, rows)
		n := mustNetwork(b, Chain(16, []int{70, 50}, 26, Tanh, Softmax, CrossEntropy, SkipNone)).In(precision)
		w, v, dst := make([]float64, n.Dim()), make([]float64, n.Dim()), make([]float64, n.Dim())
		for i := range w {
			w[i], v[i] = float64(i%7-3)/15, float64(i%5)-2
		}
		t.Apply(func(i, _ int, v float64) float64 {
			switch {
			case v < 0:
				return 0
			case weighted:
				return 0.5 + float64(i%7)/6
			}
			return v
		}, t)
		l := n.Bind(x, t, Options{})
		l.Update(w)
		for name, run := range map[string]func(){
			"gradient": func() { l.Update(w); l.GradientTo(dst) },
			"hessian":  func() { l.HessianTo(dst, v) },
		} {
			b.Run(fmt.Sprintf("%s/weighted=%v", name, weighted), func(b *testing.B) {
				for b.Loop() {
					run()
				}
			})
		}
	}
}

// BenchmarkMatrix assembles the Gauss–Newton matrix of nets of 1,000 to 10,000 weights.
func BenchmarkMatrix(b *testing.B) {
	const rows = 1600
	for _, net := range []struct {
		hidden  []int
		outputs int
	}{{[]int{22, 10}, 26}, {[]int{50, 30}, 26}, {[]int{70, 50}, 26}, {[]int{92, 70}, 26}, {[]int{70, 60}, 1}} {
		p := randomData(b, Chain(16, net.hidden, net.outputs, Tanh, Tanh, SquaredError, SkipNone), rand.New(rand.NewPCG(1, 2)), rows)
		m := mat.NewSymDense(p.n.Dim(), nil)
		for threads := 1; threads <= runtime.NumCPU(); threads *= 2 {
			pool := reduce.NewPool(threads)
			l := p.n.Bind(p.x, p.t, Options{Pool: pool})
			l.Update(p.w)
			b.Run(fmt.Sprintf("weights=%d/outputs=%d/threads=%d", p.n.Dim(), net.outputs, threads), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					assembleTo(b, l, m)
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(2*p.n.Cost().Matrix*rows/ns, "GFLOP/s")
				b.ReportMetric(ns/rows/1e3, "µs/row")
			})
			pool.Close()
		}
	}
}

func BenchmarkBatch(b *testing.B) { inEach(b, benchmarkBatch) }

func benchmarkBatch(b *testing.B, precision Precision) {
	for _, net := range []struct {
		name   string
		inputs int
		hidden []int
		output int
	}{{"16-70-50-26", 16, []int{70, 50}, 26}, {"784-100-10", 784, []int{100}, 10}} {
		n := mustNetwork(b, Chain(net.inputs, net.hidden, net.output, Tanh, Softmax, CrossEntropy, SkipNone)).In(precision)
		w, dst := make([]float64, n.Dim()), make([]float64, n.Dim())
		n.InitTo(w, Init{}, rand.New(rand.NewPCG(1, 2)))
		x, t := mat.NewDense(256, net.inputs, nil), mat.NewDense(256, net.output, nil)
		rows := make([]int, 256)
		for p := range rows {
			rows[p] = p
			x.Set(p, p%net.inputs, 1)
			t.Set(p, p%net.output, 1)
		}
		pool := reduce.NewPool(2)
		for _, size := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
			b.Run(fmt.Sprintf("%s/rows=%d", net.name, size), func(b *testing.B) {
				batch := n.NewBatch(x, t, size)
				batch.Pool = pool
				b.ReportAllocs()
				for b.Loop() {
					batch.GradientTo(dst, w, rows[:size])
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(2*n.Cost().Gradient*float64(size)/ns, "GFLOP/s")
				b.ReportMetric(ns/float64(size), "ns/row")
			})
		}
		pool.Close()
	}
}

// BenchmarkSparse has a large net whose hidden blocks are sparse to a degree: what a weight costs must not
// depend on how many others there could be.
func BenchmarkSparse(b *testing.B) {
	const rows = 2048
	hidden, widths := []int{512, 256}, []int{512, 512, 256, 10}
	for _, density := range []float64{0.01, 0.1, 1, 0} {
		a := Chain(512, hidden, 10, Tanh, Softmax, CrossEntropy, SkipNone)
		name := "dense"
		if density > 0 {
			name = fmt.Sprintf("density=%g%%", 100*density)
			for i, c := range a.Connections {
				count := int(max(1, density*float64(widths[c.From])))
				a.Connections[i].Sources = RandomSources(widths[c.To], widths[c.From], count, rand.New(rand.NewPCG(1, uint64(i))))
			}
		}
		p := randomData(b, a, rand.New(rand.NewPCG(1, 2)), rows)
		p.n.InitTo(p.w, Init{}, rand.New(rand.NewPCG(3, 4)))
		l, dst := p.n.Linearize(p.w, p.x, p.t), make([]float64, p.n.Dim())
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"gradient", func() { l.Update(p.w) }},
			{"hessian", func() { l.HessianTo(dst, p.d) }},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(ns/float64(p.n.Dim())/rows, "ns/(weight·row)")
				b.ReportMetric(float64(p.n.Dim()), "weights")
			})
		}
	}
}

// BenchmarkMixture has the five experts of [MD, §3] beside a single net of about as many weights. What the
// gates cost shows in the difference, and in that of a direction that leaves them where they are.
func BenchmarkMixture(b *testing.B) {
	const rows = 1000
	gates := DefaultGates(nil, 5, 360)
	mixture := Experts(16, []int{16}, 10, 5, Tanh, Identity, SquaredError, Mixture{Feature: 16, Period: 360, Gates: gates})
	for _, net := range []struct {
		name string
		a    Architecture
	}{{"5x16-16-10", mixture}, {"16-82-10", Chain(16, []int{82}, 10, Tanh, Identity, SquaredError, SkipNone)}} {
		p := randomData(b, net.a, rand.New(rand.NewPCG(1, 2)), rows)
		p.n.InitTo(p.w, Init{}, rand.New(rand.NewPCG(3, 4)))
		for row := range rows {
			p.x.Set(row, p.n.Columns()-1, 360*float64(row)/rows)
		}
		still := append([]float64(nil), p.d...)
		clear(still[p.n.ExpertDim():])
		l, dst := p.n.Linearize(p.w, p.x, p.t), make([]float64, p.n.Dim())
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"loss", func() { l.EvaluateAt(p.w) }},
			{"gradient", func() { l.Update(p.w) }},
			{"hessian", func() { l.HessianTo(dst, p.d) }},
			{"hessian, gates still", func() { l.HessianTo(dst, still) }},
			{"gauss-newton, gates still", func() { l.GaussNewtonTo(dst, still) }},
			{"diagonal", func() { l.GaussNewtonDiagTo(dst) }},
		} {
			b.Run(net.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}
