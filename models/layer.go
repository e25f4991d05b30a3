package models

// The four maps of a layer, on a block of rows. All but activate work in place on what the caller
// summed up, and none evaluates a transcendental function.

// activate replaces the net inputs v^l in tp.u[l] by f(v^l).
func (s *space) activate(tp *tape, l int) {
	if a := s.activation(l); a != Softmax {
		a.value(tp.u[l], tp.kept[l])
		return
	}
	softmax(tp.u[l], s.ra, s.rb)
}

// push stores Jφ in ru. For softmax Jφ = u∘(φ − ⟨u, φ⟩).
func (s *space) push(tp *tape, l int, ru, phi []float64) {
	u := tp.u[l]
	switch a := s.activation(l); a {
	case Identity:
		copy(ru, phi)
	case Softmax:
		columnDots(s.ra, u, phi)
		for i := 0; i < len(u); i += s.rows {
			for j, mean := range s.ra {
				ru[i+j] = u[i+j] * (phi[i+j] - mean)
			}
		}
	default:
		for i := 0; i < len(u); i += chunk {
			d, out, in := s.slopes(tp, l, i), ru[i:], phi[i:]
			out, in = out[:len(d)], in[:len(d)]
			for j, d := range d {
				out[j] = d * in[j]
			}
		}
	}
}

// pull replaces ε by Jᵀε, J being symmetric for every activation. For softmax Jᵀε = u∘(ε − ⟨u, ε⟩).
func (s *space) pull(tp *tape, l int, x []float64) {
	switch s.activation(l) {
	case Identity:
	case Softmax:
		s.center(tp.u[l], x)
		scaleBy(x, tp.u[l])
	default:
		for i := 0; i < len(x); i += chunk {
			scaleBy(x[i:], s.slopes(tp, l, i))
		}
	}
}

// pullKeep is pull for the backward pass at w: it turns ε^l in tp.delta[l] into δ^l, and keeps what
// curve needs of ε^l.
func (s *space) pullKeep(tp *tape, l int) {
	delta := tp.delta[l]
	if s.activation(l) != Softmax {
		s.pull(tp, l, delta)
		return
	}
	s.center(tp.u[l], delta)
	copy(tp.kept[l], delta)
	scaleBy(delta, tp.u[l])
}

// center subtracts ⟨u, x⟩ from every row's x.
func (s *space) center(u, x []float64) {
	columnDots(s.ra, u, x)
	for i := 0; i < len(x); i += s.rows {
		for j, mean := range s.ra {
			x[i+j] -= mean
		}
	}
}

// scaleBy multiplies the first len(by) numbers of x.
func scaleBy(x, by []float64) {
	x = x[:len(by)]
	for i, v := range by {
		x[i] *= v
	}
}

// curve replaces Rε by R{Jᵀε}, the derivative of the pull-back along φ.
//
// Elementwise it is f′∘Rε + (f″/f′)∘φ∘δ, the last term of [M, corollary 2] with f′∘ε = δ. For softmax,
// with e = ε − ⟨u, ε⟩ as kept and ⟨Ru, ε⟩ = ⟨Ru, e⟩ because ΣRu = 0, it is
// Ru∘e + u∘(Rε − ⟨u, Rε⟩ − ⟨Ru, e⟩).
func (s *space) curve(tp *tape, l int, x, phi, ru []float64) {
	a := s.activation(l)
	if a == Softmax {
		s.curveSoftmax(tp, l, x, ru)
		return
	}
	if !a.curved() {
		s.pull(tp, l, x)
		return
	}
	u, delta := tp.u[l], tp.delta[l]
	for i := 0; i < len(x); i += chunk {
		d := s.slopes(tp, l, i)
		q := s.q[:len(d)]
		a.bend(q, u[i:], d)
		x, phi, delta := x[i:][:len(d)], phi[i:][:len(d)], delta[i:][:len(d)]
		for j, d := range d {
			x[j] = d*x[j] + q[j]*phi[j]*delta[j]
		}
	}
}

func (s *space) curveSoftmax(tp *tape, l int, x, ru []float64) {
	u, e := tp.u[l], tp.kept[l]
	columnDots(s.ra, u, x)
	columnDots(s.rb, ru, e)
	for i := 0; i < len(x); i += s.rows {
		for j := range s.ra {
			k := i + j
			x[k] = ru[k]*e[k] + u[k]*(x[k]-s.ra[j]-s.rb[j])
		}
	}
}

// slopes returns f′ for at most chunk numbers of layer l from number i on.
func (s *space) slopes(tp *tape, l, i int) []float64 {
	u, kept := tp.u[l], tp.kept[l]
	end := min(i+chunk, len(u))
	a := s.activation(l)
	if a == Softplus {
		return kept[i:end]
	}
	d := s.d[:end-i]
	a.slope(d, u[i:end])
	return d
}
