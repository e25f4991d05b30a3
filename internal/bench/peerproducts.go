package bench

import (
	"context"
	"time"

	"newtop/internal/kernel"
	"newtop/models"
	"newtop/models/reduce"
)

// PeerProducts is what a gradient and products take on 16-70-50-26 with 16,000 rows, tanh, squared error, in the
// form that peer_hvp.py prints: medians. The gradient is one that no product follows.
type PeerProducts struct {
	Peer       string  `json:"peer"`
	DType      string  `json:"dtype"`
	Threads    int     `json:"threads"`
	GradientMS float64 `json:"gradient_ms"`
	HvKeptMS   float64 `json:"hv_kept_ms"`  // one product on a kept gradient
	HvFreshMS  float64 `json:"hv_fresh_ms"` // gradient and product
}

// ProductsBeside is newtop, before and after, with its peers between.
type ProductsBeside struct {
	Newtop []PeerProducts `json:"newtop"`
	Peers  []PeerProducts `json:"peers"`
	Ratios []Ratio        `json:"ratios"`
}

// Ratio is how many times faster than a peer newtop is: the peer's time, its best of any number of threads, over
// the mean of newtop's before and after it.
type Ratio struct {
	What     string  `json:"what"`
	Peer     string  `json:"peer"`
	DType    string  `json:"dtype"` // the peer's; newtop's is always float64
	Threads  int     `json:"threads"`
	PeerMS   float64 `json:"peer_ms"`
	NewtopMS float64 `json:"newtop_ms"`
	Ratio    float64 `json:"ratio"`
	Goal     *Goal   `json:"goal,omitempty"`
}

// quantities are what is compared, and how many times faster newtop should be by the peer's dtype.
var quantities = []struct {
	what   string
	of     func(*PeerProducts) float64
	wanted map[string]float64
}{
	{passGradient, func(p *PeerProducts) float64 { return p.GradientMS }, map[string]float64{"float64": 5, "float32": 2.5}},
	{passHessian, func(p *PeerProducts) float64 { return p.HvKeptMS }, map[string]float64{"float64": 6, "float32": 2.5}},
	{passBoth, func(p *PeerProducts) float64 { return p.HvFreshMS }, nil},
}

func besideProducts(ctx context.Context, o *PeerOptions) (*ProductsBeside, error) {
	var b ProductsBeside
	own := func() {
		p := ownProducts(ctx, o)
		if ctx.Err() == nil {
			b.Newtop = append(b.Newtop, p)
			o.Live(Live{Source: Newtop, Products: &p})
		}
	}
	var args []string
	if o.Quick {
		args = []string{"--reps", "3"}
	}
	own()
	var err error
	b.Peers, err = figures(ctx, o, productsScript, args,
		func(p *PeerProducts) bool {
			return isName(p.Peer) && isName(p.DType) && positive(p.GradientMS, p.HvKeptMS, p.HvFreshMS)
		},
		func(p *PeerProducts) Live { return Live{Source: productsScript, Products: p} })
	if ctx.Err() != nil || b.Peers == nil {
		return &b, err
	}
	own()
	b.compare()
	return &b, err
}

// ownProducts measures newtop.
func ownProducts(ctx context.Context, o *PeerOptions) PeerProducts {
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
	out := PeerProducts{Peer: Newtop + " " + kernel.Selected().String(), DType: "float64", Threads: o.Threads}
	for i, ms := range []*float64{&out.GradientMS, &out.HvKeptMS, &out.HvFreshMS} {
		*ms = median(ns[i]) / 1e6
	}
	return out
}

// compare fills in the ratios: for each peer and dtype, in the order in which they came, each quantity.
func (b *ProductsBeside) compare() {
	type kind struct{ peer, dtype string }
	var kinds []kind
	of := map[kind][]PeerProducts{}
	for _, p := range b.Peers {
		k := kind{p.Peer, p.DType}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], p)
	}
	for _, k := range kinds {
		for _, q := range quantities {
			best := of[k][0]
			for _, p := range of[k][1:] {
				if q.of(&p) < q.of(&best) {
					best = p
				}
			}
			r := Ratio{What: q.what, Peer: k.peer, DType: k.dtype, Threads: best.Threads, PeerMS: q.of(&best)}
			for i := range b.Newtop {
				r.NewtopMS += q.of(&b.Newtop[i]) / float64(len(b.Newtop))
			}
			r.Ratio = r.PeerMS / r.NewtopMS
			if wanted := q.wanted[k.dtype]; wanted > 0 {
				r.Goal = atLeast(r.Ratio, wanted)
			}
			b.Ratios = append(b.Ratios, r)
		}
	}
}
