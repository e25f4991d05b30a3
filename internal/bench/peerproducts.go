package bench

import (
	"context"
	"fmt"
	"time"

	"newtop/internal/kernel"
	"newtop/models"
	"newtop/models/reduce"
)

// peerProducts is what a gradient and products take on 16-70-50-26 with 16,000 rows, tanh, squared error, in the
// form that peer_hvp.py prints: medians. The gradient is one that no product follows.
type peerProducts struct {
	Peer       string  `json:"peer"`
	DType      string  `json:"dtype"`
	Threads    int     `json:"threads"`
	GradientMS float64 `json:"gradient_ms"`
	HvKeptMS   float64 `json:"hv_kept_ms"`  // one product on a kept gradient
	HvFreshMS  float64 `json:"hv_fresh_ms"` // gradient and product
}

// figures are compared by dtype, with newtop's of the only one that it has.
func (p *peerProducts) figures(kind string) []figure {
	if !positive(p.GradientMS, p.HvKeptMS, p.HvFreshMS) {
		return nil
	}
	of := fmt.Sprintf("%s, %s, %d threads", p.Peer, p.DType, p.Threads)
	if p.Threads == 1 {
		of = fmt.Sprintf("%s, %s, 1 thread", p.Peer, p.DType)
	}
	return []figure{{"gradient_ms", kind, of, p.GradientMS}, {"hv_kept_ms", kind, of, p.HvKeptMS}, {"hv_fresh_ms", kind, of, p.HvFreshMS}}
}

func (p *Peers) besideProducts(ctx context.Context, o *PeerOptions) error {
	var own []figure
	measure := func() {
		if m := ownProducts(ctx, o); ctx.Err() == nil {
			own = append(own, m.figures("")...)
			p.own(o, m)
		}
	}
	var args []string
	if o.Quick {
		args = []string{"--reps", "3"}
	}
	measure()
	peers, err := figures(ctx, p, o, productsScript, args, func(l *peerProducts) []figure { return l.figures(l.Peer + " " + l.DType) })
	if peers != nil {
		measure()
	}
	if ctx.Err() == nil {
		p.Ratios = append(p.Ratios, compare(own, peers)...)
	}
	return err
}

// ownProducts measures newtop.
func ownProducts(ctx context.Context, o *PeerOptions) *peerProducts {
	budget := 2 * time.Second
	if o.Quick {
		budget /= 4
	}
	pool := reduce.NewPool(o.Threads)
	defer pool.Close()
	p := newProblem(1, o.rows)
	alone, l := p.bind(o.rows, models.Options{Pool: pool}), p.bind(o.rows, models.Options{Pool: pool})
	dst := make([]float64, p.net.Dim())
	hessian := func() { l.HessianTo(dst, p.v) }
	c := &clock{ctx: ctx, least: 3}
	ns := c.rounds(budget, func() { alone.Update(p.w) }, hessian, func() { l.Update(p.w); hessian() })
	out := &peerProducts{Peer: Newtop + " " + kernel.Selected().String(), DType: "float64", Threads: o.Threads}
	for i, ms := range []*float64{&out.GradientMS, &out.HvKeptMS, &out.HvFreshMS} {
		*ms = median(ns[i]) / 1e6
	}
	return out
}
