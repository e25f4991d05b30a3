package vector

// ReLU stores max(x, 0); a NaN passes.
func ReLU[F Float](dst, x []F) {
	if fast(len(dst), len(x)) {
		relu(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = max(v, 0)
	}
}

// The derivatives of an activation f with output u, along x: dst = f′∘x. Push and pull of a layer.

// TanhPush stores (1 − u²)∘x.
func TanhPush[F Float](dst, u, x []F) {
	if fast(len(dst), min(len(u), len(x))) {
		tanhPush(data(dst), data(u), data(x), len(dst))
		return
	}
	u, x = u[:len(dst)], x[:len(dst)]
	for i, u := range u {
		dst[i] = (1 - u*u) * x[i]
	}
}

// SigmoidPush stores u(1 − u)∘x.
func SigmoidPush[F Float](dst, u, x []F) {
	if fast(len(dst), min(len(u), len(x))) {
		sigmoidPush(data(dst), data(u), data(x), len(dst))
		return
	}
	u, x = u[:len(dst)], x[:len(dst)]
	for i, u := range u {
		dst[i] = u * (1 - u) * x[i]
	}
}

// ReLUPush stores x where u is not 0 (a NaN in u passes as 1 does), and 0·x elsewhere.
func ReLUPush[F Float](dst, u, x []F) {
	if fast(len(dst), min(len(u), len(x))) {
		reluPush(data(dst), data(u), data(x), len(dst))
		return
	}
	u, x = u[:len(dst)], x[:len(dst)]
	for i, u := range u {
		d := F(0)
		if u != 0 {
			d = 1
		}
		dst[i] = d * x[i]
	}
}

// The derivative of the pull-back along φ: x = f′∘x + (f″/f′)∘φ∘δ.

// TanhCurve stores (1 − u²)∘x − 2u∘φ∘δ in x.
func TanhCurve[F Float](x, u, phi, delta []F) {
	if fast(len(x), min(len(u), len(phi), len(delta))) {
		tanhCurve(data(x), data(u), data(phi), data(delta), len(x))
		return
	}
	u, phi, delta = u[:len(x)], phi[:len(x)], delta[:len(x)]
	for i, u := range u {
		x[i] = (1-u*u)*x[i] - 2*u*phi[i]*delta[i]
	}
}

// SigmoidCurve stores u(1 − u)∘x + (1 − 2u)∘φ∘δ in x.
func SigmoidCurve[F Float](x, u, phi, delta []F) {
	if fast(len(x), min(len(u), len(phi), len(delta))) {
		sigmoidCurve(data(x), data(u), data(phi), data(delta), len(x))
		return
	}
	u, phi, delta = u[:len(x)], phi[:len(x)], delta[:len(x)]
	for i, u := range u {
		x[i] = u*(1-u)*x[i] + (1-2*u)*phi[i]*delta[i]
	}
}

// SoftplusCurve stores d∘x + (1 − d)∘φ∘δ in x, d being f′ as Softplus left it.
func SoftplusCurve[F Float](x, d, phi, delta []F) {
	if fast(len(x), min(len(d), len(phi), len(delta))) {
		softplusCurve(data(x), data(d), data(phi), data(delta), len(x))
		return
	}
	d, phi, delta = d[:len(x)], phi[:len(x)], delta[:len(x)]
	for i, d := range d {
		x[i] = d*x[i] + (1-d)*phi[i]*delta[i]
	}
}
