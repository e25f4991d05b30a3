package optim

import "math/rand/v2"

// Matrix is a dense block of weights W, Rows × Cols, row-major from Offset of the flat vector on: from the Cols nodes
// of layer From to the Rows nodes of layer To. Where it is Biased, the Rows numbers behind it are the biases b of the
// same nodes, and the matrix that a method works on may be [W b], Rows × (Cols + 1), whose inputs have a 1 behind them.
type Matrix struct {
	To, From, Rows, Cols, Offset int
	Biased                       bool
	// Whether the factor of the inputs, or of the outputs, is a diagonal: the rows of a table by a symbol's number have
	// one for these, and a row of numbers that multiply one another's by itself has one for the inputs.
	DiagonalInputs, DiagonalOutputs bool
}

// MatrixObjective knows which of the numbers it is a function of are dense blocks. Matrices returns these in the order
// of the flat vector. Other numbers belong to none: biases behind a sparse block, the weights of sparse blocks, the
// parameters of gates, and of another program's model the tensors of one dimension.
type MatrixObjective interface {
	Objective
	Matrices() []Matrix
}

// Factors are those by which K-FAC [Martens & Grosse 2015, §3, §5] takes the curvature of a Matrix for A ⊗ S, the
// weights being in the order of columns; row by row, as the flat vector has them, it is S ⊗ A. Both are symmetric,
// whole, and row-major.
//
// Inputs is A, the mean over rows of ū ūᵀ, k × k, of the numbers ū that the matrix multiplies: k = Cols, or where it is
// Biased Cols + 1, the last of which is a 1. Outputs is S, the mean over rows of g gᵀ, Rows × Rows, of the derivatives
// g = ∂(−log p(y|x,w))/∂v by the net inputs of the layer To, for a target y that is drawn from the model's own
// distribution. Where there is room for a single number it is the mean of the factor's diagonal, and of a diagonal that
// is all there is.
type Factors struct{ Inputs, Outputs []float64 }

// FactorObjective has the factors of all its FactorMatrices, which may be others than Matrices: with biases, and with
// rows of numbers that have a diagonal. BatchFactorsTo stores those at w over the given rows (indices in
// [0, Rows)) in factors, which has room for each; what is random it draws from rng, the same for any number of threads.
// They are of the rows' loss alone: a penalty on weights has its share in the curvature beside them, and inputs have no
// noise.
type FactorObjective interface {
	MatrixObjective
	Rows() int
	FactorMatrices() []Matrix
	BatchFactorsTo(factors []Factors, w []float64, rows []int, rng *rand.Rand)
}

// ChargedObjective counts work. Charge adds multiplications that a method does by itself.
type ChargedObjective interface {
	Objective
	Charge(multiplications float64)
}
