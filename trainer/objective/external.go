package objective

import (
	"math/rand/v2"

	"newtop/models"
	"newtop/trainer/optim"
)

// External is a model that another program has, with its rows. It binds all training rows, or all test rows.
type External interface {
	Binder
	Dim() int
	// Blocks are its tensors in the order of the flat vector, each a matrix: block i leads from layer i to layer i + 1.
	Blocks() []models.Block
	Weights() []models.Block // those of two dimensions or more
	InitTo(dst []float64)    // the weights that it begins with
	// FactorMatrices are those that RowsFactorsTo, which is optim.FactorObjective's, has factors of.
	FactorMatrices() []optim.Matrix
	RowsFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand)
	// BindSample binds some of the training rows.
	BindSample(rows []int) Linearization
	// Offers returns an *optim.CapabilityError for what it lacks of what a method needs.
	Offers(need optim.Capability) error
	// OffersBatches returns such an error if there are no losses of some rows.
	OffersBatches() error
	// Batches are the rows of each batch, in which alone rows can be taken; nil: they come one by one.
	Batches() []int
	// RowsGradientTo stores the gradient of the mean loss over some rows, or batches, at w, and returns that loss.
	// Without batches these are all rows.
	RowsGradientTo(dst, w []float64, rows []int) (loss float64)
	Digest() string // of the model and its rows
	Close() error
}

// RowParts is into how many parts an Evaluation of an external model cuts each row: its error need not be a share of
// whole rows, as where a row is a sequence.
const RowParts = 1 << 20

// Failure is what a Linearization, or an External, panics with that can't do what it is asked for: nothing between it
// and the session could continue.
type Failure struct{ Err error }

func (f Failure) Error() string { return f.Err.Error() }
func (f Failure) Unwrap() error { return f.Err }

// CatchFailure calls f, and returns a Failure that it panics with.
func CatchFailure(f func() error) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case Failure:
			err = v
		default:
			panic(v)
		}
	}()
	return f()
}
