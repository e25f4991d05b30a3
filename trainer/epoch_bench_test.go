package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// BenchmarkEpoch runs epochs of first-order methods as a session does, on one thread, with everything that stands
// beside the gradients. beside/batch is what a batch takes longer than its gradient alone.
func BenchmarkEpoch(b *testing.B) {
	for _, net := range []struct {
		name, optimizer string
		layers          []int
		rows            int
	}{
		{"16-70-50-26", "adam", []int{16, 70, 50, 26}, 4096},
		{"784-50-10", "sgd", []int{784, 50, 10}, 1024},
		{"2-8-1", "online-bp", []int{2, 8, 1}, 4096},
	} {
		for _, batch := range []int{1, 8, 64, 256} {
			b.Run(fmt.Sprintf("%s/%s/batch=%d", net.name, net.optimizer, batch), func(b *testing.B) {
				l := rehearsed(b, net.optimizer, net.layers, net.rows, batch)
				defer l.work.Pool.Close()
				m := l.nets.Members[0]
				batches := float64(net.rows / batch)
				order := rand.New(rand.NewPCG(3, 4)).Perm(net.rows)
				l.stepping = true
				b.ReportAllocs()
				var whole, alone time.Duration
				for b.Loop() {
					start := time.Now()
					if _, err := m.Method.Step(context.Background(), m.State); err != nil {
						b.Fatal(err)
					}
					middle := time.Now()
					for i := 0; i < net.rows; i += batch {
						l.nets.Objective.BatchGradientTo(m.State.Gradient, m.Weights, order[i:i+batch])
					}
					whole, alone = whole+middle.Sub(start), alone+time.Since(middle)
				}
				ns := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N) }
				b.ReportMetric(ns(whole)/1e3/batches, "µs/batch")
				b.ReportMetric(ns(whole)/float64(net.rows), "ns/row")
				b.ReportMetric(ns(whole-alone)/1e3/batches, "µs-beside/batch")
			})
		}
	}
}

// rehearsed returns a run on random rows, ready for its first outer iteration.
func rehearsed(b *testing.B, optimizer string, layers []int, rows, batch int) *loop {
	b.Helper()
	s, err := New(config.Config{Optimizer: optimizer, Batch: batch, Threads: 1, Set: []string{"rate=1e-4"}})
	if err != nil {
		b.Fatal(err)
	}
	last := len(layers) - 1
	inputs, outputs := layers[0], layers[last]
	network, err := models.NewNetwork(models.Chain(inputs, layers[1:last], outputs,
		models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, t := mat.NewDense(rows, inputs, nil), mat.NewDense(rows, outputs, nil)
	for p := range rows {
		for i := range inputs {
			x.Set(p, i, rng.NormFloat64())
		}
		t.Set(p, rng.IntN(outputs), 1)
	}
	split := datasets.Split{Inputs: x, Targets: t}
	none := datasets.Split{Inputs: &mat.Dense{}, Targets: &mat.Dense{}}
	l := newLoop(context.Background(), s)
	l.work.Problem = &objective.Problem{
		Data: &datasets.Dataset{Train: split, Test: none}, Train: objective.NewSplit(split), Test: objective.NewSplit(none), Network: network,
	}
	if err := l.bind(); err != nil {
		b.Fatal(err)
	}
	l.control.phase = event.Running
	return l
}
