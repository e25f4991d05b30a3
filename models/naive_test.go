package models

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"newtop/models/internal/pass"
)

// naive computes with one row at a time, number by number, in the words of the papers: activations by
// their textbook derivatives in v, losses by their derivatives in u (nothing fused), softmax by its
// dense Jacobian and second derivatives, and the Hessian product by [M, corollary 1].
type naive struct {
	a       Architecture
	nodes   []int
	weights [][][][]int // by layer, source, node and source's node
	biases  []int       // by layer
	gates   int         // of a mixture
	w       []float64
	v, u    [][]float64
	jac     []*mat.Dense // ∂u^l/∂v^l
}

// naiveNone marks a pair of nodes without a weight between them.
const naiveNone = -1

// layOut counts the places of all weights again from the architecture.
func (n *naive) layOut() {
	layers := len(n.nodes)
	n.weights, n.biases = make([][][][]int, layers), make([]int, layers)
	next := 0
	for l := 1; l < layers; l++ {
		n.weights[l] = make([][][]int, l)
		for r := range l {
			for _, c := range n.a.Connections {
				if c.To != l || c.From != r || c.Gate != 0 {
					continue
				}
				n.weights[l][r] = make([][]int, n.nodes[l])
				for i := range n.weights[l][r] {
					n.weights[l][r][i] = make([]int, n.nodes[r])
					for j := range n.weights[l][r][i] {
						if c.Sources != nil && !slices.Contains(c.Sources.Of(i), j) {
							n.weights[l][r][i][j] = naiveNone
							continue
						}
						n.weights[l][r][i][j] = next
						next++
					}
				}
			}
		}
		if n.biases[l] = next; n.a.Mixture == nil || l < layers-1 {
			next += n.nodes[l]
		}
	}
	n.gates = next
}

// at returns where the weight from node j of layer r to node i of layer l is, or naiveNone.
func (n *naive) at(l, r, i, j int) int {
	if n.weights[l][r] == nil {
		return naiveNone
	}
	return n.weights[l][r][i][j]
}

// newLayout returns a naive that knows where weights are, and no more.
func newLayout(a Architecture) *naive {
	n := &naive{a: a, nodes: []int{a.Inputs}}
	for _, l := range a.Layers {
		n.nodes = append(n.nodes, l.Nodes)
	}
	n.layOut()
	return n
}

// newNaive computes with one row of a network that is no mixture.
func newNaive(a Architecture, w, x []float64) *naive {
	n := newLayout(a)
	n.w = w
	layers := len(n.nodes)
	n.v, n.u, n.jac = make([][]float64, layers), make([][]float64, layers), make([]*mat.Dense, layers)
	n.u[0] = x
	for l := 1; l < layers; l++ {
		n.v[l] = make([]float64, n.nodes[l])
		for i := range n.v[l] {
			n.v[l][i] = w[n.biases[l]+i]
			for r := range l {
				for j, u := range n.u[r] {
					if at := n.at(l, r, i, j); at != naiveNone {
						n.v[l][i] += w[at] * u
					}
				}
			}
		}
		n.u[l], n.jac[l] = naiveActivation(a.Layers[l-1].Activation, n.v[l])
	}
	return n
}

func naiveScalar(a Activation, v float64) (f, f1, f2 float64) {
	switch a {
	case Identity:
		return v, 1, 0
	case Sigmoid:
		s := 1 / (1 + math.Exp(-v))
		d := math.Exp(-v) / math.Pow(1+math.Exp(-v), 2)
		return s, d, d * (math.Exp(-v) - 1) / (math.Exp(-v) + 1)
	case Tanh:
		d := 1 / math.Pow(math.Cosh(v), 2)
		return math.Tanh(v), d, -2 * math.Sinh(v) / math.Pow(math.Cosh(v), 3)
	case Softplus:
		return math.Log(1 + math.Exp(v)), 1 / (1 + math.Exp(-v)), math.Exp(-v) / math.Pow(1+math.Exp(-v), 2)
	case ReLU:
		if v > 0 {
			return v, 1, 0
		}
		return 0, 0, 0
	}
	panic("not elementwise")
}

