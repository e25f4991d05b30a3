package optim

// Matrix is a dense block of weights W, Rows × Cols, row-major from Offset of the flat vector on: from the Cols nodes of layer
// From to the Rows nodes of layer To. Where it is Biased, the Rows numbers behind it are the biases b of the same nodes, and the
// matrix that a method works on may be [W b], Rows × (Cols + 1), whose inputs have a 1 behind them.
type Matrix struct {
	To, From, Rows, Cols, Offset int
	Biased                       bool
}

// MatrixObjective knows which of the numbers it is a function of are dense blocks. Matrices returns these in the order of the flat
// vector. Other numbers belong to none: biases behind a sparse block, the weights of sparse blocks, the parameters of gates, and
// of another program's model the tensors of one dimension.
type MatrixObjective interface {
	Objective
	Matrices() []Matrix
}

// ChargedObjective counts work. Charge adds multiplications that a method does by itself.
type ChargedObjective interface {
	Objective
	Charge(multiplications float64)
}
