package models

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"newtop/models/internal/pass"
)

// hyper is a hyper-dual number v + aε₁ + bε₂ + cε₁ε₂ with ε₁² = ε₂² = 0 (Fike & Alonso 2011): a function of
// it has its exact first derivatives along two directions and its mixed second one. So a network that is
// evaluated with hypers in the words of its definition, and no formula for a derivative but those of exp,
// log and 1/x, gives gradients and Hessians to hold all others to.
type hyper struct{ v, a, b, c float64 }

func (x hyper) plus(y hyper) hyper { return hyper{x.v + y.v, x.a + y.a, x.b + y.b, x.c + y.c} }

func (x hyper) minus(y hyper) hyper { return x.plus(y.times(hyper{v: -1})) }

func (x hyper) times(y hyper) hyper {
	return hyper{x.v * y.v, x.v*y.a + x.a*y.v, x.v*y.b + x.b*y.v, x.v*y.c + x.c*y.v + x.a*y.b + x.b*y.a}
}

// of returns f(x) from f, f′ and f″ at x.v.
func (x hyper) of(f, f1, f2 float64) hyper {
	return hyper{f, f1 * x.a, f1 * x.b, f1*x.c + f2*x.a*x.b}
}

func (x hyper) inverse() hyper { return x.of(1/x.v, -1/(x.v*x.v), 2/(x.v*x.v*x.v)) }

func (x hyper) exp() hyper { e := math.Exp(x.v); return x.of(e, e, e) }

func (x hyper) log() hyper { return x.of(math.Log(x.v), 1/x.v, -1/(x.v*x.v)) }

func (x hyper) abs() hyper {
	if x.v < 0 {
		return x.times(hyper{v: -1})
	}
	return x
}

var hyperOne = hyper{v: 1}

// hyperActivation returns f(v) by the definitions.
func hyperActivation(f Activation, v []hyper) []hyper {
	u, sum := make([]hyper, len(v)), hyper{}
	for i, x := range v {
		switch f {
		case Identity:
			u[i] = x
		case Sigmoid:
			u[i] = hyperOne.plus(x.times(hyper{v: -1}).exp()).inverse()
		case Tanh:
			plus, minus := x.exp(), x.times(hyper{v: -1}).exp()
			u[i] = plus.minus(minus).times(plus.plus(minus).inverse())
		case Softplus:
			u[i] = hyperOne.plus(x.exp()).log()
		case ReLU:
			if x.v > 0 {
				u[i] = x
			}
		case Softmax:
			u[i] = x.exp()
			sum = sum.plus(u[i])
		}
	}
	if f == Softmax {
		for i := range u {
			u[i] = u[i].times(sum.inverse())
		}
	}
	return u
}

// hyperForward returns the net inputs of the last layer and the outputs of all layers for one row.
func hyperForward(n *places, w []hyper, x []float64) (v []hyper, outputs [][]hyper) {
	outputs = make([][]hyper, len(n.nodes))
	for _, x := range x[:n.nodes[0]] {
		outputs[0] = append(outputs[0], hyper{v: x})
	}
	for l := 1; l < len(n.nodes); l++ {
		if l == len(n.nodes)-1 && n.a.Mixture != nil {
			v = hyperMix(n, w[n.gates:], outputs, x)
		} else {
			v = make([]hyper, n.nodes[l])
			for i := range v {
				v[i] = w[n.biases[l]+i]
				for r := range l {
					for j, u := range outputs[r] {
						if at := n.at(l, r, i, j); at != nowhere {
							v[i] = v[i].plus(w[at].times(u))
						}
					}
				}
			}
		}
		outputs[l] = hyperActivation(n.a.Layers[l-1].Activation, v)
	}
	return v, outputs
}

