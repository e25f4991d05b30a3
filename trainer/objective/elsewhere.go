package objective

import (
	"math/rand/v2"

	"newtop/models"
	"newtop/trainer/optim"
)

// Elsewhere is a model that another program has, with its rows. It binds all training rows, or all test rows.
type Elsewhere interface {
	Binder
	Dim() int
	// Blocks are its tensors in the order of the flat vector, each a matrix: block i leads from layer i to layer i + 1.
	Blocks() []models.Block
	Weights() []models.Block // those of two dimensions or more
	InitTo(dst []float64)    // the weights that it begins with
	// Offers returns an *optim.CapabilityError for what it lacks of what a method needs.
	Offers(need optim.Capability) error
	// RowsGradientTo stores the gradient of the mean loss over some rows at w, and returns that loss.
	RowsGradientTo(dst, w []float64, rows []int) (loss float64)
	Digest() string // of the model and its rows
	Close() error
}

// Fine is into how many parts an Evaluation of a model elsewhere cuts each row: its error need not be a share of whole
// rows, as where a row is a sequence.
const Fine = 1 << 20

// evaluated returns how many rows the objective's evaluations count.
func (o *Objective) evaluated() int {
	if o.problem.Elsewhere != nil {
		return o.Rows() * Fine
	}
	return o.Rows()
}

// Failure is what a Linearization, or an Elsewhere, panics with that can't do what it is asked for: nothing between it
// and the session could go on.
type Failure struct{ Err error }

func (f Failure) Error() string { return f.Err.Error() }
func (f Failure) Unwrap() error { return f.Err }

// Unbroken calls f, and returns a Failure that it panics with.
func Unbroken(f func() error) (err error) {
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

// Dim returns how many weights there are.
func (p *Problem) Dim() int {
	if p.Elsewhere != nil {
		return p.Elsewhere.Dim()
	}
	return p.Network.Dim()
}

// ExpertDim returns how many of the weights are not those of a mixture's gates.
func (p *Problem) ExpertDim() int {
	if p.Elsewhere != nil {
		return p.Elsewhere.Dim()
	}
	return p.Network.ExpertDim()
}

// Blocks returns the blocks of weights, those of a model elsewhere as Elsewhere.Blocks has them.
func (p *Problem) Blocks() []models.Block {
	if p.Elsewhere != nil {
		return p.Elsewhere.Blocks()
	}
	return p.Network.Blocks()
}

// Cost returns what passes cost per row. For a model elsewhere they are counted in forward passes of dense layers: as
// many backward as two forward, and products as on passes that are kept.
func (p *Problem) Cost() models.Cost {
	if p.Elsewhere != nil {
		n := float64(p.Dim())
		return models.Cost{Loss: n, Gradient: 3 * n, GaussNewton: 4 * n, Hessian: 5 * n, Diagonal: n}
	}
	return p.Network.Cost()
}

// Outputs returns how many numbers the network says of a row; 1 for a model elsewhere.
func (p *Problem) Outputs() int {
	if p.Elsewhere != nil {
		return 1
	}
	return p.Network.Outputs()
}

// InitTo draws the first weights, or stores those that a model elsewhere begins with.
func (p *Problem) InitTo(dst []float64, rng *rand.Rand) {
	if p.Elsewhere != nil {
		p.Elsewhere.InitTo(dst)
		return
	}
	p.Network.InitTo(dst, p.Init, rng)
}

// severalProcesses is why nothing can be had of chosen rows.
const severalProcesses = "the rows are several processes': expected one process that has them all"

// alone reports whether all rows are in this process.
func (o *Objective) alone() bool {
	_, here := o.on.(*Problem)
	return here
}

// Offers returns an *optim.CapabilityError for what a model elsewhere, or rows of several processes, lack of what a
// method needs.
func (o *Objective) Offers(need optim.Capability) error {
	const chosen = optim.NeedsFactors | optim.NeedsSquares | optim.NeedsSample
	switch {
	case o.problem.Elsewhere != nil:
		return o.problem.Elsewhere.Offers(need)
	case need&chosen != 0 && !o.alone():
		return &optim.CapabilityError{Reason: severalProcesses}
	case need&optim.NeedsFactors != 0 && len(o.problem.Network.Matrices()) == 0:
		return &optim.CapabilityError{Reason: "all connections of the network are sparse: expected a dense one at least"}
	}
	return nil
}

// Close ends what the problem needs elsewhere. Nothing is asked of it afterwards.
func (p *Problem) Close() error {
	if p.Elsewhere != nil {
		return p.Elsewhere.Close()
	}
	return nil
}
