package vector

// Add stores x + y.
func Add[F Float](dst, x, y []F) {
	if fast(len(dst), min(len(x), len(y))) {
		add(data(dst), data(x), data(y), len(dst))
		return
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i, x := range x {
		dst[i] = x + y[i]
	}
}

// Sub stores x − y.
func Sub[F Float](dst, x, y []F) {
	if fast(len(dst), min(len(x), len(y))) {
		sub(data(dst), data(x), data(y), len(dst))
		return
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i, x := range x {
		dst[i] = x - y[i]
	}
}

// Mul stores x∘y.
func Mul[F Float](dst, x, y []F) {
	if fast(len(dst), min(len(x), len(y))) {
		mul(data(dst), data(x), data(y), len(dst))
		return
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i, x := range x {
		dst[i] = x * y[i]
	}
}

// MulAdd adds x∘y to dst.
func MulAdd[F Float](dst, x, y []F) {
	if fast(len(dst), min(len(x), len(y))) {
		mulAdd(data(dst), data(x), data(y), len(dst))
		return
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i, x := range x {
		dst[i] += x * y[i]
	}
}

// Axpy adds a·x to dst.
func Axpy[F Float](dst []F, a F, x []F) {
	if fast(len(dst), len(x)) {
		axpy(data(dst), a, data(x), len(dst))
		return
	}
	for i, x := range x[:len(dst)] {
		dst[i] += a * x
	}
}

// Scale stores a·x in dst.
func Scale[F Float](dst []F, a F, x []F) {
	if fast(len(dst), len(x)) {
		scale(data(dst), a, data(x), len(dst))
		return
	}
	for i, x := range x[:len(dst)] {
		dst[i] = a * x
	}
}
