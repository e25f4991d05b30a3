package firstorder

// rows is a mean of ½k_p‖w − t_p‖² over rows p, whose gradients can be had by hand.
type rows struct {
	n       int
	k       []float64
	targets [][]float64
	seen    [][]int // the batches asked for
	whole   int     // full gradients asked for
}

func (o *rows) Dim() int  { return o.n }
func (o *rows) Rows() int { return len(o.k) }

func (o *rows) Loss(w []float64) float64 { return o.mean(make([]float64, o.n), w, o.all()) }

func (o *rows) GradientTo(dst, w []float64) float64 {
	o.whole++
	return o.mean(dst, w, o.all())
}

func (o *rows) BatchGradientTo(dst, w []float64, batch []int) float64 {
	o.seen = append(o.seen, append([]int(nil), batch...))
	return o.mean(dst, w, batch)
}

func (o *rows) all() []int {
	all := make([]int, len(o.k))
	for i := range all {
		all[i] = i
	}
	return all
}

func (o *rows) mean(dst, w []float64, batch []int) float64 {
	clear(dst)
	loss := 0.0
	for _, p := range batch {
		for i, x := range w {
			d := x - o.targets[p][i]
			loss += o.k[p] * d * d / 2 / float64(len(batch))
			dst[i] += o.k[p] * d / float64(len(batch))
		}
	}
	return loss
}
