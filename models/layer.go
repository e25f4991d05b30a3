package models

import "newtop/internal/vector"

// The four maps of a layer, on a block of rows. All but activate work in place on what the caller
// summed up, and none evaluates a transcendental function.

// activate replaces the net inputs v^l in tp.u[l] by f(v^l).
func (s *scratch) activate(tp *tape, l int) {
	if a := s.activation(l); a != Softmax {
		a.value(tp.u[l], tp.kept[l])
		return
	}
	vector.ColumnMax(s.ra, tp.u[l])
	vector.ColumnSoftmax(s.rb, s.ra, tp.u[l])
}

// push stores Jφ in ru. For softmax Jφ = u∘(φ − ⟨u, φ⟩).
func (s *scratch) push(tp *tape, l int, ru, phi []float64) {
	u := tp.u[l]
	switch a := s.activation(l); a {
	case Identity:
		copy(ru, phi)
	case Softmax:
		vector.ColumnDots(s.ra, u, phi)
		vector.ColumnCenter(s.ra, ru, u, phi)
	default:
		a.push(ru, u, tp.kept[l], phi)
	}
}

// pull replaces ε by Jᵀε, J being symmetric for every activation. For softmax Jᵀε = u∘(ε − ⟨u, ε⟩).
func (s *scratch) pull(tp *tape, l int, x []float64) {
	switch s.activation(l) {
	case Identity:
	case Softmax:
		vector.ColumnDots(s.ra, tp.u[l], x)
		vector.ColumnCenter(s.ra, x, tp.u[l], x)
	default:
		s.activation(l).push(x, tp.u[l], tp.kept[l], x)
	}
}

// pullKeep is pull for the backward pass at w: it turns ε^l in tp.delta[l] into δ^l, and keeps what
// curve needs of ε^l.
func (s *scratch) pullKeep(tp *tape, l int) {
	delta := tp.delta[l]
	if s.activation(l) != Softmax {
		s.pull(tp, l, delta)
		return
	}
	s.center(tp.u[l], delta)
	copy(tp.kept[l], delta)
	vector.Mul(delta, delta, tp.u[l])
}

// center subtracts ⟨u, x⟩ from every row's x.
func (s *scratch) center(u, x []float64) {
	vector.ColumnDots(s.ra, u, x)
	for i := 0; i < len(x); i += s.rows {
		for j, mean := range s.ra {
			x[i+j] -= mean
		}
	}
}

// curve replaces Rε by R{Jᵀε}, the derivative of the pull-back along φ.
//
// Elementwise it is f′∘Rε + (f″/f′)∘φ∘δ, the last term of [M, corollary 2] with f′∘ε = δ. For softmax,
// with e = ε − ⟨u, ε⟩ as kept and ⟨Ru, ε⟩ = ⟨Ru, e⟩ because ΣRu = 0, it is
// Ru∘e + u∘(Rε − ⟨u, Rε⟩ − ⟨Ru, e⟩).
func (s *scratch) curve(tp *tape, l int, x, phi, ru []float64) {
	a := s.activation(l)
	if a == Softmax {
		s.curveSoftmax(tp, l, x, ru)
		return
	}
	if !a.curved() {
		s.pull(tp, l, x)
		return
	}
	a.curve(x, tp.u[l], tp.kept[l], phi, tp.delta[l])
}

func (s *scratch) curveSoftmax(tp *tape, l int, x, ru []float64) {
	u, e := tp.u[l], tp.kept[l]
	vector.ColumnDots(s.ra, u, x)
	vector.ColumnDots(s.rb, ru, e)
	for i := 0; i < len(x); i += s.rows {
		for j := range s.ra {
			k := i + j
			x[k] = ru[k]*e[k] + u[k]*(x[k]-s.ra[j]-s.rb[j])
		}
	}
}
