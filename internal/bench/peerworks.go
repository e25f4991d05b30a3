package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"newtop/internal/kernel"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
	"newtop/trainer/optim/minibatch"
)

// The scripts that newtop has something to set beside.
const (
	productsScript = "peer_hvp.py"
	batchScript    = "peer_batch.py"
	letterScript   = "peer_letter.py"
)

const newtop = "newtop" // the source of its own lines

// allWorks are what newtop measures beside scripts. The data of peer_batch.py have 4,096 rows.
func (o *PeerOptions) allWorks() map[string][]work {
	letter, images, wide := []int{16, 70, 50, 26}, []int{784, 100, 10}, []int{784, 1024, 1024, 10}
	deep := slices.Concat([]int{784}, slices.Repeat([]int{100}, 20), []int{10})
	return map[string][]work{
		productsScript: {o.products("16-70-50-26", letter, letterRows), o.products("784-1024-1024-10", wide, 1000), o.products("20 layers of 100", deep, 4000)},
		batchScript: {o.steps("784-100-10", "step_ms", images, 4096, 1, 8, 64, 128, 256), o.steps("784-100-10", "epoch_60000_s", images, 60000, 128),
			o.steps("784-1024-1024-10", "step_ms", wide, 4096, 64, 256)},
		letterScript: {o.letter(letterRuns...)},
	}
}

// commas writes numbers as the scripts read them.
func commas(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ","), "[]") }

// rounds makes calls in turn as often as a pair allows, and returns the nanoseconds of each.
func (o *PeerOptions) rounds(ctx context.Context, calls ...func()) [][]float64 {
	if o.Quick {
		return (&clock{ctx: ctx, least: 1}).rounds(300*time.Millisecond, calls...)
	}
	return (&clock{ctx: ctx, least: 3}).rounds(1500*time.Millisecond, calls...)
}

// line is one of newtop's, with who took the times in it.
func (o *PeerOptions) line(p models.Precision, times map[string]any) map[string]any {
	times["peer"], times["dtype"], times["threads"] = newtop+" "+kernel.Selected().String(), p.String(), o.Threads
	return times
}

// precisions are measured one after the other.
var precisions = []models.Precision{models.Double, models.Single}

// products are gradients and products with the Hessian: tanh throughout, squared error. The gradient stands alone as the peer's,
// which keeps no graph; the products are those of another linearization, which keeps its passes.
func (o *PeerOptions) products(name string, nodes []int, rows int) work {
	own := func(ctx context.Context, _ int, say func(map[string]any)) error {
		pool := reduce.NewPool(o.Threads)
		defer pool.Close()
		p := newProblemOf(nodes, rows, models.Tanh, models.SquaredError)
		dst := make([]float64, p.net.Dim())
		for _, precision := range precisions {
			p.net = p.net.In(precision)
			alone, l := p.bind(rows, models.Options{Pool: pool}), p.bind(rows, models.Options{Pool: pool})
			hessian := func() { l.HessianTo(dst, p.v) }
			ns := o.rounds(ctx, func() { alone.Update(p.w) }, hessian, func() { l.Update(p.w); hessian() })
			say(o.line(precision, map[string]any{"gradient_ms": median(ns[0]) / 1e6, "hv_kept_ms": median(ns[1]) / 1e6, "hv_fresh_ms": median(ns[2]) / 1e6}))
		}
		return nil
	}
	return work{fmt.Sprintf("%s, %d rows", name, rows), []string{"--dims", commas(nodes), "--rows", fmt.Sprint(rows)}, own}
}

// steps are those of Adam in epochs as of a run, softmax and cross-entropy: the median's time, or that of 60,000 rows at its pace.
func (o *PeerOptions) steps(name, key string, nodes []int, rows int, batches ...int) work {
	own := func(ctx context.Context, _ int, say func(map[string]any)) error {
		pool := reduce.NewPool(o.Threads)
		defer pool.Close()
		p := newProblemOf(nodes, rows, models.Softmax, models.CrossEntropy)
		for i := range len(precisions) * len(batches) {
			precision, batch := precisions[i/len(batches)], batches[i%len(batches)]
			adam, set := firstorder.Adam.New(), optim.NewSettings(firstorder.Adam.Parameters)
			err := set.Set(minibatch.Size.Key, float64(batch))
			var began time.Time
			var ns []float64
			step := func(optim.Inner) error {
				now := time.Now()
				ns, began = append(ns, float64(now.Sub(began))), now
				return nil
			}
			s := &optim.State{Objective: objective.New(p.net.In(precision), p.x, p.t, models.Options{Pool: pool, Memory: nothing}),
				W: slices.Clone(p.w), Settings: set, Rand: rand.New(rand.NewPCG(3, 4)), Monitor: step, Run: pool.Run}
			o.rounds(ctx, func() {
				if began = time.Now(); err == nil {
					_, err = adam.Step(ctx, s)
				}
			})
			if err != nil {
				return err
			}
			took := map[string]float64{"step_ms": median(ns) / 1e6, "epoch_60000_s": median(ns) / 1e9 * 60000 / float64(batch)}
			say(o.line(precision, map[string]any{"batch": batch, key: took[key]}))
		}
		return nil
	}
	return work{name + ", Adam", []string{"--dims", commas(nodes), "--batches", commas(batches)}, own}
}
