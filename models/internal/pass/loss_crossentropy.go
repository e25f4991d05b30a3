package pass

import (
	"math"
	"slices"

	"newtop/internal/vector"
)

// crossEntropy is −Σ t log u after softmax, and −Σ t log u + (1−t) log(1−u) after sigmoid, where every output is a
// class of its own. It is one with the activation: B' is Σt·(diag(u) − uuᵀ), or diag(u(1 − u)). Of softmax it keeps the
// sum of each row's targets.
type crossEntropy struct{}

type crossEntropyOn[F Float] struct{}

func (crossEntropy) Name() string { return "xent" }

func (crossEntropy) Refuse(out Activation) string {
	if out == Softmax || out == Sigmoid {
		return ""
	}
	return "no probabilities: cross-entropy (xent) expected softmax or sigmoid"
}

func (crossEntropy) Of(u, t float64, out Activation) float64 {
	loss := minusLog(t, u)
	if out != Softmax { // every output is a class of its own
		loss += minusLog(1-t, 1-u)
	}
	return loss
}

// minusLog returns −t·log u, with 0·log 0 = 0.
func minusLog(t, u float64) float64 {
	if t == 0 {
		return 0
	}
	return -t * math.Log(u)
}

func (crossEntropy) keeps(out Activation, _ int) int {
	if out == Softmax {
		return 1
	}
	return 0
}

// draws returns one for the class that softmax gives a row, one for each output of sigmoid, which is 1 with probability
// u or 0.
func (crossEntropy) draws(out Activation, outputs int) int {
	if out == Softmax {
		return 1
	}
	return outputs
}

func (crossEntropy) normal() bool { return false }

func (x crossEntropyOn[F]) measure(s *Scratch[F], tp *Tape[F]) (loss, squared float64) {
	last := s.Last()
	if s.out() == Softmax {
		loss = x.ofSoftmax(s, tp.U[last], tp.kept[last])
	} else {
		loss = x.ofSigmoid(s, tp.U[last])
	}
	return loss, s.residual(tp)
}

// ofSoftmax returns Σ_p Σ_k t_k (log Σ_i e^v_i − v_k), turns v into probabilities and stores the sum
// of each row's targets. Logits are taken relative to the largest, so the loss is finite wherever the logits are.
func (crossEntropyOn[F]) ofSoftmax(s *Scratch[F], v, targetSum []F) float64 {
	top, total, hit := s.ra, s.rb, s.rc
	vector.ColumnMax(top, v)
	vector.ColumnSums(targetSum, s.Targets)
	vector.ColumnDots(hit, s.Targets, v)
	vector.ColumnSoftmax(total, top, v)
	loss := 0.0
	for j, sum := range total {
		if targetSum[j] != 0 {
			loss += float64(targetSum[j])*math.Log(float64(sum)) - float64(hit[j]-targetSum[j]*top[j])
		}
	}
	return loss
}

// ofSigmoid returns Σ_p Σ_k log(1 + e^v_k) − t_k v_k, which is −Σ t log u + (1−t) log(1−u), and turns v
// into probabilities. With x = |v|, and 1 − t for t where v > 0, a term is log(1 + e^−x) + t·x: two
// numbers of one sign, so that a certain and right output costs e^−x and not what rounding leaves of v.
func (crossEntropyOn[F]) ofSigmoid(s *Scratch[F], v []F) float64 {
	loss := 0.0
	for i, x := range v {
		t, far := float64(s.Targets[i]), math.Abs(float64(x))
		value, u := softplus(-far)
		if x > 0 {
			t, u = 1-t, 1-u
		}
		if t != 0 {
			value += t * far
		}
		loss += value
		v[i] = F(u)
	}
	return loss
}

// delta stores (Σt)u − t after softmax; after sigmoid it is u − t.
func (crossEntropyOn[F]) delta(s *Scratch[F], tp *Tape[F]) {
	if s.out() != Softmax {
		return
	}
	last := s.Last()
	sums := tp.kept[last]
	if !slices.ContainsFunc(sums, func(sum F) bool { return sum != 1 }) {
		return
	}
	u, delta := tp.U[last], tp.Delta[last]
	for i := 0; i < len(u); i += s.Rows {
		node := delta[i : i+s.Rows]
		vector.Mul(node, u[i:i+s.Rows], sums)
		vector.Sub(node, node, s.Targets[i:i+s.Rows])
	}
}

// drawnDelta stores √(Σt)(u − y) after softmax, so that a row counts Σt times, and u − y after sigmoid.
func (crossEntropyOn[F]) drawnDelta(s *Scratch[F], tp *Tape[F], drawn []float64) {
	last, outputs := s.Last(), s.Outputs()
	u, delta := tp.U[last], tp.Delta[last]
	if s.out() == Softmax {
		for j, sum := range tp.kept[last] {
			s.ra[j] = F(math.Sqrt(float64(sum)))
		}
		scaleRows(delta, s.ra, u)
		for j, root := range s.ra {
			delta[drawnClass(u[j:], s.Rows, drawn[j])*s.Rows+j] -= root
		}
		return
	}
	for k := range outputs {
		for j, u := range s.node(u, k) {
			if drawn[j*outputs+k] < float64(u) {
				u--
			}
			delta[k*s.Rows+j] = u
		}
	}
}

// drawnClass returns the class that a number in [0, 1) draws, the probabilities being u[0], u[stride], …
func drawnClass[F Float](u []F, stride int, x float64) int {
	class := 0
	for i := 0; i < len(u); i += stride {
		if u[i] > 0 {
			class = i / stride // the last one if rounding leaves x above the sum
		}
		if x -= float64(u[i]); x < 0 {
			break
		}
	}
	return class
}

// curve stores (Σt)Ru^L after softmax, Ru^L after sigmoid.
func (crossEntropyOn[F]) curve(s *Scratch[F], tp *Tape[F], _ bool) {
	last := s.Last()
	gamma := s.gamma[last]
	copy(gamma, s.ru[last])
	if s.out() == Softmax {
		scaleRows(gamma, tp.kept[last], gamma)
	}
}

// scaleRows stores x of every row times the row's factor in dst, node by node.
func scaleRows[F Float](dst, factor, x []F) {
	rows := len(factor)
	for i := 0; i < len(x); i += rows {
		vector.Mul(dst[i:i+rows], factor, x[i:i+rows])
	}
}

// factor stores √f′_k, or √(u_k Σt) after softmax.
func (crossEntropyOn[F]) factor(c []F, s *Scratch[F], tp *Tape[F]) {
	if s.out() != Softmax {
		s.layer(tp, s.Last()).slopes(c)
		for i := range c {
			c[i] = F(math.Sqrt(float64(c[i])))
		}
		return
	}
	u := tp.U[s.Last()]
	for i := 0; i < len(u); i += s.Rows {
		for j, sum := range tp.kept[s.Last()] {
			c[i+j] = F(math.Sqrt(float64(u[i+j] * sum)))
		}
	}
}

// diagonal stores c², or Σt·u(1 − u) after softmax.
func (crossEntropyOn[F]) diagonal(dst, c []F, s *Scratch[F], tp *Tape[F]) {
	vector.Mul(dst, c, c)
	if s.out() == Softmax {
		for i, u := range tp.U[s.Last()] {
			dst[i] *= 1 - u
		}
	}
}
