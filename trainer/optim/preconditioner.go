package optim

import "time"

// Preconditioner is what a method that scales gradients by matrices of their layers reports of these after an epoch.
type Preconditioner struct {
	Refreshes int           // how often in the epoch bases, roots or inverses were made again
	Time      time.Duration // that this took
	Factors   []Factor
}

// Factor is a symmetric positive semidefinite matrix of the size of one side of a block of weights.
type Factor struct {
	To, From int  // of the block, as Matrix has them
	Outputs  bool // whether it is of the side of layer To; that of From else
	Size     int
	// Values are its eigenvalues, or estimates, in descending order, as the method last saw it: all of them, or the
	// largest and the smallest, half of them each. None: it is left out, or all of them are the same.
	Values  []float64
	Damping float64 // what is added to them; NaN: nothing is
}
