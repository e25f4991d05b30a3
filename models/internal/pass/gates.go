package pass

import (
	"math"

	"newtop/internal/vector"
)

// The gates of a mixture of experts [MD, §3], on a block of rows. In the terms of one row:
//
//	h, y     the feature, and its distance h − c from a gate's center, the nearest way round a period
//	a, b, c  a gate's width, slope and center: a = a₀e^α, b = b₀e^β, c = c₀ + a₀γ
//	α, β, γ  its parameters in the flat vector: without units, 0 at the gate a₀, b₀, c₀ that
//	         weights begin with, and any numbers make a bell
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

// Mixture is how a network combines its experts.
type Mixture struct {
	Feature int     // the column of the data that the gates look at
	Period  float64 // of the feature, 0: none
	Gates   []Gate  // those that weights begin with
	Experts []int   // the layer o_i of gate i
	Offset  int     // of (α, β, γ) of gate 0; those of gate i come 3i later
}

// Gate is a bell: its width a, slope b and center c.
type Gate struct{ Width, Slope, Center float64 }

// atCenter is how many widths from its center a feature counts as being there. The square of its inverse
// is finite.
const atCenter = 1e-100

// Gate returns gate i at weights w.
func GateAt[F Float](m *Mixture, w []F, i int) Gate {
	p, start := w[m.Offset+3*i:][:3], m.Gates[i]
	return Gate{
		Width:  start.Width * math.Exp(float64(p[0])),
		Slope:  start.Slope * math.Exp(float64(p[1])),
		Center: start.Center + start.Width*float64(p[2]),
	}
}

// gateValues are the gates of a block of rows at w, gates × rows each.
type gateValues[F Float] struct {
	g     []F // shares
	kappa []F // κ
	s     []F // s, but 0 at the center
	near  []F // κ(a₀/y)
	bend  []F // κ(a₀/y)²
}

// gateArrays is how many arrays gateValues has, gateScratch how many numbers gates has for each gate and row.
const gateArrays, gateScratch = 5, 7

// gates is what one worker needs of a mixture for a block of rows: gates × rows of τ, ρ, Rg and e, and what a row adds
// to the gates' parameters, 3·gates × rows. ρ and Rg are computed only where the direction moves the gates.
type gates[F Float] struct {
	*Mixture
	tau, rho, rg, errors, byParameter []F
	moving                            bool

	ra, rb []F // one number a row each
}

