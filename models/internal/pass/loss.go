package pass

// Losses are the losses there are, by their number in models. A program may add to them before it makes networks.
var Losses = []Loss{squaredError{}, crossEntropy{}}

// lossOn is what a loss does on a Scratch.
//
// Methods are about the block of rows in it, whose tape is tp, at its output layer L. measure may be called alone;
// delta and drawnDelta follow a measure of the same tape; the others need measure and delta, and may be called any
// number of times.
type lossOn[F Float] interface {
	// measure turns the net inputs in tp.U into outputs, leaves u − t in tp.Delta, and returns Σ_p E_p and Σ_p ‖u −
	// t‖².
	measure(s *Scratch[F], tp *Tape[F]) (loss, squared float64)
	// delta turns the u − t in tp.Delta into δ^L = ∂E_p/∂v^L, and keeps what the methods below need.
	delta(s *Scratch[F], tp *Tape[F])
	// drawnDelta stores in tp.Delta what δ^L is for targets made of numbers that were drawn, row by row. Its covariance
	// is B'.
	drawnDelta(s *Scratch[F], tp *Tape[F], drawn []float64)
	// curve stores γ^L in s.gamma, from φ^L in s.phi and Ru^L in s.ru: the derivative of δ^L along φ^L if it shall be
	// exact, else B'φ^L.
	curve(s *Scratch[F], tp *Tape[F], exact bool)
	// factor stores c_k of every output and row in c, where B' = SSᵀ and column k of S is c_k e_k, or after softmax
	// c_k (e_k − u).
	factor(c []F, s *Scratch[F], tp *Tape[F])
	// diagonal stores the diagonal of B' in dst, from what factor stored in c.
	diagonal(dst, c []F, s *Scratch[F], tp *Tape[F])
}

// lossIn returns what a loss does in the precision.
func lossIn[F Float](l Loss) lossOn[F] {
	switch l := l.(type) {
	case squaredError:
		return squaredErrorOn[F]{}
	case Elementwise:
		return elementwiseOn[F]{l.At}
	}
	return crossEntropyOn[F]{}
}

// Tally is how well a network does on some rows: sums over them.
type Tally struct {
	// Misclassified counts the rows whose largest output is not where the largest target is (the first one of equals),
	// or is not a number; 0 where there is only one output.
	Misclassified int
	Loss, Squared float64 // E_p, ‖u − t‖²
}

// Add adds the sums over other rows.
func (t *Tally) Add(o Tally) {
	t.Misclassified += o.Misclassified
	t.Loss += o.Loss
	t.Squared += o.Squared
}

// TallySize is how many numbers a Tally makes.
const TallySize = 3

// StoreTo stores the tally in dst as numbers, of which sums are sums of tallies: fewer rows than 2⁵³ are wrong.
func (t *Tally) StoreTo(dst []float64) {
	dst[0], dst[1], dst[2] = t.Loss, t.Squared, float64(t.Misclassified)
}

// TallyOf returns the tally of numbers that StoreTo stored, or sums of them.
func TallyOf(x []float64) Tally { return Tally{Loss: x[0], Squared: x[1], Misclassified: int(x[2])} }
