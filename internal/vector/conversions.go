package vector

// Widen stores x.
func Widen(dst []float64, x []float32) {
	if fast(len(dst), len(x)) {
		widen(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = float64(v)
	}
}

// AddWidened stores a·(x + y).
func AddWidened(dst []float64, a float64, x []float64, y []float32) {
	if fast(len(dst), min(len(x), len(y))) {
		addWidened(data(dst), a, data(x), data(y), len(dst))
		return
	}
	for i, v := range y[:len(dst)] {
		dst[i] = a * (x[i] + float64(v))
	}
}

// Narrow stores x, each number rounded to the nearest float32.
func Narrow(dst []float32, x []float64) {
	if fast(len(dst), len(x)) {
		narrow(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = float32(v)
	}
}