// layOut makes the gates use memory for a block of as many rows as ra and rb have.
func (m *gates[F]) layOut(memory []F, count int, ra, rb []F) {
	size := count * len(ra)
	claim := func(n int) []F {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	m.tau, m.rho, m.rg, m.errors, m.byParameter = claim(size), claim(size), claim(size), claim(size), claim(3*size)
	m.ra, m.rb = ra, rb
}

// node returns the numbers of node i, one a row, of what lies node by node.
func (m *gates[F]) node(x []F, i int) []F { return nodeOf(x, i, len(m.ra)) }

// compute computes the gates for the feature of the block's rows.
func (m *gates[F]) compute(w []F, tp *Tape[F]) {
	b := &tp.gates
	rows := len(m.ra)
	h := tp.U[0][m.Feature*rows:][:rows]
	for i := range m.Experts {
		gate, scale := GateAt(m.Mixture, w, i), m.Gates[i].Width
		for j, h := range h {
			y := float64(h) - gate.Center
			if m.Period > 0 {
				y = math.Remainder(y, m.Period)
			}
			at := i*rows + j
			z := min(math.Abs(y)/gate.Width, math.MaxFloat64)
			if z < atCenter {
				b.g[at], b.kappa[at], b.s[at], b.near[at], b.bend[at] = 0, 0, 0, 0, 0
				if gate.Slope == 1 {
					b.bend[at] = F(scale / gate.Width * (scale / gate.Width))
				}
				continue
			}
			s := 2 * gate.Slope * math.Log(z)
			minusTheta, kappa := softplus(s)
			near := kappa * (scale / y)
			b.s[at], b.g[at], b.kappa[at] = F(s), F(-minusTheta), F(kappa)
			b.near[at], b.bend[at] = F(near), F(near*(scale/y))
		}
	}
	vector.ColumnMax(m.ra, b.g)
	vector.ColumnSoftmax(m.rb, m.ra, b.g)
}

// combine adds Σ_i g_i o_i to v.
func (m *gates[F]) combine(v, g []F, outputs [][]F) {
	for i, l := range m.Experts {
		addScaledRows(v, m.node(g, i), outputs[l])
	}
}

// addGated adds g_i x to dst, gate being i + 1, or nothing if it is 0: the way back of combine.
func (m *gates[F]) addGated(dst []F, gate int, g, x []F) {
	if gate > 0 {
		addScaledRows(dst, m.node(g, gate-1), x)
	}
}

// addScaledRows adds g·x of every row to y, node by node.
func addScaledRows[F Float](y, g, x []F) {
	rows := len(g)
	for i := 0; i < len(y); i += rows {
		vector.MulAdd(y[i:i+rows], g, x[i:i+rows])
	}
}

// addRowDots adds ⟨x, y⟩ of every row to dst.
func addRowDots[F Float](dst, x, y []F) {
	rows := len(dst)
	for i := 0; i < len(x); i += rows {
		vector.MulAdd(dst, x[i:i+rows], y[i:i+rows])
	}
}

// pushShares computes ρ and Rg along the gates' part of d, and reports whether that part is not 0: without
// it both are 0 and are not computed.
func (m *gates[F]) pushShares(w, d []F, tp *Tape[F]) bool {
	moving := false
	for _, x := range d[m.Offset:] {
		moving = moving || x != 0
	}
	if !moving {
		return false
	}
	b := &tp.gates
	for i := range m.Experts {
		p, twice := d[m.Offset+3*i:][:3], F(2*GateAt(m.Mixture, w, i).Slope)
		rho, rg := m.node(m.rho, i), m.node(m.rg, i)
		kappa, logs, near := m.node(b.kappa, i), m.node(b.s, i), m.node(b.near, i)
		for j := range rho {
			rho[j] = kappa[j]*(logs[j]*p[1]-twice*p[0]) - twice*near[j]*p[2]
			rg[j] = -rho[j]
		}
	}
	center(m.ra, b.g, m.rg)
	vector.Mul(m.rg, m.rg, b.g)
	return true
}

// push adds Σ_i R{g_i} o_i + g_i R{o_i} to phi.
func (m *gates[F]) push(phi, w, d []F, tp *Tape[F], ru [][]F) {
	m.combine(phi, tp.gates.g, ru)
	if m.moving = m.pushShares(w, d, tp); m.moving {
		m.combine(phi, m.rg, tp.U)
	}
}

// shareErrors stores ∂E_p/∂g_i = ⟨δ^L, o_i⟩ in dst, gates × rows.
func (m *gates[F]) shareErrors(dst, delta []F, outputs [][]F) {
	clear(dst)
	m.addShareErrors(dst, delta, outputs)
}

func (m *gates[F]) addShareErrors(dst, delta []F, outputs [][]F) {
	for i, l := range m.Experts {
		addRowDots(m.node(dst, i), delta, outputs[l])
	}
}

// form stores τ ∂θ/∂(α, β, γ) of every gate and row in m.byParameter, as the flat vector has them: one
// parameter after the other, each with a number a row.
func (m *gates[F]) form(w, tau []F, tp *Tape[F]) {
	b := &tp.gates
	for i := range m.Experts {
		twice := F(2 * GateAt(m.Mixture, w, i).Slope)
		kappa, logs, near := m.node(b.kappa, i), m.node(b.s, i), m.node(b.near, i)
		alpha, beta, gamma := m.node(m.byParameter, 3*i), m.node(m.byParameter, 3*i+1), m.node(m.byParameter, 3*i+2)
		for j, tau := range m.node(tau, i) {
			alpha[j], beta[j], gamma[j] = twice*tau*kappa[j], -tau*kappa[j]*logs[j], twice*tau*near[j]
		}
	}
}

// pull carries δ^L back into the gates: τ = g∘(e − ⟨g, e⟩) with e_i = ⟨δ^L, o_i⟩, and what form stores.
func (m *gates[F]) pull(w, delta []F, tp *Tape[F]) {
	m.shareErrors(m.tau, delta, tp.U)
	center(m.ra, tp.gates.g, m.tau)
	vector.Mul(m.tau, m.tau, tp.gates.g)
	m.form(w, m.tau, tp)
}

// addGradient adds the gates' part of the gradient, or of the product with the Gauss–Newton matrix,
// whose δ^L is γ^L.
func (m *gates[F]) addGradient(dst, w, delta []F, tp *Tape[F]) {
	m.pull(w, delta, tp)
	vector.AddRowSums(dst[m.Offset:], m.byParameter, len(m.ra))
}

// addHessian adds the gates' part of the product with the Hessian, Σ_p Rτ ∂θ + τ R{∂θ}. With
// Re_i = ⟨γ^L, o_i⟩ + ⟨δ^L, Ro_i⟩ and ē = e − ⟨g, e⟩, Rτ = Rg∘ē + g∘(Re − ⟨g, Re⟩ − ⟨Rg, ē⟩) as for softmax.
func (m *gates[F]) addHessian(dst, w, d []F, tp *Tape[F], delta, gamma []F, ru [][]F) {
	g := tp.gates.g
	rtau, e := m.tau, m.errors
	m.shareErrors(rtau, gamma, tp.U)
	m.addShareErrors(rtau, delta, ru)
	center(m.ra, g, rtau)
	if m.moving {
		m.shareErrors(e, delta, tp.U)
		center(m.ra, g, e)
		vector.ColumnDots(m.rb, m.rg, e)
		for i := range m.Experts {
			rtau, e, rg, g := m.node(rtau, i), m.node(e, i), m.node(m.rg, i), m.node(g, i)
			for j, mean := range m.rb {
				rtau[j] = rg[j]*e[j] + g[j]*(rtau[j]-mean)
				e[j] *= g[j]
			}
		}
		m.addBend(dst, w, d, e, tp)
	} else {
		vector.Mul(rtau, rtau, g)
	}
	m.form(w, rtau, tp)
	vector.AddRowSums(dst[m.Offset:], m.byParameter, len(m.ra))
}

// addBend adds the sum over the block's rows of τ R{∂θ/∂(α, β, γ)} to the gates' part of dst.
func (m *gates[F]) addBend(dst, w, d, tau []F, tp *Tape[F]) {
	b := &tp.gates
	for i := range m.Experts {
		p, twice := d[m.Offset+3*i:][:3], F(2*GateAt(m.Mixture, w, i).Slope)
		kappa, logs := m.node(b.kappa, i), m.node(b.s, i)
		near, bend, rho := m.node(b.near, i), m.node(b.bend, i), m.node(m.rho, i)
		var alpha, beta, gamma F
		for j, tau := range m.node(tau, i) {
			mu := 1 - kappa[j]
			alpha += tau * (kappa[j]*p[1] + mu*rho[j])
			beta -= tau * (1 + logs[j]*mu) * rho[j]
			// ρ(a₀/y), its factors joined to what is finite at the center
			rhoNear := near[j]*(logs[j]*p[1]-twice*p[0]) - twice*bend[j]*p[2]
			gamma += tau * (near[j]*p[1] + mu*rhoNear + bend[j]*p[2])
		}
		sum := dst[m.Offset+3*i:][:3]
		sum[0] += twice * alpha
		sum[1] += beta
		sum[2] += twice * gamma
	}
}

// Tape is what the forward and backward pass at w leave of one block of rows, and what all products
// reuse. Everything is node by node: node i of layer l owns U[l][i·rows:(i+1)·rows].
type Tape[F Float] struct {
	U     [][]F // outputs; U[0] are the inputs
	Delta [][]F // δ^l for l ≥ 1
	// kept holds for layer l ≥ 1: f′ (softplus), ε − ⟨u, ε⟩ (softmax), what the loss keeps of the output layer in
	// their place; nothing otherwise.
	kept  [][]F
	gates gateValues[F] // of a mixture's gates
	X     RowMajor[F]   // the inputs as the data have them, if they lie so
	Rows  int

	gamma, ru [][]F // of a product, if they outlive it
}
