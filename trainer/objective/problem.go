package objective

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
)

// Problem is what is trained: data and a network that fits them. Each of several processes has all rows.
type Problem struct {
	Data    *datasets.Dataset
	Train   Split // the rows as the network takes them: Data's, with what gates look at behind the inputs
	Network *models.Network
	Init    models.Init

	Validation, Test Split

	L2    float64 // λ of the penalty, see penalty.go; 0: none
	Noise float64 // standard deviation of what is added to the inputs of batches; 0: none

	// Joint has what each net of a committee is trained on; nil: all rows, coded alike.
	Joint *Joint

	// External is the model that another program has; nil: this one has the network and the rows. With it Data and the
	// splits say how many rows there are, and Network is nil.
	External External
}

// NewProblem returns the problem of data and a network.
func NewProblem(data *datasets.Dataset, network *models.Network, start models.Init) *Problem {
	p := &Problem{Data: data, Network: network, Init: start}
	for part := range datasets.Part(datasets.Parts) {
		s := *data.Split(part)
		if network.Columns() > network.Inputs() && s.Rows() > 0 {
			s.Inputs = beside(s.Inputs, s.Features)
		}
		*p.Split(part) = newSplit(s, network.Precision())
	}
	return p
}

var _ Binder = (*Problem)(nil)

// Bind binds the network to rows in this process.
func (p *Problem) Bind(rows Rows, o models.Options) Linearization {
	if p.External != nil {
		return p.External.Bind(rows, o)
	}
	x, t := p.Select(rows, 0, p.Of(rows))
	return p.Network.Bind(x, t, o)
}

// Dim returns how many weights there are.
func (p *Problem) Dim() int {
	if p.External != nil {
		return p.External.Dim()
	}
	return p.Network.Dim()
}

// ExpertDim returns how many of the weights are not those of a mixture's gates.
func (p *Problem) ExpertDim() int {
	if p.External != nil {
		return p.External.Dim()
	}
	return p.Network.ExpertDim()
}

// Blocks returns the blocks of weights, those of an external model as External.Blocks has them.
func (p *Problem) Blocks() []models.Block {
	if p.External != nil {
		return p.External.Blocks()
	}
	return p.Network.Blocks()
}

// Cost returns what passes cost per row. For an external model they are counted in forward passes of dense layers: as
// many backward as two forward, and products as on passes that are kept.
func (p *Problem) Cost() models.Cost {
	if p.External != nil {
		n := float64(p.Dim())
		return models.Cost{Loss: n, Gradient: 3 * n, GaussNewton: 4 * n, Hessian: 5 * n, Diagonal: n}
	}
	return p.Network.Cost()
}

// Outputs returns how many numbers the network says of a row; 1 for an external model.
func (p *Problem) Outputs() int {
	if p.External != nil {
		return 1
	}
	return p.Network.Outputs()
}

// InitTo draws the first weights, or stores those that an external model begins with.
func (p *Problem) InitTo(dst []float64, rng *rand.Rand) {
	if p.External != nil {
		p.External.InitTo(dst)
		return
	}
	p.Network.InitTo(dst, p.Init, rng)
}

// Close ends what the problem needs elsewhere. Nothing is asked of it afterwards.
func (p *Problem) Close() error {
	if p.External != nil {
		return p.External.Close()
	}
	return nil
}

// Split is a part of the data as the network takes it. X has its inputs and T its targets: Inputs and Targets
// themselves, or what they are in single precision, and then Inputs and Targets, Data's too, say how many there are and
// nothing else.
type Split struct {
	datasets.Split
	X, T models.Matrix
}

// Split returns a part of the rows.
func (p *Problem) Split(part datasets.Part) *Split {
	return [datasets.Parts]*Split{&p.Train, &p.Validation, &p.Test}[part]
}

// NewSplit returns a split in double precision.
func NewSplit(s datasets.Split) Split { return newSplit(s, models.Double) }

// newSplit returns a split in a precision. It rounds the numbers where they lie.
func newSplit(s datasets.Split, p models.Precision) Split {
	if s.Inputs == nil {
		return Split{Split: s} // a part that is not there
	}
	if p == models.Single {
		return Split{s, models.MakeSingle(s.Inputs), models.MakeSingle(s.Targets)}
	}
	return Split{s, s.Inputs, s.Targets}
}

// beside returns the columns of a and behind them those of b.
func beside(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Augment(a, b)
	return &out
}
