package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/reduce"
)

// The gates of a mixture of experts [MD, §3], on a block of rows. In the terms of one row:
//
//	h, y     the feature, and its distance h − c from a gate's center, the nearest way round a period
//	a, b, c  a gate's width, slope and center: a = a₀e^α, b = b₀e^β, c = c₀ + a₀γ
//	α, β, γ  its parameters in the flat vector: without units, 0 at the gate a₀, b₀, c₀ of the
//	         Architecture, and any numbers make a bell
//	s, μ, κ  log |y/a|^2b, the bell 1/(1 + e^s), and 1 − μ
//	θ, g     log μ_i, and the share g_i = μ_i / Σ_j μ_j = softmax(θ)_i
//	τ        ∂E_p/∂θ
//
// So a row far from all centers, where every bell underflows, still has shares, and the gates are a softmax
// layer with net inputs θ, whose derivatives are
//
//	∂θ/∂α = 2bκ    ∂θ/∂β = −κs    ∂θ/∂γ = 2bκ(a₀/y)
//
// and, with ρ = −Rθ along a direction (α̇, β̇, γ̇), which is κRs,
//
//	R{2bκ}       = 2bκβ̇ + 2bμρ
//	R{−κs}       = −(1 + sμ)ρ
//	R{2bκ(a₀/y)} = 2bκ(a₀/y)β̇ + 2bμρ(a₀/y) + 2bκ(a₀/y)²γ̇
//
// κ and κs vanish at the center, and so does κa₀/y where b > ½. κ(a₀/y)² vanishes where b > 1 and is (a₀/a)²
// where b = 1. A flatter bell has a cusp there, whose derivatives are taken for 0.

// mixing is how a network combines its experts.
type mixing struct {
	*Mixture
	experts []int // the layer o_i of gate i
	offset  int   // of (α, β, γ) of gate 0; those of gate i come 3i later
}

// atCenter is how many widths from its center a feature counts as being there. The square of its inverse
// is finite.
const atCenter = 1e-100

func (n *Network) mixes(l int) bool { return n.mix != nil && l == n.last() }

// gate returns gate i at weights w.
func (m *mixing) gate(w []float64, i int) Gate {
	p, start := w[m.offset+3*i:][:3], m.Gates[i]
	return Gate{
		Width:  start.Width * math.Exp(p[0]),
		Slope:  start.Slope * math.Exp(p[1]),
		Center: start.Center + start.Width*p[2],
	}
}

// Gates returns where the parameters of the gates lie in the flat vector, behind all other weights: three
// for each of count gates, log(a/a₀), log(b/b₀) and (c − c₀)/a₀, a₀, b₀ and c₀ being width, slope and center
// of the gate in the Architecture. Without a mixture count is 0.
func (n *Network) Gates() (offset, count int) {
	if n.mix == nil {
		return n.dim, 0
	}
	return n.mix.offset, len(n.mix.experts)
}

// gates returns the number of gates.
func (n *Network) gates() int {
	_, count := n.Gates()
	return count
}

// ExpertDim returns the number of weights before the gates' parameters: of all experts together, or Dim.
func (n *Network) ExpertDim() int {
	offset, _ := n.Gates()
	return offset
}

// GatesAt returns the gates that the weights w stand for, nil without a mixture.
func (n *Network) GatesAt(w []float64) []Gate {
	n.checkWeights("GatesAt", "w", w)
	var gates []Gate
	for i := range n.gates() {
		gates = append(gates, n.mix.gate(w, i))
	}
	return gates
}

// GateSharesTo stores the mean of every gate's share g_i over the rows of x in dst. x is rows × Columns.
func (n *Network) GateSharesTo(dst, w []float64, x *mat.Dense) {
	n.checkWeights("GateSharesTo", "w", w)
	rows, _ := x.Dims()
	n.checkMatrix("GateSharesTo", "x", x, rows, n.Columns())
	if count := n.gates(); len(dst) != count {
		panic(fmt.Sprintf("models: GateSharesTo: dst has %d numbers, the network %d gates", len(dst), count))
	}
	if n.mix == nil {
		return
	}
	clear(dst)
	s := n.newScratch(min(rows, reduce.BlockRows))
	for first := 0; first < rows; first += reduce.BlockRows {
		s.setRows(min(reduce.BlockRows, rows-first))
		gather(s.own.u[0], x.RawMatrix(), first, s.rows)
		s.computeGates(w, &s.own)
		addColumnSums(dst, s.own.gates.g, s.rows)
	}
	for i := range dst {
		dst[i] /= float64(rows)
	}
}

