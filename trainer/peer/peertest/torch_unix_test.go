//go:build unix

package peertest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"newtop/models"
	"newtop/trainer/objective"
	"newtop/trainer/peer"
)

// BenchmarkTorch asks PyTorch for products, in turns with PyTorch's computing them by itself in the same process, and tells the
// medians of both.
func BenchmarkTorch(b *testing.B) {
	Torch(b)
	for _, size := range []string{"1e5", "1e7"} {
		for _, maps := range []bool{false, true} {
			printed := make(chan string, 1)
			options := peer.Options{Map: 1}
			if !maps {
				options.Map = -1
			}
			model := filepath.Join("..", "..", "..", ".ci", "torch", "measure.py") + " " + size
			c, err := peer.Open(b.Context(), model, peer.Command{Console: func(line string) { printed <- line }}, options)
			if err != nil {
				b.Fatal(err)
			}
			m, err := peer.NewModel(c)
			if err != nil {
				b.Fatal(err)
			}
			w := make([]float64, m.Dim())
			m.InitTo(w)
			l := m.Bind(objective.Rows{}, models.Options{})
			l.Update(w)
			for _, op := range []string{peer.HasHessian, peer.HasGaussNewton} {
				b.Run(fmt.Sprintf("n=%s,map=%v,%s", size, maps, op), func(b *testing.B) { measureTorch(b, c, l, op, printed) })
			}
			c.Close()
		}
	}
}

// measureTorch holds products that a run asks for against the same in PyTorch alone, in turns.
func measureTorch(b *testing.B, c *peer.Client, l objective.Linearization, op string, printed <-chan string) {
	v, dst := make([]float64, c.About().Dim), make([]float64, c.About().Dim)
	for i := range v {
		v[i] = float64(float32(i%17) - 8)
	}
	product := l.HessianTo
	if op == peer.HasGaussNewton {
		product = l.GaussNewtonTo
	}
	count := max(1, 5e6/len(v)) // in a turn
	var asked, direct, inside []float64
	ask := func() {
		began, before := time.Now(), c.Spent()
		product(dst, v)
		asked = append(asked, time.Since(began).Seconds()*1e3)
		inside = append(inside, (c.Spent()-before).Seconds()*1e3)
	}
	ask()
	asked, inside = nil, nil
	for b.Loop() {
		for range count {
			ask()
		}
		if err := c.SendEvent([]byte(fmt.Sprintf(`{"op":%q,"count":%d}`, op, count))); err != nil {
			b.Fatal(err)
		}
		var times []float64
		if err := json.Unmarshal([]byte(<-printed), &times); err != nil {
			b.Fatal(err)
		}
		direct = append(direct, times...)
	}
	slices.Sort(asked)
	slices.Sort(direct)
	slices.Sort(inside)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(asked[len(asked)/2], "ms-asked")
	b.ReportMetric(inside[len(inside)/2], "ms-inside")
	b.ReportMetric(direct[len(direct)/2], "ms-direct")
	b.ReportMetric(100*(asked[len(asked)/2]/direct[len(direct)/2]-1), "%-more")
	b.ReportMetric(100*(asked[0]/direct[0]-1), "%-more-at-best")
}