func naiveActivation(a Activation, v []float64) ([]float64, *mat.Dense) {
	u, jac := make([]float64, len(v)), mat.NewDense(len(v), len(v), nil)
	if a != Softmax {
		for i := range v {
			f, f1, _ := naiveScalar(a, v[i])
			u[i] = f
			jac.Set(i, i, f1)
		}
		return u, jac
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(x)
	}
	for i, x := range v {
		u[i] = math.Exp(x) / sum
	}
	for i := range u {
		for j := range u {
			jac.Set(i, j, u[i]*(kronecker(i, j)-u[j]))
		}
	}
	return u, jac
}

func kronecker(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// bent returns Σ_k e_k ∂²u_k/∂v∂v of layer l.
func (n *naive) bent(l int, e []float64) *mat.Dense {
	a, u := n.a.Layers[l-1].Activation, n.u[l]
	m := mat.NewDense(len(u), len(u), nil)
	for i := range u {
		if a != Softmax {
			_, _, f2 := naiveScalar(a, n.v[l][i])
			m.Set(i, i, f2*e[i])
			continue
		}
		for j := range u {
			sum := 0.0
			for k := range u {
				sum += e[k] * u[k] * ((kronecker(k, i)-u[i])*(kronecker(k, j)-u[j]) - u[i]*(kronecker(i, j)-u[j]))
			}
			m.Set(i, j, sum)
		}
	}
	return m
}

// loss returns E_p, ∂E_p/∂u and the diagonal of ∂²E_p/∂u².
func (n *naive) loss(t []float64) (e float64, eu, euu []float64) {
	out := n.u[len(n.u)-1]
	eu, euu = make([]float64, len(out)), make([]float64, len(out))
	for k, u := range out {
		switch {
		case n.a.Loss == SquaredError:
			e += (u - t[k]) * (u - t[k]) / 2
			eu[k], euu[k] = u-t[k], 1
		case n.a.Loss > CrossEntropy:
			value, slope, curvature := pass.Losses[n.a.Loss].(pass.Elementwise).At(u, t[k])
			e += value
			eu[k], euu[k] = slope, curvature
		case n.a.Layers[len(n.a.Layers)-1].Activation == Softmax:
			if t[k] != 0 {
				e -= t[k] * math.Log(u)
			}
			eu[k], euu[k] = -t[k]/u, t[k]/(u*u)
		default:
			e -= t[k]*math.Log(u) + (1-t[k])*math.Log(1-u)
			eu[k] = -t[k]/u + (1-t[k])/(1-u)
			euu[k] = t[k]/(u*u) + (1-t[k])/((1-u)*(1-u))
		}
	}
	return e, eu, euu
}

// back adds (W^{rl})ᵀ x^r of all r > l.
func (n *naive) back(w []float64, l int, x [][]float64) []float64 {
	sum := make([]float64, n.nodes[l])
	for r := l + 1; r < len(n.nodes); r++ {
		for i, v := range x[r] {
			for j := range sum {
				if at := n.at(r, l, i, j); at != naiveNone {
					sum[j] += w[at] * v
				}
			}
		}
	}
	return sum
}

func times(m mat.Matrix, x []float64) []float64 {
	y := mat.NewVecDense(len(x), nil)
	y.MulVec(m, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}

func plus(x, y []float64) []float64 {
	sum := make([]float64, len(x))
	for i := range x {
		sum[i] = x[i] + y[i]
	}
	return sum
}

// outer adds x^l (y^r)ᵀ of every block, and x^l for the biases if biases is true, to dst.
func (n *naive) outer(dst []float64, x, y [][]float64, biases bool) {
	for l := 1; l < len(n.nodes); l++ {
		for r := range l {
			for i, v := range x[l] {
				for j, u := range y[r] {
					if at := n.at(l, r, i, j); at != naiveNone {
						dst[at] += v * u
					}
				}
			}
		}
		if biases {
			for i, v := range x[l] {
				dst[n.biases[l]+i] += v
			}
		}
	}
}

// outputCurvature returns ∂²E_p/∂v² of the output layer, and the positive semidefinite matrix B that
// the Gauss–Newton matrix has there: JᵀJ for squared error; for cross-entropy, which is convex in v,
// the same as ∂²E_p/∂v².
func (n *naive) outputCurvature(t []float64) (full, gn *mat.Dense) {
	last := len(n.u) - 1
	_, eu, euu := n.loss(t)
	gn = mat.NewDense(len(eu), len(eu), nil)
	gn.Product(n.jac[last].T(), mat.NewDiagDense(len(euu), euu), n.jac[last])
	full = mat.NewDense(len(eu), len(eu), nil)
	full.Add(gn, n.bent(last, eu))
	if n.a.Loss == CrossEntropy {
		return full, full
	}
	return full, gn
}

// gradient adds ∂E_p/∂w to dst and returns E_p, δ and ε.
func (n *naive) gradient(dst, t []float64) (e float64, delta, eps [][]float64) {
	last := len(n.u) - 1
	e, eu, _ := n.loss(t)
	delta, eps = make([][]float64, last+1), make([][]float64, last+1)
	eps[last] = eu
	delta[last] = times(n.jac[last].T(), eu)
	for l := last - 1; l > 0; l-- {
		eps[l] = n.back(n.w, l, delta)
		delta[l] = times(n.jac[l].T(), eps[l])
	}
	n.outer(dst, delta, n.u, true)
	return e, delta, eps
}

// hessian adds H_p d = A + B to dst, by lemmas 1 to 3 of [M].
func (n *naive) hessian(dst, d, t []float64) {
	last := len(n.u) - 1
	_, delta, eps := n.gradient(make([]float64, len(d)), t)
	phi, ru := make([][]float64, last+1), make([][]float64, last+1)
	ru[0] = make([]float64, n.nodes[0])
	for l := 1; l <= last; l++ {
		phi[l] = make([]float64, n.nodes[l])
		for i := range phi[l] {
			phi[l][i] = d[n.biases[l]+i]
			for r := range l {
				for j := range n.u[r] {
					if at := n.at(l, r, i, j); at != naiveNone {
						phi[l][i] += d[at]*n.u[r][j] + n.w[at]*ru[r][j]
					}
				}
			}
		}
		ru[l] = times(n.jac[l], phi[l])
	}
	mu, beta := make([][]float64, last+1), make([][]float64, last+1)
	full, _ := n.outputCurvature(t)
	mu[last] = times(full, phi[last])
	beta[last] = make([]float64, n.nodes[last])
	for l := last - 1; l > 0; l-- {
		mu[l] = times(n.jac[l].T(), n.back(n.w, l, mu))
		beta[l] = plus(times(n.jac[l].T(), plus(n.back(n.w, l, beta), n.back(d, l, delta))),
			times(n.bent(l, eps[l]), phi[l]))
	}
	n.outer(dst, mu, n.u, true)
	n.outer(dst, delta, ru, false)
	n.outer(dst, beta, n.u, true)
}

// gaussNewton adds Jᵀ B J to dst through the rows of J = ∂v^L/∂w.
func (n *naive) gaussNewton(dst *mat.SymDense, t []float64) {
	last := len(n.u) - 1
	rows := mat.NewDense(n.nodes[last], dst.SymmetricDim(), nil)
	for k := range n.nodes[last] {
		signal := make([][]float64, last+1)
		signal[last] = make([]float64, n.nodes[last])
		signal[last][k] = 1
		for l := last - 1; l > 0; l-- {
			signal[l] = times(n.jac[l].T(), n.back(n.w, l, signal))
		}
		n.outer(rows.RawRowView(k), signal, n.u, true)
	}
	_, b := n.outputCurvature(t)
	var g mat.Dense
	g.Product(rows.T(), b, rows)
	for i := range dst.SymmetricDim() {
		for j := i; j < dst.SymmetricDim(); j++ {
			dst.SetSym(i, j, dst.At(i, j)+g.At(i, j))
		}
	}
}