// gateValues are the gates of a block of rows at w, gates × rows each.
type gateValues struct {
	g     []float64 // shares
	kappa []float64 // κ
	s     []float64 // s, but 0 at the center
	near  []float64 // κ(a₀/y)
	bend  []float64 // κ(a₀/y)²
}

// gateArrays is how many arrays gateValues has.
const gateArrays = 5

// computeGates computes the gates for the feature of the block's rows.
func (s *scratch) computeGates(w []float64, tp *tape) {
	b := &tp.gates
	h := tp.u[0][s.mix.Feature*s.rows:][:s.rows]
	for i := range s.mix.experts {
		gate, scale := s.mix.gate(w, i), s.mix.Gates[i].Width
		for j, h := range h {
			y := h - gate.Center
			if s.mix.Period > 0 {
				y = math.Remainder(y, s.mix.Period)
			}
			at := i*s.rows + j
			z := min(math.Abs(y)/gate.Width, math.MaxFloat64)
			if z < atCenter {
				b.g[at], b.kappa[at], b.s[at], b.near[at], b.bend[at] = 0, 0, 0, 0, 0
				if gate.Slope == 1 {
					b.bend[at] = scale / gate.Width * (scale / gate.Width)
				}
				continue
			}
			b.s[at] = 2 * gate.Slope * math.Log(z)
			minusTheta, kappa := softplus(b.s[at])
			b.g[at], b.kappa[at] = -minusTheta, kappa
			b.near[at] = kappa * (scale / y)
			b.bend[at] = b.near[at] * (scale / y)
		}
	}
	vector.ColumnMax(s.ra, b.g)
	vector.ColumnSoftmax(s.rb, s.ra, b.g)
}

// node returns the numbers of node i, one a row, of what lies node by node.
func (s *scratch) node(x []float64, i int) []float64 { return x[i*s.rows : (i+1)*s.rows] }

// combine adds Σ_i g_i o_i to v.
func (s *scratch) combine(v, g []float64, outputs [][]float64) {
	for i, l := range s.mix.experts {
		addScaledRows(v, s.node(g, i), outputs[l])
	}
}

// addGated adds g_i x to dst if layer l is expert i: the way back of combine.
func (s *scratch) addGated(dst []float64, l int, g, x []float64) {
	if gate := s.gateOf[l]; gate > 0 {
		addScaledRows(dst, s.node(g, gate-1), x)
	}
}

// addScaledRows adds g·x of every row to y, node by node.
func addScaledRows(y, g, x []float64) {
	rows := len(g)
	for i := 0; i < len(y); i += rows {
		vector.MulAdd(y[i:i+rows], g, x[i:i+rows])
	}
}

// addRowDots adds ⟨x, y⟩ of every row to dst.
func addRowDots(dst, x, y []float64) {
	rows := len(dst)
	for i := 0; i < len(x); i += rows {
		vector.MulAdd(dst, x[i:i+rows], y[i:i+rows])
	}
}

// pushGates computes ρ and Rg along the gates' part of d, and reports whether that part is not 0: without
// it both are 0 and are not computed.
func (s *scratch) pushGates(w, d []float64, tp *tape) bool {
	moving := false
	for _, x := range d[s.mix.offset:] {
		moving = moving || x != 0
	}
	if !moving {
		return false
	}
	b := &tp.gates
	for i := range s.mix.experts {
		p, twice := d[s.mix.offset+3*i:][:3], 2*s.mix.gate(w, i).Slope
		rho, rg := s.node(s.rho, i), s.node(s.rg, i)
		kappa, logs, near := s.node(b.kappa, i), s.node(b.s, i), s.node(b.near, i)
		for j := range rho {
			rho[j] = kappa[j]*(logs[j]*p[1]-twice*p[0]) - twice*near[j]*p[2]
			rg[j] = -rho[j]
		}
	}
	s.center(b.g, s.rg)
	vector.Mul(s.rg, s.rg, b.g)
	return true
}

// pushMixture adds Σ_i R{g_i} o_i + g_i R{o_i} to phi.
func (s *scratch) pushMixture(phi, w, d []float64, tp *tape) {
	s.combine(phi, tp.gates.g, s.ru)
	if s.moving = s.pushGates(w, d, tp); s.moving {
		s.combine(phi, s.rg, tp.u)
	}
}

// gateErrors stores ∂E_p/∂g_i = ⟨δ^L, o_i⟩ in dst, gates × rows.
func (s *scratch) gateErrors(dst, delta []float64, outputs [][]float64) {
	clear(dst)
	s.addGateErrors(dst, delta, outputs)
}