// hyperMix returns Σ_i g_i o_i, g_i being the share of the bell 1/(1 + |(h − c)/a|^2b).
func hyperMix(n *places, p []hyper, outputs [][]hyper, x []float64) []hyper {
	m := n.a.Mixture
	bells, sum := make([]hyper, len(m.Gates)), hyper{}
	for i, g := range m.Gates {
		a, b := hyper{v: g.Width}.times(p[3*i].exp()), hyper{v: g.Slope}.times(p[3*i+1].exp())
		c := hyper{v: g.Center}.plus(hyper{v: g.Width}.times(p[3*i+2]))
		y := hyper{v: x[m.Feature]}.minus(c)
		for m.Period > 0 && y.v > m.Period/2 {
			y.v -= m.Period
		}
		for m.Period > 0 && y.v < -m.Period/2 {
			y.v += m.Period
		}
		q := y.times(a.inverse()).abs().log().times(b).times(hyper{v: 2}).exp()
		bells[i] = hyperOne.plus(q).inverse()
		sum = sum.plus(bells[i])
	}
	last := len(n.nodes) - 1
	v := make([]hyper, n.nodes[last])
	for _, c := range n.a.Connections {
		if c.To == last {
			share := bells[c.Gate-1].times(sum.inverse())
			for k := range v {
				v[k] = v[k].plus(share.times(outputs[c.From][k]))
			}
		}
	}
	return v
}

// hyperLoss returns E_p.
func hyperLoss(a *Architecture, u []hyper, t []float64) hyper {
	sum := hyper{}
	for k, u := range u {
		target, rest := hyper{v: -t[k]}, hyper{v: t[k] - 1}
		switch {
		case a.Loss == SquaredError:
			r := u.plus(target)
			sum = sum.plus(r.times(r).times(hyper{v: 0.5}))
		case a.Loss > CrossEntropy:
			sum = sum.plus(u.of(pass.Losses[a.Loss].(pass.Elementwise).At(u.v, t[k])))
		case a.Layers[len(a.Layers)-1].Activation == Softmax:
			if t[k] != 0 {
				sum = sum.plus(target.times(u.log()))
			}
		default:
			sum = sum.plus(target.times(u.log())).plus(rest.times(hyperOne.minus(u).log()))
		}
	}
	return sum
}

// hyperFigures are means over all rows.
type hyperFigures struct {
	loss         float64
	gradient, hd []float64
	g            *mat.SymDense // the Gauss–Newton matrix
}

func hyperAll(p problem) hyperFigures {
	n, a := newPlaces(p.n.Architecture()), p.n.Architecture()
	dim, rows := len(p.w), p.t.RawMatrix().Rows
	out := hyperFigures{gradient: make([]float64, dim), hd: make([]float64, dim), g: mat.NewSymDense(dim, nil)}
	w := make([]hyper, dim)
	for i := range w {
		w[i] = hyper{v: p.w[i], a: p.d[i]}
	}
	share := 1 / float64(rows)
	for row := range rows {
		t := p.t.RawRowView(row)
		var jacobian *mat.Dense // ∂u/∂w for squared error, ∂v/∂w for cross-entropy
		var u []hyper
		for j := range w {
			w[j].b = 1
			v, outputs := hyperForward(n, w, p.x.RawRowView(row))
			u = outputs[len(outputs)-1]
			w[j].b = 0
			e := hyperLoss(&a, u, t)
			if j == 0 {
				out.loss += e.v * share
				jacobian = mat.NewDense(len(u), dim, nil)
			}
			out.gradient[j] += e.b * share
			out.hd[j] += e.c * share
			for k := range u {
				jacobian.Set(k, j, u[k].b)
				if a.Loss == CrossEntropy {
					jacobian.Set(k, j, v[k].b)
				}
			}
		}
		var g mat.Dense
		g.Product(jacobian.T(), hyperCurvature(&a, u, t), jacobian)
		for i := range dim {
			for j := i; j < dim; j++ {
				out.g.SetSym(i, j, out.g.At(i, j)+g.At(i, j)*share)
			}
		}
	}
	return out
}

// hyperCurvature returns the curvature of the loss at the outputs for squared error, at their net inputs for
// cross-entropy.
func hyperCurvature(a *Architecture, u []hyper, t []float64) *mat.Dense {
	b, weight := mat.NewDense(len(u), len(u), nil), 0.0
	for _, t := range t {
		weight += t
	}
	for i := range u {
		switch {
		case a.Loss == SquaredError:
			b.Set(i, i, 1)
		case a.Loss > CrossEntropy:
			_, _, curvature := pass.Losses[a.Loss].(pass.Elementwise).At(u[i].v, t[i])
			b.Set(i, i, curvature)
		case a.Layers[len(a.Layers)-1].Activation == Softmax:
			for j := range u {
				b.Set(i, j, weight*u[i].v*(kronecker(i, j)-u[j].v))
			}
		default:
			b.Set(i, i, u[i].v*(1-u[i].v))
		}
	}
	return b
}
