package pass

import "newtop/internal/vector"

// layer is one layer of a block of rows, nodes × rows: its outputs, what the passes left of it, and room for two
// numbers a row.
//
// It has four maps. All but activate work in place on what the caller summed up, and none evaluates a transcendental
// function.
type layer[F Float] struct {
	Activation
	u, delta, kept []F
	ra, rb         []F
}

// activate replaces the net inputs v in u by f(v).
func (l layer[F]) activate() {
	if l.Activation != Softmax {
		value(l.Activation, l.u, l.kept)
		return
	}
	vector.ColumnMax(l.ra, l.u)
	vector.ColumnSoftmax(l.rb, l.ra, l.u)
}

// push stores Jφ in ru. For softmax Jφ = u∘(φ − ⟨u, φ⟩).
func (l layer[F]) push(ru, phi []F) {
	if l.Activation != Softmax {
		slope(l.Activation, ru, l.u, l.kept, phi)
		return
	}
	vector.ColumnDots(l.ra, l.u, phi)
	vector.ColumnCenter(l.ra, ru, l.u, phi)
}

// pull replaces ε by Jᵀε, J being symmetric for every activation. For softmax Jᵀε = u∘(ε − ⟨u, ε⟩).
func (l layer[F]) pull(x []F) {
	if l.Activation != Identity {
		l.push(x, x)
	}
}

// slopes stores f′ of every node and row in c. Not for softmax.
func (l layer[F]) slopes(c []F) {
	for i := range c {
		c[i] = 1
	}
	l.push(c, c)
}

// pullKeep is pull for the backward pass at w: it turns ε in delta into δ, and keeps what curve needs of ε.
func (l layer[F]) pullKeep() {
	if l.Activation != Softmax {
		l.pull(l.delta)
		return
	}
	center(l.ra, l.u, l.delta)
	copy(l.kept, l.delta)
	vector.Mul(l.delta, l.delta, l.u)
}

// center subtracts ⟨u, x⟩ from every row's x; mean receives it.
func center[F Float](mean, u, x []F) {
	vector.ColumnDots(mean, u, x)
	for i := 0; i < len(x); i += len(mean) {
		for j, mean := range mean {
			x[i+j] -= mean
		}
	}
}

// curve replaces Rε by R{Jᵀε}, the derivative of the pull-back along φ.
//
// Elementwise it is f′∘Rε + (f″/f′)∘φ∘δ, the last term of [M, corollary 2] with f′∘ε = δ. For softmax,
// with e = ε − ⟨u, ε⟩ as kept and ⟨Ru, ε⟩ = ⟨Ru, e⟩ because ΣRu = 0, it is
// Ru∘e + u∘(Rε − ⟨u, Rε⟩ − ⟨Ru, e⟩).
func (l layer[F]) curve(x, phi, ru []F) {
	switch {
	case l.Activation == Softmax:
		l.curveSoftmax(x, ru)
	case l.curved():
		bend(l.Activation, x, l.u, l.kept, phi, l.delta)
	default:
		l.pull(x)
	}
}

func (l layer[F]) curveSoftmax(x, ru []F) {
	u, e, rows := l.u, l.kept, len(l.ra)
	vector.ColumnDots(l.ra, u, x)
	vector.ColumnDots(l.rb, ru, e)
	for i := 0; i < len(x); i += rows {
		for j := range l.ra {
			k := i + j
			x[k] = ru[k]*e[k] + u[k]*(x[k]-l.ra[j]-l.rb[j])
		}
	}
}