func (s *scratch) addGateErrors(dst, delta []float64, outputs [][]float64) {
	for i, l := range s.mix.experts {
		addRowDots(s.node(dst, i), delta, outputs[l])
	}
}

// formGates stores τ ∂θ/∂(α, β, γ) of every gate and row in s.gateRows, as the flat vector has them: one
// parameter after the other, each with a number a row.
func (s *scratch) formGates(w, tau []float64, tp *tape) {
	b := &tp.gates
	for i := range s.mix.experts {
		twice := 2 * s.mix.gate(w, i).Slope
		kappa, logs, near := s.node(b.kappa, i), s.node(b.s, i), s.node(b.near, i)
		alpha, beta, gamma := s.node(s.gateRows, 3*i), s.node(s.gateRows, 3*i+1), s.node(s.gateRows, 3*i+2)
		for j, tau := range s.node(tau, i) {
			alpha[j], beta[j], gamma[j] = twice*tau*kappa[j], -tau*kappa[j]*logs[j], twice*tau*near[j]
		}
	}
}

// pullGates carries δ^L back into the gates: τ = g∘(e − ⟨g, e⟩) with e_i = ⟨δ^L, o_i⟩, and what formGates
// stores.
func (s *scratch) pullGates(w, delta []float64, tp *tape) {
	s.gateErrors(s.tau, delta, tp.u)
	s.center(tp.gates.g, s.tau)
	vector.Mul(s.tau, s.tau, tp.gates.g)
	s.formGates(w, s.tau, tp)
}

// addGateGradient adds the gates' part of the gradient, or of the product with the Gauss–Newton matrix,
// whose δ^L is γ^L.
func (s *scratch) addGateGradient(dst, w, delta []float64, tp *tape) {
	s.pullGates(w, delta, tp)
	addColumnSums(dst[s.mix.offset:], s.gateRows, s.rows)
}

// addGateHessian adds the gates' part of the product with the Hessian, Σ_p Rτ ∂θ + τ R{∂θ}. With
// Re_i = ⟨γ^L, o_i⟩ + ⟨δ^L, Ro_i⟩ and ē = e − ⟨g, e⟩, Rτ = Rg∘ē + g∘(Re − ⟨g, Re⟩ − ⟨Rg, ē⟩) as for softmax.
func (s *scratch) addGateHessian(dst, w, d []float64, tp *tape) {
	g, last := tp.gates.g, s.last()
	rtau, e := s.tau, s.gateError
	s.gateErrors(rtau, s.gamma[last], tp.u)
	s.addGateErrors(rtau, tp.delta[last], s.ru)
	s.center(g, rtau)
	if s.moving {
		s.gateErrors(e, tp.delta[last], tp.u)
		s.center(g, e)
		vector.ColumnDots(s.rb, s.rg, e)
		for i := range s.mix.experts {
			rtau, e, rg, g := s.node(rtau, i), s.node(e, i), s.node(s.rg, i), s.node(g, i)
			for j, mean := range s.rb {
				rtau[j] = rg[j]*e[j] + g[j]*(rtau[j]-mean)
				e[j] *= g[j]
			}
		}
		s.bendGates(dst, w, d, e, tp)
	} else {
		vector.Mul(rtau, rtau, g)
	}
	s.formGates(w, rtau, tp)
	addColumnSums(dst[s.mix.offset:], s.gateRows, s.rows)
}

// bendGates adds the sum over the block's rows of τ R{∂θ/∂(α, β, γ)} to the gates' part of dst.
func (s *scratch) bendGates(dst, w, d, tau []float64, tp *tape) {
	b := &tp.gates
	for i := range s.mix.experts {
		p, twice := d[s.mix.offset+3*i:][:3], 2*s.mix.gate(w, i).Slope
		kappa, logs := s.node(b.kappa, i), s.node(b.s, i)
		near, bend, rho := s.node(b.near, i), s.node(b.bend, i), s.node(s.rho, i)
		var alpha, beta, gamma float64
		for j, tau := range s.node(tau, i) {
			mu := 1 - kappa[j]
			alpha += tau * (kappa[j]*p[1] + mu*rho[j])
			beta -= tau * (1 + logs[j]*mu) * rho[j]
			// ρ(a₀/y), its factors joined to what is finite at the center
			rhoNear := near[j]*(logs[j]*p[1]-twice*p[0]) - twice*bend[j]*p[2]
			gamma += tau * (near[j]*p[1] + mu*rhoNear + bend[j]*p[2])
		}
		sum := dst[s.mix.offset+3*i:][:3]
		sum[0] += twice * alpha
		sum[1] += beta
		sum[2] += twice * gamma
	}
}
